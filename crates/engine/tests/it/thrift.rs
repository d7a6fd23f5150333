//! Loads over Thrift in each of its forms: an honest server, cheating ones, and peers that break the rules.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use rpcbench_clock::Nanos;
use rpcbench_contract::{Encoding, Method, thrift_reply};
use rpcbench_engine::{LoadPlan, Measurement};
use rpcbench_record::{Protocol, Transport};
use rpcbench_testkit::thrift::{Form, Message, kind};

use crate::support::{self, came, server};

const PROTOCOLS: [Protocol; 4] = [
    Protocol::Thrift,
    Protocol::ThriftCompact,
    Protocol::ThriftBuffered,
    Protocol::ThriftBufferedCompact,
];

fn form(protocol: Protocol) -> Form {
    Form::of(protocol).unwrap()
}

fn plan(protocol: Protocol, address: SocketAddr) -> LoadPlan {
    LoadPlan {
        connections: 4,
        in_flight: 40,
        threads: 2,
        pipelining: true,
        ..support::plan(protocol, address)
    }
}

/// One connection with one call in flight.
fn single(protocol: Protocol, address: SocketAddr) -> LoadPlan {
    LoadPlan { connections: 1, in_flight: 1, threads: 1, ..plan(protocol, address) }
}

fn measure(plan: &LoadPlan, shape: &str, millis: u64) -> Measurement {
    support::measure(&mut support::open(plan, shape), millis)
}

#[test]
fn every_call_is_counted_once_and_the_server_counts_the_same() {
    for protocol in PROTOCOLS {
        for shape in ["text:100", "text:300000", "record", "dto", "tree"] {
            let server = server(protocol, "honest");
            let (outcomes, examples) = came(measure(&plan(protocol, server.address()), shape, 100));
            assert_eq!(outcomes.errors(), 0, "{protocol} {shape}: {examples:?}");
            assert!(outcomes.ok >= 40, "{protocol} {shape}");
            assert_eq!(server.calls(), outcomes.total());
            assert_eq!(server.connections(), 4);
        }
    }
}

#[test]
fn calls_come_due_by_a_rate() {
    let server = server(Protocol::Thrift, "honest");
    let arrivals = "constant:1000".parse().unwrap();
    let plan = LoadPlan { arrivals, ..plan(Protocol::Thrift, server.address()) };
    let measurement = measure(&plan, "text:100", 500);
    support::assert_all_ok(&measurement, 500);
}

/// A call as a peer sees it.
struct Call {
    form: Form,
    name: Vec<u8>,
    sequence_id: u32,
    request: Vec<u8>,
}

impl Call {
    /// A message about it.
    fn message(&self, kind: u8, sequence_id: u32, body: &[u8]) -> Vec<u8> {
        self.form.write(&Message { kind, name: &self.name, sequence_id, body })
    }

    fn right_body(&self) -> Vec<u8> {
        let reply = thrift_reply(self.form.encoding, Method::Text, &self.request);
        self.form.wrap(0, &reply.unwrap())
    }

    fn right_reply(&self) -> Vec<u8> {
        self.message(kind::REPLY, self.sequence_id, &self.right_body())
    }
}

/// A peer that answers every call to `Text` with the bytes from `answer`.
fn peer(
    protocol: Protocol,
    answer: impl Fn(&Call) -> Vec<u8> + Clone + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            thread::spawn(move || converse(stream, form(protocol), answer));
        }
    });
    address
}

/// Until the connection ends, or `answer` has none.
fn converse(mut stream: TcpStream, form: Form, answer: impl Fn(&Call) -> Vec<u8>) {
    stream.set_nodelay(true).unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 65_536]);
    loop {
        while let Some((message, length)) = form.read(&bytes).unwrap() {
            let request = form.unwrap(1, message.body).unwrap().to_vec();
            let (name, sequence_id) = (message.name.to_vec(), message.sequence_id);
            bytes.drain(..length);
            let answer = answer(&Call { form, name, sequence_id, request });
            if answer.is_empty() || stream.write_all(&answer).is_err() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(read @ 1..) => bytes.extend_from_slice(&buffer[..read]),
            _ => return,
        }
    }
}

