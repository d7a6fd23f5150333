//! Loads of URLs: what is sent, which replies count as success, and what the record keeps.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use rpcbench_record::{Measured, Run};

use crate::bench::{Machine, look, rpcbench};
use crate::program::{Ended, Program};

/// Requests by what they said, without their number.
pub type Seen = Arc<Mutex<BTreeMap<String, u64>>>;

/// Answers `/status/N` with that status, `/chunked` in chunks, `/unframed` with a body that ends with the connection, and
/// anything else with its own path.
pub fn answer(stream: impl Read + Write, seen: &Seen) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            (stream.read_line(&mut head).ok()? > 0).then_some(())?;
        }
        let (first, fields) = head.split_once("\r\n")?;
        let field = |name: &str| fields.lines().find_map(|line| line.strip_prefix(name));
        let mut body = vec![0; field("Content-Length: ").map_or(0, |it| it.parse().unwrap())];
        stream.read_exact(&mut body).ok()?;
        let kind = field("content-type: ").unwrap_or("no type");
        let request = format!("{first} | {kind} | {}", String::from_utf8_lossy(&body));
        *seen.lock().unwrap().entry(request).or_default() += 1;
        let Some(request) = first.strip_suffix(" HTTP/1.1") else {
            return stream.get_mut().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").ok();
        };
        let (method, path) = request.split_once(' ')?;
        let reply = match path {
            "/chunked" => {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                    .to_owned()
            }
            "/unframed" => "HTTP/1.1 200 OK\r\n\r\nuntil the end".to_owned(),
            _ => {
                let status = path.strip_prefix("/status/").unwrap_or("200");
                let length = if status == "204" {
                    String::new()
                } else {
                    format!("Content-Length: {}\r\n", path.len())
                };
                let body =
                    if method == "HEAD" || matches!(status, "204" | "304") { "" } else { path };
                format!("HTTP/1.1 {status} Text\r\n{length}\r\n{body}")
            }
        };
        stream.get_mut().write_all(reply.as_bytes()).ok()?;
        (path != "/unframed").then_some(())?;
    }
}

/// A server within the test. Returns what it has seen, and its address.
fn serve() -> (Seen, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Seen::default();
    let counts = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            stream.set_nodelay(true).unwrap();
            let seen = Arc::clone(&counts);
            thread::spawn(move || answer(stream, &seen));
        }
    });
    (seen, address)
}

/// A load of 200 calls, of which each is measured.
fn load(url: &str, options: &[&str]) -> Ended {
    let fixed = ["load", url, "-n", "200", "-c", "4", "--warmup", "none", "--quiet"];
    Program::start(&mut rpcbench(&[&fixed, options].concat())).finish()
}

fn measured(run: &Run) -> &Measured {
    run.trials[0].measured().expect("a window")
}

#[test]
fn every_method_and_kind_of_reply_is_a_call() {
    let _machine = Machine::shared();
    let (seen, address) = serve();
    for (path, options, expected) in [
        ("/a?b=c", &[][..], "GET /a?b=c HTTP/1.1 | no type | "),
        ("/a", &["-d", "{\"n\":1}"], "POST /a HTTP/1.1 | application/json | {\"n\":1}"),
        (
            "/a",
            &["-X", "PUT", "-H", "content-type: text/plain", "-d", "x"],
            "PUT /a HTTP/1.1 | text/plain | x",
        ),
        ("/a", &["-X", "DELETE"], "DELETE /a HTTP/1.1 | no type | "),
        ("/a", &["-X", "HEAD"], "HEAD /a HTTP/1.1 | no type | "),
        ("/status/204", &[], "GET /status/204 HTTP/1.1 | no type | "),
        ("/status/304", &["--ok", "304"], "GET /status/304 HTTP/1.1 | no type | "),
        ("/chunked", &[], "GET /chunked HTTP/1.1 | no type | "),
    ] {
        let ended = load(&format!("http://{address}{path}"), options).expect_ok_or_late();
        assert!(ended.out.contains("ok (status)  200"), "{path} {options:?}: {}", ended.out);
        assert_eq!(seen.lock().unwrap().remove(expected), Some(200), "{expected}: {seen:?}");
    }
    let unframed = load(&format!("http://{address}/unframed"), &["--connection-life", "short"])
        .expect_ok_or_late();
    assert!(unframed.out.contains("ok (status)  200"), "{}", unframed.out);
}

