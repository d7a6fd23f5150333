//! The cases of `json`: the behaviour of each library passes, and every cheat fails.

use std::collections::BTreeSet;

use rpcbench_contract::cases::{self, CallError, CheckReport, check};
use rpcbench_contract::{Method, Profile};
use rpcbench_record::Protocol;

use super::json_servers::{
    error_in_body, floating, key_swap, lenient, memo, plain, protobuf, skim, untyped,
};
use super::servers::{Server, status};
use super::{failed, omitted, reason};

fn run(server: impl FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError>) -> CheckReport {
    check(&mut Server(server), Profile::of(Protocol::Json), 7)
}

fn names(report: &CheckReport) -> String {
    failed(report).into_iter().collect::<Vec<_>>().join(" ")
}

#[test]
fn right_servers_pass_with_any_library() {
    type Answer = fn(Method, &[u8]) -> Result<Vec<u8>, CallError>;
    let servers: [(Answer, u64); 4] =
        [(protobuf, 0), (protobuf, u64::MAX), (plain, 1), (lenient, 2)];
    for (server, seed) in servers {
        let report = check(&mut Server(server), Profile::of(Protocol::Json), seed);
        assert_eq!(report.failed, []);
        assert_eq!(report.passed as usize, cases::applicable(Profile::of(Protocol::Json)).len());
    }
}

#[test]
fn cases_that_json_cannot_express_are_left_out() {
    let left_out = omitted(Profile::of(Protocol::Json));
    let left_out: BTreeSet<_> = left_out.iter().map(|(case, _)| case.name).collect();
    for case in ["dto/non-finite", "tree/non-finite", "record/absent", "wire/any-order"] {
        assert!(left_out.contains(case), "{case}");
    }
}

#[test]
fn returning_the_request_or_changing_its_key_fails() {
    let report = run(|_, body| Ok(body.to_vec()));
    assert_eq!(report.passed, 0);
    insta::assert_snapshot!(reason(&report, "dto/filled"), @"the reply is the request, byte for byte; decode it and return its content as `echo`");
    let report = run(key_swap);
    insta::assert_snapshot!(names(&report), @"dto/many-requests json/escapes json/malformed json/nesting json/no-base64 json/no-integer json/trailing json/truncated json/unknown-enum json/unknown-inside json/whitespace json/wrong-type record/many-requests text/many-requests tree/many-requests wire/unknown-fields");
    insta::assert_snapshot!(reason(&report, "tree/many-requests"), @"21 of 1250 replies were wrong; call 8: the reply is the request, byte for byte; decode it and return its content as `echo`");
}

#[test]
fn copying_content_without_decoding_it_fails() {
    let report = run(skim);
    insta::assert_snapshot!(names(&report), @"dto/many-requests json/escapes json/unknown-enum json/unknown-inside json/whitespace record/many-requests tree/many-requests wire/unknown-fields");
    insta::assert_snapshot!(reason(&report, "json/escapes"), @"Text: byte 9 escapes a letter or a digit in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(reason(&report, "json/whitespace"), @"Record: byte 10 is a tab, a carriage return or a needless space in the reply, which no encoder writes; decode every level of the request and encode its content again");
    insta::assert_snapshot!(reason(&report, "dto/many-requests"), @"20 of 1250 replies were wrong; call 8: byte 10 escapes a letter or a digit in the reply, which no encoder writes; decode every level of the request and encode its content again");
}

#[test]
fn server_without_types_fails() {
    let report = run(untyped);
    insta::assert_snapshot!(names(&report), @"json/no-base64 json/no-integer json/unknown-enum json/wrong-type");
    insta::assert_snapshot!(reason(&report, "json/wrong-type"), @"a value of the wrong type at `text` was answered with OK (reply: 16 B); expected an error status");
    insta::assert_snapshot!(reason(&report, "json/no-integer"), @r#""abc" at `record.field2` was answered with OK (reply: 1170 B); expected an error status"#);
    insta::assert_snapshot!(reason(&report, "json/unknown-enum"), @r#"an unknown enum name: echo.status: expected the name of one of the enum's values, got "STATUS_NOWHERE""#);
}

#[test]
fn losing_digits_of_an_integer_fails() {
    let report = run(floating);
    insta::assert_snapshot!(reason(&report, "record/extremes"), @"echo.field22: expected 9007199254740993, got 9007199254740992");
}

#[test]
fn ok_with_an_error_in_the_body_fails() {
    let report = run(error_in_body);
    insta::assert_snapshot!(names(&report), @"json/invalid-utf8 json/lone-surrogate json/malformed json/nesting json/no-base64 json/no-integer json/trailing json/truncated json/wrong-type method/unknown method/unknown-service");
    insta::assert_snapshot!(reason(&report, "json/truncated"), @"a Text request cut to 1 of 111 bytes was answered with OK (reply: 75 B); expected an error status");
    insta::assert_snapshot!(reason(&report, "json/trailing"), @r#"a request with trailing data: echo: expected "rdRlrESUcpIMm語pjLYfc".."JzVHnzWfUTCrKiTpoASn" (100 bytes), got """#);
    let report = run(|_, _| Ok(br#"{"error":"internal"}"#.to_vec()));
    assert_eq!(report.passed, 0);
    insta::assert_snapshot!(reason(&report, "text/filled"), @r#"echo: expected "rdRlrESUcpIMm語pjLYfc".."JzVHnzWfUTCrKiTpoASn" (100 bytes), got """#);
}

#[test]
fn cached_replies_fail() {
    for bytes in [0, 40] {
        let report = run(memo(bytes));
        for shape in ["text", "record", "dto", "tree"] {
            reason(&report, &format!("{shape}/many-requests"));
        }
    }
}

#[test]
fn only_status_4xx_and_5xx_refuse_a_request() {
    let report =
        run(|method, body| protobuf(method, body).map_err(|_| status(302, "see elsewhere")));
    insta::assert_snapshot!(reason(&report, "json/truncated"), @"a Text request cut to 1 of 111 bytes was answered with status 302; expected an error status");
    insta::assert_snapshot!(reason(&report, "method/unknown"), @r#"rpcbench.v1.Echo/Missing: status 302 ("see elsewhere"); expected status 404 or 405 or 501"#);
}

#[test]
fn unknown_path_may_get_three_statuses() {
    for (code, fails) in [(405, false), (501, false), (500, true)] {
        let report = run(|method, body| match protobuf(method, body) {
            Err(CallError::Status { code: 404, .. }) => Err(status(code, "")),
            other => other,
        });
        assert_eq!(failed(&report).contains("method/unknown"), fails, "{code}");
    }
}

#[test]
fn dropping_the_connection_over_a_malformed_request_fails() {
    let report = run(|method, body| match protobuf(method, body) {
        Err(CallError::Status { code: 400, .. }) => Err(CallError::Transport("reset".to_owned())),
        other => other,
    });
    insta::assert_snapshot!(names(&report), @"json/invalid-utf8 json/lone-surrogate json/malformed json/nesting json/no-base64 json/no-integer json/trailing json/truncated json/wrong-type");
}
