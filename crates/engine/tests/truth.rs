//! What must hold of a load over each protocol whose servers decode: against servers that behave and misbehave, over real
//! sockets.

mod support;

use std::net::SocketAddr;
use std::sync::Arc;

use rpcbench_contract::{Corpus, Shape};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{LoadPlan, Measurement, Payload, Session, Span, profile};
use rpcbench_record::Protocol;
use rpcbench_testkit::{Behaviour, Plan, Server};

const SEED: u64 = 11;
const PROTOCOLS: [Protocol; 3] = [Protocol::Grpc, Protocol::Json, Protocol::JsonH2c];
const IN_FLIGHT: u32 = 12;

fn server(protocol: Protocol, behaviour: &str) -> Server {
    let wire = (protocol != Protocol::Grpc).then_some(protocol.name());
    let behaviours = wire.into_iter().chain([behaviour]).map(|it| it.parse().unwrap());
    let plan = Plan::new(&behaviours.collect::<Vec<Behaviour>>()).unwrap();
    Server::start_at(([127, 0, 0, 1], 0).into(), plan).unwrap()
}

fn plan(protocol: Protocol, address: SocketAddr) -> LoadPlan {
    LoadPlan {
        connections: if protocol.takes_one_call_at_a_time() { IN_FLIGHT } else { 3 },
        in_flight: IN_FLIGHT,
        ..support::plan(protocol, address)
    }
}

fn payload(protocol: Protocol, shape: &str) -> Arc<dyn Payload> {
    let shape: Shape = shape.parse().unwrap();
    Arc::new(Corpus::generate(&shape, SEED, profile(protocol).encoding))
}

fn open(plan: &LoadPlan) -> Session {
    Session::open(plan, &payload(plan.protocol, "text:100")).unwrap()
}

/// Load from now on, of which `millis` are measured.
fn measure(session: &mut Session, millis: u64) -> Measurement {
    session.start();
    let start = clock::now() + Nanos::from_millis(20);
    session.measure(Span { start, end: start + Nanos::from_millis(millis) });
    session.finish().unwrap()
}

/// What holds for every measurement, whatever the server did.
fn assert_sums(measurement: &Measurement) {
    let tally = &measurement.tally;
    assert_eq!(tally.ok.count(), tally.outcomes.ok);
    assert_eq!(tally.errors.count(), tally.outcomes.errors());
    let sliced: u64 = tally.series.iter().map(|slice| slice.ok + slice.errors).sum();
    assert!(sliced <= tally.outcomes.total());
}

#[test]
fn every_call_is_counted_once_and_the_server_counts_the_same() {
    for protocol in PROTOCOLS {
        let server = server(protocol, "honest");
        let mut session = open(&plan(protocol, server.address()));
        let mut measured = 0;
        for _ in 0..3 {
            let measurement = measure(&mut session, 100);
            assert_sums(&measurement);
            assert!(measurement.tally.outcomes.ok > 100);
            assert_eq!(measurement.tally.outcomes.errors(), 0);
            measured += measurement.tally.outcomes.total();
        }
        session.start();
        let unmeasured = session.pause().unwrap();
        assert_eq!(unmeasured.outcomes.errors(), 0);
        assert_eq!(session.progress().ended, measured + unmeasured.outcomes.total());
        assert_eq!(server.calls(), measured + unmeasured.outcomes.total());
    }
}

#[test]
fn every_shape_is_answered_rightly_and_several_threads_share_the_connections() {
    for protocol in PROTOCOLS {
        let server = server(protocol, "honest");
        for shape in ["text:0", "text:100", "text:70000", "record", "dto", "tree"] {
            let plan = LoadPlan { threads: 2, ..plan(protocol, server.address()) };
            let mut session = Session::open(&plan, &payload(protocol, shape)).unwrap();
            let measurement = measure(&mut session, 60);
            assert_sums(&measurement);
            assert_eq!(measurement.tally.outcomes.errors(), 0, "{:?}", measurement.tally.examples);
            assert!(measurement.tally.outcomes.ok > 0, "{shape}");
            assert_eq!(measurement.client.threads, 2);
        }
        assert_eq!(
            server.connections(),
            6 * u64::from(plan(protocol, server.address()).connections)
        );
    }
}

#[test]
fn calls_in_flight_are_rate_times_response() {
    for protocol in PROTOCOLS {
        let server = server(protocol, "slow:5ms");
        let measurement = measure(&mut open(&plan(protocol, server.address())), 600);
        let tally = &measurement.tally;
        assert!(tally.ok.min().unwrap() >= 5_000_000);
        let responses = tally.ok.count() as f64 * tally.ok.mean().unwrap();
        let within = responses + tally.carried_in.0 as f64 - tally.carried_out.0 as f64;
        assert!((within / 600e6 / f64::from(IN_FLIGHT) - 1.0).abs() < 0.002, "{}", within / 600e6);
    }
}

