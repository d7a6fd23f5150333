//! Loads on peers that write invalid or hostile HTTP/1.1: the right outcome, within bounds, and no hang.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rpcbench_clock::Nanos;
use rpcbench_engine::{LoadPlan, Measurement};
use rpcbench_record::{Outcomes, Protocol};

use crate::support::{self, came, measure, open};

/// Bytes that the kernel may have taken but the client never read.
const IN_SOCKETS: usize = 16 << 20;
/// Of endless input, the client reads one body at most.
const MAX: usize = (64 << 20) + IN_SOCKETS;

/// A peer that answers with `head`, and then `rest` until the client has closed.
#[derive(Clone)]
struct Peer {
    head: Vec<u8>,
    rest: Vec<u8>,
    /// Maximum bytes that one connection took.
    taken: Arc<AtomicUsize>,
}

impl Peer {
    fn new(head: &str, rest: &str) -> Self {
        let rest = rest.repeat(if rest.is_empty() { 0 } else { 65_536 / rest.len() });
        Self { head: head.into(), rest: rest.into(), taken: Arc::default() }
    }

    fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = self.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let peer = peer.clone();
                thread::spawn(move || peer.insist(&stream));
            }
        });
        address
    }

    fn insist(&self, mut stream: &TcpStream) {
        let mut taken = 0;
        while matches!(stream.read(&mut [0; 65_536]), Ok(1..)) {
            let mut piece = &self.head;
            while taken <= 2 * MAX && stream.write_all(piece).is_ok() {
                taken += piece.len();
                piece = &self.rest;
                if piece.is_empty() {
                    break;
                }
            }
            self.taken.fetch_max(taken, Ordering::Relaxed);
        }
    }
}

/// A load of one call at a time. A busy machine takes longer than ten seconds for the largest body.
fn load(peer: &Peer) -> Measurement {
    let minute = Nanos::from_millis(60_000);
    let plan = support::plan(Protocol::Json, peer.start());
    measure(&mut open(&LoadPlan { timeout: minute, grace: minute, ..plan }, "text:5"), 100)
}

/// Asserts that each call is lost with its connection, for this reason, after at most `most` bytes.
fn loses(head: &str, rest: &str, reason: &str, most: usize) {
    let peer = Peer::new(head, rest);
    let (outcomes, examples) = came(load(&peer));
    let lost = outcomes.transport + outcomes.not_sent;
    let expected = Outcomes {
        transport: outcomes.transport,
        not_sent: outcomes.not_sent,
        ..Outcomes::default()
    };
    assert_eq!(outcomes, expected, "{head:?}: {examples:?}");
    assert!(lost > 0 && examples.iter().any(|it| it.contains(reason)), "{head:?}: {examples:?}");
    let taken = peer.taken.load(Ordering::Relaxed);
    assert!(taken <= most, "{head:?}: {taken} bytes");
}

#[test]
fn lengths_that_contradict_each_other_cost_the_connection() {
    for (fields, reason) in [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", "both Content-Length and"),
        ("Content-Length: 5\r\nContent-Length: 6", "more than one Content-Length"),
        ("Content-Length: 18446744073709551621", "a body above 4 GiB"),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n5\r\nright\r\n0\r\n\r\n");
        loses(&head, "", reason, IN_SOCKETS);
    }
}

#[test]
fn head_without_end_costs_the_connection() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
    loses(head, "X-More: of the same\r\n", "a head above 64 KiB", IN_SOCKETS);
    loses(&format!("{head}X-More: "), "of the same ", "a head above 64 KiB", IN_SOCKETS);
    let many = format!("{head}{}\r\n{{}}", "X-More: of the same\r\n".repeat(200));
    loses(&many, "", "a head of more than 128 fields", IN_SOCKETS);
}

#[test]
fn interim_replies_without_end_cost_the_connection() {
    let interim = "HTTP/1.1 102 Processing\r\n\r\n";
    loses(interim, interim, "replies of status 1xx without end", IN_SOCKETS);
}

#[test]
fn endless_tiny_chunks_break_the_connection() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let bomb = "chunks of next to nothing, without end";
    loses(head, "1\r\nx\r\n", bomb, IN_SOCKETS);
    loses(&format!("{head}1;"), "an extension", bomb, IN_SOCKETS);
    loses(&format!("{head}0\r\n"), "X-Trailer: a\r\n", bomb, IN_SOCKETS);
    loses(&format!("{head}ffffffffffffffff5\r\n"), "x", "a chunk above 4 GiB", IN_SOCKETS);
}

#[test]
fn body_without_end_costs_the_connection() {
    loses("HTTP/1.1 200 OK\r\n\r\n", "{\"echo\":", "a reply above 64 MiB", MAX);
}

/// Outcomes of calls if each one ends, and the bytes after its reply break the connection.
fn ends_each_call_once(head: &str) -> Outcomes {
    let measurement = load(&Peer::new(head, ""));
    let connections = &measurement.tally.connections;
    assert!(connections.broken > 0, "{head:?}: {connections:?}");
    let (outcomes, examples) = came(measurement);
    assert_eq!(outcomes.ok, 0, "{head:?}: {examples:?}");
    outcomes
}

#[test]
fn body_after_204_is_not_taken_for_the_reply_to_the_next_call() {
    let outcomes = ends_each_call_once("HTTP/1.1 204 No Content\r\n\r\n{\"echo\":\"ttttt\"}");
    assert!(outcomes.status[&204] > 0, "{outcomes:?}");
    let lost = outcomes.transport + outcomes.not_sent;
    assert_eq!(outcomes.total(), outcomes.status[&204] + lost, "{outcomes:?}");
}

#[test]
fn body_longer_than_its_head_says_is_not_taken_for_the_reply_to_the_next_call() {
    let head = "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n";
    let outcomes = ends_each_call_once(head);
    assert!(outcomes.status[&500] > 0, "{outcomes:?}");
    let lost = outcomes.transport + outcomes.not_sent;
    assert_eq!(outcomes.total(), outcomes.status[&500] + lost, "{outcomes:?}");
}
