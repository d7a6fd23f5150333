//! Connections that live for a number of calls, over real sockets, under each protocol.

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::thread;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{LoadPlan, Measurement};
use rpcbench_record::{Arrivals, ConnectionLife, Protocol};
use rpcbench_testkit::{Behaviour, Plan, Server};

use crate::support;

/// Each protocol, with servers that answer correctly.
const SERVERS: [(Protocol, &str); 11] = [
    (Protocol::Grpc, "honest"),
    (Protocol::Grpc, "null"),
    (Protocol::Json, "json"),
    (Protocol::Json, "null-json"),
    (Protocol::JsonH2c, "json-h2c"),
    (Protocol::Connect, "connect"),
    (Protocol::Thrift, "thrift"),
    (Protocol::ThriftCompact, "thrift-compact"),
    (Protocol::ThriftBuffered, "thrift-buffered"),
    (Protocol::ThriftBufferedCompact, "thrift-buffered-compact"),
    (Protocol::TcpEcho, "tcp-echo"),
];

fn server(behaviours: &[&str]) -> Server {
    let behaviours: Vec<Behaviour> = behaviours.iter().map(|text| text.parse().unwrap()).collect();
    Server::start_at(([127, 0, 0, 1], 0).into(), Plan::new(&behaviours).unwrap()).unwrap()
}

fn plan(protocol: Protocol, address: SocketAddr, life: &str) -> LoadPlan {
    LoadPlan {
        connections: 4,
        connection_life: life.parse().unwrap(),
        in_flight: 4,
        threads: 2,
        ..support::plan(protocol, address)
    }
}

/// Makes `calls` calls.
fn make(plan: &LoadPlan, calls: u64) -> Measurement {
    let mut session = support::open(plan, "text:100");
    session.start_measuring_calls(clock::now(), calls);
    while !session.is_drained() {
        clock::sleep_until(clock::now() + Nanos::from_millis(1));
    }
    session.finish().unwrap()
}

#[test]
fn every_short_connection_carries_one_call_and_the_server_counts_the_same() {
    for (protocol, behaviour) in SERVERS {
        for arrivals in ["closed", "constant:2000"] {
            let server = server(&[behaviour]);
            let arrivals: Arrivals = arrivals.parse().unwrap();
            let plan = LoadPlan { arrivals, ..plan(protocol, server.address(), "short") };
            let Measurement { tally, .. } = make(&plan, 400);
            let what = format!("{protocol} of {behaviour}, {arrivals}: {:?}", tally.calls.examples);
            assert_eq!(
                (tally.calls.outcomes.ok, tally.calls.outcomes.errors()),
                (400, 0),
                "{what}"
            );
            assert_eq!((server.calls(), server.connections()), (400, 400), "{what}");
            // The first of each of the four places was opened before; by a schedule, the last may be open after its end.
            assert!(tally.connect.count() == 396 || plan.arrivals.is_open(), "{what}");
            let connections = &tally.connections;
            assert_eq!((connections.opened, connections.retired), (396, 400), "{what}");
            assert_eq!(connections.ended, 0, "{what}");
            assert_eq!((connections.connect_failed, connections.reset), (0, 0), "{what}");
        }
    }
}

#[test]
fn connection_carries_as_many_calls_as_it_lives_for() {
    for (protocol, behaviour) in SERVERS {
        let server = server(&[behaviour]);
        let plan = plan(protocol, server.address(), "calls:7");
        let Measurement { tally, .. } = make(&plan, 700);
        assert_eq!(
            (tally.calls.outcomes.ok, tally.calls.outcomes.errors()),
            (700, 0),
            "{protocol}"
        );
        assert_eq!(server.calls(), 700, "{protocol}");
        // The last connection of each slot may have calls left.
        let opened = server.connections();
        assert!((100..=104).contains(&opened), "{opened}, {protocol}");
        assert_eq!(tally.connect.count(), opened - 4, "{protocol}");
    }
}

#[test]
fn server_that_resets_connections_loses_the_calls_on_them_and_no_other() {
    for (protocol, behaviours) in [
        (Protocol::Grpc, &["reset-after:50"][..]),
        (Protocol::Json, &["json", "reset-after:50"]),
        (Protocol::JsonH2c, &["json-h2c", "reset-after:50"]),
        (Protocol::Connect, &["connect", "reset-after:50"]),
    ] {
        let server = server(behaviours);
        let Measurement { tally, .. } = make(&plan(protocol, server.address(), "short"), 60);
        assert_eq!(tally.calls.outcomes.total(), 60, "{protocol}");
        // The reset may come before the connection is known to be open: then its call is not sent.
        let (outcomes, connections) = (&tally.calls.outcomes, &tally.connections);
        let lost = outcomes.transport + outcomes.not_sent;
        assert_eq!((outcomes.ok, lost), (50, 10), "{protocol}");
        // Of the other three, each may be reset between its reply and its planned end.
        let ends = (connections.reset + connections.connect_failed, connections.orderly);
        assert!(matches!(ends, (10..=13, 0)), "{ends:?}, {protocol}");
    }
}

#[test]
fn server_that_goes_away_refuses_what_follows_and_nothing_is_counted_twice() {
    for (protocol, _) in SERVERS {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let plan = LoadPlan {
            connections: 1,
            in_flight: 1,
            threads: 1,
            ..plan(protocol, address, "short")
        };
        if protocol.is_over_http2() {
            continue; // Needs a handshake of the peer's: see the virtual server's tests.
        }
        // It takes the first connection, reads the call, and is gone.
        let gone = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
        });
        let Measurement { tally, .. } = make(&plan, 6);
        gone.join().unwrap();
        let outcomes = &tally.calls.outcomes;
        assert_eq!((outcomes.ok, outcomes.total()), (0, 6), "{protocol}");
        assert_eq!((outcomes.transport, outcomes.not_sent), (1, 5), "{protocol}");
        assert_eq!(tally.connections.connect_refused, 5, "{protocol}");
        let refused = "not sent: no connection: Connection refused (os error 111)";
        assert!(tally.calls.examples.iter().any(|it| it == refused), "{:?}", tally.calls.examples);
    }
}

#[test]
fn short_connections_use_several_source_addresses() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for (life, spread) in [(ConnectionLife::SHORT, true), (ConnectionLife::Long, false)] {
        let plan = LoadPlan { connection_life: life, ..plan(Protocol::Thrift, address, "long") };
        let _session = support::open(&plan, "text:1");
        let mut from: Vec<_> = (0..4).map(|_| listener.accept().unwrap().1.ip()).collect();
        from.sort_unstable();
        from.dedup();
        assert_eq!((from.len() == 4, from.contains(&address.ip())), (spread, !spread), "{from:?}");
    }
}