#[test]
fn status_counts_as_success_only_if_it_is_listed() {
    let _machine = Machine::shared();
    let (_, address) = serve();
    let missing = format!("http://{address}/status/404");
    let ended = load(&missing, &[]).expect(1);
    assert!(ended.out.contains("status 404 Not Found  200 (100 %)"), "{}", ended.out);
    assert!(ended.out.contains("status 404 Not Found: /status/404"), "{}", ended.out);
    load(&missing, &["--ok", "2xx,404"]).expect_ok_or_late();
    let ended = load(&format!("http://{address}/"), &["--ok", "404"]).expect(1);
    assert!(ended.out.contains("status 200 OK  200 (100 %)"), "{}", ended.out);
    let moved = load(&format!("http://{address}/status/302"), &[]);
    assert!(moved.out.contains("status 302 Found  200 (100 %)"), "{}", moved.out);
}

#[test]
fn body_of_every_reply_is_checked_against_expectations() {
    let _machine = Machine::shared();
    let (_, address) = serve();
    for path in ["/chunked", "/a"] {
        let ended =
            load(&format!("http://{address}{path}"), &["--expect", "$.id exists"]).expect(1);
        assert!(
            ended.out.contains("wrong answer: $.id: the reply is no JSON; reply: "),
            "{}",
            ended.out
        );
    }
}

#[test]
fn unix_socket_serves_a_url() {
    let _machine = Machine::shared();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let seen = Seen::default();
    let counts = Arc::clone(&seen);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = Arc::clone(&counts);
            thread::spawn(move || answer(stream, &seen));
        }
    });
    load("http://localhost/a", &["--unix-socket", path.to_str().unwrap()]).expect_ok_or_late();
    assert_eq!(seen.lock().unwrap()["GET /a HTTP/1.1 | no type | "], 200);
}

#[test]
fn lines_of_a_file_are_sent_in_turn() {
    let _machine = Machine::shared();
    let (seen, address) = serve();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.jsonl");
    fs::write(&file, "{\"n\":1}\n{\"n\":2}\n").unwrap();
    load(&format!("http://{address}/a"), &["-D", file.to_str().unwrap()]).expect_ok_or_late();
    let seen = seen.lock().unwrap();
    assert!(seen.len() == 2 && seen.values().all(|calls| *calls == 100), "{seen:?}");
}

fn recorded(folder: &Path) -> Run {
    rpcbench_record::read(folder).unwrap()
}

#[test]
fn record_has_target_and_bytes_and_no_password() {
    let _machine = Machine::shared();
    let (_, address) = serve();
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let url = format!("http://{address}/a");
    let data = ["-X", "PUT", "-d", "hello", "-u", "ann:pa55word"];
    load(&url, &[&data[..], &["--out", record.to_str().unwrap()]].concat()).expect_ok_or_late();
    let run = recorded(&record);
    let call = run.header.plan.workloads[0].content.call().expect("a call");
    assert_eq!((&*call.target, call.bytes_max, &*call.ok), ("PUT /a", 5, "2xx"));
    let measured = measured(&run);
    assert!(measured.bytes_out > 200 * 5 && measured.bytes_in > 200 * 2, "{measured:?}");
    for entry in fs::read_dir(&record).unwrap().flatten() {
        let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
        assert!(!text.contains("pa55word") && !text.contains("YW5uOnBhNTV3b3Jk"), "{entry:?}");
    }
    let again = look(&format!("report {}", record.display()));
    assert!(again.out.contains("http PUT /a, 5 B, 4 connections"), "{}", again.out);
}

#[test]
fn replies_to_a_url_may_be_asked_for_in_gzip() {
    let (_, address) = serve();
    let url = format!("http://{address}/a");
    let ended = load(&url, &["-H", "accept-encoding: gzip", "--dry-run"]).expect(0);
    assert!(ended.out.contains("accept-encoding: gzip"), "{}", ended.out);
}

#[test]
fn one_request_shows_status_headers_and_body() {
    let (_, address) = serve();
    let once = |options: &[&str]| {
        let url = format!("http://{address}/status/404");
        load(&url, &[&["--once"], options].concat())
    };
    let ended = once(&[]).expect(1);
    for part in
        ["\nStatus 404 Not Found after ", "\n  Content-Length: 11\n", "\nReply, 11 B\n/status/404"]
    {
        assert!(ended.out.contains(part), "{}", ended.out);
    }
    once(&["--ok", "404"]).expect(0);
}

