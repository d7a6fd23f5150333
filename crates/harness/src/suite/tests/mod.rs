//! The shipped suites, and errors about invalid ones.

mod keys;
mod loads;
mod order;
mod overrides;

use std::path::Path;

use clap::{Args as _, FromArgMatches as _};
use rpcbench_record::{
    ConnectionLife, Content, PlannedServer, Protocol, Role, Stopping, TlsMode, WarmUp, Window,
    Workload,
};

use super::*;
use crate::config::ConfigError;

const GOOD: &str = r#"
description = "For tests."
processes = 2
[limits]
cpus = 1
memory = "512M"
[[workload]]
shape = "text:100"
connections = 50
in_flight_per_connection = 20
warmup = "until-steady"
duration = "3s"
"#;

fn parsed(text: &str) -> Result<Suite, ConfigError> {
    Suite::parse(Path::new("suites/mine.toml"), text)
}

fn good() -> Suite {
    parsed(GOOD).expect("a good suite")
}

/// The error after replacing `from` with `to` in a good suite.
fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    parsed(&GOOD.replacen(from, to, 1)).expect_err("a refusal").to_string()
}

/// Parses options as typed.
fn typed(options: &str) -> RunSpec {
    read_options(options).expect("options")
}

fn read_options(options: &str) -> Result<RunSpec, clap::Error> {
    let command = RunSpec::augment_args(clap::Command::new("run").no_binary_name(true));
    RunSpec::from_arg_matches(&command.try_get_matches_from(options.split_whitespace())?)
}

fn refused_with(options: &str) -> String {
    good().with(&typed(options)).expect_err("a refusal").to_string()
}

fn servers(names: &[&str]) -> Vec<PlannedServer> {
    let server = |name: &&str| PlannedServer {
        entry: (*name).to_owned(),
        server: (*name).to_owned(),
        protocol: Protocol::Grpc,
        variant: None,
        language: "go".to_owned(),
        library: "grpc".to_owned(),
        role: Role::Server,
        counterpart: None,
        build: None,
    };
    names.iter().map(server).collect()
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root")
}

fn shipped() -> Suites {
    let shipped = Suites::load(repository()).expect("suites");
    assert!(shipped.left_out.is_empty(), "{:?}", shipped.left_out);
    shipped
}

/// The planned entries of a suite with this line in it.
fn planned(line: &str, entries: &[PlannedServer]) -> Result<Vec<String>, String> {
    let suite = parsed(&GOOD.replacen("[limits]", &format!("{line}\n[limits]"), 1));
    let plan = plan(&suite.expect("a good suite"), &RunSpec::default(), entries, 1);
    let plan = plan.map_err(|error| error.to_string())?;
    assert!(plan.order.iter().all(|t| plan.servers.iter().any(|s| s.entry == t.entry)));
    Ok(plan.servers.into_iter().map(|server| server.entry).collect())
}

#[test]
fn suite_takes_every_protocol_unless_it_names_some() {
    let mut entries = servers(&["go-grpc", "floor"]);
    entries[1].protocol = Protocol::TcpEcho;
    assert_eq!(planned("", &entries).unwrap(), ["go-grpc", "floor"]);
    assert_eq!(planned("protocols = [\"grpc\"]", &entries).unwrap(), ["go-grpc"]);
    let none = planned("protocols = [\"tcp-echo\"]", &entries[..1]).unwrap_err();
    insta::assert_snapshot!(none, @"the suite takes only tcp-echo, which none of these servers speaks; name others, or another --suite (see `rpcbench list --matrix`)");
}

