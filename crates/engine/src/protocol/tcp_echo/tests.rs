//! A connection without sockets: what it sends, how calls end, and what a hostile peer can do.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::payload::Filler;
use crate::protocol::{Allowance, Broken, Connection as _, End, Events};
use rpcbench_clock::Nanos;

/// Records events of a connection; the right reply to request 0 is empty.
#[derive(Default)]
struct Seen(Vec<(Call, End)>);

impl Events for Seen {
    fn verify(&mut self, call: &Call, message: &[u8]) -> bool {
        message.len() == LENGTHS[call.request as usize] && message.iter().all(|byte| *byte == b'x')
    }

    fn malformed(&mut self, _: u32, problem: &str) {
        panic!("{problem}");
    }

    fn ended(&mut self, call: &Call, end: End) {
        self.0.push((*call, end));
    }
}

const LENGTHS: [usize; 3] = [0, 5, 300];

fn connection() -> (Connection, Vec<u8>) {
    let templates = Connection::templates(&Filler::of(&LENGTHS), "host");
    let mut out = Vec::new();
    (Connection::new(Arc::new(templates), 4, &Arc::default(), &mut out), out)
}

/// The connection, with calls that are due at 0, 1, ..., and what it wrote.
fn with_calls(requests: &[u32]) -> (Connection, Vec<u8>) {
    let (mut connection, mut out) = connection();
    for (due, request) in (0..).map(Nanos).zip(requests) {
        assert!(connection.can_send());
        connection.send(Call { request: *request, due, ..Call::default() }, &mut out);
    }
    connection.flushed(Nanos(100));
    (connection, out)
}

fn receive(connection: &mut Connection, bytes: &[u8]) -> Result<Seen, Broken> {
    let mut seen = Seen::default();
    connection.receive(bytes, &mut Vec::new(), &mut seen).map(|()| seen)
}

#[test]
fn request_is_its_length_and_its_bytes() {
    let (connection, out) = with_calls(&[1, 0]);
    assert_eq!(out, b"\0\0\0\x05xxxxx\0\0\0\0");
    assert_eq!(connection.open_calls(), 2);
    assert!(connection.is_open() && !connection.is_handshaking() && !connection.is_finished());
}

#[test]
fn another_reply_is_a_wrong_answer_to_the_call_whose_turn_it_is() {
    let (mut connection, _) = with_calls(&[1, 0]);
    let seen = receive(&mut connection, b"\0\0\0\0\0\0\0\0").unwrap();
    let ends: Vec<_> = seen.0.iter().map(|(call, end)| (call.request, end.clone())).collect();
    let answered = |right| End::Answered { right };
    assert_eq!(ends, [(1, answered(false)), (0, answered(true))]);
    assert_eq!(seen.0[0].0.written, Nanos(100));
}

#[test]
fn reply_to_no_call_and_one_without_end_cost_the_connection() {
    let broken = |calls: &[u32], bytes: &[u8]| {
        receive(&mut with_calls(calls).0, bytes).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(broken(&[], b"\0\0\0\0"), "peer broke tcp-echo: a reply to no call");
    assert_eq!(broken(&[0], b"\0\0\0\0\0\0\0\0"), "peer broke tcp-echo: a reply to no call");
    assert_eq!(
        broken(&[0], b"HTTP/1.1 400 Bad Request"),
        "peer broke tcp-echo: a reply longer than 64 MiB; does the server speak tcp-echo?"
    );
}

#[test]
fn reply_may_come_before_its_request_counts_as_written() {
    let (mut connection, mut out) = connection();
    (0..2).for_each(|_| connection.send(Call::default(), &mut out));
    assert_eq!(receive(&mut connection, b"\0\0\0\0").unwrap().0[0].0.written, Nanos(0));
    connection.flushed(Nanos(7));
    assert_eq!(receive(&mut connection, b"\0\0\0\0").unwrap().0[0].0.written, Nanos(7));
}

#[test]
fn connection_with_a_timed_out_call_waits_for_its_other_calls() {
    let (mut connection, mut out) = with_calls(&[0, 0, 1]);
    let expired = connection.expire(Nanos(1), &mut out);
    assert_eq!(expired.iter().map(|call| call.due).collect::<Vec<_>>(), [Nanos(0), Nanos(1)]);
    assert!(!connection.can_send() && !connection.is_finished());
    let seen = receive(&mut connection, b"\0\0\0\0\0\0\0\0\0\0\0\x05xxxxx").unwrap();
    let ends: Vec<_> = seen.0.iter().map(|(call, end)| (call.due, end.clone())).collect();
    assert_eq!(ends, [(Nanos(2), End::Answered { right: true })]);
    assert!(connection.is_finished() && connection.close_reason() == "a call ran out of time");
}

#[test]
fn lost_connection_gives_back_its_calls() {
    let (mut connection, mut out) = with_calls(&[0, 1, 2]);
    connection.expire(Nanos(0), &mut out);
    let calls = connection.abandon();
    assert_eq!(calls.iter().map(|call| call.request).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(connection.open_calls(), 0);
}

proptest! {
    /// However the replies are cut, each call ends once, and at most one incomplete reply is kept.
    #[test]
    fn replies_may_be_cut_anywhere(
        requests in prop::collection::vec(0_u32..3, 1..20),
        cuts in prop::collection::vec(1_usize..400, 1..50),
    ) {
        let (mut connection, mut rest) = with_calls(&requests);
        let mut ended = Vec::new();
        for cut in cuts.iter().cycle() {
            let part: Vec<u8> = rest.drain(..rest.len().min(*cut)).collect();
            let seen = receive(&mut connection, &part).unwrap();
            ended.extend(seen.0.into_iter().map(|(call, end)| (call.request, end)));
            prop_assert!(connection.unfinished() < PREFIX + 300);
            if rest.is_empty() {
                break;
            }
        }
        let right = |request: &u32| (*request, End::Answered { right: true });
        prop_assert_eq!(ended, requests.iter().map(right).collect::<Vec<_>>());
        prop_assert_eq!(connection.open_calls(), 0);
    }

    /// Any bytes end in outcomes or in a broken connection, and every call ends once.
    #[test]
    fn arbitrary_bytes_are_handled(bytes in prop::collection::vec(0_u8..4, 0..200)) {
        let (mut connection, _) = with_calls(&[0, 1, 2]);
        let mut seen = Seen::default();
        let _ = connection.receive(&bytes, &mut Vec::new(), &mut seen);
        prop_assert_eq!(seen.0.len() + connection.abandon().len(), 3);
    }
}

#[test]
fn unfinished_reply_takes_what_all_connections_share() {
    let allowance = Arc::new(Allowance::new(1000));
    let templates = Arc::new(Connection::templates(&Filler::of(&LENGTHS), "host"));
    let connect = || Connection::new(Arc::clone(&templates), 1, &allowance, &mut Vec::new());
    let (mut one, mut other) = (connect(), connect());
    let part = [&[0, 0, 4, 0][..], &[b'x'; 600]].concat();
    assert!(receive(&mut one, &part).is_ok() && allowance.taken() >= part.len());
    assert!(receive(&mut other, &part).is_err());
    drop(one);
    assert_eq!(allowance.taken(), 0);
}
