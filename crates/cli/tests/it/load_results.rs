//! `rpcbench load`: arrival processes, what it tells while it goes on, and its verdicts.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::{Measured, Run};
use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Target, look, rpcbench};
use crate::program::{Ended, Program};
use crate::testkit;

pub fn load(server: &Target, words: &str) -> Ended {
    look(&format!("load {} -c 4 --warmup 100ms {words}", server.address()))
}

#[test]
fn open_loop_makes_the_calls_of_its_schedule() {
    // On a busy machine the client itself may be late; its calls are those of the arrival process all the same.
    let json = load(&Target::new("honest"), "--rate 500 --duration 1s --format json").json();
    assert_eq!(json["arrivals"], "constant:500");
    assert_eq!((&json["calls"], &json["pacing_due"]), (&500.into(), &500.into()), "{json:#}");
    assert!(json["service_p50_ns"].as_u64() <= json["p50_ns"].as_u64());
    assert!(json["send_lag_max_ns"].is_u64() && json["calls_per_server_cpu_s"].is_null());
}

#[test]
fn capacity_is_measured_before_a_share_of_it() {
    let words = "--arrivals poisson:10% --duration 500ms --format json -m 4";
    let ended = load(&Target::new("honest"), words);
    ended.complains(&[
        "share of the capacity, which a closed loop of 4 s measures first",
        "capacity: ",
        "arrivals: poisson:",
    ]);
    let json = ended.json();
    let capacity = json["capacity_calls_per_s"].as_f64().unwrap();
    let rate: f64 =
        json["arrivals"].as_str().unwrap().strip_prefix("poisson:").unwrap().parse().unwrap();
    assert!((rate - capacity / 10.0).abs() < 0.001, "{rate} of {capacity}");
}

/// The window of a run of one load.
#[track_caller]
pub fn window(folder: &Path) -> (Run, Measured) {
    let run = rpcbench_record::read(folder).unwrap();
    let [trial] = run.trials.as_slice() else { panic!("{:?}", run.trials) };
    let Some(measured) = trial.measured().cloned() else { panic!("{trial:?}") };
    (run, measured)
}

