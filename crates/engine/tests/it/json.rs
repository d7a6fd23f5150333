//! Loads and checks over JSON: an honest server, and peers that follow a script of unusual HTTP/1.1.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::{
    CallError, CallPosition, Client, ConnectionOptions, LoadPlan, Measurement, Payload, Session,
    Target,
};
use rpcbench_record::{Outcomes, Protocol};
use rpcbench_testkit::Server;
use rpcbench_testkit::scripted::{ScriptError, ScriptedPeer, Wire};

use crate::support;

const PATH: &str = "/rpcbench.v1.Echo/Text";

/// Texts of these many letters; each must come back under `echo`.
struct Texts(Vec<String>, Target);

impl Texts {
    fn of(lengths: &[usize]) -> Arc<dyn Payload> {
        let text = |length: &usize| format!("{{\"text\":\"{}\"}}", "t".repeat(*length));
        Arc::new(Self(lengths.iter().map(text).collect(), Target::new(PATH)))
    }
}

impl Payload for Texts {
    fn target(&self, _: usize) -> &Target {
        &self.1
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        self.0[index].as_bytes()
    }

    fn verify(&self, index: usize, _sent: &[u8], reply: &[u8]) -> Result<(), String> {
        let right = self.0[index].replacen("text", "echo", 1);
        if right.as_bytes() == reply { Ok(()) } else { Err("another text".to_owned()) }
    }
}

fn plan(address: SocketAddr, connections: u32, in_flight: u32) -> LoadPlan {
    LoadPlan {
        connections,
        in_flight,
        pipelining: in_flight > connections,
        ..support::plan(Protocol::Json, address)
    }
}

fn measure(plan: &LoadPlan, lengths: &[usize], millis: u64) -> Measurement {
    support::measure(&mut Session::open(plan, &Texts::of(lengths)).unwrap(), millis)
}

/// Loads until this many calls are answered; returns all outcomes.
fn load_until_ok(plan: &LoadPlan, calls: u64) -> (Outcomes, Vec<String>) {
    let mut session = Session::open(plan, &Texts::of(&[5, 100])).unwrap();
    session.start();
    while session.progress().ended - session.progress().failed < calls {
        clock::sleep_until(clock::now() + Nanos::from_millis(1));
    }
    let unmeasured = session.pause().unwrap();
    (unmeasured.outcomes, unmeasured.error_examples)
}

/// Answers up to this many calls correctly.
fn serve(wire: &mut Wire, calls: usize) -> Result<(), ScriptError> {
    for _ in 0..calls {
        let Some(request) = wire.next_http_request()? else { break };
        wire.send_bytes(&request.right_reply(""))?;
    }
    Ok(())
}

#[test]
fn every_call_is_counted_once_and_the_server_counts_the_same() {
    let server = Server::start("null-json".parse().unwrap()).unwrap();
    for (connections, in_flight, threads) in [(4, 4, 2), (1, 1, 1), (4, 40, 2)] {
        let plan = LoadPlan { threads, ..plan(server.address(), connections, in_flight) };
        let before = (server.calls(), server.connections());
        let measurement = measure(&plan, &[0, 1, 100, 5_000, 300_000], 100);
        let (inside, outside) =
            (&measurement.tally.calls.outcomes, &measurement.unmeasured.outcomes);
        let examples = &measurement.tally.calls.examples;
        assert_eq!((inside.errors(), outside.errors()), (0, 0), "{examples:?}");
        assert!(inside.ok + outside.ok > 0);
        assert_eq!(server.calls() - before.0, inside.total() + outside.total());
        assert_eq!(server.connections() - before.1, u64::from(connections));
    }
}

#[test]
fn calls_come_due_by_a_rate() {
    let server = Server::start("null-json".parse().unwrap()).unwrap();
    let arrivals = "constant:1000".parse().unwrap();
    let plan = LoadPlan { arrivals, ..plan(server.address(), 10, 10) };
    let measurement = measure(&plan, &[100], 500);
    support::assert_all_ok(&measurement, 500);
}