#[test]
fn replies_in_segments_of_a_byte_are_replies() {
    for protocol in PROTOCOLS {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let writer = stream.try_clone().unwrap();
            converse(stream, form(protocol), move |call| {
                let reply = call.right_reply();
                let (last, first) = reply.split_last().unwrap();
                // The client may be gone.
                let _ = first.chunks(1).try_for_each(|byte| (&writer).write_all(byte));
                vec![*last]
            });
        });
        let (outcomes, examples) = came(measure(&single(protocol, address), "text:20", 100));
        assert!(outcomes.ok > 0 && outcomes.errors() == 0, "{protocol} {outcomes:?} {examples:?}");
    }
}

/// Loads a peer that breaks the rules: no call is answered, and some report `reason`.
fn assert_lost(answer: impl Fn(&Call) -> Vec<u8> + Clone + Send + 'static, reason: &str) {
    for protocol in PROTOCOLS {
        let address = peer(protocol, answer.clone());
        let (outcomes, examples) = came(measure(&single(protocol, address), "text:100", 100));
        assert_eq!(outcomes.ok, 0, "{protocol}: {outcomes:?}");
        assert!(outcomes.transport > 0, "{protocol}: {outcomes:?}");
        assert!(examples.iter().any(|it| it.contains(reason)), "{protocol}: {examples:?}");
    }
}

#[test]
fn wrong_sequence_id_costs_the_connection() {
    assert_lost(
        |call| call.message(kind::REPLY, call.sequence_id + 1, &call.right_body()),
        "a reply with another sequence id than its call has",
    );
}

#[test]
fn message_other_than_a_reply_costs_the_connection() {
    assert_lost(
        |call| call.message(kind::CALL, call.sequence_id, &call.right_body()),
        "a message that is no reply",
    );
}

#[test]
fn peer_of_another_protocol_breaks_the_connection() {
    assert_lost(|_| b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "does the server speak this");
}

#[test]
fn peer_that_closes_costs_the_connection() {
    assert_lost(|_| Vec::new(), "");
}

#[test]
fn reply_to_nothing_costs_the_connection_and_no_call_is_counted_twice() {
    for protocol in PROTOCOLS {
        let address = peer(protocol, |call| [call.right_reply(), call.right_reply()].concat());
        let measurement = measure(&single(protocol, address), "text:100", 100);
        let connections = &measurement.tally.connections;
        assert!(connections.broken > 0, "{protocol}: {connections:?}");
        let (outcomes, examples) = came(measurement);
        // One of each connection, and none for the second reply.
        assert!(outcomes.ok > 0, "{protocol}: {outcomes:?}");
        assert_eq!(
            outcomes.total(),
            outcomes.ok + outcomes.transport + outcomes.not_sent,
            "{examples:?}"
        );
    }
}

#[test]
fn huge_length_or_a_struct_without_end_ends_in_bounds() {
    let huge = |call: &Call| {
        // As long as the framed transport says, or endless if only the content says it.
        let mut message = call.right_reply();
        if call.form.transport == Transport::ThriftFramed {
            message[..4].copy_from_slice(&[0x7f; 4]);
        } else {
            let at = message.len() - call.right_body().len();
            message.truncate(at);
            message.extend(match call.form.encoding {
                Encoding::ThriftBinary => &b"\x0b\0\x01\x7f\xff\xff\xff"[..],
                _ => b"\x18\xff\xff\xff\xff\x07",
            });
        }
        message
    };
    assert_lost(huge, "longer than 64 MiB");
}

#[test]
fn struct_that_is_cut_short_is_a_wrong_answer_or_never_ends() {
    let cut = |call: &Call| {
        let body = call.right_body();
        call.message(kind::REPLY, call.sequence_id, &body[..body.len() - 3])
    };
    for protocol in PROTOCOLS {
        let address = peer(protocol, cut);
        let timeout = Nanos::from_millis(200);
        let plan = LoadPlan { timeout, grace: timeout, ..single(protocol, address) };
        let (outcomes, examples) = came(measure(&plan, "text:100", 500));
        let framed = form(protocol).transport == Transport::ThriftFramed;
        let expected = if framed { outcomes.wrong_answer } else { outcomes.timeout };
        assert!(outcomes.ok == 0 && expected > 0, "{protocol}: {outcomes:?} {examples:?}");
    }
}
