//! The tables of `contract/README.md` that are generated from the code.

use std::fs;

use rpcbench_contract::cases::{Case, GROUPS, Group, TLS_CASES, TlsCase};
use rpcbench_contract::{AfterRefusal, Encoding, Profile, Shape};
use rpcbench_record::Protocol;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/README.md");

/// All four variants of Thrift, which the page calls `thrift*`.
const THRIFT: &str = "thrift, thrift-compact, thrift-buffered, thrift-buffered-compact";

/// Where a case runs that names no protocols.
const USUAL: &str = "all but tcp-echo";

/// The protocols that meet a condition, or `all but` the only one that does not.
fn protocols(meets: impl Fn(&Profile) -> bool) -> String {
    let (meeting, rest): (Vec<_>, Vec<_>) =
        Protocol::with_contract().partition(|it| meets(Profile::of(*it)));
    match rest[..] {
        [] => return "all".to_owned(),
        [only] => return format!("all but {only}"),
        _ => {}
    }
    let names: Vec<_> = meeting.into_iter().map(Protocol::name).collect();
    names.join(", ").replace(THRIFT, "thrift*")
}

/// Protocols are named once if all cases of the group run on the same ones, and so is what several cases in a row verify.
fn list(group: &Group) -> String {
    let runs_on = |case: &Case| protocols(|profile| case.unmet(profile).is_none());
    let shared = runs_on(&group.cases[0]);
    let is_shared = group.cases.iter().all(|case| runs_on(case) == shared);
    let item = |cases: &[Case]| {
        let names: Vec<_> = cases.iter().map(|case| format!("`{}`", case.name)).collect();
        let on = runs_on(&cases[0]);
        let on = if is_shared || on == USUAL { String::new() } else { format!(" ({on})") };
        format!("- {}{on}: {}\n", names.join(", "), cases[0].verifies)
    };
    let is_same = |a: &Case, b: &Case| a.verifies == b.verifies && runs_on(a) == runs_on(b);
    let items: String = group.cases.chunk_by(is_same).map(item).collect();
    let on = if is_shared { format!("On {shared}:\n\n") } else { String::new() };
    format!("### {}\n\n{on}{items}\n", group.title)
}

fn list_tls() -> String {
    let item = |case: &TlsCase| format!("- `{}`: {}\n", case.name, case.verifies);
    let items: String = TLS_CASES.iter().map(item).collect();
    format!(
        "### TLS\n\nOnly over TLS (`rpcbench check --tls`), after all others; the last one not in runs without resumption:\n\n{items}\n"
    )
}

/// Such as `404, 405 or 501`.
fn alternatives(codes: &[u32]) -> String {
    let codes: Vec<_> = codes.iter().map(u32::to_string).collect();
    match &codes[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => codes.concat(),
    }
}

fn protocol_table() -> String {
    let row = |protocol: Protocol| {
        let profile = Profile::of(protocol);
        let encoding = match profile.encoding {
            Encoding::Protobuf => "protobuf",
            Encoding::Json => "JSON",
            Encoding::ThriftBinary => {
                "Thrift's binary protocol, strict: messages begin with a version"
            }
            Encoding::ThriftCompact => "Thrift's compact protocol",
            Encoding::Opaque => {
                "none: the body is the request as protobuf, and the reply the same body"
            }
        };
        let missing = match (profile.unknown_method, profile.after_refusal) {
            ([], _) => "has neither methods nor statuses".to_owned(),
            (codes, AfterRefusal::MayCloseConnection) => {
                format!("exception {}", alternatives(codes))
            }
            (codes, AfterRefusal::KeepsConnection) => alternatives(codes),
        };
        let description = protocol.spec().description;
        format!("| `{protocol}` | {description} | {encoding} | {missing} |\n")
    };
    let rows: String = Protocol::with_contract().map(row).collect();
    format!(
        "| protocol | message | encoding | status of a missing method or service |\n|---|---|---|---|\n{rows}\n"
    )
}

/// `page` with the text between the markers of `name` replaced.
fn replaced(page: &str, name: &str, by: &str) -> String {
    let begin = page.find(&format!("<!-- {name}:begin")).expect("a begin marker");
    let begin = begin + page[begin..].find('\n').expect("a line") + 1;
    let end = page.find(&format!("<!-- {name}:end")).expect("an end marker");
    format!("{}\n{by}{}", &page[..begin], &page[end..])
}

fn generated(page: &str) -> String {
    let cases: String = GROUPS.iter().map(list).collect();
    let cases = cases + &list_tls();
    let page = replaced(page, "protocols", &protocol_table());
    replaced(&page, "cases", &cases)
}

#[test]
fn tables_are_current() {
    let page = fs::read_to_string(PATH).unwrap();
    assert!(
        page == generated(&page),
        "contract/README.md is not current; run `cargo test -p rpcbench-contract --test it readme::derive -- --ignored`"
    );
}

#[test]
fn readme_names_every_method() {
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