#[test]
fn one_call_is_on_its_way_at_a_time() {
    let peer = ScriptedPeer::start(|wire| {
        for _ in 0..50 {
            let Some(request) = wire.next_http_request()? else { break };
            // Nothing more arrives before the reply.
            let interim = b"HTTP/1.1 102 Processing\r\n\r\n";
            wire.send_bytes(interim)?;
            wire.send_bytes(&request.right_reply("Date: now\r\n"))?;
        }
        serve(wire, usize::MAX)
    });
    let peer = peer.unwrap();
    let (outcomes, examples) = load_until_ok(&plan(peer.address(), 1, 1), 60);
    assert_eq!(outcomes.errors(), 0, "{examples:?}");
    peer.finish().unwrap();
}

#[test]
fn orderly_end_of_the_connection_costs_no_call() {
    // The first reply ends the connection: calls pipelined behind it are sent again on the next one.
    for fields in ["Connection: close\r\n", "Connection: close, other\r\nDate: now\r\n"] {
        for in_flight in [1, 5] {
            let peer = ScriptedPeer::start_many(move |listener| {
                for _ in 0..10 {
                    let mut wire = listener.accept()?;
                    if let Some(request) = wire.next_http_request()? {
                        wire.send_bytes(&request.right_reply(fields))?;
                    }
                    wire.close()?;
                }
                serve(&mut listener.accept()?, usize::MAX)
            });
            let peer = peer.unwrap();
            let (outcomes, examples) = load_until_ok(&plan(peer.address(), 1, in_flight), 100);
            assert_eq!(outcomes.errors(), 0, "{examples:?}");
            peer.finish().unwrap();
        }
    }
}

