//! A connection without sockets: what it sends, how calls end, and what a hostile peer can do.

use std::sync::Arc;

use proptest::prelude::*;

use super::Connection;
use crate::nonce::Nonce;
use crate::patch::Patch;
use crate::payload::Filler;
use crate::protocol::{Allowance, Broken, Call, Connection as _, End, Events};
use crate::target::Target;
use rpcbench_clock::Nanos;

/// Records events of a connection; only the message `right` is right.
#[derive(Default)]
struct Seen(Vec<(Call, End)>, Option<Target>);

impl Events for Seen {
    fn verify(&mut self, _: &Call, message: &[u8]) -> bool {
        message == b"right"
    }

    fn malformed(&mut self, _: u32, problem: &str) {
        panic!("{problem}");
    }

    fn ended(&mut self, call: &Call, end: End) {
        self.0.push((*call, end));
    }

    fn target(&self, _: Call) -> Option<&Target> {
        self.1.as_ref()
    }
}

impl Seen {
    /// Due times of ended calls, and how they ended.
    fn ends(self) -> Vec<(u64, End)> {
        self.0.into_iter().map(|(call, end)| (call.due.0, end)).collect()
    }
}

const RIGHT: End = End::Answered { right: true };
const ACCEPTED: End = End::Accepted { right: true };

fn connection(in_flight: u32, allowance: &Arc<Allowance>) -> Connection {
    let templates = Connection::templates(&Filler::of(&[0, 5, 300]), "host:80");
    Connection::new(Arc::new(templates), in_flight, allowance, &mut Vec::new())
}

/// A connection with this many calls, due at 0, 1, ...
fn with_calls(calls: u64) -> Connection {
    let mut connection = connection(calls.max(1) as u32, &Arc::default());
    for due in (0..calls).map(Nanos) {
        assert!(connection.can_send());
        connection.send(Call { due, ..Call::default() }, &mut Vec::new());
    }
    connection.flushed(Nanos(100));
    connection
}

fn receive(connection: &mut Connection, bytes: &[u8]) -> Result<Seen, Broken> {
    let mut seen = Seen::default();
    connection.receive(bytes, &mut Vec::new(), &mut seen).map(|()| seen)
}

