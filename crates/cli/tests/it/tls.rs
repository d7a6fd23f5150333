//! Loads over TLS: who is believed, what was agreed on, and what goes wrong in words.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rpcbench_record::{Measured, Protocol, TlsMode, Trial};
use rpcbench_testkit::{relay_tls, tls_config};
use rustix::process::Signal;
use rustls::{ServerConfig, ServerConnection, Stream, StreamOwned};
use tempfile::TempDir;

use crate::any_url::{Seen, answer};
use crate::bench::{Bench, rpcbench};
use crate::program::{Ended, Program};
use crate::serve::port;

/// A server with TLS, and the file of the authority that issued its certificate.
struct Secure {
    address: SocketAddr,
    authority: PathBuf,
    folder: TempDir,
}

/// Names of certificates.
pub const NAMES: [&str; 2] = ["127.0.0.1", "api.test"];

/// An authority of this name.
pub fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A folder with a certificate for 127.0.0.1 and api.test, its key, and its authority: `cert.pem`, `key.pem`, `authority.pem`.
pub fn issued() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let authority = authority("Authority of a test");
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(NAMES.map(str::to_owned)).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let write = |name: &str, pem: String| fs::write(folder.path().join(name), pem).unwrap();
    write("cert.pem", certificate.pem());
    write("key.pem", key.serialize_pem());
    write("authority.pem", authority.pem());
    folder
}

impl Secure {
    /// Its listener and its configuration.
    fn issue(protocol: Protocol) -> (Self, TcpListener, ServerConfig) {
        let folder = issued();
        let file = |name| folder.path().join(name);
        let config = tls_config((&file("cert.pem"), &file("key.pem")), protocol, None).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (Self { address, authority: file("authority.pem"), folder }, listener, config)
    }

    /// Answers requests of HTTP/1.1.
    fn http() -> Self {
        let (own, listener, config) = Self::issue(Protocol::Http);
        let (config, seen) = (Arc::new(config), Seen::default());
        thread::spawn(move || {
            for socket in listener.incoming() {
                let session = ServerConnection::new(Arc::clone(&config)).unwrap();
                let (seen, socket) = (seen.clone(), socket.unwrap());
                thread::spawn(move || answer(StreamOwned::new(session, socket), &seen));
            }
        });
        own
    }

    /// Ends each reply by its close_notify, in one write with the last data, and waits for the client's. Counts those that came.
    fn closing() -> (Self, Arc<AtomicUsize>) {
        let (own, listener, config) = Self::issue(Protocol::Http);
        let (config, closed) = (Arc::new(config), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&closed);
        let serve = move |mut socket: TcpStream| -> io::Result<()> {
            let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = Stream::new(&mut session, &mut socket);
            if stream.read(&mut [0; 1024])? == 0 {
                return Ok(()); // Only a handshake.
            }
            session
                .writer()
                .write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nto the end")?;
            session.send_close_notify();
            let mut records = Vec::new();
            while session.wants_write() {
                session.write_tls(&mut records)?;
            }
            socket.write_all(&records)?;
            let ended = Stream::new(&mut session, &mut socket).read(&mut [0; 1])?;
            count.fetch_add(usize::from(ended == 0), Ordering::Relaxed);
            Ok(())
        };
        thread::spawn(move || listener.incoming().flatten().for_each(|socket| drop(serve(socket))));
        (own, closed)
    }