#[test]
fn reply_without_length_ends_with_the_connection_and_costs_no_call() {
    let peer = ScriptedPeer::start_many(|listener| {
        for _ in 0..10 {
            let mut wire = listener.accept()?;
            if let Some(request) = wire.next_http_request()? {
                wire.send_bytes(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\n")?;
                wire.send_bytes(&request.echo())?;
            }
            wire.close()?;
        }
        serve(&mut listener.accept()?, usize::MAX)
    });
    let peer = peer.unwrap();
    let (outcomes, examples) = load_until_ok(&plan(peer.address(), 1, 3), 100);
    assert_eq!(outcomes.errors(), 0, "{examples:?}");
    peer.finish().unwrap();
}

#[test]
fn connection_that_ends_in_the_middle_of_a_reply_costs_its_calls() {
    let peer = ScriptedPeer::start_many(|listener| {
        for _ in 0..10 {
            let mut wire = listener.accept()?;
            serve(&mut wire, 1)?;
            if let Some(request) = wire.next_http_request()? {
                let reply = request.right_reply("");
                wire.send_bytes(&reply[..reply.len() - 1])?;
            }
            wire.close()?;
        }
        serve(&mut listener.accept()?, usize::MAX)
    });
    let peer = peer.unwrap();
    let (outcomes, examples) = load_until_ok(&plan(peer.address(), 1, 1), 100);
    let expected = Outcomes { ok: outcomes.ok, transport: 10, ..Outcomes::default() };
    assert_eq!(outcomes, expected, "{examples:?}");
    let amid = "peer closed the connection in the middle of a reply".to_owned();
    assert!(examples.contains(&amid), "{examples:?}");
    peer.finish().unwrap();
}

#[test]
fn other_statuses_are_outcomes_and_the_connection_continues() {
    let peer = ScriptedPeer::start(|wire| {
        for reply in [
            "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nlater",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        ] {
            wire.next_http_request()?;
            wire.send_bytes(reply.as_bytes())?;
        }
        serve(wire, usize::MAX)
    });
    let peer = peer.unwrap();
    let (outcomes, examples) = load_until_ok(&plan(peer.address(), 1, 1), 20);
    assert_eq!(outcomes.status, [(204, 1), (404, 1), (503, 1)].into_iter().collect());
    assert_eq!(outcomes.errors(), 3);
    assert!(examples.contains(&"Service Unavailable: later".to_owned()), "{examples:?}");
    peer.finish().unwrap();
}

#[test]
fn late_reply_costs_no_other_call() {
    let peer = ScriptedPeer::start_many(|listener| {
        let mut wire = listener.accept()?;
        serve(&mut wire, 3)?;
        // The client gives this connection up, and opens another.
        let late = wire.next_http_request()?;
        let mut next = listener.accept()?;
        if let Some(request) = late {
            // It may be closed already.
            let _ = wire.send_bytes(&request.right_reply(""));
        }
        // On a slow machine others may time out.
        loop {
            serve(&mut next, usize::MAX)?;
            next = listener.accept()?;
        }
    });
    let peer = peer.unwrap();
    let timeout = Nanos::from_millis(500);
    let plan = LoadPlan { timeout, ..plan(peer.address(), 1, 1) };
    let (outcomes, examples) = load_until_ok(&plan, 20);
    assert!(outcomes.timeout >= 1, "{examples:?}");
    assert_eq!(outcomes.errors(), outcomes.timeout, "{examples:?}");
}

#[test]
fn peer_that_speaks_something_else_is_named() {
    let server = Server::start("tcp-echo".parse().unwrap()).unwrap();
    let timeout = Nanos::from_millis(300);
    let silent = LoadPlan { timeout, grace: timeout, ..plan(server.address(), 1, 1) };
    let measurement = measure(&silent, &[5], 50);
    let mut outcomes = measurement.tally.calls.outcomes;
    outcomes.add(&measurement.unmeasured.outcomes);
    assert_eq!(outcomes.ok, 0, "{outcomes:?}");
    let honest = Server::start("honest".parse().unwrap()).unwrap();
    let measurement = measure(&plan(honest.address(), 1, 1), &[5], 50);
    let examples =
        [measurement.tally.calls.examples, measurement.unmeasured.error_examples].concat();
    let named = |example: &String| example.contains("peer broke json: a reply that is not HTTP/1");
    assert!(examples.iter().any(named), "{examples:?}");
}

/// The results of a one-call client, call by call.
fn calls<S>(script: S, calls: usize) -> Vec<Result<String, CallError>>
where
    S: FnOnce(&mut Wire) -> Result<(), ScriptError> + Send + 'static,
{
    let peer = ScriptedPeer::start(script).unwrap();
    let mut client = Client::new(
        ConnectionOptions::new(Protocol::Json, peer.address()),
        Duration::from_secs(20),
    );
    let tree = Target::new("/rpcbench.v1.Echo/Tree");
    let call = |_| {
        let reply = client.call(&tree, b"{}", CallPosition::Any);
        reply.map(|reply| String::from_utf8(reply).unwrap())
    };
    let replies = (0..calls).map(call).collect();
    drop(client);
    peer.finish().unwrap();
    replies
}

#[test]
fn client_of_one_call_at_a_time_takes_every_kind_of_reply() {
    let replies = calls(
        |wire| {
            for reply in [
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
                "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\r\n{ }",
            ] {
                let request = wire.next_http_request()?;
                assert!(request.is_some_and(|it| {
                    it.head.starts_with("POST /rpcbench.v1.Echo/Tree HTTP/1.1\r\n")
                }));
                wire.send_bytes(reply.as_bytes())?;
            }
            wire.close()
        },
        4,
    );
    let status = CallError::Status { code: 405, message: String::new() };
    assert_eq!(
        replies,
        [Ok("{}".to_owned()), Ok("{}".to_owned()), Err(status), Ok("{ }".to_owned())]
    );
}

#[test]
fn client_of_one_call_at_a_time_says_why_there_is_no_reply() {
    let replies = calls(
        |wire| {
            wire.next_http_request()?;
            wire.send_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")?;
            wire.close()
        },
        1,
    );
    let amid = "peer closed the connection in the middle of a reply";
    assert_eq!(replies, [Err(CallError::Closed(amid.to_owned()))]);
}
