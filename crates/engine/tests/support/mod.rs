//! What tests of loads share; each takes what it needs.
#![allow(dead_code)]

use std::sync::Arc;

use rpcbench_contract::{Corpus, Profile, Shape};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{LoadPlan, Measurement, Payload, ServerAddress, Session, Span};
use rpcbench_record::{Arrivals, ConnectionLife, Outcomes, Protocol};
use rpcbench_testkit::{Behaviour, Plan, Server};

/// The seed of payloads.
pub const SEED: u64 = 11;

/// One call at a time on one connection of one thread, with ten seconds for everything.
pub fn plan(protocol: Protocol, address: impl Into<ServerAddress>) -> LoadPlan {
    let address = address.into();
    let limit = Nanos::from_millis(10_000);
    LoadPlan {
        protocol,
        authority: address.authority(),
        address,
        connections: 1,
        connection_life: ConnectionLife::Long,
        in_flight: 1,
        arrivals: Arrivals::Closed,
        seed: 1,
        threads: 1,
        cpus: Vec::new(),
        timeout: limit,
        grace: limit,
        connect_timeout: limit,
        first_request: 0,
        pipelining: false,
    }
}

/// A server of a protocol with a behaviour.
pub fn server(protocol: Protocol, behaviour: &str) -> Server {
    let wire = (protocol != Protocol::Grpc).then_some(protocol.name());
    let more = Some(behaviour).filter(|it| wire.is_none() || *it != "honest");
    let behaviours: Vec<Behaviour> =
        wire.into_iter().chain(more).map(|it| it.parse().unwrap()).collect();
    Server::start_at(([127, 0, 0, 1], 0).into(), Plan::new(&behaviours).unwrap()).unwrap()
}

/// Requests as they are in a load, oddly encoded ones among them.
pub fn payload(protocol: Protocol, shape: &str) -> Arc<dyn Payload> {
    let shape: Shape = shape.parse().unwrap();
    Arc::new(Corpus::generate(&shape, SEED, Profile::of(protocol).encoding))
}

pub fn open(plan: &LoadPlan, shape: &str) -> Session {
    Session::open(plan, &payload(plan.protocol, shape)).unwrap()
}

/// Load from now on, of which `millis` are measured.
pub fn measure(session: &mut Session, millis: u64) -> Measurement {
    session.start();
    let start = clock::now() + Nanos::from_millis(20);
    session.measure(Span { start, end: start + Nanos::from_millis(millis) });
    session.finish().unwrap()
}

/// What holds for every measurement, whatever the server did.
pub fn assert_sums(measurement: &Measurement) {
    let tally = &measurement.tally;
    assert_eq!(tally.ok.count(), tally.outcomes.ok);
    assert_eq!(tally.errors.count(), tally.outcomes.errors());
    let sliced: u64 = tally.series.iter().map(|slice| slice.ok + slice.errors).sum();
    assert!(sliced <= tally.outcomes.total());
}

/// All that calls came to, before the window and in it, and what was said of them.
pub fn came(measurement: Measurement) -> (Outcomes, Vec<String>) {
    let mut outcomes = measurement.tally.outcomes;
    outcomes.add(&measurement.unmeasured.outcomes);
    (outcomes, [measurement.tally.examples, measurement.unmeasured.examples].concat())
}