/// A reply of status 200 with this body and these header lines.
fn reply(fields: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn right() -> Vec<u8> {
    reply("", "right")
}

/// How two calls to `target` end with these replies, none of which may end the connection.
fn ends_of(target: &Target, replies: &str) -> [End; 2] {
    let payload = Filler { targets: vec![target.clone()], ..Filler::of(&[0]) };
    let templates = Arc::new(Connection::templates(&payload, "host:80"));
    let mut connection = Connection::new(templates, 2, &Arc::default(), &mut Vec::new());
    connection.send(Call::default(), &mut Vec::new());
    connection.send(Call::default(), &mut Vec::new());
    let mut seen = Seen(Vec::new(), Some(target.clone()));
    connection.receive(replies.as_bytes(), &mut Vec::new(), &mut seen).unwrap();
    assert!(connection.is_open());
    seen.0.into_iter().map(|(_, end)| end).collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn replies_to_head_have_no_body() {
    let target = Target { http_method: "HEAD".to_owned(), ..Target::new("/") };
    let empty = End::Answered { right: false };
    let replies = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(ends_of(&target, replies), [empty.clone(), empty]);
}

#[test]
fn accepted_statuses_are_answers_with_their_whole_body() {
    let target = Target { accepted: vec![201..=299, 404..=404], ..Target::new("/") };
    let (no, not_found) = ("HTTP/1.1 403 No", "HTTP/1.1 404 No");
    let body = "\r\nContent-Length: 5\r\n\r\nright";
    let refused = End::status(403, "right");
    assert_eq!(ends_of(&target, &[not_found, body, no, body].concat()), [ACCEPTED, refused]);
    let none = "HTTP/1.1 204 None\r\n\r\n".repeat(2);
    assert_eq!(ends_of(&target, &none)[1], End::Accepted { right: false });
}

#[test]
fn each_request_has_its_own_head_and_may_have_no_body() {
    let get = Target { http_method: "GET".to_owned(), has_body: false, ..Target::new("/a") };
    let payload = Filler { targets: vec![get, Target::new("/b")], ..Filler::of(&[0, 2]) };
    let templates = Arc::new(Connection::templates(&payload, "host:80"));
    let mut connection = Connection::new(templates, 2, &Arc::default(), &mut Vec::new());
    let sent = [0, 1].map(|request| {
        let mut out = Vec::new();
        connection.send(Call { request, ..Call::default() }, &mut out);
        String::from_utf8(out).unwrap()
    });
    assert!(sent[0].starts_with("GET /a HTTP/1.1\r\n") && sent[0].ends_with("\r\n\r\n"));
    assert!(!sent[0].contains("Content-Length"), "{}", sent[0]);
    assert!(sent[1].starts_with("POST /b HTTP/1.1\r\n"), "{}", sent[1]);
    assert!(sent[1].ends_with("\r\nContent-Length: 2\r\n\r\nxx"), "{}", sent[1]);
}

#[test]
fn request_is_a_post_of_its_json() {
    let headers = vec!["x-trace: 7".parse().unwrap()];
    let payload = Filler {
        targets: vec![Target { headers, ..Target::new("/pkg.Service/Method") }],
        patches: vec![Patch::nonce(9..13)],
        ..Filler::new(vec![br#"{"text":"0123"}"#.to_vec()])
    };
    let templates = Arc::new(Connection::templates(&payload, "host:80"));
    let mut out = Vec::new();
    let mut connection = Connection::new(templates, 2, &Arc::default(), &mut out);
    assert!(out.is_empty() && connection.is_open() && !connection.is_handshaking());
    connection.send(Call { nonce: Nonce::new(0xabc), ..Call::default() }, &mut out);
    let sent = String::from_utf8(out).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        sent,
        format!(
            "POST /pkg.Service/Method HTTP/1.1\r\nHost: host:80\r\nContent-Type: application/json\r\n\
             User-Agent: rpcbench/{version}\r\nx-trace: 7\r\nContent-Length: 15\r\n\r\n{{\"text\":\"@JKL\"}}"
        )
    );
    assert_eq!(connection.open_calls(), 1);
}

#[test]
fn as_many_calls_are_open_as_the_connection_is_made_for() {
    for most in [1, 3] {
        let mut connection = with_calls(most);
        assert!(!connection.can_send());
        assert_eq!(receive(&mut connection, &right()).unwrap().ends(), [(0, RIGHT)]);
        assert!(connection.can_send());
        assert_eq!(u64::from(connection.open_calls()), most - 1);
    }
}

#[test]
fn replies_belong_to_calls_in_their_order() {
    let mut connection = with_calls(3);
    let stream = [right(), reply("", "wrong"), reply("Date: now\r\n", "right")].concat();
    let seen = receive(&mut connection, &stream).unwrap();
    assert!(seen.0.iter().all(|(call, _)| call.written == Nanos(100)));
    let wrong = End::Answered { right: false };
    assert_eq!(seen.ends(), [(0, RIGHT), (1, wrong), (2, RIGHT)]);
}

#[test]
fn only_200_is_a_success_and_the_connection_continues_after_others() {
    let mut connection = with_calls(5);
    let stream = "HTTP/1.1 404 Nope\r\nContent-Length: 16\r\n\r\n{\n \"\x1b[2Jno\": 1}\n\
        HTTP/1.1 204 No Content\r\n\r\n\
        HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nright\
        HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let status = |code, message: &str| End::status(code, message);
    let missing = "{\\n \"\\u{1b}[2Jno\": 1}";
    assert_eq!(
        receive(&mut connection, stream.as_bytes()).unwrap().ends(),
        [
            (0, status(404, missing)),
            (1, status(204, "")),
            (2, status(201, "right")),
            (3, status(503, "")),
        ]
    );
    assert_eq!(receive(&mut connection, &right()).unwrap().ends(), [(4, RIGHT)]);
    assert!(connection.is_open());
}

#[test]
fn error_snippet_is_cut_at_a_character_boundary() {
    let body = "\u{20ac}".repeat(100);
    let bytes = format!("HTTP/1.1 500 No\r\nContent-Length: 300\r\n\r\n{body}");
    let seen = receive(&mut with_calls(1), bytes.as_bytes()).unwrap().ends();
    assert_eq!(seen, [(0, End::status(500, "\u{20ac}".repeat(66)))]);
}

#[test]
fn calls_behind_a_last_reply_are_refused_and_no_more_are_sent() {
    let mut connection = with_calls(3);
    let bytes = reply("Connection: close\r\n", "right");
    let (head, body) = bytes.split_at(bytes.len() - 2);
    let seen = receive(&mut connection, head).unwrap().ends();
    assert_eq!(seen, [(1, End::Refused), (2, End::Refused)]);
    assert!(!connection.is_open() && !connection.can_send() && !connection.is_finished());
    assert_eq!(receive(&mut connection, body).unwrap().ends(), [(0, RIGHT)]);
    assert!(connection.is_finished());
    assert_eq!(connection.close_reason(), "peer ended the connection with a reply that said so");
}

#[test]
fn reply_without_length_is_whole_when_the_peer_closes() {
    let mut connection = with_calls(2);
    let seen = receive(&mut connection, b"HTTP/1.1 200 OK\r\n\r\nri").unwrap().ends();
    assert_eq!(seen, [(1, End::Refused)]);
    assert_eq!(receive(&mut connection, b"ght").unwrap().ends(), []);
    let mut seen = Seen::default();
    connection.closed(&mut seen);
    assert_eq!(seen.ends(), [(0, RIGHT)]);
    assert!(connection.is_finished() && connection.abandon().is_empty());
}

#[test]
fn peer_that_closes_too_early_ends_no_call() {
    let amid = "peer closed the connection in the middle of a reply";
    for (bytes, close_reason) in [
        (&b""[..], "peer closed the connection"),
        (b"HTTP/1.1 200 OK\r\nCont", amid),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", amid),
        (b"HTTP/1.1 100 Go on\r\n\r\n", amid),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nright\r\n0\r\n", amid),
    ] {
        let mut connection = with_calls(1);
        let mut seen = receive(&mut connection, bytes).unwrap();
        connection.closed(&mut seen);
        assert_eq!(seen.0, []);
        assert_eq!(connection.close_reason(), close_reason);
        assert_eq!(connection.abandon().len(), 1);
    }
}

#[test]
fn unexpected_replies_break_the_connection() {
    let broken = |calls, bytes: &[u8]| {
        receive(&mut with_calls(calls), bytes).map(|_| ()).unwrap_err().to_string()
    };
    let to_no_call = "peer broke json: a reply to no call, or a body longer than its head says";
    assert_eq!(broken(0, &right()), to_no_call);
    assert_eq!(broken(1, &right().repeat(2)), to_no_call);
    assert_eq!(broken(1, &reply("Connection: close\r\n", "right").repeat(2)), to_no_call);
    assert_eq!(broken(1, b"HTTP/1.1 204 No Content\r\n\r\n{}"), to_no_call);
    assert_eq!(broken(1, b"\0\0\0\x05right"), "peer broke json: a reply that is not HTTP/1");
}

#[test]
fn late_reply_is_not_taken_for_that_of_another_call() {
    let mut connection = with_calls(3);
    let late = connection.expire(Nanos(0), &mut Vec::new());
    assert_eq!(late.iter().map(|call| call.due).collect::<Vec<_>>(), [Nanos(0)]);
    assert!(!connection.can_send() && !connection.is_finished() && connection.open_calls() == 2);
    let stream = [reply("", "late"), right()].concat();
    assert_eq!(receive(&mut connection, &stream).unwrap().ends(), [(1, RIGHT)]);
    assert_eq!(connection.close_reason(), "a call ran out of time");
    receive(&mut connection, b"HTTP/1.1 200 OK").unwrap();
    assert_eq!(connection.expire(Nanos(2), &mut Vec::new()).len(), 1);
    assert!(connection.is_finished() && connection.abandon().is_empty());
    assert_eq!(connection.close_reason(), "a call ran out of time");
}

#[test]
fn calls_are_refused_behind_the_last_reply_to_one_out_of_time() {
    let mut connection = with_calls(2);
    connection.expire(Nanos(0), &mut Vec::new());
    let seen = receive(&mut connection, &reply("Connection: close\r\n", "late")).unwrap().ends();
    assert_eq!(seen, [(1, End::Refused)]);
    assert!(connection.is_finished());
}

#[test]
fn reply_may_come_before_its_request_counts_as_written() {
    let mut connection = connection(2, &Arc::default());
    (0..2).for_each(|_| connection.send(Call::default(), &mut Vec::new()));
    assert_eq!(receive(&mut connection, &right()).unwrap().0[0].0.written, Nanos(0));
    connection.flushed(Nanos(7));
    assert_eq!(receive(&mut connection, &right()).unwrap().0[0].0.written, Nanos(7));
}

#[test]
fn unfinished_reply_takes_what_all_connections_share() {
    let allowance = Arc::new(Allowance::new(1000));
    let (mut one, mut other) = (connection(1, &allowance), connection(1, &allowance));
    for connection in [&mut one, &mut other] {
        connection.send(Call::default(), &mut Vec::new());
    }
    let part = &reply("", &"x".repeat(1000))[..700];
    assert!(receive(&mut one, part).is_ok() && allowance.taken() >= 600);
    assert!(receive(&mut other, part).is_err());
    drop(one);
    assert_eq!(allowance.taken(), 0);
}

proptest! {
    /// However replies are cut, each call ends once, and at most one incomplete reply is kept.
    #[test]
    fn replies_may_be_cut_anywhere(
        bodies in prop::collection::vec(0_usize..300, 1..20),
        cuts in prop::collection::vec(1_usize..400, 1..50),
    ) {
        let mut connection = with_calls(bodies.len() as u64);
        let mut rest: Vec<u8> =
            bodies.iter().flat_map(|length| reply("", &"x".repeat(*length))).collect();
        let mut ended = 0;
        for cut in cuts.iter().cycle() {
            let part: Vec<u8> = rest.drain(..rest.len().min(*cut)).collect();
            ended += receive(&mut connection, &part).unwrap().0.len();
            prop_assert!(connection.footprint().0 <= 2 * 400);
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!((ended, connection.open_calls()), (bodies.len(), 0));
    }

    /// Any bytes end in outcomes or in a broken connection, and every call ends once.
    #[test]
    fn arbitrary_bytes_are_handled(bytes in "(HTTP/1.[01] [1-5]0[0-4] \r\n|Content-Length: [0-9]|Connection: close|\r\n|[a-z]|0){0,30}") {
        let mut connection = with_calls(3);
        let mut seen = Seen::default();
        let _ = connection.receive(bytes.as_bytes(), &mut Vec::new(), &mut seen);
        connection.closed(&mut seen);
        prop_assert_eq!(seen.0.len() + connection.abandon().len(), 3);
    }
}
