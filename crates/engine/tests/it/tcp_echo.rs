//! Loads over tcp-echo: an honest server, and hostile peers.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rpcbench_clock::Nanos;
use rpcbench_engine::{LoadPlan, Measurement, Payload, Session, Target};
use rpcbench_record::Protocol;
use rpcbench_testkit::Server;

use crate::support;

/// Requests that must be returned unchanged.
struct Bytes(Vec<Vec<u8>>, Target);

impl Payload for Bytes {
    fn target(&self, _: usize) -> &Target {
        &self.1
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        &self.0[index]
    }

    fn verify(&self, index: usize, _sent: &[u8], reply: &[u8]) -> Result<(), String> {
        if self.0[index] == reply { Ok(()) } else { Err("other bytes".to_owned()) }
    }
}

fn plan(address: SocketAddr) -> LoadPlan {
    LoadPlan {
        connections: 4,
        in_flight: 40,
        threads: 2,
        ..support::plan(Protocol::TcpEcho, address)
    }
}

fn measure(plan: &LoadPlan, millis: u64) -> Measurement {
    let bodies = [0, 1, 100, 5_000, 300_000].map(|length| (0..length).map(|n| n as u8).collect());
    let payload: Arc<dyn Payload> = Arc::new(Bytes(bodies.into(), Target::new("")));
    support::measure(&mut Session::open(plan, &payload).unwrap(), millis)
}

/// A peer that handles each connection with `treat`.
fn peer(treat: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let treat = treat.clone();
            thread::spawn(move || treat(stream));
        }
    });
    address
}

/// The next request of a connection; `None` at its end.
fn request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).ok()?;
    let mut body = vec![0; u32::from_be_bytes(prefix) as usize];
    stream.read_exact(&mut body).ok()?;
    Some([&prefix[..], &body].concat())
}

#[test]
fn every_call_is_counted_once_and_the_server_counts_the_same() {
    let server = Server::start("tcp-echo".parse().unwrap()).unwrap();
    let measurement = measure(&plan(server.address()), 200);
    let (inside, outside) = (&measurement.tally.calls.outcomes, &measurement.unmeasured.outcomes);
    assert_eq!(
        (inside.errors(), outside.errors()),
        (0, 0),
        "{:?}",
        measurement.tally.calls.examples
    );
    assert!(inside.ok > 40);
    assert_eq!(server.calls(), inside.total() + outside.total());
    assert_eq!(server.connections(), 4);
}

#[test]
fn calls_come_due_by_a_rate() {
    let server = Server::start("tcp-echo".parse().unwrap()).unwrap();
    let arrivals = "constant:1000".parse().unwrap();
    let measurement = measure(&LoadPlan { arrivals, ..plan(server.address()) }, 500);
    support::assert_all_ok(&measurement, 500);
}

#[test]
fn replies_in_segments_of_a_few_bytes_are_replies() {
    let address = peer(|mut stream| {
        stream.set_nodelay(true).unwrap();
        while let Some(request) = request(&mut stream) {
            for segment in request.chunks(request.len().div_ceil(7)) {
                if stream.write_all(segment).is_err() {
                    return;
                }
            }
        }
    });
    let measurement = measure(&plan(address), 200);
    let outcomes = &measurement.tally.calls.outcomes;
    assert!(outcomes.ok > 0 && outcomes.errors() == 0, "{outcomes:?}");
}

#[test]
fn other_bytes_are_a_wrong_answer() {
    let address = peer(|mut stream| {
        while let Some(mut request) = request(&mut stream) {
            if let Some(last) = request[4..].last_mut() {
                *last ^= 1;
            }
            if stream.write_all(&request).is_err() {
                return;
            }
        }
    });
    let outcomes = measure(&plan(address), 200).tally.calls.outcomes;
    // The empty request is the same as its reply.
    assert!(outcomes.wrong_answer > outcomes.ok && outcomes.ok > 0, "{outcomes:?}");
    assert_eq!(outcomes.total(), outcomes.wrong_answer + outcomes.ok);
}

#[test]
fn peer_that_answers_twice_costs_its_connection() {
    let address = peer(|mut stream| {
        while let Some(request) = request(&mut stream) {
            if stream.write_all(&[&request[..], &request].concat()).is_err() {
                return;
            }
        }
    });
    let (connections, in_flight, threads) = (1, 1, 1);
    let plan = LoadPlan { connections, in_flight, threads, ..plan(address) };
    let measurement = measure(&plan, 200);
    let example = "peer broke tcp-echo: a reply to no call".to_owned();
    let examples =
        [measurement.tally.calls.examples, measurement.unmeasured.error_examples].concat();
    let lost =
        measurement.tally.calls.outcomes.transport + measurement.tally.calls.outcomes.wrong_answer;
    assert!(lost > 0 || examples.contains(&example), "{examples:?}");
}

#[test]
fn peer_that_stops_answering_costs_its_calls_and_the_connection_is_opened_again() {
    let address = peer(|mut stream| {
        for _ in 0..5 {
            let Some(request) = request(&mut stream) else { return };
            if stream.write_all(&request).is_err() {
                return;
            }
        }
        // Until the client closes.
        while request(&mut stream).is_some() {}
    });
    let timeout = Nanos::from_millis(100);
    let (connections, in_flight, threads) = (1, 2, 1);
    let plan = LoadPlan { connections, in_flight, threads, timeout, ..plan(address) };
    let measurement = measure(&plan, 600);
    let mut outcomes = measurement.tally.calls.outcomes;
    outcomes.add(&measurement.unmeasured.outcomes);
    assert!(outcomes.timeout >= 4 && outcomes.ok >= 10, "{outcomes:?}");
    assert_eq!(outcomes.total(), outcomes.timeout + outcomes.ok + outcomes.transport);
}

#[test]
fn peer_that_speaks_something_else_is_named() {
    let address = peer(|mut stream| {
        let _ = request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.shutdown(Shutdown::Both);
    });
    let measurement = measure(&plan(address), 200);
    let examples =
        [measurement.tally.calls.examples, measurement.unmeasured.error_examples].concat();
    let named = examples.iter().any(|example| example.contains("does the server speak tcp-echo?"));
    assert!(named, "{examples:?}");
}
