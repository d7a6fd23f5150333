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
    /// What a socket takes before it must be waited for, bytes.
    room: usize,
}

#[derive(Default)]
struct Socket {
    fresh: bool,
    /// What it took since it was last waited for, bytes.
    taken: usize,
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
            room: usize::MAX,
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
        if bytes.len() < frame::PREFACE.len() && frame::PREFACE.starts_with(&bytes) {
            self.sockets[connection].to_server = bytes;
            return;
        }
        while let Some(head) = Head::parse(&bytes) {
            let Some(message) = bytes.get(frame::HEADER..frame::HEADER + head.length) else {
                break;
            };
            let message = message.to_vec();
            bytes.drain(..frame::HEADER + head.length);
            if head.kind == frame::DATA
                && let Some(at) = self.done_at()
            {
                self.arrive(at, connection, answer(head.stream, &message));
            }
        }
        self.sockets[connection].to_server = bytes;
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
            let full = socket.taken >= self.room && self.room > 0;
            if std::mem::take(&mut socket.fresh) || full {
                socket.taken = 0;
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
        let socket = &mut self.sockets[connection];
        let bytes = &bytes[..bytes.len().min(self.room - socket.taken)];
        if bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        socket.taken += bytes.len();
        socket.to_server.extend_from_slice(bytes);
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
    let mut worker = connected(connections, in_flight, service, usize::MAX);
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

/// A worker with its connections open; the sockets take `room` bytes at a time.
fn connected(
    connections: u32,
    in_flight: u32,
    service: Service,
    room: usize,
) -> Worker<Simulation> {
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
    let simulation = Simulation { room, ..Simulation::new(connections as usize, service) };
    let mut worker = Worker::new(plan, Arc::new(Same), 0, simulation);
    worker.connect_all(Nanos(1000 * MS));
    while !worker.is_connected() {
        worker.turn().unwrap();
    }
    worker
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

#[test]
fn requests_cut_anywhere_by_the_kernel_arrive_whole() {
    for room in [1, 7, 50] {
        let mut worker = connected(2, 6, Service::Takes(Nanos(MS)), room);
        worker.start();
        let end = worker.now() + Nanos(50 * MS);
        worker.measure(Span { start: worker.now(), end });
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        let tally = worker.calls().recorder.take().unwrap();
        assert_eq!((tally.outcomes.ok, tally.outcomes.errors()), (300, 0), "room for {room}");
    }
}

#[test]
fn what_a_peer_that_does_not_read_never_got_is_not_sent_and_does_not_pile_up() {
    let mut worker = connected(1, 4, Service::Takes(Nanos(MS)), usize::MAX);
    worker.driver.room = 0;
    worker.driver.sockets[0].taken = 0;
    worker.start();
    let end = worker.now() + Nanos(5000 * MS);
    worker.measure(Span { start: worker.now(), end });
    while !worker.is_drained() {
        worker.turn().unwrap();
    }
    let tally = worker.calls().recorder.take().unwrap();
    // The first four were put out before the kernel said no.
    assert_eq!((tally.outcomes.ok, tally.outcomes.timeout), (0, 4));
    assert!(tally.outcomes.not_sent >= 4 * 15, "{:?}", tally.outcomes);
    assert!(worker.lanes[0].output().len() < 300, "{}", worker.lanes[0].output().len());
}

#[test]
fn a_second_start_changes_nothing() {
    let mut worker = connected(1, 4, Service::Takes(Nanos(MS)), usize::MAX);
    worker.start();
    worker.start();
    assert_eq!(worker.calls().outstanding, 4);
}

#[test]
fn a_graceful_goodbye_after_work_does_not_make_the_next_one_slower() {
    let mut worker = connected(1, 1, Service::Takes(Nanos(MS)), usize::MAX);
    worker.start();
    for _ in 0..12 {
        let before = worker.calls().ended;
        while worker.calls().ended == before {
            worker.turn().unwrap();
        }
        let now = worker.driver.now;
        let mut goodbye = Vec::new();
        put(&mut goodbye, frame::GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        worker.driver.arrive(now, 0, goodbye);
        while worker.is_connected() {
            worker.turn().unwrap();
        }
        while !worker.is_connected() {
            worker.turn().unwrap();
        }
        assert!(worker.driver.now <= now + Nanos(5 * MS), "{:?} after {now:?}", worker.driver.now);
    }
}

#[test]
fn a_peer_that_does_not_finish_the_handshake_is_tried_again() {
    let mut worker = connected(1, 1, Service::Takes(Nanos(MS)), usize::MAX);
    worker.start();
    worker.lose(0, "for the test");
    worker.driver.room = 0;
    let mut attempts = 0;
    while worker.now() < Nanos(10_000 * MS) {
        let was = worker.lanes[0].connection.is_some();
        worker.turn().unwrap();
        attempts += u32::from(!was && worker.lanes[0].connection.is_some());
    }
    assert!((8..=10).contains(&attempts), "{attempts}");
}

#[test]
fn calls_are_stamped_when_the_kernel_has_taken_them_whole() {
    let written = |worker: &mut Worker<Simulation>| {
        let calls = worker.lanes[0].connection.as_mut().unwrap().abandon();
        calls.iter().map(|call| call.written > Nanos(0)).collect::<Vec<_>>()
    };
    let started = || {
        let mut worker = connected(1, 2, Service::Takes(Nanos(MS)), usize::MAX);
        (worker.driver.room, worker.driver.sockets[0].taken) = (20, 0);
        worker.start();
        worker
    };
    assert_eq!(written(&mut started()), [false, false]);
    let mut worker = started();
    while worker.lanes[0].has_output() {
        worker.turn().unwrap();
    }
    assert_eq!(written(&mut worker), [true, true]);
}

#[test]
fn the_reason_of_a_goodbye_is_told_until_the_connection_is_open_again() {
    let mut worker = connected(1, 1, Service::Takes(Nanos(MS)), usize::MAX);
    let mut goodbye = Vec::new();
    put(&mut goodbye, frame::GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11]);
    worker.driver.arrive(worker.driver.now, 0, goodbye);
    worker.turn().unwrap();
    let told = (0, Some("peer closed the connection with ENHANCE_YOUR_CALM"));
    assert_eq!(worker.connect_problem(), told);
    while !worker.is_connected() {
        worker.turn().unwrap();
    }
    assert_eq!(worker.connect_problem(), (1, None));
}
