//! `contract/README.md` and the code must not drift apart.

use std::collections::BTreeSet;

use rpcbench_contract::cases::{Case, all};
use rpcbench_contract::{Need, Profile, Shape};

const README: &str = include_str!("../../../contract/README.md");

/// First cells of the rows of the tables of cases: `| `text/filled` | ...`.
fn described() -> BTreeSet<&'static str> {
    let cells = README.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.filter(|cell| cell.contains('/') && !cell.starts_with('/')).collect()
}

fn row(row: &str) {
    assert!(README.contains(row), "contract/README.md has no line that begins\n{row}");
}

/// The four of Thrift, which the page calls `thrift*`.
const THRIFT: &str = "thrift, thrift-compact, thrift-buffered, thrift-buffered-compact";

/// The protocols that a case runs on.
fn protocols(case: &Case) -> String {
    let takes = |profile: &&Profile| case.unmet(profile).is_none();
    let names: Vec<_> = Profile::ALL.iter().filter(takes).map(|profile| profile.name).collect();
    names.join(", ").replace(THRIFT, "thrift*")
}

#[test]
fn the_readme_describes_every_case_and_no_other() {
    let names: BTreeSet<_> = all().iter().map(|case| case.name()).collect();
    assert_eq!(described(), names);
}

#[test]
fn the_readme_says_what_each_case_verifies_and_where_it_runs() {
    for case in all() {
        row(&format!("| `{}` | {} | {} |", case.name(), case.verifies(), protocols(&case)));
    }
}

#[test]
fn the_readme_says_what_each_protocol_offers() {
    let names: Vec<_> = Profile::ALL.iter().map(|profile| profile.name).collect();
    row(&format!("| offers | {} |", names.join(" | ")));
    for need in Need::ALL {
        let offers = |profile: &Profile| if profile.offers(need) { "yes" } else { "no" };
        let cells: Vec<_> = Profile::ALL.iter().map(offers).collect();
        row(&format!("| {need} | {} |", cells.join(" | ")));
    }
}

#[test]
fn the_readme_names_every_method() {
    for shape in [Shape::Text(1), Shape::Record, Shape::Dto, Shape::Tree] {
        let method = shape.method();
        row(&format!("| `/{}/{}` |", method.service(), method.name()));
    }
}

/// Run after a protocol was added: `cargo test -p rpcbench-contract --test readme derive -- --ignored`.
#[test]
#[ignore = "writes which cases run where, and what protocols offer, into contract/README.md"]
fn derive_what_depends_on_the_protocols() {
    let mut lines: Vec<String> = README.lines().map(str::to_owned).collect();
    for case in all() {
        replace(&mut lines, &format!("`{}`", case.name()), |cells| cells[3] = protocols(&case));
    }
    let offered = |cells: &mut Vec<String>, offers: Vec<String>| {
        let meaning = cells.len() - 2;
        cells.splice(2..meaning, offers);
    };
    let names = Profile::ALL.iter().map(|profile| profile.name.to_owned()).collect();
    replace(&mut lines, "offers", |cells| offered(cells, names));
    for need in Need::ALL {
        let offers = |profile: &Profile| if profile.offers(need) { "yes" } else { "no" };
        let cells = Profile::ALL.iter().map(|profile| offers(profile).to_owned()).collect();
        replace(&mut lines, &need.to_string(), |line| offered(line, cells));
    }
    if let Some(header) = lines.iter().position(|line| line.starts_with("| offers |")) {
        lines[header + 1] = format!("|{}", "---|".repeat(Profile::ALL.len() + 2));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/README.md");
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// Changes the cells of the row that begins with `first`; the first and the last one are outside of the table.
fn replace(lines: &mut [String], first: &str, change: impl FnOnce(&mut Vec<String>)) {
    let begins = |line: &&mut String| line.starts_with(&format!("| {first} |"));
    if let Some(line) = lines.iter_mut().find(begins) {
        let mut cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        change(&mut cells);
        *line = cells.join(" | ").trim().to_owned();
    }
}
