//! Properties of loads over each protocol, over real sockets, against servers that behave and misbehave. Those that need an
//! exact clock are in the worker's tests.

use std::net::SocketAddr;

use rpcbench_clock::Nanos;
use rpcbench_contract::{Encoding, Profile};
use rpcbench_engine::LoadPlan;
use rpcbench_record::Protocol;
use rpcbench_testkit::relay_in_pieces;

use crate::support::{self, assert_sums, came, measure, open, server};

const IN_FLIGHT: u32 = 12;

/// The same tests over each protocol.
macro_rules! over {
    ([$($module:ident: $protocol:ident),+ $(,)?], $tests:tt) => {
        /// Every protocol of the tests.
        const PROTOCOLS: &[Protocol] = &[$(Protocol::$protocol),+];
        $(mod $module {
            tests!($protocol, $tests);
        })+
    };
}

macro_rules! tests {
    ($protocol:ident, [$($test:ident),+ $(,)?]) => {
        $(#[test]
        fn $test() {
            super::$test(rpcbench_record::Protocol::$protocol);
        })+
    };
}

over!(
    [
        grpc: Grpc,
        json: Json,
        json_h2c: JsonH2c,
        connect: Connect,
        thrift: Thrift,
        thrift_compact: ThriftCompact,
        thrift_buffered: ThriftBuffered,
        thrift_buffered_compact: ThriftBufferedCompact,
        tcp_echo: TcpEcho,
    ],
    [
        every_call_is_counted_once_and_the_server_counts_the_same,
        every_shape_is_answered_rightly_and_several_threads_share_the_connections,
        calls_in_flight_are_rate_times_response,
        bytes_may_be_cut_anywhere_on_their_way,
        outcome_is_the_protocols_status,
        mismatched_replies_are_wrong_answers,
        requests_never_repeat,
        reply_memoized_by_part_of_its_request_is_wrong,
        copied_content_is_wrong_in_a_load,
        one_wrong_answer_in_a_thousand_is_found_every_time,
        unanswered_calls_end_at_the_timeout_or_with_the_grace_period,
        lost_connection_costs_its_calls_and_is_opened_again,
    ]
);

#[test]
fn no_protocol_is_left_out() {
    let left_out = Protocol::with_contract().filter(|it| !PROTOCOLS.contains(it));
    assert_eq!(left_out.collect::<Vec<_>>(), []);
}

/// Twelve calls in flight; servers answer those of a connection in turn, but over HTTP/2.
fn plan(protocol: Protocol, address: SocketAddr) -> LoadPlan {
    LoadPlan {
        connections: if protocol.is_over_http2() { 3 } else { IN_FLIGHT },
        in_flight: IN_FLIGHT,
        ..support::plan(protocol, address)
    }
}

fn every_call_is_counted_once_and_the_server_counts_the_same(protocol: Protocol) {
    let server = server(protocol, "honest");
    let mut session = open(&plan(protocol, server.address()), "text:100");
    let mut measured = 0;
    for _ in 0..3 {
        let measurement = measure(&mut session, 100);
        assert_sums(&measurement);
        assert!(measurement.tally.calls.outcomes.ok > 0);
        assert_eq!(measurement.tally.calls.outcomes.errors(), 0);
        measured += measurement.tally.calls.outcomes.total();
    }
    session.start();
    let unmeasured = session.pause().unwrap();
    assert_eq!(unmeasured.outcomes.errors(), 0);
    assert_eq!(session.progress().ended, measured + unmeasured.outcomes.total());
    assert_eq!(server.calls(), measured + unmeasured.outcomes.total());
}

fn every_shape_is_answered_rightly_and_several_threads_share_the_connections(protocol: Protocol) {
    let server = server(protocol, "honest");
    for shape in ["text:0", "text:100", "text:70000", "record", "dto", "tree"] {
        let plan = LoadPlan { threads: 2, ..plan(protocol, server.address()) };
        let measurement = measure(&mut open(&plan, shape), 60);
        assert_sums(&measurement);
        assert_eq!(measurement.client.threads, 2);
        let (outcomes, examples) = came(measurement);
        assert_eq!((outcomes.errors(), outcomes.ok > 0), (0, true), "{shape}: {examples:?}");
    }
    let connections = u64::from(plan(protocol, server.address()).connections);
    assert_eq!(server.connections(), 6 * connections);
}

fn calls_in_flight_are_rate_times_response(protocol: Protocol) {
    let server = server(protocol, "slow:5ms");
    let measurement = measure(&mut open(&plan(protocol, server.address()), "text:100"), 600);
    let calls = &measurement.tally.calls;
    assert!(calls.ok.min().unwrap() >= 5_000_000);
    let responses = calls.ok.count() as f64 * calls.ok.mean().unwrap();
    let within = responses + calls.carried_in.0 as f64 - calls.carried_out.0 as f64;
    assert!((within / 600e6 / f64::from(IN_FLIGHT) - 1.0).abs() < 0.002, "{}", within / 600e6);
}

fn bytes_may_be_cut_anywhere_on_their_way(protocol: Protocol) {
    for (longest, shape) in [(1, "text:20"), (7, "tree"), (100, "text:5000")] {
        let server = server(protocol, "honest");
        let relay = relay_in_pieces(server.address(), longest).unwrap();
        let measurement = measure(&mut open(&plan(protocol, relay), shape), 100);
        assert_sums(&measurement);
        let (outcomes, examples) = came(measurement);
        assert!(outcomes.ok > 0 && outcomes.errors() == 0, "{shape}: {outcomes:?} {examples:?}");
        assert_eq!(server.calls(), outcomes.total(), "{shape}");
    }
}

