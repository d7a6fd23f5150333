//! The cases of `tcp-echo`: echoes pass, and all other servers fail.

use std::collections::BTreeSet;

use rpcbench_contract::cases::{self, CallError, CheckReport, check};
use rpcbench_contract::{Method, Need, Profile};
use rpcbench_record::Protocol;

use super::servers::{Server, canned, floor, right};
use super::{failed, omitted, reason};

fn run(server: impl FnMut(Method, &[u8]) -> Result<Vec<u8>, CallError>) -> CheckReport {
    check(&mut Server(server), Profile::of(Protocol::TcpEcho), 7)
}

#[test]
fn echo_passes_every_case() {
    for seed in [0, 1, u64::MAX] {
        let report = check(&mut Server(floor), Profile::of(Protocol::TcpEcho), seed);
        assert_eq!(report.failed, []);
        assert_eq!(report.passed as usize, cases::applicable(Profile::of(Protocol::TcpEcho)).len());
    }
}

#[test]
fn cases_for_tcp_echo_need_no_decoding() {
    for case in cases::applicable(Profile::of(Protocol::TcpEcho)) {
        assert!(!case.needs.contains(&Need::Decoding), "{case:?}");
    }
    let left_out = omitted(Profile::of(Protocol::TcpEcho));
    let left_out: BTreeSet<_> = left_out.iter().map(|(case, _)| case.name).collect();
    for case in ["dto/extremes", "tree/empty", "record/absent", "tree/truncated", "method/unknown"]
    {
        assert!(left_out.contains(case), "{case}");
    }
}

#[test]
fn server_that_decodes_fails() {
    let report = run(right);
    assert!(report.failed.len() > 15, "{report:?}");
    insta::assert_snapshot!(reason(&report, "text/filled"), @"byte 0 of the reply: expected 0x0a, got 0x12");
}

#[test]
fn wrong_byte_fails_every_case() {
    let report = run(|_, body| {
        let mut reply = body.to_vec();
        if let Some(last) = reply.last_mut() {
            *last ^= 1;
        }
        Ok(reply)
    });
    assert_eq!(report.passed, 0);
}

#[test]
fn truncated_body_fails() {
    let report = run(|_, body| Ok(body[..body.len().min(65_535)].to_vec()));
    let longest = ["text/length-65535", "text/length-65536", "text/length-1048576"];
    let expected = ["body/length-1048576", "record/long-strings"];
    assert_eq!(failed(&report), longest.into_iter().chain(expected).collect());
    insta::assert_snapshot!(reason(&report, "body/length-1048576"), @"the reply has 65535 bytes; expected 1048576");
}

#[test]
fn canned_reply_fails() {
    let mut first = None;
    let report = run(|_, body| Ok(first.get_or_insert_with(|| body.to_vec()).clone()));
    for shape in ["text", "record", "dto", "tree"] {
        reason(&report, &format!("{shape}/many-requests"));
    }
    assert!(!run(canned()).failed.is_empty());
}

#[test]
fn losing_an_empty_body_or_reading_a_body_as_a_length_fails() {
    let report = run(|_, body| match body {
        [] => Err(CallError::Timeout),
        [0, 0, 0, 0, rest @ ..] => Ok(rest.to_vec()),
        [0xff, ..] => Err(CallError::Transport("closed".to_owned())),
        body => Ok(body.to_vec()),
    });
    let expected = ["body/empty", "body/like-a-length", "body/length-1048576"];
    assert_eq!(failed(&report), expected.into());
    insta::assert_snapshot!(reason(&report, "body/empty"), @"a valid request of 0 bytes failed: no answer in time");
}