#[test]
fn the_protocols_status_is_the_outcome() {
    for protocol in PROTOCOLS {
        let server = server(protocol, "always-internal");
        let measurement = measure(&mut open(&plan(protocol, server.address())), 60);
        assert_sums(&measurement);
        let outcomes = &measurement.tally.outcomes;
        let (code, name) = match protocol {
            Protocol::Json | Protocol::JsonH2c => (500, "Internal Server Error"),
            _ => (13, "INTERNAL"),
        };
        assert_eq!((outcomes.ok, outcomes.status[&code]), (0, outcomes.total()));
        assert!(measurement.tally.examples[0].starts_with(name));
    }
}

#[test]
fn replies_that_are_not_the_requests_own_are_wrong() {
    for protocol in PROTOCOLS {
        for behaviour in ["canned", "byte-echo"] {
            let server = server(protocol, behaviour);
            let measurement = measure(&mut open(&plan(protocol, server.address())), 60);
            assert_sums(&measurement);
            let outcomes = &measurement.tally.outcomes;
            assert!(
                outcomes.wrong_answer > 0 && outcomes.ok <= outcomes.total() / 10,
                "{outcomes:?}"
            );
            assert!(!measurement.tally.examples.is_empty());
        }
    }
}

#[test]
fn no_reply_that_is_remembered_is_asked_for_again() {
    for protocol in PROTOCOLS {
        for shape in ["text:16", "text:100", "record", "dto", "tree"] {
            let server = server(protocol, "memo:4194304");
            for threads in [1, 2] {
                let plan = LoadPlan { threads, ..plan(protocol, server.address()) };
                let mut session = Session::open(&plan, &payload(protocol, shape)).unwrap();
                let outcomes = measure(&mut session, 60).tally.outcomes;
                assert_eq!(
                    (outcomes.errors(), outcomes.ok > 0),
                    (0, true),
                    "{shape}: {outcomes:?}"
                );
            }
            assert_eq!(server.recalled(), 0, "{shape}");
        }
    }
}

#[test]
fn a_reply_that_is_remembered_by_part_of_its_request_is_wrong() {
    for protocol in PROTOCOLS {
        let server = server(protocol, "memo:24");
        let measurement = measure(&mut open(&plan(protocol, server.address())), 300);
        assert!(server.recalled() > 0 && measurement.tally.outcomes.wrong_answer > 0);
    }
}

#[test]
fn copied_content_is_wrong_in_a_load() {
    for protocol in PROTOCOLS {
        for shape in ["record", "dto", "tree"] {
            let server = server(protocol, "skim");
            let mut session =
                Session::open(&plan(protocol, server.address()), &payload(protocol, shape))
                    .unwrap();
            let measurement = measure(&mut session, 300);
            let tally = &measurement.tally;
            assert!(tally.outcomes.wrong_answer > 0, "{shape}: {:?}", tally.outcomes);
            let unmeasured = &measurement.unmeasured.examples;
            let told = tally
                .examples
                .iter()
                .chain(unmeasured)
                .any(|it| it.contains("in the reply, as no"));
            assert!(told, "{shape}: {:?} {unmeasured:?}", tally.examples);
        }
    }
}

#[test]
fn one_wrong_answer_in_a_thousand_is_found_every_time() {
    for protocol in PROTOCOLS {
        let server = server(protocol, "wrong-once:1000");
        let mut session = open(&plan(protocol, server.address()));
        let measurement = measure(&mut session, 300);
        assert_sums(&measurement);
        let all = measurement.unmeasured.outcomes.total() + measurement.tally.outcomes.total();
        let wrong =
            measurement.unmeasured.outcomes.wrong_answer + measurement.tally.outcomes.wrong_answer;
        assert_eq!(wrong, server.calls() / 1000);
        assert_eq!(all, server.calls());
    }
}

#[test]
fn calls_that_are_never_answered_end_at_the_timeout_or_with_the_grace() {
    for protocol in PROTOCOLS {
        let server = server(protocol, "hang-after:500");
        let timeout = Nanos::from_millis(100);
        let plan = LoadPlan { timeout, grace: timeout, ..plan(protocol, server.address()) };
        let measurement = measure(&mut open(&plan), 300);
        assert_sums(&measurement);
        let outcomes = &measurement.tally.outcomes;
        assert!(outcomes.timeout >= IN_FLIGHT.into(), "{outcomes:?}");
        assert_eq!(outcomes.total(), outcomes.ok + outcomes.timeout);
        assert!(measurement.tally.errors.min().unwrap() >= 99_000_000);
    }
}

#[test]
fn a_lost_connection_costs_its_calls_and_is_opened_again() {
    for protocol in PROTOCOLS {
        for behaviour in ["reset-after:500", "truncate-after:500", "garbage-after:500"] {
            let server = server(protocol, behaviour);
            let plan =
                LoadPlan { timeout: Nanos::from_millis(200), ..plan(protocol, server.address()) };
            let mut session = open(&plan);
            let measurement = measure(&mut session, 200);
            assert_sums(&measurement);
            let before = &measurement.unmeasured.outcomes;
            let lost = measurement.tally.outcomes.transport + before.transport;
            assert!(lost > 0, "{behaviour}: {:?}", measurement.tally.outcomes);
            assert!(server.connections() > plan.connections.into(), "{behaviour}");
        }
    }
}