fn outcome_is_the_protocols_status(protocol: Protocol) {
    let server = server(protocol, "always-internal");
    let measurement = measure(&mut open(&plan(protocol, server.address()), "text:100"), 60);
    assert_sums(&measurement);
    let (outcomes, examples) = came(measurement);
    let (code, name) = match Profile::of(protocol).encoding {
        Encoding::Protobuf => (13, "INTERNAL: call "),
        Encoding::Json => (500, "Internal Server Error: "),
        Encoding::ThriftBinary | Encoding::ThriftCompact => (6, "INTERNAL_ERROR: call "),
        // The protocol has no status: the server closes the connection.
        Encoding::Opaque => {
            assert!(outcomes.ok == 0 && outcomes.transport > 0, "{outcomes:?}");
            assert_eq!(outcomes.total(), outcomes.transport + outcomes.not_sent, "{outcomes:?}");
            return;
        }
    };
    assert_eq!((outcomes.ok, outcomes.status[&code]), (0, outcomes.total()));
    assert!(examples.iter().all(|it| it.starts_with(name)), "{examples:?}");
}

/// True if servers of a protocol decode requests: unchanged bytes are a wrong reply.
fn decodes(protocol: Protocol) -> bool {
    Profile::of(protocol).encoding != Encoding::Opaque
}

fn mismatched_replies_are_wrong_answers(protocol: Protocol) {
    let echo = decodes(protocol).then_some("byte-echo");
    for behaviour in ["canned", "error-in-reply"].into_iter().chain(echo) {
        let server = server(protocol, behaviour);
        let measurement = measure(&mut open(&plan(protocol, server.address()), "text:100"), 60);
        assert_sums(&measurement);
        let outcomes = &measurement.tally.calls.outcomes;
        let few = outcomes.ok <= outcomes.total() / 10;
        assert!(outcomes.wrong_answer > 0 && few, "{behaviour}: {outcomes:?}");
        assert!(!measurement.tally.calls.examples.is_empty());
    }
}

fn requests_never_repeat(protocol: Protocol) {
    for shape in ["text:16", "text:100", "record", "dto", "tree"] {
        let server = server(protocol, "memo:4194304");
        for threads in [1, 2] {
            let plan = LoadPlan { threads, ..plan(protocol, server.address()) };
            let (outcomes, _) = came(measure(&mut open(&plan, shape), 60));
            assert_eq!((outcomes.errors(), outcomes.ok > 0), (0, true), "{shape}: {outcomes:?}");
        }
        assert_eq!(server.recalled(), 0, "{shape}");
    }
}

fn reply_memoized_by_part_of_its_request_is_wrong(protocol: Protocol) {
    let server = server(protocol, "memo:24");
    let measurement = measure(&mut open(&plan(protocol, server.address()), "text:100"), 300);
    assert!(server.recalled() > 0 && measurement.tally.calls.outcomes.wrong_answer > 0);
}

fn copied_content_is_wrong_in_a_load(protocol: Protocol) {
    let shapes = ["record", "dto", "tree"].into_iter().filter(|_| decodes(protocol));
    for shape in shapes {
        let server = server(protocol, "skim");
        let measurement = measure(&mut open(&plan(protocol, server.address()), shape), 300);
        let wrong = measurement.tally.calls.outcomes.wrong_answer;
        let (outcomes, examples) = came(measurement);
        assert!(wrong > 0, "{shape}: {outcomes:?}");
        let evidence = match Profile::of(protocol).encoding {
            // They keep the first value of a repeated field.
            Encoding::ThriftBinary | Encoding::ThriftCompact => "echo.",
            _ => "in the reply, which no",
        };
        assert!(examples.iter().any(|it| it.contains(evidence)), "{shape}: {examples:?}");
    }
}

fn one_wrong_answer_in_a_thousand_is_found_every_time(protocol: Protocol) {
    let server = server(protocol, "wrong-once:1000");
    let mut session = open(&plan(protocol, server.address()), "text:100");
    let measurement = measure(&mut session, 300);
    assert_sums(&measurement);
    let (outcomes, _) = came(measurement);
    assert_eq!(outcomes.wrong_answer, server.calls() / 1000);
    assert_eq!(outcomes.total(), server.calls());
}

fn unanswered_calls_end_at_the_timeout_or_with_the_grace_period(protocol: Protocol) {
    let server = server(protocol, "hang-after:100");
    let timeout = Nanos::from_millis(100);
    let plan = LoadPlan { timeout, grace: timeout, ..plan(protocol, server.address()) };
    let measurement = measure(&mut open(&plan, "text:100"), 300);
    assert_sums(&measurement);
    let outcomes = &measurement.tally.calls.outcomes;
    assert!(outcomes.timeout >= IN_FLIGHT.into(), "{outcomes:?}");
    assert_eq!(outcomes.total(), outcomes.ok + outcomes.timeout);
    assert!(measurement.tally.calls.errors.min().unwrap() >= 99_000_000);
}

fn lost_connection_costs_its_calls_and_is_opened_again(protocol: Protocol) {
    for behaviour in ["reset-after:100", "truncate-after:100", "garbage-after:100"] {
        let server = server(protocol, behaviour);
        let timeout = Nanos::from_millis(200);
        let plan = LoadPlan { timeout, ..plan(protocol, server.address()) };
        let measurement = measure(&mut open(&plan, "text:100"), 200);
        assert_sums(&measurement);
        let (outcomes, _) = came(measurement);
        assert!(outcomes.transport > 0, "{behaviour}: {outcomes:?}");
        assert!(server.connections() > plan.connections.into(), "{behaviour}");
    }
}
