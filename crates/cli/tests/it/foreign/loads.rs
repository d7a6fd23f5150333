//! Loads of services that are not the contract's, and what the services say of them.

use std::io::{Read, Write};
use std::net::TcpStream;

use rpcbench_record::{Measured, Run, TrialResult};

use crate::bench::rpcbench;
use crate::program::{Ended, Program};

/// Measured calls of a load.
pub const CALLS: u64 = 1000;

/// `rpcbench load` with these arguments.
pub fn load(arguments: &[&str]) -> Ended {
    Program::start(&mut rpcbench(&[&["load"], arguments].concat())).finish()
}

/// The arguments without `--wait 60s`: the service is there.
pub fn without_wait<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().filter(|it| !["--wait", "60s"].contains(it)).collect()
}

/// Loads with these arguments. All calls must be ok; returns how many were made, those before the window included.
pub fn all_ok(arguments: &[&str]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let fixed = ["-n", &CALLS.to_string(), "-c", "4", "--warmup", "100ms", "--out"];
    let fixed = [&fixed[..], &[record.to_str().unwrap()]].concat();
    load(&[arguments, &fixed].concat()).expect_ok_or_late();
    let run = rpcbench_record::read(&record).unwrap();
    let (measured, before) = window(&run);
    assert_eq!((measured.outcomes.ok, measured.outcomes.total()), (CALLS, CALLS));
    CALLS + before
}

/// The only window of the run, and how many calls there were outside of it, all of which must be ok.
pub fn window(run: &Run) -> (&Measured, u64) {
    let [trial] = &run.trials[..] else { panic!("{:?}", run.trials) };
    let TrialResult::Measured(measured) = &trial.result else { panic!("{:?}", trial.result) };
    let before = &trial.unmeasured.as_ref().unwrap().outcomes;
    assert_eq!(before.ok, before.total());
    (measured, before.ok)
}

/// How many calls of a method ended with a code, by the metrics that Prometheus reads from gRPC servers written in Go.
pub fn handled(metrics: (u16, &str), method: &str, code: &str) -> u64 {
    let text = get(metrics.0, metrics.1);
    let labels = [format!("grpc_method=\"{method}\""), format!("grpc_code=\"{code}\"")];
    let is_count = |line: &&str| {
        line.starts_with("grpc_server_handled_total{")
            && labels.iter().all(|label| line.contains(label))
    };
    let lines: Vec<&str> = text.lines().filter(is_count).collect();
    let [line] = lines[..] else { panic!("{labels:?}: {lines:?}") };
    let count: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    (count as u64)
}

/// The reply to a request of HTTP/1.0, head included.
fn get(port: u16, path: &str) -> String {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(connection, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
    let mut reply = String::new();
    connection.read_to_string(&mut reply).unwrap();
    reply
}

/// How many calls Channelz says a server has answered with OK, its own call included.
pub fn succeeded(address: &str) -> u64 {
    let method = "grpc.channelz.v1.Channelz/GetServers";
    let shown = load(&[address, "--call", method, "-d", "{}", "--once"]).expect(0).out;
    let count = shown.lines().find_map(|line| line.trim().strip_prefix("\"callsSucceeded\": \""));
    let count = count.unwrap_or_else(|| panic!("{shown}"));
    count.trim_end_matches(['"', ',']).parse().unwrap()
}
