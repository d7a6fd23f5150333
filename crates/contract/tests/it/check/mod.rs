//! The checker itself: it must pass right servers and name the faults of others.

mod floor;
mod json;
mod json_servers;
mod servers;
mod thrift;
mod tls;

use std::collections::BTreeSet;

use rpcbench_contract::cases::{self, CallError, Case, CheckReport, check};
use rpcbench_contract::{Encoding, Method, Need, Profile};
use rpcbench_record::Protocol;
use servers::{Server, canned, eager, keeping, lazy, now_and_then, replacing, right, skim, status};

fn run(server: impl FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError>) -> CheckReport {
    check(&mut Server(server), Profile::of(Protocol::Grpc), 7)
}

/// The cases that apply to gRPC.
fn cases() -> Vec<Case> {
    cases::applicable(Profile::of(Protocol::Grpc))
}

/// The cases that do not apply to a protocol, each with the need that it does not meet.
fn omitted(profile: &Profile) -> Vec<(Case, Need)> {
    cases::all().into_iter().filter_map(|case| Some((case, case.unmet(profile)?))).collect()
}

fn failed(report: &CheckReport) -> BTreeSet<&str> {
    report.failed.iter().map(|failure| failure.case).collect()
}

fn reason<'a>(report: &'a CheckReport, case: &str) -> &'a str {
    let failure = report.failed.iter().find(|failure| failure.case == case);
    &failure.unwrap_or_else(|| panic!("{case} passed")).reason
}

/// Cases that start with one of the prefixes.
fn named(prefixes: &[&str]) -> BTreeSet<&'static str> {
    let of = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    cases().iter().map(|case| case.name).filter(|name| of(name)).collect()
}

#[test]
fn names_are_unique() {
    let names: BTreeSet<_> = cases::all().iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases::all().len());
}

#[test]
fn each_case_either_applies_or_is_left_out_for_a_reason() {
    for profile in Protocol::with_contract().map(Profile::of) {
        let tried = cases::applicable(profile).len();
        assert_eq!(tried + omitted(profile).len(), cases::all().len());
        for (case, need) in omitted(profile) {
            assert!(case.needs.contains(&need) && !profile.offers(need), "{case:?}: {need}");
        }
    }
    let of_each = Protocol::with_contract().map(Profile::of).map(|it| cases::applicable(it).len());
    assert_eq!(of_each.collect::<Vec<_>>(), [62, 45, 45, 62, 41, 42, 41, 42, 21]);
}

#[test]
fn every_case_applies_to_a_protocol_and_every_need_to_a_case() {
    for case in cases::all() {
        assert!(
            Protocol::with_contract().any(|it| case.unmet(Profile::of(it)).is_none()),
            "{case:?}"
        );
    }
    let needs = [
        Need::Decoding,
        Need::NonFinite,
        Need::AbsentContent,
        Need::EmptyMembers,
        Need::UnknownFields,
        Need::UnknownMethod,
        Need::UnknownService,
        Need::Wire(Encoding::Protobuf),
        Need::Wire(Encoding::Json),
        Need::Thrift,
        Need::Wire(Encoding::ThriftCompact),
        Need::Wire(Encoding::Opaque),
    ];
    for need in needs {
        assert!(cases::all().iter().any(|case| case.needs.contains(&need)), "{need}");
    }
}

#[test]
fn right_server_passes_every_case() {
    for seed in [0, 1, u64::MAX] {
        let report = check(&mut Server(right), Profile::of(Protocol::Grpc), seed);
        assert_eq!(report.failed, []);
        assert_eq!(report.passed as usize, cases().len());
    }
}

#[test]
fn copying_an_absent_message_as_an_empty_one_passes() {
    assert_eq!(run(eager).failed, []);
}

#[test]
fn canned_reply_fails_cases_with_different_requests() {
    let report = run(canned());
    for case in named(&["text/many", "record/many", "dto/many", "tree/many", "text/length"]) {
        reason(&report, case);
    }
    // The canned reply is wrong even for its own text: each request has another nonce.
    let text = reason(&report, "text/many-requests");
    assert!(text.starts_with("1250 of 1250 replies were wrong; call 1: echo: "), "{text}");
}

#[test]
fn returning_the_request_fails() {
    let report = run(|_, body| Ok(body.to_vec()));
    // An empty reply to an empty request is right.
    let empty = named(&["record/absent", "dto/absent", "tree/absent"]);
    assert!(failed(&report).is_disjoint(&empty));
    assert_eq!(report.failed.len() + empty.len(), cases().len());
    insta::assert_snapshot!(reason(&report, "record/filled"), @"the reply is the request, byte for byte; decode it and return its content as `echo`");
    insta::assert_snapshot!(reason(&report, "wire/reply-is-not-request"), @"the reply is the request, byte for byte; decode it and return its content as `echo`");
}

#[test]
fn returning_field_1_as_field_2_without_decoding_fails() {
    let report = run(|method, body| match right(method, &[]) {
        Ok(_) => Ok([&[0x12], body.get(1..).unwrap_or_default()].concat()),
        error => error,
    });
    for case in named(&["wire/reply", "wire/unknown", "text/truncated", "malformed/"]) {
        reason(&report, case);
    }
}

#[test]
fn keeping_unknown_fields_passes() {
    assert_eq!(run(keeping).failed, []);
}

