//! The floor against the testkit's servers.

use std::time::Duration;

use rpcbench_client_bench::floor::{Floor, FloorError};
use rpcbench_contract::{Corpus, Encoding};
use rpcbench_testkit::Server;

/// Calls made on each connection before any is counted.
const OPENING: u64 = 3;

fn corpus(shape: &str) -> Corpus {
    Corpus::plain(&shape.parse().unwrap(), 1, Encoding::Protobuf)
}

fn null() -> Server {
    Server::start("null".parse().unwrap()).unwrap()
}

#[test]
fn it_counts_exactly_the_calls_that_the_server_answered() {
    let server = null();
    let mut floor = Floor::open(server.address(), 3, 7, &corpus("text:100")).unwrap();
    let calls = floor.run(Duration::from_millis(100)).unwrap();
    assert!(calls > 21, "{calls} calls, and 21 at once");
    assert_eq!(server.calls(), calls + 3 * OPENING);
}

/// Past both windows of a connection: the server's, which it opens again every 512 MiB, and our own of 2 GiB.
#[test]
fn it_goes_on_when_windows_are_opened_again() {
    let server = null();
    let mut floor = Floor::open(server.address(), 1, 20, &corpus("text:16000")).unwrap();
    let mut calls = OPENING;
    while calls * 16_000 < (1 << 31) {
        calls += floor.run(Duration::from_millis(200)).unwrap();
    }
    assert_eq!(server.calls(), calls);
}

#[test]
fn a_wrong_answer_is_seen_before_anything_is_counted() {
    let server = Server::start("byte-echo".parse().unwrap()).unwrap();
    let opened = Floor::open(server.address(), 1, 1, &corpus("text:100"));
    assert!(matches!(opened.err().unwrap(), FloorError::Opening(_)));
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let address = null().address();
    let error = Floor::open(address, 1, 1, &corpus("text:100")).err().unwrap();
    assert!(error.to_string().starts_with(&format!("connection to {address} ")), "{error}");
}