#[test]
fn shipped_suites_are_the_published_ones() {
    let row = |suite: &Suite, w: &Workload| {
        let name = match w.name == suite.name {
            true => w.name.clone(),
            false => format!("{} / {}", suite.name, w.name),
        };
        let find = w.find_max.map(|threshold| format!(" for {threshold}"));
        let memory = suite.limits.memory_bytes.map(units::bytes);
        format!(
            "{name} | {} CPU {} | {} x {} {} {}{}{} | {:?} {} {} x {}",
            suite.limits.cpus,
            memory.unwrap_or_default(),
            w.connections,
            w.in_flight,
            w.content,
            w.arrivals,
            find.unwrap_or_default(),
            if w.connection_life.is_long() { "" } else { " short" },
            w.warm_up,
            w.window,
            suite.processes.map_or("any".to_owned(), |processes| processes.to_string()),
            suite.rounds.map_or("any".to_owned(), |rounds| rounds.to_string()),
        )
    };
    let rows = |suite: &Suite| suite.workloads.iter().map(|w| row(suite, w)).collect::<Vec<_>>();
    let rows: Vec<String> = shipped().all.iter().flat_map(rows).collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    dto / clients-30 | 1 CPU 512 MiB | 30 x 30 dto closed | Calls { calls: 2000, clients: 100 } 20,000 calls 2 x 10
    dto / clients-1 | 1 CPU 512 MiB | 1 x 1 dto closed | Calls { calls: 2000, clients: 100 } 20,000 calls 2 x 10
    dto / clients-10 | 1 CPU 512 MiB | 10 x 10 dto closed | Calls { calls: 2000, clients: 100 } 20,000 calls 2 x 10
    dto / clients-100 | 1 CPU 512 MiB | 100 x 100 dto closed | Calls { calls: 2000, clients: 100 } 20,000 calls 2 x 10
    few-connections | 3 CPU  | 5 x 25 text:1000 closed | Fixed { length_ms: 0 } 30s 3 x 1
    latency / capacity | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 0, cap_ms: None } 5s 3 x 1
    latency / load-10 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:10% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-20 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:20% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-30 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:30% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-40 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:40% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-50 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:50% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-60 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:60% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-70 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:70% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-80 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:80% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    latency / load-90 | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:90% | UntilSteady { least_ms: 0, cap_ms: None } 10s 3 x 1
    long-connections / clients-100 | 1 CPU 2 GiB | 100 x 100 record closed | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    long-connections / clients-1000 | 1 CPU 2 GiB | 1000 x 1000 record closed | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    long-connections / clients-5000 | 1 CPU 2 GiB | 5000 x 5000 record closed | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    long-connections / clients-10000 | 1 CPU 2 GiB | 10000 x 10000 record closed | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    many-connections | 3 CPU  | 250 x 500 text:100 closed | Fixed { length_ms: 30000 } 1m 3 x 1
    one-core | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 30000, cap_ms: Some(120000) } 2m 3 x 1
    quick | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 0, cap_ms: None } 500ms any x any
    short-connections / clients-10 | 1 CPU 512 MiB | 10 x 10 record closed short | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    short-connections / clients-50 | 1 CPU 512 MiB | 50 x 50 record closed short | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    short-connections / clients-100 | 1 CPU 512 MiB | 100 x 100 record closed short | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    slo / capacity | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 0, cap_ms: None } 3s 3 x 1
    slo / highest-rate | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:50% for p99<10ms | UntilSteady { least_ms: 0, cap_ms: None } 3s 3 x 1
    tls / long-plain | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 0, cap_ms: None } 1s 2 x 3
    tls / long-tls | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 0, cap_ms: None } 1s 2 x 3
    tls / short-plain | 1 CPU 512 MiB | 20 x 20 text:100 closed short | UntilSteady { least_ms: 0, cap_ms: None } 1s 2 x 3
    tls / short-tls | 1 CPU 512 MiB | 20 x 20 text:100 closed short | UntilSteady { least_ms: 0, cap_ms: None } 1s 2 x 3
    tls / short-tls-full | 1 CPU 512 MiB | 20 x 20 text:100 closed short | UntilSteady { least_ms: 0, cap_ms: None } 1s 2 x 3
    two-core | 2 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 30000, cap_ms: Some(120000) } 2m 3 x 1
    ");
}

#[test]
fn defaults_fill_what_a_suite_leaves_out() {
    let suite = good();
    assert_eq!((suite.processes, suite.rounds, suite.stopping), (Some(2), Some(1), None));
    let expected = Workload {
        name: "mine".to_owned(),
        content: Content::Shape("text:100".to_owned()),
        connections: 50,
        connection_life: ConnectionLife::Long,
        in_flight: 1000,
        arrivals: rpcbench_record::Arrivals::Closed,
        find_max: None,
        warm_up: WarmUp::UntilSteady { least_ms: 0, cap_ms: None },
        settle_ms: 500,
        window: Window::Duration { length_ms: 3000 },
        timeout_ms: 10_000,
        grace_ms: 5000,
        connect_timeout_ms: Workload::CONNECT_TIMEOUT_MS,
        client_threads: 1,
        pipelining: false,
        headers: Vec::new(),
        authority: None,
        tls: TlsMode::Off,
        keepalive: None,
    };
    assert_eq!(suite.workloads, [expected]);
}

