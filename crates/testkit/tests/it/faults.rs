//! How each behaviour breaks.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rpcbench_testkit::{Ended, Server};

use crate::client::Client;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

fn start(behaviour: &str) -> Server {
    Server::start(behaviour.parse().unwrap()).unwrap()
}

/// What a bystander with an idle connection sees until that connection ends.
fn bystander(
    address: SocketAddr,
) -> (TcpStream, impl FnOnce(&mut TcpStream) -> (Vec<u8>, Option<ErrorKind>)) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(PREFACE).unwrap();
    // The server's SETTINGS show that it attends to this connection.
    stream.read_exact(&mut [0; 9]).unwrap();
    (stream, |stream: &mut TcpStream| {
        let mut seen = Vec::new();
        let end = stream.read_to_end(&mut seen);
        (seen, end.err().map(|error| error.kind()))
    })
}

#[test]
fn never_ready_accepts_and_stays_silent() {
    let server = start("never-ready");
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(PREFACE).unwrap();
    let reader = std::thread::spawn(move || {
        let mut seen = Vec::new();
        let _ = stream.read_to_end(&mut seen);
        seen
    });
    while server.connections() == 0 {
        std::thread::yield_now();
    }
    assert_eq!(server.stop(), Ended::Stopped);
    assert_eq!(reader.join().unwrap(), b"");
}

#[test]
fn no_listen_refuses_connections() {
    let server = start("no-listen");
    let error = TcpStream::connect(server.address()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(server.stop(), Ended::Stopped);
}

#[test]
fn exit_after_ends_the_server_and_reports_it() {
    let server = start("exit-after:2");
    let client = Client::connect(server.address());
    client.text("1").unwrap();
    client.text("2").unwrap();
    assert!(client.text("3").is_err());
    assert_eq!(server.calls(), 2);
    let line = "rpcbench-testkit: exits on purpose after 2 calls".to_owned();
    assert_eq!(server.stop(), Ended::Exited { code: 3, line });
}

#[test]
fn hang_after_keeps_the_sockets_open() {
    let server = start("hang-after:1");
    let client = Client::connect(server.address());
    client.text("1").unwrap();
    let timeout = Duration::from_millis(100);
    assert!(client.text_within("2", timeout).is_none());
    let other = TcpStream::connect(server.address()).unwrap();
    other.set_read_timeout(Some(timeout)).unwrap();
    (&other).write_all(PREFACE).unwrap();
    let mut seen = Vec::new();
    let error = (&other).read_to_end(&mut seen).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock, "open, and silent after {seen:?}");
    assert_eq!(server.calls(), 1);
}

#[test]
fn reset_after_resets_every_connection() {
    let server = start("reset-after:1");
    let (mut stream, watch) = bystander(server.address());
    let client = Client::connect(server.address());
    client.text("1").unwrap();
    assert!(client.text("2").is_err());
    assert_eq!(watch(&mut stream).1, Some(ErrorKind::ConnectionReset));
    assert_eq!(server.calls(), 1);
    assert_eq!(server.stop(), Ended::Stopped);
}

#[test]
fn truncate_after_sends_half_a_frame_and_ends() {
    let server = start("truncate-after:1");
    let (mut stream, watch) = bystander(server.address());
    let client = Client::connect(server.address());
    client.text("1").unwrap();
    assert!(client.text("2").is_err());
    let (seen, error) = watch(&mut stream);
    assert_eq!(error, None);
    assert!(seen.ends_with(b"half of"), "{seen:?}");
}

#[test]
fn garbage_after_writes_no_frame_and_stays_open() {
    let server = start("garbage-after:1");
    let (mut stream, watch) = bystander(server.address());
    let client = Client::connect(server.address());
    client.text("1").unwrap();
    assert!(client.text("2").is_err());
    server.stop();
    let (seen, _) = watch(&mut stream);
    assert!(seen.len() > 1000, "{} bytes", seen.len());
}

#[test]
fn answers_before_the_fault_all_arrive() {
    for behaviour in ["reset-after:50", "truncate-after:50"] {
        let server = start(behaviour);
        let client = Client::connect(server.address());
        let texts: Vec<String> = (0..50).map(|index| index.to_string()).collect();
        let answered = client.texts(&texts).into_iter().filter(Result::is_ok).count();
        assert_eq!(answered, 50, "{behaviour}");
        assert!(client.text("51").is_err(), "{behaviour}");
    }
}