    /// Speaks HTTP/2, as the server `in_http2` does, if the client offers it by ALPN, and else as `other` does, without a word.
    fn by_alpn(in_http2: SocketAddr, other: SocketAddr) -> Self {
        let upstream = |alpn: &[&str], upstream| {
            let (own, listener, mut config) = Self::issue(Protocol::Grpc);
            config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
            relay_tls(listener, config, upstream);
            own
        };
        let (own, other) = (upstream(&["h2"], in_http2), upstream(&[], other));
        let (listener, in_http2) = (TcpListener::bind("127.0.0.1:0").unwrap(), own.address);
        let address = listener.local_addr().unwrap();
        let pass_on = move |client: TcpStream| -> io::Result<()> {
            let mut hello = [0; 4096];
            let length = client.peek(&mut hello)?;
            let offers = hello[..length].windows(3).any(|name| name == b"\x02h2");
            let server = TcpStream::connect(if offers { in_http2 } else { other.address })?;
            for (mut from, mut to) in [(client.try_clone()?, server.try_clone()?), (server, client)]
            {
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    to.shutdown(Shutdown::Write)
                });
            }
            Ok(())
        };
        thread::spawn(move || listener.incoming().flatten().for_each(|it| drop(pass_on(it))));
        Self { address, ..own }
    }

    /// Passes bytes on to a server without TLS.
    fn in_front_of(upstream: SocketAddr) -> Self {
        let (own, listener, config) = Self::issue(Protocol::Grpc);
        relay_tls(listener, config, upstream);
        own
    }

    fn load(&self, words: &str) -> Ended {
        let words = words.replace("CA", self.authority.to_str().unwrap());
        let words: Vec<&str> = ["load"].into_iter().chain(words.split(' ')).collect();
        Program::start(rpcbench(&words).current_dir(self.folder.path())).finish()
    }
}

#[test]
fn url_is_loaded_over_tls_and_the_summary_says_what_was_agreed_on() {
    let server = Secure::http();
    let url = format!("https://{}/a", server.address);
    // A later connection may resume the session of an earlier one.
    let full = format!("{url} --cacert CA -c 3 -z 200ms --tls-resume off");
    let ended = server.load(&full).expect_ok_or_late();
    ended.shows(&[
        "TLS 1.3, TLS_AES_256_GCM_SHA384, X25519, ALPN http/1.1; verified by ",
        "authority.pem; 3 full handshakes",
    ]);
    let ended =
        server.load(&format!("{url} -k --tls-version 1.2 -c 1 -z 200ms")).expect_ok_or_late();
    ended.shows(&["TLS 1.2, ", "verified by nothing; 1 full handshake"]);
    let named = server.load(&format!("{url} --cacert CA --servername api.test -c 1 -z 100ms"));
    named.expect_ok_or_late();
}

#[test]
fn short_connections_are_loaded_over_tls() {
    let server = Secure::http();
    let words =
        format!("https://{}/ --cacert CA -c 2 -z 300ms --connection-life short", server.address);
    let load = server.load(&format!("{words} --format json")).expect_ok_or_late().json();
    assert_eq!(load["transport"], 0, "{load:#}");
    for key in ["tcp_p50_ns", "resumed_handshakes", "resumed_handshake_p50_ns", "first_byte_p50_ns"]
    {
        assert!(load[key].as_u64() > Some(0), "{key}: {load:#}");
    }
    let load = server.load(&format!("{words} --tls-resume off")).expect_ok_or_late();
    load.shows(&["TCP  TLS full  first byte", " full, in the window", " of TLS a reply"]);
}

#[test]
fn reply_that_ends_by_close_notify_is_a_success() {
    let (server, closed) = Secure::closing();
    let words = format!("https://{}/ -k", server.address);
    for version in ["1.2", "1.3"] {
        let load = format!("{words} --tls-version {version} -c 1 -n 3 --warmup none");
        server.load(&load).expect_ok_or_late().shows(&["ok (status)  3"]);
        server
            .load(&format!("{words} --tls-version {version} --once"))
            .expect(0)
            .shows(&["to the end"]);
    }
    assert_eq!(closed.load(Ordering::Relaxed), 8, "clients that answer with theirs");
}

