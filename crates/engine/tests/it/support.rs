//! Shared by tests of loads.
#![allow(dead_code)]

use std::sync::Arc;

use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_contract::{Corpus, Encoding, Profile};
use rpcbench_engine::{
    ConnectionOptions, Cryptography, LoadPlan, Measurement, Patch, Payload, ReplyCheck,
    ServerAddress, Session, Target, TlsClient, TlsSettings, TlsVersion, Trust,
};
use rpcbench_record::{Arrivals, ConnectionLife, Outcomes, Protocol};
use rpcbench_testkit::{Behaviour, Plan, Server};

/// The seed of payloads.
pub const SEED: u64 = 11;

/// One call at a time on one connection of one thread, with ten seconds for everything.
pub fn plan(protocol: Protocol, address: impl Into<ServerAddress>) -> LoadPlan {
    let limit = Nanos::from_millis(10_000);
    LoadPlan {
        server: ConnectionOptions::new(protocol, address),
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
        pipelining: false,
    }
}

/// TLS with whoever answers.
pub fn unverified_tls() -> TlsClient {
    let settings = TlsSettings {
        server_name: "localhost".to_owned(),
        trust: Trust::Anyone,
        identity: None,
        version: TlsVersion::Any,
        cryptography: Cryptography::Aes128,
        alpn: vec!["h2".to_owned()],
        resume: true,
        log_keys: false,
        verified_by: "nothing".to_owned(),
    };
    TlsClient::new(settings).unwrap()
}

/// A server of a protocol with a behaviour.
pub fn server(protocol: Protocol, behaviour: &str) -> Server {
    let wire = (protocol != Protocol::Grpc).then_some(protocol.name());
    let more = Some(behaviour).filter(|it| wire.is_none() || *it != "honest");
    let behaviours: Vec<Behaviour> =
        wire.into_iter().chain(more).map(|it| it.parse().unwrap()).collect();
    Server::start_at(([127, 0, 0, 1], 0).into(), Plan::new(&behaviours).unwrap()).unwrap()
}

/// The contract's requests of a shape.
struct Echo(Corpus, Target, Vec<Patch>);

/// The requests of a load, including non-canonical ones.
pub fn payload(protocol: Protocol, shape: &str) -> Arc<dyn Payload> {
    let encoding = Profile::of(protocol).encoding;
    echo(Corpus::generate(&shape.parse().unwrap(), SEED, encoding), encoding)
}

/// Canonical requests, for servers that accept no others.
pub fn plain(protocol: Protocol, shape: &str) -> Arc<dyn Payload> {
    let encoding = Profile::of(protocol).encoding;
    echo(Corpus::canonical(&shape.parse().unwrap(), SEED, encoding), encoding)
}

fn echo(corpus: Corpus, encoding: Encoding) -> Arc<dyn Payload> {
    let method = corpus.method();
    let target = match encoding {
        Encoding::ThriftBinary | Encoding::ThriftCompact => method.name().to_owned(),
        _ => format!("/{}/{}", method.service(), method.name()),
    };
    let patches = (0..corpus.len()).map(|index| Patch::nonce(corpus.nonce(index).clone()));
    let patches = patches.collect();
    Arc::new(Echo(corpus, Target::new(target), patches))
}

impl Payload for Echo {
    fn target(&self, _: usize) -> &Target {
        &self.1
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        self.0.request(index)
    }

    fn patches(&self, index: usize) -> &[Patch] {
        std::slice::from_ref(&self.2[index])
    }

    fn reply_check(&self) -> ReplyCheck {
        ReplyCheck::Echo
    }

    fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), String> {
        self.0.verify(index, sent, reply).map_err(|mismatch| mismatch.to_string())
    }
}

pub fn open(plan: &LoadPlan, shape: &str) -> Session {
    Session::open(plan, &payload(plan.server.protocol, shape)).unwrap()
}

/// Loads from now on, and measures for `millis`.
pub fn measure(session: &mut Session, millis: u64) -> Measurement {
    session.start();
    let start = clock::now() + Nanos::from_millis(20);
    session.measure(Span { start, end: start + Nanos::from_millis(millis) });
    session.finish().unwrap()
}

/// Asserts what holds for every measurement of any server.
pub fn assert_sums(measurement: &Measurement) {
    let calls = &measurement.tally.calls;
    assert_eq!(calls.ok.count(), calls.outcomes.ok);
    assert_eq!(calls.errors.count(), calls.outcomes.errors());
    let sliced: u64 = calls.series.iter().map(|slice| slice.ok + slice.errors).sum();
    assert!(sliced <= calls.outcomes.total());
}

/// All outcomes, before the window and in it, with the examples.
pub fn came(measurement: Measurement) -> (Outcomes, Vec<String>) {
    let mut outcomes = measurement.tally.calls.outcomes;
    outcomes.add(&measurement.unmeasured.outcomes);
    (outcomes, [measurement.tally.calls.examples, measurement.unmeasured.error_examples].concat())
}

/// Asserts that this many calls came due, and all ended `ok`.
pub fn assert_all_ok(measurement: &Measurement, calls: u64) {
    let counted = &measurement.tally.calls;
    let outcomes = &counted.outcomes;
    assert_eq!((outcomes.total(), outcomes.ok), (calls, calls), "{:?}", counted.examples);
}
