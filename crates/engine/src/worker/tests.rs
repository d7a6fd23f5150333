//! A worker in virtual time: a simulated driver and a server whose answers take exactly as long as told.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rpcbench_record::Law;

use super::Worker;
use crate::clock::Nanos;
use crate::driver::{Driver, Ready, Received};
use crate::payload::Payload;
use crate::plan::LoadPlan;
use crate::protocol::http2::frame::{self, Head, put};
use crate::recorder::{Span, Tally};

/// 1 ms.
const MS: u64 = 1_000_000;

/// How the simulated server answers.
#[derive(Clone, Copy)]
enum Service {
    /// Each call after a fixed time, all at once.
    Takes(Nanos),
    /// Calls one after another, each for a fixed time.
    Queues(Nanos),
    /// As `Takes`, until it says nothing more.
    StopsAt(Nanos, Nanos),
}

/// The network and a server, in virtual time.
struct Simulation {
    now: Nanos,
    service: Service,
    free_at: Nanos,
    sockets: Vec<Socket>,
    /// What reaches the client: when, on which connection.
    arrivals: BTreeMap<(Nanos, u64), (usize, Vec<u8>)>,
    sequence: u64,
    buffer: Vec<u8>,
}

#[derive(Default)]
struct Socket {
    fresh: bool,
    to_server: Vec<u8>,
    to_client: VecDeque<u8>,
}

impl Simulation {
    fn new(connections: usize, service: Service) -> Self {
        Self {
            now: Nanos(1),
            service,
            free_at: Nanos(0),
            sockets: (0..connections).map(|_| Socket::default()).collect(),
            arrivals: BTreeMap::new(),
            sequence: 0,
            buffer: Vec::new(),
        }
    }

    fn arrive(&mut self, at: Nanos, connection: usize, bytes: Vec<u8>) {
        self.sequence += 1;
        self.arrivals.insert((at, self.sequence), (connection, bytes));
    }

    fn done_at(&mut self) -> Option<Nanos> {
        match self.service {
            Service::Takes(time) => Some(self.now + time),
            Service::StopsAt(end, time) => (self.now + time < end).then_some(self.now + time),
            Service::Queues(time) => {
                self.free_at = self.free_at.max(self.now) + time;
                Some(self.free_at)
            }
        }
    }

    /// The server reads what there is; every whole request gets its answer in time.
    fn serve(&mut self, connection: usize) {
        let mut bytes = std::mem::take(&mut self.sockets[connection].to_server);
        if bytes.starts_with(frame::PREFACE) {
            bytes.drain(..frame::PREFACE.len());
            let mut settings = Vec::new();
            put(&mut settings, frame::SETTINGS, 0, 0, &[]);
            self.arrive(self.now, connection, settings);
        }
        while let Some(head) = Head::parse(&bytes) {
            let message = bytes[frame::HEADER..frame::HEADER + head.length].to_vec();
            bytes.drain(..frame::HEADER + head.length);
            if head.kind == frame::DATA
                && let Some(at) = self.done_at()
            {
                self.arrive(at, connection, answer(head.stream, &message));
            }
        }
    }
}

fn answer(stream: u32, message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let head = b"\x88\x0f\x10\x10application/grpc";
    put(&mut bytes, frame::HEADERS, frame::END_HEADERS, stream, head);
    put(&mut bytes, frame::DATA, 0, stream, message);
    put(&mut bytes, frame::HEADERS, 0x5, stream, b"\x00\x0bgrpc-status\x010");
    bytes
}

impl Driver for Simulation {
    fn now(&self) -> Nanos {
        self.now
    }

    fn connect(&mut self, connection: usize, _address: SocketAddr) -> io::Result<()> {
        self.sockets[connection].fresh = true;
        Ok(())
    }

    fn close(&mut self, _connection: usize) {}

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        for (connection, socket) in self.sockets.iter_mut().enumerate() {
            if std::mem::take(&mut socket.fresh) {
                ready.push(Ready { connection, readable: false, writable: true });
            }
        }
        let next = self.arrivals.keys().next().map_or(Nanos::NEVER, |(at, _)| *at);
        if ready.is_empty() {
            assert_ne!(next.min(until), Nanos::NEVER, "nothing will ever happen");
            self.now = self.now.max(next.min(until));
        }
        while let Some(entry) = self.arrivals.first_entry()
            && entry.key().0 <= self.now
        {
            let (connection, bytes) = entry.remove();
            self.sockets[connection].to_client.extend(bytes);
            ready.push(Ready { connection, readable: true, writable: false });
        }
        Ok(())
    }

    fn receive(&mut self, connection: usize) -> io::Result<Received<'_>> {
        self.buffer = self.sockets[connection].to_client.drain(..).collect();
        match self.buffer.is_empty() {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(Received { bytes: &self.buffer, more: false, at: self.now }),
        }
    }

    fn send(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize> {
        self.sockets[connection].to_server.extend_from_slice(bytes);
        self.serve(connection);
        Ok(bytes.len())
    }
}