#[test]
fn server_that_speaks_http2_only_if_it_is_offered_is_explained() {
    let honest = rpcbench_testkit::Server::start("honest".parse().unwrap()).unwrap();
    let closes = TcpListener::bind("127.0.0.1:0").unwrap();
    let closing = closes.local_addr().unwrap();
    let end = |mut socket: TcpStream| thread::spawn(move || socket.read(&mut [0; 1024]));
    thread::spawn(move || closes.incoming().flatten().for_each(|socket| drop(end(socket))));
    let server = Secure::by_alpn(honest.address(), closing);
    let url = format!("https://{}/ -k -n 1 -c 1 --warmup none", server.address);
    server.load(&url).complains(&["it speaks HTTP/2, not HTTP/1.1; give --http 2"]);
    let words = format!("{} --tls -k -n 1 -c 1 --warmup none", server.address);
    server.load(&words).expect_ok_or_late();
    server.load(&format!("{words} --alpn none")).expect(2).complains(&[
        "it does not speak HTTP/2 on this connection: --alpn none does not offer it; leave that option out",
    ]);
    let refused = server.load(&format!("{words} --alpn http/1.1")).expect(2);
    refused.complains(&["--alpn http/1.1: calls go over HTTP/2, which is h2; add it"]);
}

#[test]
fn unusable_options_of_tls_are_named() {
    let server = Secure::http();
    let url = format!("https://{}/", server.address);
    let mut command = rpcbench(&["load", &url, "-k", "--servername", "bad name"]);
    Program::start(&mut command).finish().expect(2).complains(&[
        "invalid value 'bad name' for '--servername <NAME>': expected a DNS name or an IP address",
    ]);
    let mut command = rpcbench(&["load", &url, "-k", "--once"]);
    let ended = Program::start(command.env("SSLKEYLOGFILE", "/nowhere/keys.log")).finish();
    ended.expect(2).complains(&["SSLKEYLOGFILE /nowhere/keys.log: can't be written: "]);
}

#[test]
fn service_of_the_contract_is_loaded_over_tls() {
    let honest = rpcbench_testkit::Server::start("honest".parse().unwrap()).unwrap();
    let server = Secure::in_front_of(honest.address());
    let words = format!("{} --tls --cacert CA -c 2 -m 3 -z 300ms", server.address);
    server.load(&words).expect_ok_or_late().shows(&["ALPN h2; verified by "]);
}

#[test]
fn untrusted_and_plain_servers_are_refused_with_the_reason() {
    let server = Secure::http();
    let url = format!("https://{}/", server.address);
    server.load(&format!("{url} --cacert CA --servername other.test")).expect(2).complains(&[
        "TLS: the server's certificate is not for 'other.test', but for 127.0.0.1, api.test",
    ]);
    server
        .load(&format!("{} --tls --cacert CA", server.address))
        .expect(2)
        .complains(&["TLS: the server speaks none of the offered protocols (ALPN)"]);
    server.load(&server.address.to_string()).expect(2).complains(&["give --tls"]);
    let plain = server.load(&format!("http://{}/ -z 1h", server.address)).expect(2);
    plain.complains(&["it speaks TLS; write https:// in place of http://"]);
    let plain = rpcbench_testkit::Server::start("honest".parse().unwrap()).unwrap();
    server.load(&format!("{} --tls --cacert CA", plain.address())).expect(2).complains(&["TLS: "]);
}

#[test]
fn handshake_that_never_ends_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let ended = Program::start(&mut rpcbench(&["load", &url, "-k", "--connect-timeout", "300ms"]));
    ended.finish().expect(2).complains(&["TLS: the handshake did not end in time"]);
}

/// A root whose servers offer TLS.
pub fn bench_with_tls() -> Bench {
    let manifest = "servers/testkit/liar/server.toml";
    Bench::new().edit(manifest, "protocols = [\"grpc\"]\n", "protocols = [\"grpc\"]\ntls = true\n")
}

#[test]
fn servers_are_compared_with_and_without_tls() {
    let workload = "[[workload]]\nshape";
    let both = "[[workload]]\nname = \"plain\"\nshape = \"text:100\"\nconnections = 2\nin_flight_per_connection = 2\n\
                warmup = \"200ms\"\nduration = \"200ms\"\n\n[[workload]]\nname = \"secure\"\ntls = true\nshape";
    let bench = bench_with_tls().edit("suites/quick.toml", workload, both);
    let ended = bench.run("run @honest").expect_ok_or_late();
    ended.shows(&["1 client thread, TLS", "TLS 1.3, TLS_AES_128_GCM_SHA256, X25519, ALPN h2"]);
    let run = bench.record();
    let modes: Vec<TlsMode> = run.header.plan.workloads.iter().map(|load| load.tls).collect();
    assert_eq!(modes, [TlsMode::Off, TlsMode::On]);
    let agreed: Vec<bool> = run.preparations.iter().map(|it| it.tls.is_some()).collect();
    assert_eq!(agreed, [false, true]);
    assert_eq!(bench.certificates(), [""; 0]);
}

