//! Tokens that a command gives, and gives again.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use rpcbench_testkit::wait_until;
use rustix::process::Signal;

use crate::bench::{Machine, rpcbench};
use crate::connections;
use crate::program::Program;

type Seen = Arc<Mutex<BTreeSet<String>>>;

/// Answers each request with the credentials in it.
fn answer(stream: TcpStream, seen: &Seen) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            (stream.read_line(&mut head).ok()? > 0).then_some(())?;
        }
        let given = head.lines().find_map(|line| line.strip_prefix("authorization: "));
        let given = given.unwrap_or("none").to_owned();
        let body = format!("{{\"said\": \"{given}\"}}");
        seen.lock().unwrap().insert(given);
        let length = body.len();
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.get_mut().write_all(reply.as_bytes()).ok()?;
    }
}

fn serve() -> (Seen, String) {
    let seen = Seen::default();
    let all = Arc::clone(&seen);
    let address = connections::serve(move |stream| _ = answer(stream, &all));
    (seen, format!("http://{address}/"))
}

#[test]
fn token_is_renewed_during_the_load_and_never_recorded() {
    let _machine = Machine::shared();
    let (seen, url) = serve();
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let count = count.to_str().unwrap();
    // A line more each time.
    let command = format!("echo >> {count}; echo s3cret$(wc -l < {count})");
    let record = folder.path().join("record");
    let record = record.to_str().unwrap();
    let arguments = [
        "load",
        &url,
        "--token-command",
        &command,
        "--token-every",
        "300ms",
        "-z",
        "2s",
        "-c",
        "2",
        "--expect",
        "$.said == 1",
        "--warmup",
        "none",
        "--out",
        record,
    ];
    let ended = Program::start(&mut rpcbench(&arguments)).finish().expect(1);
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 1 && seen.contains("Bearer s3cret1"), "{seen:?}");
    assert!(seen.contains("Bearer s3cret2"), "{seen:?}");
    assert!(ended.out.contains("[redacted]"), "{}", ended.out);
    for text in [&ended.out, &ended.err] {
        assert!(!text.contains("s3cret"), "{text}");
    }
    for file in ["run.json", "events.jsonl", "report.md"] {
        let text = fs::read_to_string(folder.path().join("record").join(file)).unwrap();
        assert!(!text.contains("s3cret"), "{file}: {text}");
    }
}

#[test]
fn failing_command_is_an_error_before_the_load_and_a_remark_after_it() {
    let _machine = Machine::shared();
    let (seen, url) = serve();
    let load = |command: &str| {
        let options = ["--token-every", "300ms", "-z", "2s", "-c", "1", "--warmup", "none"];
        let fixed = ["load", &url, "--token-command", command];
        Program::start(&mut rpcbench(&[&fixed, &options[..]].concat())).finish()
    };
    let ended = load("echo not logged in >&2; exit 1").expect(2);
    assert!(ended.err.contains("--token-command: it failed: not logged in"), "{}", ended.err);
    assert!(seen.lock().unwrap().is_empty());
    let folder = tempfile::tempdir().unwrap();
    let once = folder.path().join("once");
    let command = format!("mkdir {} && echo first", once.display());
    let ended = load(&command).expect_ok_or_late();
    assert!(ended.err.contains("--token-command failed"), "{}", ended.err);
    assert!(ended.err.contains("and calls kept the token before"), "{}", ended.err);
    assert_eq!(seen.lock().unwrap().iter().collect::<Vec<_>>(), ["Bearer first"]);
}

/// The first one, and one that renews the token.
#[test]
fn signal_ends_a_token_command_with_what_it_started() {
    let _machine = Machine::shared();
    let (_, url) = serve();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (once, pid) = (at("once"), at("pid"));
    let hang =
        format!("sleep 1000 & echo $! > {0}.part; mv {0}.part {0}; wait", pid.to_str().unwrap());
    for first in ["false", "mkdir"] {
        let command = format!("{first} {} 2>&1 && echo token || {{ {hang}; }}", once.display());
        let options = ["--token-every", "100ms", "-z", "100s", "-c", "1", "--warmup", "none"];
        let fixed = ["load", &url, "--token-command", &command];
        let program = Program::start(&mut rpcbench(&[&fixed, &options[..]].concat()));
        wait_until("a command that hangs", || pid.exists());
        let child = fs::read_to_string(&pid).unwrap();
        program.signal(Signal::TERM);
        program.finish().expect(2);
        wait_until("the end of its child", || {
            fs::read_link(format!("/proc/{}/exe", child.trim())).is_err()
        });
        fs::remove_file(&pid).unwrap();
    }
}