#[test]
fn running_server_is_watched_by_process_id() {
    let mut process = Command::new(testkit::program())
        .args(["--print-address", "--behaviour", "busy:100"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let words = format!("load {} --pid {} -c 4 -z 2s", address.trim(), process.id());
    let ended = look(&words);
    let json = look(&format!("{words} --format json"));
    process.kill().unwrap();
    process.wait().unwrap();
    ended.shows(&["calls/cpu-s ", "server CPU ", " user, ", "server memory ", "context switches"]);
    // Each call costs the server 100 us of CPU time.
    let price = json.json()["calls_per_server_cpu_s"].as_f64().unwrap();
    assert!(price > 0.0 && price < 10_500.0, "{price}");
    let gone = look(&format!("{words} --quiet")).expect(2);
    gone.complains(&["process ", " can't be watched: ", "give the id of the server's process"]);
}

#[test]
fn progress_is_shown_unless_quiet() {
    let honest = Target::new("honest");
    let loud = load(&honest, "--duration 2500ms").expect_ok_or_late();
    let is_progress = |line: &&str| !line.contains("generator late: ");
    let lines: Vec<&str> = loud.err.lines().filter(is_progress).collect();
    assert!((1..=2).contains(&lines.len()), "{lines:?}");
    for line in lines {
        assert!(line.starts_with("measuring ") && line.contains("of 2.5 s, "), "{line}");
        for part in [" calls/s, ", " in flight, ", "p50 ", "p99 ", "max ", "0 errors", "client CPU"]
        {
            assert!(line.contains(part), "no '{part}' in: {line}");
        }
    }
    let quiet = load(&honest, "--duration 2500ms --quiet").expect_ok_or_late();
    assert!(quiet.err.lines().all(|line| line.contains("generator late: ")), "{}", quiet.err);
}

/// Nothing is waited for, and nothing is left that a second try would stumble over.
#[test]
fn unreachable_server_is_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    let words = format!("load 127.0.0.1:1 --connect-timeout 1h --out {}", out.display());
    look(&words).expect(2).complains(&["127.0.0.1:1: nothing listens there; start the server"]);
    assert!(!out.exists());
    look("load localhost:1").expect(2).complains(&["nothing listens there"]);
}

#[test]
fn wrong_protocol_is_named_at_once() {
    let web = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let words = format!("load {} --connect-timeout 1h", web.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = web.accept().unwrap();
        stream.read_exact(&mut [0; 24]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let ended = look(&words).expect(2);
    answering.join().unwrap();
    ended.complains(&["it speaks HTTP/1.1, not gRPC. Give its gRPC port"]);
}

/// In this protocol, neither side sends anything before the first call.
#[test]
fn wrong_protocol_is_named_by_the_first_call() {
    let ended = load(&Target::new("honest"), "--protocol json").expect(2);
    ended.complains(&[": it speaks HTTP/2, not json; try --protocol grpc"]);
}

#[test]
fn endless_search_is_refused_before_any_load() {
    let ended = look("load 127.0.0.1:1 --find-max p99>1s").expect(2);
    ended.complains(&["p99>1s"]);
    assert!(!ended.err.contains("connections"), "{}", ended.err);
}

#[test]
fn full_standard_output_is_an_error() {
    let server = Target::new("honest");
    let address = server.address().to_string();
    let full = fs::File::create("/dev/full").unwrap();
    let mut load = rpcbench(&["load", &address, "--duration", "200ms", "--quiet"]);
    let ended = load.stdout(full).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.starts_with("rpcbench: standard output: No space left"), "{said}");
}

/// A busy machine can make the client late or take its CPU, which is the verdict then; the server is overloaded all the same.
#[test]
fn rate_beyond_the_server_exits_with_1() {
    // Four calls at a time, each of 20 ms or more: 200 a second at most.
    let words = "-m 1 --rate 800 --duration 1s --format json";
    let ended = load(&Target::new("slow:20ms"), words).expect(1);
    let json = ended.json();
    let of = |name: &str| json[name].as_f64().unwrap();
    assert!(of("calls_per_s") < 400.0, "{json:#}");
    let late = of("pacing_late") > 0.01 * of("pacing_due");
    let expected = match of("client_busiest_share") < 0.9 {
        _ if late => "generator late",
        true => "overloaded",
        false => "client-bound",
    };
    assert_eq!(json["verdict"], expected, "{json:#}");
    let of_server = "overloaded: 800 calls came due per second, ";
    ended.complains(&[if expected == "client-bound" { "client-bound: " } else { of_server }]);
}

/// The second half has fewer calls than the first, and the server is no slower for it.
#[test]
fn falling_rate_shows_its_mean() {
    let words = "--arrivals ramp:1000..100/1s --duration 1s --format json";
    let json = load(&Target::new("honest"), words).json();
    assert_eq!((&json["calls"], &json["calls_per_s"]), (&550.into(), &550.0.into()), "{json:#}");
}

#[test]
fn exceeded_limit_exits_with_1() {
    let honest = Target::new("slow:20ms");
    let words = "--duration 300ms -m 1 --fail-if p50>10ms --fail-if max>9s --fail-if rate<1M";
    let ended = load(&honest, words).expect(1);
    ended.complains(&["limit p50>10ms: p50 is ", "limit rate<1000000: rate is "]);
    assert!(!ended.err.contains("max>9s"), "{}", ended.err);
    let verdict = if ended.err.contains("generator late: ") { "late" } else { "limit exceeded" };
    ended.shows(&[verdict]);
    let words = "--duration 300ms -m 1 --fail-if p50>9s --fail-if rate<1";
    let ended = load(&honest, words).expect_ok_or_late();
    assert!(!ended.err.contains("limit "), "{}", ended.err);
}

#[test]
fn calls_may_fail_within_a_limit() {
    let failing = Target::new("status-once:100");
    let words = "-m 4 --duration 300ms";
    let ended = load(&failing, &format!("{words} --fail-if errors>1.5%")).expect_ok_or_late();
    ended.shows(&["INTERNAL"]);
    let ended = load(&failing, &format!("{words} --fail-if errors>0.5%")).expect(1);
    ended.complains(&["limit errors>0.5%: errors is "]);
    load(&failing, &format!("{words} --fail-if p50>9s")).expect(1);
}

#[test]
fn late_client_is_blamed() {
    let honest = Target::new("honest");
    let address = honest.address().to_string();
    // With room for all calls, and for few.
    for in_flight in ["100", "2"] {
        let words = ["load", &address, "-c", "4", "-m", in_flight, "--rate", "1000"];
        let mut program = Program::start(rpcbench(&words).args(["--duration", "3s"]));
        program.await_line("measuring 1.");
        program.signal(Signal::STOP);
        // 300 of the 3,000 calls come due meanwhile.
        clock::sleep_until(clock::now() + Nanos::from_millis(300));
        program.signal(Signal::CONT);
        let ended = program.finish().expect(1);
        ended.complains(&[
            "generator late: the client started ",
            "lower the rate, use more client threads",
        ]);
        ended.shows(&["  generator late\n"]);
    }
}

/// Which rate is found depends on the machine; that it is looked for, and shown, does not.
#[test]
fn search_finds_the_highest_rate() {
    let words = "--find-max p50<100ms --rate 1000 --duration 100ms --timeout 3s --grace 3s";
    let ended = load(&Target::new("slow:1ms"), &format!("{words} --format json"));
    let json = ended.json();
    assert_eq!(
        (&json["threshold"], &json["capacity_calls_per_s"]),
        (&"p50<100ms".into(), &().into())
    );
    let points = json["points"].as_array().unwrap();
    assert_eq!(points[0]["rate_per_s"], 1000.0);
    assert!(points.len() > 1, "{json:#}");
    let met = |point: &&Value| point["verdict"] == "met";
    let highest = points.iter().filter(met).map(|p| p["rate_per_s"].as_f64().unwrap());
    assert_eq!(json["highest_rate_per_s"].as_f64(), highest.reduce(f64::max));
    ended.complains(&["1.00k: ", " calls/s, p50 "]);
}

#[test]
fn recorded_sweep_and_search_are_shown_again() {
    let slow = Target::new("slow:1ms");
    let folder = tempfile::tempdir().unwrap();
    for (name, words) in [
        ("sweep", "--sweep 200..400+200 --arrivals constant"),
        ("search", "--find-max p50<100ms --rate 100 --timeout 3s --grace 3s"),
    ] {
        let out = folder.path().join(name);
        for format in ["table", "markdown", "json", "csv"] {
            let place = out.join(format);
            let words =
                format!("{words} --duration 100ms --format {format} --out {}", place.display());
            let shown = load(&slow, &words).out;
            assert!(!shown.is_empty());
            let again = look(&format!("report {} --format {format}", place.display())).expect(0);
            assert_eq!(again.out, shown);
        }
        let run = rpcbench_record::read(&out.join("csv")).unwrap();
        assert!(run.finished.is_some());
        assert_eq!(run.trials.len(), if name == "sweep" { 2 } else { 1 });
        assert_eq!(run.trials[0].search.is_some(), name == "search");
    }
}

#[test]
fn sweep_loads_at_each_of_its_rates() {
    let words = "--sweep 200..600+200 --arrivals constant --duration 500ms";
    let ended = load(&Target::new("honest"), words);
    ended.shows(&["Latency over load", "\n   200 ", "\n   400 ", "\n   600 "]);
    let csv = load(&Target::new("honest"), &format!("{words} --format csv")).out;
    let calls: Vec<&str> = csv.lines().map(|row| row.split(',').nth(6).unwrap()).collect();
    assert_eq!(calls, ["calls", "100", "200", "300"]);
}

#[test]
fn exact_number_of_calls_is_made() {
    let server = Target::new("honest");
    for (words, calls) in [("-n 1000 -c 5", 1000), ("-n 1 -c 5", 1), ("-n 300 --rate 2k", 300)] {
        let words = format!("load {} {words} --warmup none --format json", server.address());
        // On a busy machine the client itself may be late, which is a verdict against; its calls are counted all the same.
        let json = look(&words).json();
        assert_eq!(
            (json["calls"].as_u64(), json["ok"].as_u64()),
            (Some(calls), Some(calls)),
            "{words}"
        );
        assert!(json["calls_per_s"].as_f64().unwrap() > 0.0, "{words}");
    }
    // Before each load, one shows that the server has the contract.
    assert_eq!(server.calls(), 1301 + 3);
}

#[test]
fn floor_is_loaded_with_every_shape() {
    let floor = Target::new("tcp-echo");
    for shape in ["text:0", "text:100", "record", "dto", "tree"] {
        let words = format!("--protocol tcp-echo --shape {shape} -n 500 --format json");
        let json = load(&floor, &words).expect_ok_or_late().json();
        assert_eq!((json["ok"].as_u64(), json["protocol"].as_str()), (Some(500), Some("tcp-echo")));
    }
}
