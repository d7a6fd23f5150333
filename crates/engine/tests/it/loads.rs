//! Loads on real servers: outcomes of calls.

use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{CallPosition, Client, ConnectionOptions, LoadPlan, ServerAddress, Session};
use rpcbench_record::Protocol;
use rpcbench_testkit::scripted::{Frame, Requests, ScriptedPeer, setting};
use rpcbench_testkit::{Server, relay_unix};

use crate::support::{self, measure};

fn server(behaviour: &str) -> Server {
    support::server(Protocol::Grpc, behaviour)
}

fn plan(address: SocketAddr) -> LoadPlan {
    LoadPlan { connections: 4, in_flight: 40, threads: 2, ..support::plan(Protocol::Grpc, address) }
}

fn open(plan: &LoadPlan, shape: &str) -> Session {
    Session::open(plan, &support::plain(Protocol::Grpc, shape)).unwrap()
}

#[test]
fn every_call_is_counted_once_and_the_server_counts_the_same() {
    let server = server("honest");
    let mut session = open(&plan(server.address()), "text:100");
    let mut measured = 0;
    let mut before = 0;
    for _ in 0..3 {
        let measurement = measure(&mut session, 100);
        assert_eq!(
            measurement.tally.calls.outcomes.errors(),
            0,
            "{:?}",
            measurement.tally.calls.examples
        );
        assert!(measurement.tally.calls.outcomes.ok > 100);
        measured += measurement.tally.calls.outcomes.total();
        before = measurement.unmeasured.outcomes.total();
    }
    assert_eq!(session.progress().ended, measured + before);
    assert_eq!(server.calls(), measured + before);
    assert_eq!(server.connections(), 4);
}

#[test]
fn server_behind_a_unix_socket_is_loaded_and_called() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let server = server("honest");
    relay_unix(&path, server.address()).unwrap();
    for life in ["long", "calls:7"] {
        let address = ServerAddress::Unix(path.clone());
        let plan = support::plan(Protocol::Grpc, address);
        let plan = LoadPlan { connection_life: life.parse().unwrap(), ..plan };
        let mut session = open(&plan, "record");
        session.start();
        while session.progress().ended < 20 {
            clock::sleep_until(clock::now() + Nanos::from_millis(1));
        }
        let load = session.pause().unwrap();
        assert_eq!(load.outcomes.errors(), 0, "{life}: {:?}", load.error_examples);
    }
    let payload = support::plain(Protocol::Grpc, "dto");
    let request = payload.request(0);
    let address = ServerAddress::Unix(path);
    let mut client =
        Client::new(ConnectionOptions::new(Protocol::Grpc, address), Duration::from_secs(10));
    let reply = client.call(payload.target(0), request, CallPosition::Any).unwrap();
    assert_eq!(payload.verify(0, request, &reply), Ok(()));
}

#[test]
fn every_shape_is_answered_rightly_on_several_threads() {
    let server = server("honest");
    for shape in ["text:0", "text:10000", "text:70000", "text:1000000", "record", "tree"] {
        let measurement = measure(&mut open(&plan(server.address()), shape), 60);
        assert_eq!(
            measurement.tally.calls.outcomes.errors(),
            0,
            "{:?}",
            measurement.tally.calls.examples
        );
        let before = &measurement.unmeasured.outcomes;
        assert_eq!(before.errors(), 0, "{shape}: {:?}", measurement.unmeasured.error_examples);
        assert!(measurement.tally.calls.outcomes.ok + before.ok >= 40, "{shape}");
    }
}

#[test]
fn delayed_calls_take_at_least_the_delay() {
    let server = server("slow:5ms");
    let measurement = measure(&mut open(&plan(server.address()), "text:100"), 300);
    let calls = &measurement.tally.calls;
    assert!(calls.ok.min().unwrap() >= 5_000_000);
    assert!(calls.service.min().unwrap() >= 5_000_000);
    let responses = calls.ok.count() as f64 * calls.ok.mean().unwrap();
    let within = responses + calls.carried_in.0 as f64 - calls.carried_out.0 as f64;
    assert!((within / 300e6 / 40.0 - 1.0).abs() < 0.005, "{}", within / 300e6);
}