#[test]
fn password_that_a_server_sends_back_is_not_shown() {
    let _machine = Machine::shared();
    let (_, address) = serve();
    let url = format!("http://{address}/pa55word");
    let data = ["-u", "ann:pa55word", "--once"];
    let ended = load(&url, &data);
    assert!(ended.out.contains("\n/[redacted]"), "{}", ended.out);
}

#[test]
fn secret_in_a_query_is_not_shown_or_recorded() {
    let _machine = Machine::shared();
    let (seen, address) = serve();
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let url = format!("http://{address}/a?page=1&api_key=t0ps3cret");
    let options = ["--expect", "$.id exists", "--out", record.to_str().unwrap()];
    let ended = load(&url, &options).expect(1);
    let once = load(&url, &["--once"]).expect(0);
    assert!(once.out.contains("\n/a?page=1&api_key=[redacted]"), "{}", once.out);
    let dry = load(&url, &["--dry-run"]).expect(0);
    assert!(dry.out.ends_with("GET /a?page=1&api_key=[redacted]\n"), "{}", dry.out);
    let files = ["run.json", "events.jsonl", "report.html", "report.md"];
    let files = files.map(|name| fs::read_to_string(record.join(name)).unwrap());
    for text in files.iter().chain([&ended.out, &ended.err, &once.out, &dry.out]) {
        assert!(!text.contains("t0ps3cret"), "{text}");
    }
    assert!(
        seen.lock().unwrap().keys().any(|it| it.starts_with("GET /a?page=1&api_key=t0ps3cret "))
    );
}

#[test]
fn hopeless_load_ends_early_and_is_recorded_with_its_labels() {
    let _machine = Machine::shared();
    let (_, address) = serve();
    let folder = tempfile::tempdir().unwrap();
    let [record, lines] = ["record", "lines"].map(|name| folder.path().join(name));
    let url = format!("http://{address}/status/500");
    let options = ["--stop-if", "errors>5%", "--interval", "100ms", "-c", "1", "--warmup", "none"];
    let files = ["--interval-file", lines.to_str().unwrap(), "--out", record.to_str().unwrap()];
    let labels = ["--name", "nightly", "--tag", "branch=main", "-z", "1h", "--quiet"];
    let words = [&["load", &url][..], &options, &files, &labels].concat();
    let ended = Program::start(&mut rpcbench(&words)).finish().expect(4);
    assert!(ended.err.contains("--stop-if errors>5%: ending the load"), "{}", ended.err);
    assert!(ended.out.contains("labels       nightly (branch=main)"), "{}", ended.out);
    let run = recorded(&record);
    assert_eq!(run.header.plan.labels.tags["branch"], "main");
    let text = fs::read_to_string(&lines).unwrap();
    let of_line = |line: &str| -> u64 {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["calls"].as_u64().unwrap()
    };
    let calls: u64 = text.lines().map(of_line).sum();
    assert_eq!(calls, measured(&run).outcomes.total(), "{text}");
}

#[test]
fn other_version_of_http_is_named() {
    let (_, address) = serve();
    let ended = load(&format!("http://{address}/a"), &["--http", "2"]).expect(2);
    let expected = format!("{address}: it speaks HTTP/1.1, not HTTP/2; leave --http 2 out");
    assert!(ended.err.contains(&expected), "{}", ended.err);
}

#[test]
fn loads_of_different_targets_are_not_compared() {
    let _machine = Machine::shared();
    let (_, address) = serve();
    let folder = tempfile::tempdir().unwrap();
    let records = ["a", "b"].map(|path| {
        let record = folder.path().join(path);
        let url = format!("http://{address}/{path}");
        load(&url, &["--out", record.to_str().unwrap()]).expect_ok_or_late();
        assert!(recorded(&record).header.plan.servers[0].entry.ends_with(&format!("@GET /{path}")));
        record.display().to_string()
    });
    let ended = look(&format!("compare {} {}", records[0], records[1]));
    assert!(ended.code != Some(0) && !ended.out.contains("faster"), "{ended:?}");
}
