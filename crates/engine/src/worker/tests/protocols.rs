//! Properties of every load, over each protocol.

use rpcbench_contract::Profile;

use super::open::{Measured, SECOND, assert_close, load_as};
use super::peers::Peer;
use super::*;
use crate::log::LoggedCall;
use crate::protocol::{ProtocolVisitor, dispatch};

fn of(protocol: Protocol, mut plan: LoadPlan) -> LoadPlan {
    plan.server.protocol = protocol;
    plan
}

/// A load on a server that speaks a protocol.
struct Load {
    protocol: Protocol,
    arrivals: String,
    seconds: u64,
    simulation: Simulation,
}

impl Load {
    /// Calls in flight: one second's worth of arrivals, or one for each of many connections.
    fn plan(&self) -> LoadPlan {
        let connections = self.simulation.sockets.len() as u32;
        let most = if self.protocol.takes_one_call_at_a_time() { connections } else { 100_000 };
        of(self.protocol, plan(connections, most))
    }

    fn measure(self) -> Measured {
        dispatch(self.protocol, self)
    }
}

impl ProtocolVisitor for Load {
    type Output = Measured;

    fn visit<C: protocol::Connection + Send + 'static>(self) -> Measured {
        let plan = self.plan();
        let payload = payload(self.protocol);
        load_as::<C>(plan, payload, (&self.arrivals, self.seconds), self.simulation)
    }
}

fn payload(protocol: Protocol) -> Arc<dyn Payload> {
    Arc::new(EchoPayload::new("text:20", Profile::of(protocol).encoding))
}

fn server(peer: Peer, service: Service) -> Simulation {
    Simulation { peer, ..Simulation::new(40, service) }
}

/// Runs the same tests over each protocol and its server side.
macro_rules! over {
    ([$($module:ident: $protocol:ident, $peer:expr);+ $(;)?], $tests:tt) => {
        $(mod $module {
            tests!($protocol, $peer, $tests);
        })+
    };
}

macro_rules! tests {
    ($protocol:ident, $peer:expr, [$($test:ident),+ $(,)?]) => {
        $(#[test]
        fn $test() {
            use super::super::peers;
            super::$test(rpcbench_record::Protocol::$protocol, $peer);
        })+
    };
}

over!(
    [
        grpc: Grpc, peers::grpc;
        json: Json, peers::json;
        json_h2c: JsonH2c, peers::json_h2c;
        connect: Connect, peers::connect;
        thrift: Thrift, peers::thrift::<0>;
        thrift_compact: ThriftCompact, peers::thrift::<1>;
        thrift_buffered: ThriftBuffered, peers::thrift::<2>;
        thrift_buffered_compact: ThriftBufferedCompact, peers::thrift::<3>;
        tcp_echo: TcpEcho, peers::tcp_echo;
    ],
    [
        poisson_queue_waits_match_the_formula,
        stall_of_one_second_in_ten_is_in_the_quantiles,
        calls_in_flight_are_rate_times_response,
        bytes_may_be_cut_anywhere_in_both_directions,
    ]
);

/// Poisson arrivals at one server with a fixed service time s: the mean wait is s rho / (2 (1 - rho)), and a share of 1 - rho
/// does not wait at all (Pollaczek and Khinchine).
fn poisson_queue_waits_match_the_formula(protocol: Protocol, peer: Peer) {
    for (rate, rho) in [(500, 0.5), (700, 0.7)] {
        let simulation = server(peer, Service::Queues(Nanos(MS)));
        let arrivals = format!("poisson:{rate}");
        let measured = Load { protocol, arrivals, seconds: 60, simulation }.measure();
        let mean = measured.tally.ok.mean().unwrap() - MS as f64;
        let expected = rho / (2.0 * (1.0 - rho)) * MS as f64;
        assert!((mean / expected - 1.0).abs() < 0.05, "rho {rho}: {mean} for {expected}");
        let response = |call: &LoggedCall| call.done - call.due;
        let at_once = measured.log.iter().filter(|call| response(call) == Nanos(MS)).count();
        let share = at_once as f64 / measured.log.len() as f64;
        assert!((share - (1.0 - rho)).abs() < 0.01, "rho {rho}: {share} did not wait");
    }
}

/// As in the tests of the open loop: 5 % wait longer than 0.5 s, and 1 % longer than 0.9 s.
fn stall_of_one_second_in_ten_is_in_the_quantiles(protocol: Protocol, peer: Peer) {
    let stall = Service::Pauses(Nanos(4 * SECOND), Nanos(5 * SECOND), Nanos(MS / 10));
    let simulation = server(peer, stall);
    let arrivals = "constant:1000".to_owned();
    let measured = Load { protocol, arrivals, seconds: 10, simulation }.measure();
    let quantile = |q| measured.tally.ok.quantile(q).unwrap();
    assert_close("p95", quantile(0.95), SECOND / 2, 0.01);
    assert_close("p99", quantile(0.99), SECOND / 10 * 9, 0.01);
    assert_close("p50", quantile(0.5), MS / 10, 0.01);
    assert_eq!((measured.tally.pacing.late, measured.tally.outcomes.errors()), (0, 0));
}

/// A closed loop for 100 ms. The server counts more calls than came due in it: 40 follow, which keep up the load on its last
/// calls.
struct ClosedLoop(Protocol, Simulation);

impl ProtocolVisitor for ClosedLoop {
    type Output = (Tally, u64);

    fn visit<C: protocol::Connection + Send + 'static>(self) -> (Tally, u64) {
        let Self(protocol, simulation) = self;
        let connections = simulation.sockets.len() as u32;
        let plan = of(protocol, plan(connections, connections));
        let mut worker = connect_as::<C>(plan, payload(protocol), simulation, None);
        let now = worker.now();
        start(&mut worker, "closed", Some(Span { start: now, end: now + Nanos(100 * MS) }));
        while !worker.is_drained() {
            worker.turn().unwrap();
        }
        let counted: u64 = worker.driver.sockets.iter().map(|socket| socket.calls).sum();
        let due_after_window = worker.calls().recorder.outside().outcomes.total();
        (worker.calls().recorder.take().unwrap().calls, counted - due_after_window)
    }
}

fn calls_in_flight_are_rate_times_response(protocol: Protocol, peer: Peer) {
    let simulation = server(peer, Service::Queues(Nanos(MS)));
    let (tally, counted) = dispatch(protocol, ClosedLoop(protocol, simulation));
    assert_eq!((tally.outcomes.ok, tally.outcomes.errors()), (counted, 0));
    let responses = tally.ok.count() as f64 * tally.ok.mean().unwrap();
    let within = responses + tally.carried_in.0 as f64 - tally.carried_out.0 as f64;
    let in_flight = within / (100 * MS) as f64;
    assert!((in_flight / 40.0 - 1.0).abs() < 1e-3, "{in_flight}");
}

fn bytes_may_be_cut_anywhere_in_both_directions(protocol: Protocol, peer: Peer) {
    for (room, segment) in [(1, 1), (7, 3), (50, usize::MAX), (usize::MAX, 7)] {
        let simulation = Simulation { room, segment, ..server(peer, Service::Takes(Nanos(MS))) };
        let (tally, counted) = dispatch(protocol, ClosedLoop(protocol, simulation));
        let outcomes = &tally.outcomes;
        assert_eq!((outcomes.ok, outcomes.errors()), (40 * 100, 0), "{room}, {segment}");
        assert_eq!(counted, 40 * 100, "{room}, {segment}");
    }
}