/// Their resumption is neither measured nor checked.
#[test]
fn servers_are_compared_with_full_handshakes_only() {
    let bench = bench_with_tls().variant("forgetful", "--tls-flaw no-resumption");
    let short = "--connection-life short -c 2 -m 1 -z 200ms --warmup 200ms --tls=no-resumption";
    let ended = bench.run(&format!("run @honest @forgetful {short}")).expect_ok_or_late();
    ended.shows(&["TLS without resumption"]);
    let run = bench.record();
    let measured: Vec<_> = run.trials.iter().filter_map(Trial::measured).collect();
    assert!(!measured.is_empty());
    for Measured { opening, .. } in measured {
        assert!(opening.full_handshake.is_some(), "{opening:?}");
        assert_eq!(opening.resumed_handshake, None);
    }
}

#[test]
fn server_without_tls_is_skipped_where_tls_is_asked_for() {
    let bench = Bench::new();
    let refused = bench.run("run @honest --tls").expect(2);
    refused.complains(&["none of these servers has TLS; `rpcbench list --matrix`"]);
    bench.run("check @honest --tls").expect(2).shows(&["skipped: it has no TLS"]);
    let served = bench.run(&format!("serve @honest --tls --port {}", port())).expect(2);
    served.complains(&["it has no TLS"]);
    let manifest = "servers/testkit/liar/server.toml";
    let known = "protocols = [\"grpc\"]\nno_tls = \"it only lies in plain text\"\n";
    let bench = Bench::new().edit(manifest, "protocols = [\"grpc\"]\n", known);
    let skipped = bench.run("check @honest --tls").expect(2);
    skipped.shows(&["skipped: it has no TLS: it only lies in plain text"]);
}

#[test]
fn server_with_tls_is_checked() {
    let bench = bench_with_tls()
        .variant("old-clients", "--tls-flaw only-tls13")
        .variant("forgetful", "--tls-flaw no-resumption")
        .variant("silent", "--tls-flaw no-alpn");
    bench.run("check @honest --tls").expect(0).shows(&["passed: 66 cases"]);
    bench.run("check @canned --tls").expect(1).shows(&["FAILED: "]);
    bench
        .run("check @old-clients --tls")
        .expect(1)
        .shows(&["FAILED: 1 of 66 cases", "tls/version-1.2: "]);
    bench.run("check @forgetful --tls").expect(1).shows(&[
        "FAILED: 1 of 66 cases",
        "tls/resumption: expected a resumed session, got a full handshake",
    ]);
    let silent = bench.run("check @silent --tls").expect(1);
    silent.shows(&["the server does not choose a protocol (ALPN)"]);
}

#[test]
fn served_server_with_tls_is_loaded_by_the_printed_command() {
    let bench = bench_with_tls();
    let mut program = bench.start(&format!("serve @honest --tls --port {}", port()));
    let load = program.await_line("rpcbench load 127.0.0.1:");
    let program_folder = Path::new(env!("CARGO_BIN_EXE_rpcbench")).parent().unwrap();
    let line = format!("PATH={}:$PATH; {load} -c 4 -z 200ms", program_folder.display());
    let loaded = Program::start(Command::new("sh").args(["-c", &line])).finish();
    loaded.expect_ok_or_late().shows(&["ALPN h2; verified by ", "ca.pem"]);
    program.signal(Signal::INT);
    let ended = program.finish().expect(0);
    bench.nothing_left(ended.pid);
    assert_eq!(bench.certificates(), [""; 0]);
}
