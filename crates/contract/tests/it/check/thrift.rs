//! The cases of Thrift, in each of its encodings.

use std::collections::BTreeSet;

use rpcbench_contract::cases::{self, CallError, Caller, CheckReport, check};
use rpcbench_contract::{Encoding, Method, Profile, thrift_reply};
use rpcbench_record::Protocol;

use super::servers::{Server, status};
use super::{failed, reason};

const PROTOCOLS: [Protocol; 4] = [
    Protocol::Thrift,
    Protocol::ThriftCompact,
    Protocol::ThriftBuffered,
    Protocol::ThriftBufferedCompact,
];

/// Right: closes the connection if it can't decode a request.
fn right(encoding: Encoding, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
    match method {
        Method::Missing => Err(status(1, "no such method")),
        _ => thrift_reply(encoding, method, body).map_err(CallError::Closed),
    }
}

/// The report on a server that gets the right reply as an argument.
fn run<F>(profile: &Profile, mut server: F) -> CheckReport
where
    F: FnMut(Method, &[u8], Result<Vec<u8>, CallError>) -> Result<Vec<u8>, CallError>,
{
    let encoding = profile.encoding;
    let mut server =
        Server(move |method, body: &[u8]| server(method, body, right(encoding, method, body)));
    check(&mut server, profile, 7)
}

#[test]
fn right_server_passes_every_case() {
    for protocol in PROTOCOLS {
        let report = run(Profile::of(protocol), |_, _, right| right);
        assert_eq!(report.failed, [], "{protocol}");
        assert_eq!(report.passed as usize, cases::applicable(Profile::of(protocol)).len());
    }
}

#[test]
fn exception_in_place_of_a_closed_connection_passes() {
    let report = run(Profile::of(Protocol::Thrift), |_, _, right| match right {
        Err(CallError::Closed(reason)) => Err(status(7, &reason)),
        other => other,
    });
    assert_eq!(report.failed, []);
}

#[test]
fn malformed_request_is_the_last_one_on_its_connection() {
    struct Counting(u32);

    impl Caller for Counting {
        fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
            right(Encoding::ThriftBinary, method, body)
        }

        fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
            self.0 += 1;
            assert!(right(Encoding::ThriftBinary, method, body).is_err());
            self.call(method, body)
        }
    }

    let mut server = Counting(0);
    assert_eq!(check(&mut server, Profile::of(Protocol::Thrift), 7).failed, []);
    assert_eq!(server.0, 4 * 3 + 4 + 4);
}

#[test]
fn dropping_a_valid_request_or_leaving_a_malformed_one_unanswered_fails() {
    let report = run(Profile::of(Protocol::Thrift), |method, _, right| match method {
        Method::Dto => Err(CallError::Closed("peer closed the connection".to_owned())),
        _ => right,
    });
    insta::assert_snapshot!(reason(&report, "dto/filled"), @"a valid request of 200 bytes failed: transport: peer closed the connection");
    let report = run(Profile::of(Protocol::Thrift), |_, _, right| match right {
        Err(CallError::Closed(_)) => Err(CallError::Timeout),
        other => other,
    });
    insta::assert_snapshot!(reason(&report, "struct/truncated"), @"a Text request cut to 1 of 108 bytes was not refused: no answer in time; expected an exception or a closed connection");
}

#[test]
fn answering_malformed_requests_fails() {
    let report = run(Profile::of(Protocol::ThriftCompact), |_, _, right| match right {
        Err(CallError::Closed(_)) => Ok(vec![0]),
        other => other,
    });
    let expected = ["struct/length-past-end", "struct/truncated", "struct/unknown-type"];
    assert_eq!(failed(&report), expected.into());
    insta::assert_snapshot!(reason(&report, "struct/truncated"), @"a Text request cut to 1 of 103 bytes was answered (reply: 1 B); expected an exception or a closed connection");
}

#[test]
fn returning_the_request_or_a_canned_reply_fails() {
    for protocol in PROTOCOLS {
        let report = run(Profile::of(protocol), |_, body, _| Ok(body.to_vec()));
        insta::allow_duplicates! {
            insta::assert_snapshot!(reason(&report, "record/filled"), @"the reply is the request, byte for byte; decode it and return its content as `echo`");
        }
        let mut first = std::collections::HashMap::new();
        let report = run(Profile::of(protocol), |method, _, right| {
            right.map(|reply| first.entry(method).or_insert(reply).clone())
        });
        for shape in ["text", "record", "dto", "tree"] {
            reason(&report, &format!("{shape}/many-requests"));
        }
    }
}

/// Changes field 1 to field 2 at the beginning of a request and copies the rest.
fn swapped(body: &[u8]) -> Vec<u8> {
    let mut reply = body.to_vec();
    match &mut reply[..] {
        // The binary protocol.
        [11 | 12, 0, number @ 1, ..] => *number = 2,
        // The compact one, in the short form and in the overlong long form.
        [head @ (0x18 | 0x1c), ..] => *head += 0x10,
        [8 | 12, number @ 0x82, 0, ..] => *number = 0x84,
        _ => {}
    }
    reply
}

#[test]
fn copying_content_without_decoding_it_fails() {
    for protocol in PROTOCOLS {
        let report = run(Profile::of(protocol), |_, body, right| right.map(|_| swapped(body)));
        let failed = failed(&report);
        let shapes = ["record", "dto", "tree"].map(|shape| format!("{shape}/many-requests"));
        let expected: BTreeSet<&str> =
            ["struct/twice", "struct/unknown-inside", "struct/reordered"]
                .into_iter()
                .chain(shapes.iter().map(String::as_str))
                .collect();
        assert!(failed.is_superset(&expected), "{protocol}: {failed:?}");
        assert!(!failed.contains("record/filled") && !failed.contains("tree/extremes"));
    }
    let report =
        run(Profile::of(Protocol::ThriftCompact), |_, body, right| right.map(|_| swapped(body)));
    insta::assert_snapshot!(reason(&report, "struct/overlong"), @"Text: a field header takes more bytes than it needs in the reply, which no encoder writes; decode every level of the request and encode its content again");
}

#[test]
fn wrong_exception_for_an_unknown_method_fails() {
    let report = run(Profile::of(Protocol::Thrift), |method, _, right| match method {
        Method::Missing => Err(status(6, "internal error")),
        _ => right,
    });
    assert_eq!(failed(&report), ["method/unknown"].into());
    insta::assert_snapshot!(reason(&report, "method/unknown"), @r#"rpcbench.v1.Echo/Missing: status 6 ("internal error"); expected status 1 or 0"#);
}
