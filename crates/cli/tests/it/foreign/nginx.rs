//! nginx between the engine and a server. It ends each connection after some calls, in the middle of the load.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use super::loads::{all_ok, load, window};
use super::servers::Served;
use crate::bench::{look, repository};
use crate::program::Program;
use crate::serve::port;

/// Calls of a measured window.
const CALLS: u64 = 5000;
const CONNECTIONS: u64 = 10;

/// How nginx speaks a protocol.
struct Speech {
    /// Of the directive `listen`, after the address.
    listen: &'static str,
    /// What leads to the upstream `server`.
    pass: &'static str,
}

const HTTP1: Speech = Speech {
    listen: "",
    pass: "proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection '';",
};
const HTTP2: Speech = Speech { listen: " http2", pass: "grpc_pass grpc://server;" };

#[test]
#[ignore = "needs the built servers"]
fn json_calls_survive_connections_that_nginx_ends() {
    let server = Served::start("rust-axum").expect("Rust is always there");
    for (life, words) in [(100, ""), (100, "--pipelining -m 8"), (1, "")] {
        no_call_is_lost(&server, &HTTP1, life, &format!("--protocol json {words}"));
    }
    server.stop();
}

#[test]
#[ignore = "needs the built servers"]
fn grpc_calls_survive_connections_that_nginx_ends() {
    let server = Served::start("rust-tonic").expect("Rust is always there");
    for (life, words) in [(100, "-m 1"), (100, "-m 20"), (1, "-m 1")] {
        no_call_is_lost(&server, &HTTP2, life, words);
    }
    server.stop();
}

#[test]
#[ignore = "needs nginx"]
fn nginx_counts_the_calls_of_any_url_by_method_and_status() {
    for (listen, version, protocol) in [("", "1.1", "HTTP/1.1"), (" http2", "2", "HTTP/2.0")] {
        for (path, words, seen) in [
            ("/file.txt", "", "GET /file.txt 200"),
            ("/file.txt", "-X HEAD", "HEAD /file.txt 200"),
            ("/empty", "", "GET /empty 204"),
            ("/moved", "--ok 302", "GET /moved 302"),
            ("/missing", "--ok 2xx,404", "GET /missing 404"),
            ("/put/a", "-X PUT --data-size 3k --ok 201,204", "PUT /put/a 204"),
        ] {
            let nginx = Nginx::with(include_str!("nginx_files.conf"), listen, 1000);
            let folder = nginx.folder.path();
            fs::create_dir_all(folder.join("files/put")).unwrap();
            fs::write(folder.join("files/file.txt"), "line of text\n".repeat(5000)).unwrap();
            fs::write(folder.join("files/put/a"), "").unwrap();
            let record = folder.join("record");
            let fixed =
                format!("-c 4 -n 2000 --warmup none --http {version} --out {}", record.display());
            look(&format!("load http://127.0.0.1:{}{path} {fixed} {words}", nginx.port))
                .expect_ok_or_late();
            let run = rpcbench_record::read(&record).unwrap();
            let (measured, before) = window(&run);
            assert_eq!(
                (measured.outcomes.ok, measured.connections.broken),
                (2000, 0),
                "{path} {words}"
            );
            let counted = BTreeMap::from([(format!("{seen} {protocol} -"), 2000 + before)]);
            assert_eq!(nginx.stop(), counted, "{path} {words}");
        }
    }
}

#[test]
#[ignore = "needs nginx"]
fn nginx_counts_the_calls_that_it_compresses_or_passes_on() {
    let nginx = Nginx::with(include_str!("nginx_files.conf"), "", 1000);
    let files = nginx.folder.path().join("files");
    fs::create_dir_all(&files).unwrap();
    fs::write(files.join("file.txt"), "line of text\n".repeat(5000)).unwrap();
    let url = |path| format!("http://127.0.0.1:{}{path}", nginx.port);
    let (direct, proxied) = (url("/file.txt"), url("/proxy/file.txt"));
    let zipped = all_ok(&[&direct, "-H", "accept-encoding: gzip"]);
    let passed_on = all_ok(&[&proxied]);
    // Requests since the start, the one for this page included.
    let page = load(&[&url("/requests"), "--once"]).expect(0).out;
    let requests = format!(" {} \n", zipped + 2 * passed_on + 1);
    assert!(page.contains(&requests), "{requests} {page}");
    let counted = BTreeMap::from([
        ("GET /file.txt 200 HTTP/1.1 gzip".to_owned(), zipped),
        // Each once as the proxy, by the path after its rewrite, and once as its own upstream.
        ("GET /file.txt 200 HTTP/1.1 -".to_owned(), 2 * passed_on),
    ]);
    assert_eq!(nginx.stop(), counted);
}

/// All calls are ok, and nginx, which ends a connection after `life` calls, counted as many as the engine, warm-up included.
fn no_call_is_lost(server: &Served, speech: &Speech, life: u64, words: &str) {
    let nginx = Nginx::start(server, speech, life);
    let record = nginx.folder.path().join("record");
    let fixed = format!("-c {CONNECTIONS} -n {CALLS} --warmup 300ms --out {}", record.display());
    look(&format!("load 127.0.0.1:{} {fixed} {words}", nginx.port)).expect_ok_or_late();
    let run = rpcbench_record::read(&record).unwrap();
    let (measured, before) = window(&run);
    assert_eq!((measured.outcomes.ok, measured.outcomes.total()), (CALLS, CALLS), "{words}");
    // And the call that shows, before the load, that the server has the contract.
    let passed_on = BTreeMap::from([("200".to_owned(), CALLS + before + 1)]);
    assert_eq!(nginx.stop(), passed_on, "{words}");
    let seen = &measured.connections;
    assert!(seen.ended >= CALLS / life - CONNECTIONS && seen.reopened > 0, "{words}: {seen:?}");
    assert_eq!((seen.orderly, seen.broken), (seen.ended, 0), "{words}: {seen:?}");
}

pub(super) struct Nginx {
    pub folder: TempDir,
    program: Program,
    pub port: u16,
}

impl Nginx {
    fn start(server: &Served, speech: &Speech, life: u64) -> Self {
        let conf = include_str!("nginx.conf")
            .replace("@server@", &server.address.to_string())
            .replace("@pass@", speech.pass);
        Self::with(&conf, speech.listen, life)
    }

    /// nginx with a configuration; `listen` follows the address in the directive of that name.
    pub fn with(conf: &str, listen: &str, life: u64) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), port());
        let at = folder.path().to_str().unwrap();
        let conf = conf
            .replace("@folder@", at)
            .replace("@life@", &life.to_string())
            .replace("@listen@", &format!("127.0.0.1:{port}{listen}"));
        let file = folder.path().join("nginx.conf");
        fs::write(&file, conf).unwrap();
        let mut command = Command::new("sh");
        let mut program = Program::start(
            command
                .arg(repository().join("servers/debian.sh"))
                .args(["nginx", "-e", "stderr", "-p", at, "-c"])
                .arg(file),
        );
        // The line that it prints once it listens. Where it is missing, the shell says so.
        program.await_line("event method");
        Self { folder, program, port }
    }

    /// Ends it and returns how many calls it passed on, by their status.
    pub fn stop(self) -> BTreeMap<String, u64> {
        self.program.signal(Signal::QUIT);
        self.program.finish().expect(0);
        let calls = fs::read_to_string(self.folder.path().join("calls")).unwrap();
        let mut counts = BTreeMap::new();
        calls.lines().for_each(|status| *counts.entry(status.to_owned()).or_default() += 1);
        counts
    }
}
