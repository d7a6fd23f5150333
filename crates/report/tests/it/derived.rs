//! What is derived from the catalog of figures, committed, and must be current.

use std::fs;
use std::path::{Path, PathBuf};

use rpcbench_report::figure_list;

const REMEDY: &str =
    "derive it again with `cargo test -p rpcbench-report --test it derive -- --ignored`";

fn method() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/method.md")
}

/// The page with what stands between the markers of `name` replaced.
fn replaced(page: &str, name: &str, by: &str) -> String {
    let begin = page.find(&format!("<!-- {name}:begin")).expect("where it begins");
    let begin = begin + page[begin..].find('\n').expect("a line") + 1;
    let end = page.find(&format!("<!-- {name}:end")).expect("where it ends");
    format!("{}{by}{}", &page[..begin], &page[end..])
}

fn current() -> String {
    let page = fs::read_to_string(method()).expect("docs/method.md");
    replaced(&page, "figures", &format!("\n{}\n", figure_list()))
}

#[test]
fn the_page_lists_every_figure() {
    let page = fs::read_to_string(method()).expect("docs/method.md");
    assert!(page == current(), "docs/method.md is not what the catalog says; {REMEDY}");
}

/// Not a test: writes what is derived.
#[test]
#[ignore = "writes docs/method.md"]
fn derive() {
    fs::write(method(), current()).expect("docs/method.md");
}