struct Same;

impl Payload for Same {
    fn path(&self) -> &str {
        "/p.S/M"
    }

    fn len(&self) -> usize {
        1
    }

    fn request(&self, _entry: usize) -> &[u8] {
        b"same"
    }

    fn verify(&self, _entry: usize, reply: &[u8]) -> Result<(), String> {
        if reply == b"same" { Ok(()) } else { Err("another".to_owned()) }
    }
}

/// Measures a span of `length` after one of warm-up; the tally, and the calls before.
fn measure(connections: u32, in_flight: u32, service: Service, length: Nanos) -> (Tally, u64) {
    let plan = Arc::new(LoadPlan {
        address: ([127, 0, 0, 1], 1).into(),
        authority: String::new(),
        connections,
        in_flight,
        law: Law::Closed,
        threads: 1,
        cpus: Vec::new(),
        timeout: Nanos(200 * MS),
        grace: Nanos(100 * MS),
        connect_timeout: Nanos(1000 * MS),
        first_entry: 0,
    });
    let simulation = Simulation::new(connections as usize, service);
    let mut worker = Worker::new(plan, Arc::new(Same), 0, simulation);
    worker.connect_all(Nanos(1000 * MS));
    while !worker.is_connected() {
        worker.turn().unwrap();
    }
    worker.start();
    let start = worker.now() + length;
    worker.measure(Span { start, end: start + length });
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let recorder = &mut worker.calls().recorder;
    let before = recorder.outside().0.total();
    (recorder.take().unwrap(), before)
}

#[test]
fn every_call_takes_exactly_what_the_server_takes() {
    let length = Nanos(1000 * MS);
    let (tally, before) = measure(4, 10, Service::Takes(Nanos(5 * MS)), length);
    assert_eq!((tally.outcomes.ok, tally.outcomes.errors(), before), (2000, 0, 2000));
    assert_eq!((tally.ok.min(), tally.ok.max()), (Some(5 * MS), Some(5 * MS)));
    let slices: Vec<u64> = tally.series.iter().map(|slice| slice.ok).collect();
    assert_eq!(slices.len(), 10);
    assert!(slices.iter().all(|ok| (190..=210).contains(ok)), "{slices:?}");
}

#[test]
fn a_queue_makes_calls_wait_for_all_those_before_them() {
    let (tally, _) = measure(3, 20, Service::Queues(Nanos(2 * MS)), Nanos(1000 * MS));
    assert_eq!(tally.outcomes.ok, 500);
    assert_eq!((tally.ok.min(), tally.ok.max()), (Some(40 * MS), Some(40 * MS)));
    // An answer comes at each edge, and the nineteen other calls have 2 to 38 ms before them.
    assert_eq!(tally.carried_in, tally.carried_out);
    assert_eq!(tally.carried_in.0 / MS, (1..20).map(|place| 2 * place).sum::<u64>());
}

#[test]
fn silence_ends_in_timeouts_each_counted_once_and_never_later_than_the_grace() {
    let stop = Nanos(1500 * MS);
    let service = Service::StopsAt(stop, Nanos(10 * MS));
    let (tally, _) = measure(2, 4, service, Nanos(1000 * MS));
    let outcomes = &tally.outcomes;
    assert_eq!(outcomes.ok + outcomes.timeout, outcomes.total());
    assert_eq!(tally.errors.count(), outcomes.timeout);
    // From 1.5 s to 2 s each of four slots times out every 0.2 to 0.25 s; the last calls have 0.1 s.
    assert!((8..=12).contains(&outcomes.timeout), "{outcomes:?}");
    assert!(tally.errors.max().unwrap() <= 250 * MS);
    assert!(tally.errors.min().unwrap() >= 100 * MS);
}

#[test]
fn the_answers_of_the_grace_period_count() {
    let (tally, _) = measure(1, 1, Service::Takes(Nanos(90 * MS)), Nanos(100 * MS));
    assert_eq!(tally.outcomes.ok, tally.outcomes.total());
    let in_window: u64 = tally.series.iter().map(|slice| slice.ok).sum();
    assert!(in_window < tally.outcomes.ok);
}
