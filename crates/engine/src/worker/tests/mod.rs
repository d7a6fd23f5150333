//! A worker in virtual time: a simulated driver, and a server whose answers take exactly the given time.

mod closed;
mod endings;
mod lives;
mod open;
mod peers;
mod protocols;
mod simulation;
mod turns;

use std::net::SocketAddr;
use std::sync::Arc;

use rpcbench_record::{Arrivals, ConnectionLife, Pacing, Protocol};

use super::{Start, Thread, Worker};
use crate::echo_payload::EchoPayload;
use crate::log::CallLog;
use crate::payload::Payload;
use crate::plan::{ConnectionOptions, LoadPlan};
use crate::protocol;
use crate::protocol::grpc::Connection;
use crate::tally::{Tally, WindowTally};
use crate::target::Target;
use rpcbench_clock::{Nanos, Span};
use simulation::{Service, Simulation};

/// 1 ms.
const MS: u64 = 1_000_000;

struct Same(Target);

impl Payload for Same {
    fn target(&self, _: usize) -> &Target {
        &self.0
    }

    fn len(&self) -> usize {
        1
    }

    fn request(&self, _index: usize) -> &[u8] {
        b"same"
    }

    fn verify(&self, _index: usize, _sent: &[u8], reply: &[u8]) -> Result<(), String> {
        if reply == b"same" { Ok(()) } else { Err("another".to_owned()) }
    }
}

fn same() -> Arc<dyn Payload> {
    Arc::new(Same(Target::new("/p")))
}

/// Measures a span of `length` after a warm-up of the same length; returns the tally, and the number of calls outside it.
fn measure(connections: u32, in_flight: u32, service: Service, length: Nanos) -> (Tally, u64) {
    let mut worker = connected(connections, in_flight, service, usize::MAX);
    start(&mut worker, "closed", None);
    let start = worker.now() + length;
    worker.measure(Span { start, end: start + length });
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let recorder = &mut worker.calls().recorder;
    let outside = recorder.outside().outcomes.total();
    (recorder.take().unwrap().calls, outside)
}

/// A worker with its connections open; the sockets take `room` bytes at a time.
fn connected(
    connections: u32,
    in_flight: u32,
    service: Service,
    room: usize,
) -> Worker<Connection, Simulation> {
    let simulation = Simulation { room, ..Simulation::new(connections as usize, service) };
    connect(plan(connections, in_flight), simulation, None)
}

/// The seed is 1.
fn start<C: protocol::Connection>(
    worker: &mut Worker<C, Simulation>,
    arrivals: &str,
    span: Option<Span>,
) {
    worker.start(Start::load(arrivals.parse().unwrap(), 1, span, None));
}

fn plan(connections: u32, in_flight: u32) -> LoadPlan {
    LoadPlan {
        server: ConnectionOptions::new(Protocol::Grpc, SocketAddr::from(([127, 0, 0, 1], 1))),
        connections,
        in_flight,
        arrivals: Arrivals::Closed,
        seed: 1,
        threads: 1,
        cpus: Vec::new(),
        timeout: Nanos(200 * MS),
        grace: Nanos(100 * MS),
        connect_timeout: Nanos(1000 * MS),
        connection_life: ConnectionLife::Long,
        pipelining: false,
    }
}

fn connect(
    plan: LoadPlan,
    simulation: Simulation,
    log: Option<CallLog>,
) -> Worker<Connection, Simulation> {
    connect_as(plan, same(), simulation, log)
}

fn connect_as<C: protocol::Connection>(
    plan: LoadPlan,
    payload: Arc<dyn Payload>,
    simulation: Simulation,
    log: Option<CallLog>,
) -> Worker<C, Simulation> {
    let templates = Arc::new(C::templates(&*payload, &plan.server.authority));
    let thread = Thread { number: 0, driver: simulation, log };
    let mut worker = Worker::new(Arc::new(plan), payload, templates, thread);
    worker.connect_all(Nanos(1000 * MS));
    while !worker.is_connected() {
        worker.turn().unwrap();
    }
    worker
}
