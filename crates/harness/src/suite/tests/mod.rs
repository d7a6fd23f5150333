//! Suites: what is shipped, and what is refused.

mod order;
mod overrides;

use std::path::Path;

use rpcbench_contract::Shape;
use rpcbench_record::{
    ConnectionLife, PlannedServer, Protocol, Stopping, WarmUp, Window, Workload,
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
in_flight = 1000
warm_up = "until-steady"
duration = "3s"
"#;

fn parsed(text: &str) -> Result<Suite, SuiteError> {
    Suite::parse(Path::new("suites/mine.toml"), text)
}

fn good() -> Suite {
    parsed(GOOD).expect("a good suite")
}

/// What is said when `from` in a good suite is replaced.
fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    parsed(&GOOD.replacen(from, to, 1)).expect_err("a refusal").to_string()
}

fn refused_with(overrides: Overrides) -> String {
    good().with(&overrides).expect_err("a refusal").to_string()
}

fn servers(names: &[&str]) -> Vec<PlannedServer> {
    let server = |name: &&str| PlannedServer {
        entry: (*name).to_owned(),
        server: (*name).to_owned(),
        protocol: Protocol::Grpc,
        variant: None,
        language: "go".to_owned(),
        library: "grpc".to_owned(),
        build: None,
    };
    names.iter().map(server).collect()
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root")
}

fn shipped() -> Suites {
    let shipped = Suites::load(repository()).expect("suites");
    assert!(shipped.left_out().is_empty(), "{:?}", shipped.left_out());
    shipped
}

/// The entries of a plan by a suite with this line in it.
fn planned(line: &str, entries: &[PlannedServer]) -> Result<Vec<String>, String> {
    let suite = parsed(&GOOD.replacen("[limits]", &format!("{line}\n[limits]"), 1));
    let plan = plan(&suite.expect("a good suite"), &Overrides::default(), entries, 1);
    let plan = plan.map_err(|error| error.to_string())?;
    assert!(plan.order.iter().all(|t| plan.servers.iter().any(|s| s.entry == t.entry)));
    Ok(plan.servers.into_iter().map(|server| server.entry).collect())
}

#[test]
fn a_suite_takes_every_protocol_unless_it_names_some() {
    let mut entries = servers(&["go-grpc", "floor"]);
    entries[1].protocol = Protocol::TcpEcho;
    assert_eq!(planned("", &entries).unwrap(), ["go-grpc", "floor"]);
    assert_eq!(planned("protocols = [\"grpc\"]", &entries).unwrap(), ["go-grpc"]);
    let none = planned("protocols = [\"tcp-echo\"]", &entries[..1]).unwrap_err();
    insta::assert_snapshot!(none, @"none of these servers speaks tcp-echo, and the suite takes nothing else; name others, or another --suite (`rpcbench list --matrix` shows what there is)");
}

#[test]
fn the_shipped_suites_are_the_published_ones() {
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
            w.shape,
            w.arrivals,
            find.unwrap_or_default(),
            if w.connection_life.is_long() { "" } else { " short" },
            w.warm_up,
            w.window,
            suite.processes,
            suite.rounds,
        )
    };
    let suites = shipped();
    let rows = suites.all().iter().flat_map(|suite| suite.workloads.iter().map(|w| row(suite, w)));
    let rows: Vec<String> = rows.collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    dto | 1 CPU 512 MiB | 30 x 30 dto closed | Calls { calls: 2000, clients: 100 } 20,000 calls 2 x 20
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
    quick | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 0, cap_ms: None } 250ms 32 x 16
    short-connections / clients-10 | 1 CPU 512 MiB | 10 x 10 record closed short | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    short-connections / clients-50 | 1 CPU 512 MiB | 50 x 50 record closed short | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    short-connections / clients-100 | 1 CPU 512 MiB | 100 x 100 record closed short | UntilSteady { least_ms: 0, cap_ms: None } 3s 2 x 3
    slo / capacity | 1 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 0, cap_ms: None } 3s 3 x 1
    slo / highest-rate | 1 CPU 512 MiB | 50 x 1000 text:100 poisson:50% for p99<10ms | UntilSteady { least_ms: 0, cap_ms: None } 3s 3 x 1
    two-core | 2 CPU 512 MiB | 50 x 1000 text:100 closed | UntilSteady { least_ms: 30000, cap_ms: Some(120000) } 2m 3 x 1
    ");
}

