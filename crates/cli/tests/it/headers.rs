//! Headers and the host name of the user, on every call and in the record.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::bench::{Bench, look, rpcbench};
use crate::program::Program;

/// Requests with a header field, and without.
#[derive(Default)]
struct Seen {
    /// Name and value. The name `host` is `:authority` in HTTP/2.
    field: (&'static str, &'static str),
    with: AtomicU64,
    without: AtomicU64,
}

impl Seen {
    fn new(name: &'static str, value: &'static str) -> Arc<Self> {
        Arc::new(Self { field: (name, value), ..Self::default() })
    }

    fn count(&self, has: bool) {
        let counter = if has { &self.with } else { &self.without };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// A server of HTTP/2 that answers 400 (in gRPC: status 5) to requests with the header.
async fn http2(socket: tokio::net::TcpStream, seen: Arc<Seen>) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(socket).await?;
    while let Some(request) = connection.accept().await {
        let (request, mut respond) = request?;
        let (name, expected) = seen.field;
        seen.count(match name {
            "host" => request.uri().authority().is_some_and(|host| host == expected),
            name => request.headers().get(name).is_some_and(|value| value == expected),
        });
        let grpc = request.headers()["content-type"] == "application/grpc";
        let reply = http::Response::builder();
        let reply = match grpc {
            true => reply.header("content-type", "application/grpc").header("grpc-status", "5"),
            false => reply.status(400),
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
    let field = format!("{}: {}", seen.field.0, seen.field.1);
    loop {
        let (mut call, mut has, mut length) = (false, false, 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end().to_ascii_lowercase();
            call |= line.starts_with("post ");
            has |= line == field;
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
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}

/// Every call of a load with these options has a header field, under each protocol over HTTP.
fn carries(name: &'static str, value: &'static str, options: &str) {
    for (protocol, status) in
        [("grpc", "NOT_FOUND"), ("json", "Bad Request"), ("json-h2c", "Bad Request")]
    {
        let seen = Seen::new(name, value);
        let serve = if protocol == "json" { serve_http1 } else { serve_http2 };
        let address = serve(Arc::clone(&seen));
        let words = format!("{options} --warmup none -c 2 -z 200ms");
        let ended = look(&format!("load {address} --protocol {protocol} {words}")).expect(1);
        ended.shows(&[status]);
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert!(count(&seen.with) > 0, "{protocol}: {}", ended.out);
        assert_eq!(count(&seen.without), 0, "{protocol}");
    }
}

#[test]
fn every_call_carries_the_headers() {
    carries("x-trace", "7", "-H X-Trace:7 -H authorization:s3cr3t");
}

#[test]
fn headers_of_a_run_reach_readiness_and_conformance_check() {
    let run = |token: &str, code| {
        let bench = Bench::new();
        let words = "run @token --warmup none --duration 200ms --processes 1 --rounds 1";
        bench.run(&format!("{words} -H authorization:{token}")).expect(code);
        bench.cells()
    };
    run("other", 1).failed("token", "status 16 (\"no token\")");
    run("token", 0).measured("token");
}

#[test]
fn every_call_names_the_host() {
    carries("host", "api.test:8443", "--authority api.test:8443");
}

#[test]
fn record_has_the_headers_without_secrets_and_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    let address = serve_http2(Arc::default());
    let headers = "-H x-trace:7 -Hauthorization:s3cr3t --header=x-api-key:s3cr3t";
    let words = format!(
        "{headers} --authority api.test --warmup none -c 1 -z 100ms --out {}",
        out.display()
    );
    look(&format!("load {address} {words}")).expect(1);
    let mut all = String::new();
    for file in std::fs::read_dir(&out).unwrap().flatten() {
        all += &std::fs::read_to_string(file.path()).unwrap_or_default();
    }
    assert!(all.contains("x-trace: 7") && all.contains("authorization: [redacted]"), "{all}");
    assert!(!all.contains("s3cr3t"), "{all}");
    let run = rpcbench_record::read(&out).expect("a record");
    assert!(run.header.plan.workloads.iter().all(|load| load.authority.is_some()));
}

#[test]
fn header_from_the_environment_is_sent_and_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    let seen = Seen::new("x-user", "ann-s3cr3t");
    let address = serve_http2(Arc::clone(&seen));
    let words = ["load", &address.to_string(), "--warmup", "none", "-c", "1", "-n", "20", "--out"];
    let options = [out.to_str().unwrap(), "-H", "x-user: ann-${CALLS_SECRET}"];
    let mut program = rpcbench(&[&words[..], &options].concat());
    program.env("CALLS_SECRET", "s3cr3t");
    Program::start(&mut program).finish().expect(1);
    // The load's, and the one before it.
    assert_eq!((seen.with.load(Ordering::Relaxed), seen.without.load(Ordering::Relaxed)), (21, 0));
    let text = std::fs::read_to_string(out.join("run.json")).unwrap();
    assert!(text.contains("x-user: [redacted]") && !text.contains("s3cr3t"), "{text}");
    let mut program = rpcbench(&[&words[..], &options].concat());
    program.env_remove("CALLS_SECRET");
    Program::start(&mut program)
        .finish()
        .expect(2)
        .complains(&["the environment variable 'CALLS_SECRET' is not set"]);
}

#[test]
fn protocols_without_headers_refuse_them_and_a_host() {
    for protocol in ["thrift", "tcp-echo"] {
        let ended = look(&format!("load 127.0.0.1:1 --protocol {protocol} -H x-trace:7")).expect(2);
        ended.complains(&[&format!(
            "--protocol {protocol}: its calls have no headers; leave 'x-trace' out"
        )]);
        let host = format!("load 127.0.0.1:1 --protocol {protocol} --authority api.test");
        look(&host).expect(2).complains(&["its calls have no host name; leave 'api.test' out"]);
    }
    let ended = look("load 127.0.0.1:1 -H grpc-timeout:1S").expect(2);
    ended.complains(&["header 'grpc-timeout' is set by rpcbench; leave it out"]);
    for wrong in ["", "https://api.test", "a@b", "a/b", "a,b"] {
        let ended = look(&format!("load 127.0.0.1:1 --authority={wrong}")).expect(2);
        ended.complains(&["write HOST or HOST:PORT, such as api.example.org"]);
    }
}

#[test]
fn check_and_serve_send_the_users_headers() {
    let bench = Bench::new();
    let refused = bench.run("check @token").expect(1);
    refused.shows(&["FAILED: not ready within"]);
    let mut words = bench.command("check @token");
    words.args(["-H", "authorization: token"]);
    Program::start(&mut words).finish().expect(0).shows(&["passed: "]);
    let mut words = bench.command("check testkit-thrift@honest");
    words.args(["-H", "x-trace: 7"]);
    Program::start(&mut words).finish().expect(1).shows(&["its calls have no headers"]);
}
