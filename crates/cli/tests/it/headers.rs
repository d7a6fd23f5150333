//! Headers of the user, on every call and in the record.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::bench::look;

/// Requests with the header `x-trace: 7`, and without.
#[derive(Default)]
struct Seen {
    with: AtomicU64,
    without: AtomicU64,
}

impl Seen {
    fn count(&self, has: bool) {
        let counter = if has { &self.with } else { &self.without };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// A server of HTTP/2 that answers 404 (in gRPC: status 5) to requests with the header.
async fn http2(socket: tokio::net::TcpStream, seen: Arc<Seen>) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(socket).await?;
    while let Some(request) = connection.accept().await {
        let (request, mut respond) = request?;
        seen.count(request.headers().get("x-trace").is_some_and(|value| value == "7"));
        let grpc = request.headers()["content-type"] == "application/grpc";
        let reply = http::Response::builder();
        let reply = match grpc {
            true => reply.header("content-type", "application/grpc").header("grpc-status", "5"),
            false => reply.status(404),
        };
        respond.send_response(reply.body(()).expect("a reply"), true)?;
    }
    Ok(())
}

fn serve_http2(seen: Arc<Seen>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("not blocking");
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(http2(socket, Arc::clone(&seen)));
            }
        });
    });
    address
}

/// The same over HTTP/1.1.
fn serve_http1(seen: Arc<Seen>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let seen = Arc::clone(&seen);
            thread::spawn(move || http1(socket, &seen));
        }
    });
    address
}

fn http1(mut socket: TcpStream, seen: &Seen) -> Option<()> {
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    loop {
        let (mut call, mut has, mut length) = (false, false, 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end().to_ascii_lowercase();
            call |= line.starts_with("post ");
            has |= line == "x-trace: 7";
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().ok()?;
            }
            if line.is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).ok()?;
        // After a load without answers, rpcbench tries other protocols.
        if call {
            seen.count(has);
        }
        socket.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}

#[test]
fn every_call_carries_the_headers() {
    for (protocol, status) in
        [("grpc", "NOT_FOUND"), ("json", "Not Found"), ("json-h2c", "Not Found")]
    {
        let seen = Arc::new(Seen::default());
        let serve = if protocol == "json" { serve_http1 } else { serve_http2 };
        let address = serve(Arc::clone(&seen));
        let words = "-H X-Trace:7 -H authorization:s3cr3t --warmup none -c 2 -z 200ms";
        let ended = look(&format!("load {address} --protocol {protocol} {words}")).expect(1);
        ended.shows(&[status]);
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert!(count(&seen.with) > 0, "{protocol}: {}", ended.out);
        assert_eq!(count(&seen.without), 0, "{protocol}");
    }
}

#[test]
fn the_record_has_the_headers_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    let address = serve_http2(Arc::default());
    let headers = "-H x-trace:7 -Hauthorization:s3cr3t --header=x-api-key:s3cr3t";
    let words = format!("{headers} --warmup none -c 1 -z 100ms --out {}", out.display());
    look(&format!("load {address} {words}")).expect(1);
    let mut all = String::new();
    for file in std::fs::read_dir(&out).unwrap().flatten() {
        all += &std::fs::read_to_string(file.path()).unwrap_or_default();
    }
    assert!(all.contains("x-trace: 7") && all.contains("authorization: [redacted]"), "{all}");
    assert!(!all.contains("s3cr3t"), "{all}");
}

#[test]
fn protocols_without_headers_refuse_them() {
    for protocol in ["thrift", "tcp-echo"] {
        let ended = look(&format!("load 127.0.0.1:1 --protocol {protocol} -H x-trace:7")).expect(2);
        ended.complains(&[&format!(
            "--protocol {protocol}: its calls have no headers; leave 'x-trace' out"
        )]);
    }
    let ended = look("load 127.0.0.1:1 -H grpc-timeout:1S").expect(2);
    ended.complains(&["header 'grpc-timeout' is set by rpcbench; leave it out"]);
}