#[test]
fn lost_connection_costs_its_calls_and_is_opened_again() {
    for behaviour in ["reset-after:500", "truncate-after:500", "garbage-after:500"] {
        let server = server(behaviour);
        let timeout = Nanos::from_millis(200);
        let plan = LoadPlan { timeout, ..plan(server.address()) };
        let measurement = measure(&mut open(&plan, "text:100"), 200);
        let before = &measurement.unmeasured.outcomes;
        let lost = measurement.tally.calls.outcomes.transport + before.transport;
        assert!(lost > 0, "{behaviour}: {:?}", measurement.tally.calls.outcomes);
        assert!(server.connections() > 4, "{behaviour}");
    }
}

#[test]
fn closed_connection_is_opened_again() {
    let peer = ScriptedPeer::start_many(|listener| {
        for _ in 0..20 {
            let mut wire = listener.accept()?;
            wire.handshake(&[])?;
            let request = wire.next_request(&mut Requests::default())?;
            if let Some(request) = request {
                wire.send_all(&request.right_reply())?;
            }
            wire.close()?;
        }
        let (mut wire, mut requests) = (listener.accept()?, Requests::default());
        wire.handshake(&[])?;
        while let Some(request) = wire.next_request(&mut requests)? {
            wire.send_all(&request.right_reply())?;
        }
        Ok(())
    });
    let peer = peer.unwrap();
    let (connections, in_flight, threads) = (1, 2, 1);
    let plan = LoadPlan { connections, in_flight, threads, ..plan(peer.address()) };
    let mut session = open(&plan, "text:100");
    session.start();
    // On each closed connection, one call was answered.
    while session.progress().ended - session.progress().failed < 100 {
        clock::sleep_until(clock::now() + Nanos::from_millis(1));
    }
    let outcomes = session.pause().unwrap().outcomes;
    assert!(outcomes.transport >= 20, "{outcomes:?}");
    assert_eq!(outcomes.total(), outcomes.ok + outcomes.transport);
    drop(session);
    peer.finish().unwrap();
}

#[test]
fn peer_that_never_reads_does_not_block_the_load() {
    const MAX: u32 = 0x7fff_ffff;
    let (go_on, stalled) = channel();
    let peer = ScriptedPeer::start(move |wire| {
        // Its windows are wide open, so only the kernel holds bytes back.
        wire.handshake(&[(setting::INITIAL_WINDOW_SIZE, MAX)])?;
        wire.send(&Frame::window_update(0, MAX - 65_535))?;
        wire.stall(&stalled)
    });
    let peer = peer.unwrap();
    let timeout = Nanos::from_millis(100);
    let (connections, in_flight, threads) = (1, 20, 1);
    let plan = LoadPlan {
        connections,
        in_flight,
        threads,
        timeout,
        grace: timeout,
        ..plan(peer.address())
    };
    let mut session = open(&plan, "text:1000000");
    let measurement = measure(&mut session, 500);
    let mut outcomes = measurement.tally.calls.outcomes;
    outcomes.add(&measurement.unmeasured.outcomes);
    assert!(outcomes.timeout > 0 && outcomes.not_sent > 0, "{outcomes:?}");
    assert_eq!(outcomes.total(), outcomes.timeout + outcomes.not_sent);
    drop(session);
    go_on.send(()).unwrap();
    peer.finish().unwrap();
}

#[test]
fn refused_connections_name_the_server() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let connect_timeout = Nanos::from_millis(50);
    let plan = LoadPlan { connect_timeout, ..plan(closed) };
    let error =
        Session::open(&plan, &support::plain(Protocol::Grpc, "text:1")).err().unwrap().to_string();
    assert!(error.contains("0 of 4") && error.contains("refused"), "{error}");
}

#[test]
fn calls_come_due_by_a_rate() {
    let server = server("honest");
    let arrivals = "constant:1000".parse().unwrap();
    let plan = LoadPlan { arrivals, ..plan(server.address()) };
    let measurement = measure(&mut open(&plan, "text:100"), 500);
    support::assert_all_ok(&measurement, 500);
}