#[test]
fn defaults_fill_what_a_suite_leaves_out() {
    let suite = good();
    assert_eq!((suite.processes, suite.rounds, suite.stopping), (2, 1, None));
    let expected = Workload {
        name: "mine".to_owned(),
        shape: "text:100".to_owned(),
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
        client_threads: 1,
        pipelining: false,
    };
    assert_eq!(suite.workloads, [expected]);
}

#[test]
fn a_wrong_file_is_refused_with_the_remedy() {
    insta::assert_snapshot!(refused("connections =", "conections ="), @"suites/mine.toml:9: unknown key 'workload[0].conections' (did you mean 'connections'?); allowed here: name, shape, connections, connection_life, in_flight, arrivals, sweep, find_max, warm_up, warm_up_least, warm_up_cap, settle, duration, calls, timeout, grace, client_threads, pipelining");
    insta::assert_snapshot!(refused("cpus = 1", "cpus = \"one\""), @r#"suites/mine.toml:5: 'limits.cpus' is the string "one", but must be a whole number from 0 to 4294967295, such as cpus = 1"#);
    insta::assert_snapshot!(refused("cpus = 1", "cpus = -1"), @"suites/mine.toml:5: 'limits.cpus' is the integer -1, but must be a whole number from 0 to 4294967295, such as cpus = 1");
    insta::assert_snapshot!(refused("shape = \"text:100\"\n", ""), @r#"suites/mine.toml:7: 'workload[0].shape' is missing; add a line such as shape = "text:100""#);
    insta::assert_snapshot!(refused("[limits]", "protocols = [\"http\"]\n[limits]"), @r#"suites/mine.toml:4: protocols[0] = "http": unknown protocol 'http'; expected one of grpc, json, json-h2c, thrift, thrift-compact, thrift-buffered, thrift-buffered-compact, tcp-echo"#);
    insta::assert_snapshot!(refused("text:100", "test:100"), @r#"suites/mine.toml:8: workload[0].shape = "test:100": unknown shape `test:100`; use `text:N`, `record`, `dto` or `tree`"#);
    insta::assert_snapshot!(refused("512M", "lots"), @r#"suites/mine.toml:6: limits.memory = "lots": 'lots' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)"#);
    insta::assert_snapshot!(refused("\"3s\"", "\"3\""), @r#"suites/mine.toml:12: workload[0].duration = "3": '3' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m"#);
    insta::assert_snapshot!(refused("until-steady", "until-stedy"), @r#"suites/mine.toml:11: workload[0].warm_up = "until-stedy": 'until-stedy' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m; or "until-steady" or "none""#);
    insta::assert_snapshot!(refused("[[workload]]", "[[workload]]\nname = \"My load\""), @r#"suites/mine.toml: workload.name = "My load": use small letters, digits and '-'"#);
    insta::assert_snapshot!(refused("= 1000", "= 1000\nwarm_up_cap = \"0s\""), @r#"suites/mine.toml: warm_up_cap = "0s": must be more than zero"#);
}

#[test]
fn workloads_have_names_of_their_own() {
    let (head, load) = GOOD.split_at(GOOD.find("[[workload]]").expect("a workload"));
    let error = parsed(&format!("{head}{load}{load}")).expect_err("a refusal");
    insta::assert_snapshot!(error, @r#"suites/mine.toml: workload.name = "mine": two workloads have this name; give each its own"#);
    let none = parsed(&format!("workload = []\n{head}")).expect_err("a refusal");
    insta::assert_snapshot!(none, @"suites/mine.toml: workload = []: a suite needs at least one [[workload]]");
}

#[test]
fn zero_is_refused_wherever_it_says_nothing() {
    let zeros = [
        ("processes", Overrides { processes: Some(0), ..Overrides::default() }),
        ("rounds", Overrides { rounds: Some(0), ..Overrides::default() }),
        ("max-time", Overrides { max_time_ms: Some(0), ..Overrides::default() }),
        ("cpus", Overrides { cpus: Some(0), ..Overrides::default() }),
        ("connections", Overrides { connections: Some(0), ..Overrides::default() }),
        ("in-flight", Overrides { in_flight: Some(0), ..Overrides::default() }),
        ("warmup-max", Overrides { warm_up_cap_ms: Some(0), ..Overrides::default() }),
        ("duration", Overrides { duration_ms: Some(0), ..Overrides::default() }),
        ("timeout", Overrides { timeout_ms: Some(0), ..Overrides::default() }),
        ("grace", Overrides { grace_ms: Some(0), ..Overrides::default() }),
        ("client-threads", Overrides { client_threads: Some(0), ..Overrides::default() }),
    ];
    for (option, overrides) in zeros {
        let message = refused_with(overrides);
        assert!(message.starts_with(&format!("--{option} 0")), "{message}");
        assert!(message.ends_with("must be more than zero"), "{message}");
    }
    insta::assert_snapshot!(refused("connections = 50", "connections = 0"), @"suites/mine.toml: connections = 0: must be more than zero");
}

#[test]
fn a_suite_says_when_it_may_stop() {
    let stops = |lines: &str| parsed(&GOOD.replace("processes = 2", lines));
    let suite = stops("processes = 2\nmax_processes = 16\nprecision = \"5%\"\nmax_time = \"6m\"");
    let suite = suite.expect("a good suite");
    let stopping = |precision, least_processes, max_time_ms| {
        Some(Stopping { precision, agreement: None, least_processes, max_time_ms })
    };
    assert_eq!((suite.processes, suite.stopping), (16, stopping(Some(0.05), 2, Some(360_000))));
    let with = |overrides: &Overrides| {
        let suite = suite.with(overrides).expect("no contradiction");
        (suite.processes, suite.stopping)
    };
    let exact = Overrides { processes: Some(3), ..Overrides::default() };
    assert_eq!(with(&exact), (3, stopping(None, 3, Some(360_000))));
    let closer = Overrides { precision: Some(0.01), ..Overrides::default() };
    assert_eq!(with(&closer), (16, stopping(Some(0.01), 2, Some(360_000))));
    let good = good().with(&closer).expect("no contradiction");
    assert_eq!((good.processes, good.stopping), (16, stopping(Some(0.01), 2, None)));
}

#[test]
fn a_window_is_a_length_or_a_number_of_calls() {
    let calls = |lines: &str| parsed(&GOOD.replace("duration = \"3s\"", lines));
    let suite = calls("calls = 20000").expect("a good suite");
    assert_eq!(suite.workloads[0].window, Window::Calls { calls: 20_000 });
    let typed = Overrides { duration_ms: Some(1000), ..Overrides::default() };
    let timed = suite.with(&typed).expect("no contradiction");
    assert_eq!(timed.workloads[0].window, Window::Duration { length_ms: 1000 });
    let refused = |lines| calls(lines).expect_err("a refusal").to_string();
    insta::assert_snapshot!(refused(""), @r#"workload of shape 'text:100': 'duration' is missing; add a line such as duration = "3s" or calls = 20000"#);
    insta::assert_snapshot!(refused("calls = 0"), @"suites/mine.toml: calls = 0: must be more than zero");
    insta::assert_snapshot!(refused("calls = 1\nduration = \"3s\""), @r#"suites/mine.toml:12: workload[0].calls = 1 contradicts suites/mine.toml:13: workload[0].duration = "3s": a window has a length or a number of calls; remove one of them"#);
    insta::assert_snapshot!(refused("calls = 9\narrivals = \"poisson\"\nfind_max = \"p99<1s\""), @r#"suites/mine.toml:12: workload[0].calls = 9 contradicts suites/mine.toml:14: workload[0].find_max = "p99<1s": a search compares windows of one length; give a duration"#);
    let logged = GOOD.replace("[limits]", "log_calls = true\n[limits]");
    let logged = logged.replace("duration = \"3s\"", "calls = 1000001");
    insta::assert_snapshot!(parsed(&logged).expect_err("a refusal"), @"suites/mine.toml: calls = 1000001: with log_calls, a trial has at most 1000000 calls: they wait in memory for its end");
}

#[test]
fn a_warm_up_is_of_so_many_calls_by_so_many_clients() {
    let warm = |text: &str| parsed(&GOOD.replace("until-steady", text));
    for (text, calls, clients) in [("calls:2000/100", 2000, 100), ("calls:5", 5, 1)] {
        let suite = warm(text).expect("a good suite");
        assert_eq!(suite.workloads[0].warm_up, WarmUp::Calls { calls, clients });
    }
    for text in ["calls:", "calls:5/6", "calls:0", "calls:5/0", "calls:5/x"] {
        let error = warm(text).expect_err("a refusal").to_string();
        assert!(error.contains("write calls:N/CLIENTS, such as calls:2000/100"), "{error}");
    }
    let cap = Overrides { warm_up_cap_ms: Some(1000), ..Overrides::default() };
    let error = warm("calls:2000/100").expect("a good suite").with(&cap).expect_err("a refusal");
    insta::assert_snapshot!(error, @r#"--warmup-max 1s contradicts suites/mine.toml: warm_up = "calls:2000/100": only a warm-up until steady has bounds; leave this one out, or add --warmup until-steady"#);
}

#[test]
fn trials_go_on_until_two_agree() {
    let suite = |lines: &str| parsed(&GOOD.replace("[limits]", &format!("{lines}\n[limits]")));
    let rule = suite("rounds = 20\nagreement = \"6%\"").expect("a good suite").stopping;
    let rule = rule.expect("a rule");
    assert_eq!((rule.agreement, rule.precision, rule.max_time_ms), (Some(0.06), None, None));
    assert!(rule.agree(100.0, 106.0) && rule.agree(106.0, 100.0) && !rule.agree(100.0, 106.1));
    insta::assert_snapshot!(suite("agreement = \"6%\"").expect_err("a refusal"), @r#"suites/mine.toml:4: agreement = "6%": two trials in a row are to agree; give rounds = 2 or more, the most that there are to be"#);
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
    insta::assert_snapshot!(life("calls:19").expect_err("a refusal"), @"suites/mine.toml: in_flight = 1000 contradicts suites/mine.toml: connections = 50 and a connection life of 'calls:19': a connection can't have more calls in flight than it lives for; give each call in flight a connection, or connections a longer life");
    insta::assert_snapshot!(life("brief").expect_err("a refusal"), @r#"suites/mine.toml:8: workload[0].connection_life = "brief": 'brief' is no connection life; write long (a connection carries all calls), short (one call each) or calls:N (N calls each)"#);
}

#[test]
fn published_figures_are_of_workloads_that_there_are_as_they_are() {
    let line = "\n[[published]]\nworkload = \"mine\"\nentry = \"go-grpc\"\ncalls_per_s = 13000\n";
    let suite = parsed(&format!("{GOOD}{line}")).expect("a good suite");
    let published = |overrides: &Overrides| {
        plan(&suite, overrides, &servers(&["go-grpc"]), 1).expect("a plan").published
    };
    let figure =
        Published { workload: "mine".into(), entry: "go-grpc".into(), calls_per_s: 13_000.0 };
    assert_eq!(published(&Overrides { rounds: Some(9), ..Overrides::default() }), [figure]);
    let other = Overrides { shape: Some(Shape::Dto), ..Overrides::default() };
    assert_eq!(published(&other), []);
    let unknown = line.replace("\"mine\"", "\"his\"");
    insta::assert_snapshot!(parsed(&format!("{GOOD}{unknown}")).expect_err("a refusal"), @r#"suites/mine.toml:15: published[0].workload = "his": there is no such workload here; write the name of one of these"#);
}

#[test]
fn an_entry_has_one_name() {
    let twice = plan(&good(), &Overrides::default(), &servers(&["a", "b", "a"]), 1);
    insta::assert_snapshot!(twice.expect_err("a refusal"), @"'a' is entered twice under one name; every entry of a plan needs a name of its own");
}

#[test]
fn an_unknown_suite_is_refused_with_those_there_are() {
    insta::assert_snapshot!(Suite::named(repository(), "quik").expect_err("a refusal"), @"there is no suite 'quik' (did you mean 'quick'?); there are: dto, few-connections, latency, long-connections, many-connections, one-core, quick, short-connections, slo, two-core; a file of your own ends in .toml");
    insta::assert_snapshot!(Suite::named(repository(), "zzz").expect_err("a refusal"), @"there is no suite 'zzz'; there are: dto, few-connections, latency, long-connections, many-connections, one-core, quick, short-connections, slo, two-core; a file of your own ends in .toml");
    assert_eq!(Suite::named(repository(), "quick").expect("quick").name, "quick");
}

#[test]
fn a_folder_without_suites_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    assert!(matches!(Suites::load(root.path()), Err(SuiteError::Config(ConfigError::Read { .. }))));
    fs::create_dir(root.path().join("suites")).expect("a folder");
    assert!(matches!(Suites::load(root.path()), Err(SuiteError::None { .. })));
}

#[test]
fn warm_ups_read_as_written() {
    assert_eq!(warm_up("none"), Ok(WarmUp::Fixed { length_ms: 0 }));
    assert_eq!(warm_up("1m 30s"), Ok(WarmUp::Fixed { length_ms: 90_000 }));
    assert_eq!(warm_up("until-steady"), Ok(WarmUp::UntilSteady { least_ms: 0, cap_ms: None }));
    assert!(warm_up("steady").is_err());
}

#[test]
fn a_suite_may_be_any_file() {
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
