//! The tables of `contract/README.md` that are generated from the code.

use std::fs;

use rpcbench_contract::cases::{Case, GROUPS, Group};
use rpcbench_contract::{Need, Profile, Shape};
use rpcbench_record::Protocol;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/README.md");

/// Shared by all four variants of Thrift, which the page calls `thrift*`.
const THRIFT: &str = "thrift, thrift-compact, thrift-buffered, thrift-buffered-compact";

/// The protocols that meet a condition; those that don't, if that is shorter.
fn protocols(meets: impl Fn(&Profile) -> bool) -> String {
    let (meeting, rest): (Vec<_>, Vec<_>) =
        Protocol::ALL.into_iter().partition(|it| meets(Profile::of(*it)));
    match rest[..] {
        [] => return "all".to_owned(),
        [only] => return format!("all but {only}"),
        _ => {}
    }
    let names: Vec<_> = meeting.into_iter().map(Protocol::name).collect();
    names.join(", ").replace(THRIFT, "thrift*")
}

fn table(group: &Group) -> String {
    let row = |case: &Case| {
        let runs_on = protocols(|profile| case.unmet(profile).is_none());
        format!("| `{}` | {} | {runs_on} |\n", case.name(), case.verifies())
    };
    let rows: String = group.cases.iter().map(row).collect();
    format!("### {}\n\n| case | verifies | runs on |\n|---|---|---|\n{rows}\n", group.title)
}

fn offers() -> String {
    let row = |need| format!("| {need} | {} |\n", protocols(|profile| profile.offers(need)));
    let rows: String = Need::ALL.into_iter().map(row).collect();
    format!("| offers | protocols |\n|---|---|\n{rows}\n")
}

/// `page` with the text between the markers of `name` replaced.
fn replaced(page: &str, name: &str, by: &str) -> String {
    let begin = page.find(&format!("<!-- {name}:begin")).expect("a begin marker");
    let begin = begin + page[begin..].find('\n').expect("a line") + 1;
    let end = page.find(&format!("<!-- {name}:end")).expect("an end marker");
    format!("{}\n{by}{}", &page[..begin], &page[end..])
}

fn generated(page: &str) -> String {
    let cases: String = GROUPS.iter().map(table).collect();
    replaced(&replaced(page, "offers", &offers()), "cases", &cases)
}

#[test]
fn the_tables_are_current() {
    let page = fs::read_to_string(PATH).unwrap();
    assert!(
        page == generated(&page),
        "contract/README.md is not current; run `cargo test -p rpcbench-contract --test readme derive -- --ignored`"
    );
}

#[test]
fn the_readme_names_every_method() {
    let page = fs::read_to_string(PATH).unwrap();
    for shape in [Shape::Text(1), Shape::Record, Shape::Dto, Shape::Tree] {
        let method = shape.method();
        let row = format!("| `/{}/{}` |", method.service(), method.name());
        assert!(page.contains(&row), "contract/README.md has no line that begins\n{row}");
    }
}

#[test]
#[ignore = "writes the tables of contract/README.md"]
fn derive() {
    let page = fs::read_to_string(PATH).unwrap();
    fs::write(PATH, generated(&page)).unwrap();
}