#[test]
fn wrong_file_is_refused_with_the_remedy() {
    insta::assert_snapshot!(refused("connections =", "conections ="), @"suites/mine.toml:9: conections = 50: unknown key 'conections' (did you mean 'connections'?); allowed here: name, shape, connections, connection_life, in_flight_per_connection, arrivals, rate, sweep, find_max, duration, calls, warmup, warmup_min, warmup_max, settle, timeout, grace, connect_timeout, client_threads, pipelining, header, authority, tls");
    insta::assert_snapshot!(refused("cpus = 1", "cpus = \"one\""), @r#"suites/mine.toml:5: cpus = "one": must be a whole number from 1 to 4294967295"#);
    insta::assert_snapshot!(refused("cpus = 1", "cpus = -1"), @"suites/mine.toml:5: cpus = -1: must be a whole number from 1 to 4294967295");
    insta::assert_snapshot!(refused("shape = \"text:100\"\n", ""), @r#"suites/mine.toml:7: 'shape' is missing; add a line such as shape = "text:100""#);
    assert_eq!(
        refused("[limits]", "in = \"unmanaged\"\n[limits]"),
        "suites/mine.toml:4: in = \"unmanaged\": unknown placement 'unmanaged'; expected one of native, docker, podman"
    );
    insta::assert_snapshot!(refused("[limits]", "protocols = [\"http\"]\n[limits]"), @r#"suites/mine.toml:4: protocols = ["http"]: unknown protocol 'http'; expected one of grpc, json, json-h2c, connect, thrift, thrift-compact, thrift-buffered, thrift-buffered-compact, tcp-echo"#);
    insta::assert_snapshot!(refused("text:100", "test:100"), @r#"suites/mine.toml:8: shape = "test:100": unknown shape `test:100`; use `text:N`, `record`, `dto` or `tree`"#);
    insta::assert_snapshot!(refused("512M", "lots"), @r#"suites/mine.toml:6: memory = "lots": 'lots' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)"#);
    insta::assert_snapshot!(refused("\"3s\"", "\"3\""), @r#"suites/mine.toml:12: duration = "3": '3' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m"#);
    insta::assert_snapshot!(refused("until-steady", "until-stedy"), @r#"suites/mine.toml:11: warmup = "until-stedy": 'until-stedy' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m; or until-steady, or none"#);
    insta::assert_snapshot!(refused("[[workload]]", "[[workload]]\nname = \"My load\""), @r#"suites/mine.toml:8: name = "My load": use small letters, digits and '-'"#);
    insta::assert_snapshot!(refused("= 20", "= 20\nwarmup_max = \"0s\""), @r#"suites/mine.toml:11: warmup_max = "0s": must be at least 1ms"#);
}

#[test]
fn old_key_names_suggest_the_current_ones() {
    let refused = |line: &str| refused("duration =", &format!("{line}\nduration ="));
    insta::assert_snapshot!(refused("in_flight = 1000"), @"suites/mine.toml:12: in_flight = 1000: unknown key 'in_flight'; it is called 'in_flight_per_connection' now, and counts calls on each connection");
    insta::assert_snapshot!(refused("warm_up_least = \"5s\""), @r#"suites/mine.toml:12: warm_up_least = "5s": unknown key 'warm_up_least'; it is called 'warmup_min' now"#);
    for (former, now) in
        [("warm_up", "warmup"), ("warm_up_cap", "warmup_max"), ("headers", "header")]
    {
        let expected = format!("unknown key '{former}'; it is called '{now}' now");
        assert!(refused(&format!("{former} = 1")).ends_with(&expected), "{former}");
    }
    let placement = self::refused("[limits]", "placement = \"docker\"\n[limits]");
    assert!(placement.ends_with("unknown key 'placement'; it is called 'in' now"), "{placement}");
}

#[test]
fn misplaced_keys_name_their_table() {
    insta::assert_snapshot!(refused("[limits]", "cpus = 1\n[limits]"), @"suites/mine.toml:4: cpus = 1: unknown key 'cpus'; it belongs in [limits]; allowed here: description, processes, rounds, precision, agreement, max_time, log_calls, runtime_statistics, price, in, protocols, limits, workload, published");
    insta::assert_snapshot!(refused("cpus = 1", "cpus = 1\nprice = 1"), @"suites/mine.toml:6: price = 1: unknown key 'price'; it belongs at the top of the file; allowed here: cpus, memory");
    let workload = refused("[limits]", "duration = \"3s\"\n[limits]");
    assert!(workload.contains("unknown key 'duration'; it belongs in [[workload]]"), "{workload}");
}

#[test]
fn workload_names_are_unique() {
    let (head, load) = GOOD.split_at(GOOD.find("[[workload]]").expect("a workload"));
    let error = parsed(&format!("{head}{load}{load}")).expect_err("a refusal");
    insta::assert_snapshot!(error, @"suites/mine.toml:13: workload 'mine': two workloads have this name; give each a different one");
    let none = parsed(&format!("workload = []\n{head}")).expect_err("a refusal");
    insta::assert_snapshot!(none, @"suites/mine.toml: a suite needs at least one [[workload]]");
}

#[test]
fn zero_is_refused_if_it_means_nothing() {
    let options = [
        "--processes",
        "--rounds",
        "--cpus",
        "--connections",
        "--in-flight-per-connection",
        "--client-threads",
        "--calls",
        "--max-time",
        "--warmup-max",
        "--duration",
        "--timeout",
        "--grace",
    ];
    for option in options {
        for zero in ["0", "0s"] {
            let message =
                read_options(&format!("{option} {zero}")).expect_err("a refusal").to_string();
            assert!(
                message.starts_with(&format!("error: invalid value '{zero}' for '{option}")),
                "{message}"
            );
        }
    }
    insta::assert_snapshot!(refused("connections = 50", "connections = 0"), @"suites/mine.toml:9: connections = 0: must be more than zero");
    insta::assert_snapshot!(refused("\"3s\"", "\"0s\""), @r#"suites/mine.toml:12: duration = "0s": must be at least 1ms"#);
}

#[test]
fn rounds_fill_the_time_limit_of_suite_or_option() {
    let stops = |lines: &str| parsed(&GOOD.replace("processes = 2", lines));
    let suite = stops("processes = 2\nprecision = \"5%\"\nmax_time = \"6m\"");
    let suite = suite.expect("a good suite");
    let stopping =
        |precision, max_time_ms| Some(Stopping { precision, max_time_ms, ..Stopping::default() });
    let extent = |suite: &Suite| (suite.processes, suite.rounds, suite.stopping);
    assert_eq!(extent(&suite), (Some(2), None, stopping(Some(0.05), Some(360_000))));
    let with = |options: &str| extent(&suite.with(&typed(options)).expect("no contradiction"));
    assert_eq!(with("--processes 3"), (Some(3), None, stopping(Some(0.05), Some(360_000))));
    assert_eq!(with("--precision 1%"), (Some(2), None, stopping(Some(0.01), Some(360_000))));
    assert_eq!(with("--rounds 7"), (Some(2), Some(7), stopping(Some(0.05), Some(360_000))));
    let good = |options: &str| extent(&good().with(&typed(options)).expect("no contradiction"));
    assert_eq!(good("--precision 1%"), (Some(2), Some(16), stopping(Some(0.01), None)));
    // `--max-time` on the command line works like the suite's own.
    assert_eq!(good("--max-time 9m"), (Some(2), None, stopping(None, Some(540_000))));
}

/// A plan of the suite `quick` with this many entries.
fn quick(entries: usize) -> Plan {
    let suites = shipped();
    let quick = suites.all.iter().find(|suite| suite.name == "quick").expect("quick");
    let names: Vec<String> = (0..entries).map(|n| format!("s{n}")).collect();
    let entries = servers(&names.iter().map(String::as_str).collect::<Vec<_>>());
    plan(quick, &RunSpec::default(), &entries, 1).expect("a plan")
}

#[test]
fn rounds_fill_the_time() {
    // 360 s divided by 0.5 s for a process of each entry.
    let rounds = |entries| quick(entries).rounds("quick").into_values().max();
    assert_eq!([1, 12, 500].map(rounds), [Some(720), Some(60), Some(4)]);
}

#[test]
fn default_is_one_process_and_more_if_time_allows() {
    let both = |plan: Plan| (plan.first_processes(), plan.most_processes());
    // 180 s divided by 3 s for a process of each entry.
    assert_eq!([1, 12, 500].map(|entries| both(quick(entries))), [(1, 8), (1, 5), (1, 1)]);
    let given = GOOD.replace("processes = 2", "processes = 2\nmax_time = \"6m\"");
    let plan = |suite: Suite| plan(&suite, &RunSpec::default(), &servers(&["a"]), 1);
    let given = parsed(&given).expect("a good suite");
    assert_eq!(both(plan(given).expect("a plan")), (2, 2));
}

#[test]
fn window_is_a_length_or_a_number_of_calls() {
    let calls = |lines: &str| parsed(&GOOD.replace("duration = \"3s\"", lines));
    let suite = calls("calls = 20000").expect("a good suite");
    assert_eq!(suite.workloads[0].window, Window::Calls { calls: 20_000 });
    let timed = suite.with(&typed("--duration 1s")).expect("no contradiction");
    assert_eq!(timed.workloads[0].window, Window::Duration { length_ms: 1000 });
    let refused = |lines| calls(lines).expect_err("a refusal").to_string();
    insta::assert_snapshot!(refused(""), @r#"suites/mine.toml:7: 'duration' is missing; add a line such as duration = "3s", or calls = 20000"#);
    insta::assert_snapshot!(refused("calls = 0"), @"suites/mine.toml:12: calls = 0: must be more than zero");
    insta::assert_snapshot!(refused("calls = 1\nduration = \"3s\""), @r#"suites/mine.toml:12: calls = 1 contradicts suites/mine.toml:13: duration = "3s": a window has a length or a number of calls; remove one of them"#);
    insta::assert_snapshot!(refused("calls = 9\narrivals = \"poisson\"\nfind_max = \"p99<1s\""), @r#"suites/mine.toml:12: calls = 9 contradicts suites/mine.toml:14: find_max = "p99<1s": a search compares windows of one length; give a duration"#);
    insta::assert_snapshot!(refused("calls = 9\narrivals = \"poisson\"\nsweep = \"10%..90%\""), @r#"suites/mine.toml:12: calls = 9 contradicts suites/mine.toml:14: sweep = "10%..90%": the loads of a sweep have windows of one length; give a duration"#);
    let logged = GOOD.replace("[limits]", "log_calls = true\n[limits]");
    let refused =
        |lines| parsed(&logged.replace("duration = \"3s\"", lines)).expect_err("a refusal");
    insta::assert_snapshot!(refused("duration = \"3s\"\narrivals = \"poisson\"\nfind_max = \"p99<1s\""), @r#"suites/mine.toml:15: find_max = "p99<1s": with log_calls, a trial has one window, but a search has many; log calls at a given rate"#);
    insta::assert_snapshot!(refused("calls = 1000001"), @"suites/mine.toml:13: calls = 1000001: with log_calls, a window has at most 1000000 calls: they are kept in memory until its end");
}

#[test]
fn warm_up_may_be_a_number_of_calls() {
    let warm = |text: &str| parsed(&GOOD.replace("until-steady", text));
    for (text, calls, clients) in [("calls:2000/100", 2000, 100), ("calls:5", 5, 1)] {
        let suite = warm(text).expect("a good suite");
        assert_eq!(suite.workloads[0].warm_up, WarmUp::Calls { calls, clients });
    }
    for text in ["calls:", "calls:5/6", "calls:0", "calls:5/0", "calls:5/x"] {
        let error = warm(text).expect_err("a refusal").to_string();
        assert!(error.contains("calls:N/CLIENTS, such as calls:2000/100"), "{error}");
    }
    let cap = typed("--warmup-max 1s");
    let error = warm("calls:2000/100").expect("a good suite").with(&cap).expect_err("a refusal");
    insta::assert_snapshot!(error, @r#"--warmup-max 1s contradicts suites/mine.toml:11: warmup = "calls:2000/100": only a warm-up until steady has bounds; leave one of them out"#);
}

#[test]
fn windows_repeat_until_two_agree() {
    let suite = |lines: &str| parsed(&GOOD.replace("[limits]", &format!("{lines}\n[limits]")));
    let rule = suite("rounds = 20\nagreement = \"6%\"").expect("a good suite").stopping;
    let rule = rule.expect("a rule");
    assert_eq!((rule.agreement, rule.precision, rule.max_time_ms), (Some(0.06), None, None));
    assert!(rule.agree(100.0, 106.0) && rule.agree(106.0, 100.0) && !rule.agree(100.0, 106.1));
    insta::assert_snapshot!(suite("agreement = \"6%\"").expect_err("a refusal"), @r#"suites/mine.toml:4: agreement = "6%": two windows in a row must agree; give rounds = 2 or more, as an upper limit"#);
}

#[test]
fn connections_live_for_no_fewer_calls_than_they_have_in_flight() {
    let life = |text: &str| {
        parsed(&GOOD.replace("shape", &format!("connection_life = \"{text}\"\nshape")))
    };
    assert_eq!(
        life("calls:20").expect("20 on each").workloads[0].connection_life.calls(),
        Some(20)
    );
    insta::assert_snapshot!(life("calls:19").expect_err("a refusal"), @r#"suites/mine.toml:11: in_flight_per_connection = 20 contradicts suites/mine.toml:8: connection_life = "calls:19": a connection can't have more calls in flight than it lives for; give fewer calls in flight or a longer life"#);
    insta::assert_snapshot!(life("brief").expect_err("a refusal"), @r#"suites/mine.toml:8: connection_life = "brief": 'brief' is not a connection life; expected long (a connection carries all calls), short (one call each) or calls:N (N calls each)"#);
}

#[test]
fn published_figures_belong_to_unchanged_workloads() {
    let line = "\n[[published]]\nworkload = \"mine\"\nentry = \"go-grpc\"\ncalls_per_s = 13000\nsource = \"a page\"\n";
    let suite = parsed(&format!("{GOOD}{line}")).expect("a good suite");
    let published = |options: &str| {
        plan(&suite, &typed(options), &servers(&["go-grpc"]), 1).expect("a plan").published
    };
    let figure = Published {
        workload: "mine".into(),
        entry: "go-grpc".into(),
        calls_per_s: 13_000.0,
        source: "a page".into(),
    };
    assert_eq!(published("--rounds 9"), [figure]);
    assert_eq!(published("--shape dto"), []);
    let unknown = line.replace("\"mine\"", "\"his\"");
    insta::assert_snapshot!(parsed(&format!("{GOOD}{unknown}")).expect_err("a refusal"), @r#"suites/mine.toml:15: workload = "his": no workload has this name; write the name of one of this suite"#);
}

#[test]
fn entry_has_one_name() {
    let twice = plan(&good(), &RunSpec::default(), &servers(&["a", "b", "a"]), 1);
    insta::assert_snapshot!(twice.expect_err("a refusal"), @"'a' is entered twice under one name; give every entry a different name");
}

#[test]
fn unknown_suite_is_refused_with_all_names() {
    insta::assert_snapshot!(Suite::named(repository(), "quik").expect_err("a refusal"), @"unknown suite 'quik' (did you mean 'quick'?); expected one of dto, few-connections, latency, long-connections, many-connections, one-core, quick, short-connections, slo, tls, two-core, or a file such as mine.toml");
    insta::assert_snapshot!(Suite::named(repository(), "zzz").expect_err("a refusal"), @"unknown suite 'zzz'; expected one of dto, few-connections, latency, long-connections, many-connections, one-core, quick, short-connections, slo, tls, two-core, or a file such as mine.toml");
    assert_eq!(Suite::named(repository(), "quick").expect("quick").name, "quick");
}

#[test]
fn folder_without_suites_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let refused = || Suites::load(root.path()).expect_err("a refusal").to_string();
    assert!(refused().contains("can't be read"), "{}", refused());
    fs::create_dir(root.path().join("suites")).expect("a folder");
    assert!(refused().contains("no suites found"), "{}", refused());
}

#[test]
fn warm_ups_read_as_written() {
    let read = |text: &str| text.parse::<crate::spec::WarmUpValue>().map(|it| it.0);
    assert_eq!(read("none"), Ok(WarmUp::Fixed { length_ms: 0 }));
    assert_eq!(read("1m 30s"), Ok(WarmUp::Fixed { length_ms: 90_000 }));
    assert_eq!(read("until-steady"), Ok(WarmUp::UntilSteady { least_ms: 0, cap_ms: None }));
    assert!(read("steady").is_err());
}

#[test]
fn suite_may_be_any_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mine = folder.path().join("mine.toml");
    fs::write(&mine, GOOD).expect("a file");
    let named = |name: &str| Suite::named(folder.path(), name).map(|suite| suite.name);
    assert_eq!(named(mine.to_str().expect("text")).expect("mine"), "mine");
    assert!(
        named("other.toml")
            .expect_err("a refusal")
            .to_string()
            .starts_with("other.toml: can't be read")
    );
}