#[test]
fn copying_content_without_decoding_it_fails() {
    let report = run(skim);
    let copied = ["overlong", "twice", "reordered", "unknown-inside", "many-requests"]
        .iter()
        .flat_map(|form| ["record", "dto", "tree"].map(|shape| format!("{shape}/{form}")));
    let refused = ["text", "record", "dto", "tree"].map(|shape| format!("{shape}/invalid-utf8"));
    let expected: BTreeSet<_> = copied.chain(refused).collect();
    assert_eq!(failed(&report), expected.iter().map(String::as_str).collect());
    insta::assert_snapshot!(reason(&report, "tree/twice"), @"echo.name occurs twice in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(reason(&report, "dto/overlong"), @"echo.prop1 takes more bytes than it needs in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(reason(&report, "text/invalid-utf8"), @"content with bytes that are not UTF-8 was answered with OK (reply: 102 B); expected an error status");
    insta::assert_snapshot!(reason(&report, "tree/invalid-utf8"), @"content.name with bytes that are not UTF-8 was answered with OK (reply: 387 B); expected an error status");
}

#[test]
fn copying_nested_messages_fails() {
    let report = run(lazy);
    let expected =
        ["overlong", "twice", "reordered", "unknown-inside", "many-requests", "invalid-utf8"];
    let expected = expected.map(|case| format!("tree/{case}"));
    assert_eq!(failed(&report), expected.iter().map(String::as_str).collect());
    insta::assert_snapshot!(reason(&report, "tree/twice"), @"echo.left.name occurs twice in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(reason(&report, "tree/unknown-inside"), @"echo.left.name takes more bytes than it needs in the reply, which no encoder writes; decode every level of the request and encode its content again");
}

#[test]
fn replacing_invalid_utf8_fails() {
    let report = run(replacing);
    assert_eq!(failed(&report), ["text/invalid-utf8"].into());
}

#[test]
fn server_that_always_fails_passes_no_case() {
    let report = run(|_, _| Err(status(13, "internal\nerror")));
    assert_eq!(report.passed, 0, "a refusal counts only if the server then serves");
    insta::assert_snapshot!(reason(&report, "text/filled"), @r#"a valid request of 102 bytes failed: status 13 ("internal\nerror")"#);
    insta::assert_snapshot!(reason(&report, "method/unknown"), @r#"rpcbench.v1.Echo/Missing: status 13 ("internal\nerror"); expected status 12"#);
    insta::assert_snapshot!(reason(&report, "tree/many-requests"), @r#"call 1 of 1250 failed: status 13 ("internal\nerror")"#);
}

#[test]
fn answering_malformed_requests_with_ok_fails() {
    let report = run(|method, body| match right(method, body) {
        Err(CallError::Status { code: 13, .. }) => Ok(Vec::new()),
        other => other,
    });
    let mut refused = named(&["malformed/"]);
    refused.extend(
        cases()
            .iter()
            .map(|case| case.name)
            .filter(|name| name.ends_with("/truncated") || name.ends_with("/invalid-utf8")),
    );
    assert_eq!(failed(&report), refused);
    insta::assert_snapshot!(reason(&report, "text/truncated"), @"a Text request cut to 1 of 102 bytes was answered with OK (reply: 0 B); expected an error status");
}

#[test]
fn dropping_the_connection_over_a_malformed_request_fails() {
    let report = run(|method, body| match right(method, body) {
        Err(CallError::Status { code: 13, .. }) => Err(CallError::Transport("reset".to_owned())),
        other => other,
    });
    insta::assert_snapshot!(reason(&report, "malformed/unfinished-tag"), @"a tag without its last byte, sent to Text, got no status: transport: reset; expected an error status");
}

#[test]
fn answering_unknown_methods_fails() {
    let report = run(|method, body| match right(method, body) {
        Err(CallError::Status { code: 12, .. }) => right(Method::Text, body),
        other => other,
    });
    assert_eq!(failed(&report), named(&["method/"]));
    insta::assert_snapshot!(reason(&report, "method/unknown"), @"rpcbench.v1.Echo/Missing: answered with OK (reply: 102 B); expected status 12");
}

#[test]
fn being_wrong_once_in_a_thousand_calls_fails() {
    for every in [1000, 997, 250] {
        let report = run(now_and_then(every));
        assert!(!report.failed.is_empty(), "wrong once in {every} passed");
    }
}

#[test]
fn server_that_loses_half_of_each_integer_fails() {
    use prost::Message as _;
    let report = run(|method, body| match method {
        Method::Record => {
            let reply = right(method, body)?;
            let mut reply = rpcbench_contract::pb::RecordReply::decode(reply.as_slice()).unwrap();
            if let Some(echo) = &mut reply.echo {
                echo.field22 = echo.field22 as f64 as i64;
            }
            Ok(reply.encode_to_vec())
        }
        _ => right(method, body),
    });
    insta::assert_snapshot!(reason(&report, "record/extremes"), @"echo.field22: expected 9007199254740993, got 9007199254740992");
}

#[test]
fn server_that_stops_answering_is_given_up() {
    let mut calls = 0;
    let report = run(|_, _| {
        calls += 1;
        Err(CallError::Timeout)
    });
    assert_eq!(calls, 3);
    assert_eq!(report.failed.len(), cases().len());
    insta::assert_snapshot!(report.failed[2], @"dto/filled: a valid request of 167 bytes failed: no answer in time");
    insta::assert_snapshot!(report.failed[3], @"tree/filled: skipped: the server stopped answering");
}

#[test]
fn reasons_are_single_short_lines() {
    let report = run(|_, _| Err(status(2, &"many\nlines\n".repeat(1000))));
    for failure in &report.failed {
        assert!(!failure.reason.contains('\n') && failure.reason.len() < 400, "{failure}");
    }
}
