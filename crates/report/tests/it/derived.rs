//! Committed files that are derived from the catalog of figures are current.

use std::fs;
use std::path::{Path, PathBuf};

use rpcbench_report::{changes_schema, export_schema, figure_list, history_schema};

const REMEDY: &str =
    "derive it again with `cargo test -p rpcbench-report --test it derive -- --ignored`";

fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file)
}

fn read(file: &str) -> String {
    fs::read_to_string(docs(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The page with the text between the markers of `name` replaced.
fn replaced(page: &str, name: &str, by: &str) -> String {
    let begin = page.find(&format!("<!-- {name}:begin")).expect("where it begins");
    let begin = begin + page[begin..].find('\n').expect("a line") + 1;
    let end = page.find(&format!("<!-- {name}:end")).expect("where it ends");
    format!("{}{by}{}", &page[..begin], &page[end..])
}

/// Each derived file with its content.
fn derived() -> [(&'static str, String); 4] {
    let page = replaced(&read("fields.md"), "figures", &format!("\n{}\n", figure_list()));
    [
        ("fields.md", page),
        ("schemas/export.schema.json", format!("{:#}\n", export_schema())),
        ("schemas/changes.schema.json", format!("{:#}\n", changes_schema())),
        ("schemas/history.schema.json", format!("{:#}\n", history_schema())),
    ]
}

#[test]
fn published_fields_match_catalog() {
    for (file, content) in derived() {
        assert!(read(file) == content, "docs/{file} is not current; {REMEDY}");
    }
}

/// Names in the table of tests of `docs/evidence.md`.
fn named_tests(page: &str) -> Vec<&str> {
    let begin = page.find("<!-- tests:begin").expect("where it begins");
    let end = page.find("<!-- tests:end").expect("where it ends");
    let cells = page[begin..end].lines().filter_map(|line| line.rsplit('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

/// The text of every Rust and Python file below a folder.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "py") {
            text.push_str(&fs::read_to_string(&path).expect("a source"));
        }
    }
    text
}

#[test]
fn tests_named_in_documents_exist() {
    let page = read("evidence.md");
    let named = named_tests(&page);
    assert!(named.len() > 100, "{named:?}");
    let sources = ["../crates", "../scripts"].map(|folder| sources(&docs(folder))).concat();
    let exists =
        |name: &str| ["fn", "def"].iter().any(|it| sources.contains(&format!("{it} {name}(")));
    let missing: Vec<&&str> = named.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "docs/evidence.md names missing tests: {missing:?}");
}

/// Not a test: writes what is derived.
#[test]
#[ignore = "writes docs"]
fn derive() {
    for (file, content) in derived() {
        fs::create_dir_all(docs(file).parent().expect("a folder")).expect(file);
        fs::write(docs(file), content).expect(file);
    }
}
