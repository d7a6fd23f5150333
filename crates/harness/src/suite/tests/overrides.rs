//! What the command line changes about a suite, and what contradicts it.

use super::*;

#[test]
fn every_override_replaces_its_field() {
    let overrides = Overrides {
        processes: Some(3),
        rounds: Some(5),
        precision: None,
        max_time_ms: Some(1000),
        scaled_from: None,
        runtime_statistics: true,
        log_calls: true,
        calls: None,
        cpus: Some(2),
        memory_bytes: Some(1 << 30),
        loads: None,
        shape: Some(Shape::Dto),
        connections: Some(7),
        connection_life: Some(ConnectionLife::SHORT),
        in_flight: Some(7),
        warm_up: Some(WarmUp::UntilSteady { least_ms: 0, cap_ms: None }),
        warm_up_least_ms: Some(8000),
        warm_up_cap_ms: Some(9000),
        settle_ms: Some(70),
        duration_ms: Some(11_000),
        timeout_ms: Some(3000),
        grace_ms: Some(2000),
        client_threads: Some(2),
        pipelining: true,
    };
    let suite = good().with(&overrides).expect("no contradiction");
    let stopping =
        Stopping { precision: None, agreement: None, least_processes: 3, max_time_ms: Some(1000) };
    assert_eq!((suite.processes, suite.rounds, suite.stopping), (3, 5, Some(stopping)));
    assert_eq!(suite.limits, Limits { cpus: 2, memory_bytes: Some(1 << 30) });
    assert!(suite.runtime_statistics && suite.log_calls);
    let expected = Workload {
        shape: "dto".to_owned(),
        connections: 7,
        connection_life: ConnectionLife::SHORT,
        in_flight: 7,
        warm_up: WarmUp::UntilSteady { least_ms: 8000, cap_ms: Some(9000) },
        settle_ms: 70,
        window: Window::Duration { length_ms: 11_000 },
        timeout_ms: 3000,
        grace_ms: 2000,
        client_threads: 2,
        pipelining: true,
        ..good().workloads[0].clone()
    };
    assert_eq!(suite.workloads, [expected]);
}

#[test]
fn a_fixed_warm_up_on_the_command_line_drops_the_suites_cap() {
    let capped = GOOD.replace("duration =", "warm_up_cap = \"20s\"\nduration =");
    let overrides =
        Overrides { warm_up: Some(WarmUp::Fixed { length_ms: 1000 }), ..Overrides::default() };
    let suite = parsed(&capped).and_then(|s| s.with(&overrides)).expect("no contradiction");
    assert_eq!(suite.workloads[0].warm_up, WarmUp::Fixed { length_ms: 1000 });
}

#[test]
fn half_a_rule_for_stopping_is_refused() {
    let both = "processes = 2\nprecision = \"5%\"";
    insta::assert_snapshot!(refused("processes = 2", both), @r#"suites/mine.toml:4: precision = "5%": processes are added until the precision is reached, or there are max_processes; give max_processes too"#);
    let both = "processes = 2\nmax_processes = 9";
    insta::assert_snapshot!(refused("processes = 2", both), @"suites/mine.toml:4: max_processes = 9: processes are added until the precision is reached, or there are max_processes; give precision too");
    let fewer = "processes = 2\nmax_processes = 1\nprecision = \"5%\"";
    insta::assert_snapshot!(refused("processes = 2", fewer), @"suites/mine.toml: max_processes = 1 contradicts suites/mine.toml: processes = 2: the second is the least; raise the first");
    insta::assert_snapshot!(refused("processes = 2", &both.replace("9", "9\nprecision = \"0%\"")), @r#"suites/mine.toml:5: precision = "0%": '0%' is not a percentage between 0 and 100; write one such as 5%"#);
}

#[test]
fn a_window_has_a_slice_and_room_in_memory() {
    let short = Overrides { duration_ms: Some(99), ..Overrides::default() };
    insta::assert_snapshot!(refused_with(short), @"--duration 99ms: must be at least 100ms, one slice of a trial's series");
    let enough = Overrides { duration_ms: Some(100), ..Overrides::default() };
    assert!(good().with(&enough).is_ok());
    let most = 48 * 3_600_000;
    let long = Overrides { duration_ms: Some(most + 1), ..Overrides::default() };
    assert!(refused_with(long).contains("at most 48h"));
    let most = Overrides { duration_ms: Some(most), ..Overrides::default() };
    assert!(good().with(&most).is_ok());
}

#[test]
fn fewer_calls_than_connections_contradict() {
    insta::assert_snapshot!(refused("1000", "49"), @"suites/mine.toml: in_flight = 49 contradicts suites/mine.toml: connections = 50: every connection carries at least one call; raise the first or lower the second");
    let typed = Overrides { in_flight: Some(49), ..Overrides::default() };
    insta::assert_snapshot!(refused_with(typed), @"--in-flight 49 contradicts suites/mine.toml: connections = 50: every connection carries at least one call; raise the first or lower the second");
    let other = Overrides { connections: Some(1001), ..Overrides::default() };
    insta::assert_snapshot!(refused_with(other), @"suites/mine.toml: in_flight = 1000 contradicts --connections 1001: every connection carries at least one call; raise the first or lower the second");
    let equal = Overrides { in_flight: Some(50), ..Overrides::default() };
    assert!(good().with(&equal).is_ok());
}

#[test]
fn more_threads_than_connections_contradict() {
    let typed = Overrides { client_threads: Some(51), ..Overrides::default() };
    insta::assert_snapshot!(refused_with(typed), @"suites/mine.toml: connections = 50 contradicts --client-threads 51: every client thread needs a connection; raise the first or lower the second");
}

#[test]
fn a_grace_beyond_the_timeout_contradicts() {
    let typed = Overrides { timeout_ms: Some(4999), ..Overrides::default() };
    insta::assert_snapshot!(refused_with(typed), @r#"--timeout 4s 999ms contradicts suites/mine.toml: grace = "5s": no call is waited for beyond its timeout; raise the first or lower the second"#);
}

#[test]
fn a_cap_beside_a_fixed_warm_up_contradicts() {
    let fixed = Some(WarmUp::Fixed { length_ms: 30_000 });
    let both = Overrides { warm_up: fixed, warm_up_cap_ms: Some(60_000), ..Overrides::default() };
    insta::assert_snapshot!(refused_with(both), @"--warmup-max 1m contradicts --warmup 30s: only a warm-up until steady has bounds; leave this one out, or add --warmup until-steady");
    let text = GOOD.replace("until-steady", "30s");
    let cap = Overrides { warm_up_cap_ms: Some(60_000), ..Overrides::default() };
    let error = parsed(&text).and_then(|s| s.with(&cap)).expect_err("a refusal");
    insta::assert_snapshot!(error, @r#"--warmup-max 1m contradicts suites/mine.toml: warm_up = "30s": only a warm-up until steady has bounds; leave this one out, or add --warmup until-steady"#);
    let in_file = text.replace("duration =", "warm_up_cap = \"60s\"\nduration =");
    insta::assert_snapshot!(parsed(&in_file).expect_err("a refusal"), @r#"suites/mine.toml:12: workload[0].warm_up_cap = "60s" contradicts suites/mine.toml:11: workload[0].warm_up = "30s": only "until-steady" has bounds; remove one of them"#);
}

#[test]
fn a_warm_up_may_not_be_capped_before_its_least() {
    let least = GOOD.replace("duration =", "warm_up_least = \"30s\"\nduration =");
    let both = least.replace("duration =", "warm_up_cap = \"20s\"\nduration =");
    insta::assert_snapshot!(parsed(&both).expect_err("a refusal"), @r#"suites/mine.toml: warm_up_cap = "20s" contradicts suites/mine.toml: warm_up_least = "30s": warming can't end before it may; raise the first"#);
    let warm_up = parsed(&least).expect("no contradiction").workloads[0].warm_up;
    assert_eq!(warm_up, WarmUp::UntilSteady { least_ms: 30_000, cap_ms: None });
}

fn with_loads(
    suite: &Suite,
    arrivals: &str,
    sweep: Option<&str>,
    find_max: Option<&str>,
) -> Vec<String> {
    let loads = Loads {
        arrivals: arrivals.parse().expect("arrivals"),
        sweep: sweep.map(|text| text.parse().expect("a sweep")),
        find_max: find_max.map(|text| text.parse().expect("a threshold")),
    };
    let suite = suite.with(&Overrides { loads: Some(loads), ..Overrides::default() });
    let workloads = suite.expect("no contradiction").workloads;
    workloads.iter().map(|w| format!("{}: {}, {}", w.name, w.arrivals, w.connections)).collect()
}

#[test]
fn loads_take_the_place_of_those_of_the_suite() {
    let quick = Suite::named(repository(), "quick").expect("quick");
    assert_eq!(with_loads(&quick, "constant:5k", None, None), ["quick: constant:5000, 50"]);
    assert_eq!(
        with_loads(&quick, "poisson:10%", Some("10%..20%"), None),
        ["capacity: closed, 50", "quick-10: poisson:10%, 50", "quick-20: poisson:20%, 50"]
    );
    assert_eq!(
        with_loads(&quick, "poisson:50%", None, Some("p99<10ms")),
        ["capacity: closed, 50", "quick: poisson:50%, 50"]
    );
    let latency = Suite::named(repository(), "latency").expect("latency");
    assert_eq!(with_loads(&latency, "closed", None, None), ["latency: closed, 50"]);
    let long = Suite::named(repository(), "long-connections").expect("long-connections");
    let names = with_loads(&long, "constant:1k", None, None);
    assert_eq!(names.len(), long.workloads.len(), "{names:?}");
}

#[test]
fn more_than_can_be_is_refused_before_anything_is_made_of_it() {
    let refused = |overrides: Overrides| {
        let refused = plan(&good(), &overrides, &servers(&["go-grpc"]), 1);
        refused.expect_err("a refusal").to_string()
    };
    let rounds = Overrides { rounds: Some(999_999_999), ..Overrides::default() };
    insta::assert_snapshot!(refused(rounds), @"--rounds 999999999: 2 processes x 999999999 rounds of 1 entries under 1 loads are more trials than the 1,000,000 that a plan may have; give fewer");
    let processes = Overrides { processes: Some(u32::MAX), ..Overrides::default() };
    insta::assert_snapshot!(refused(processes), @"--processes 4294967295: 4294967295 processes x 1 rounds of 1 entries under 1 loads are more trials than the 1,000,000 that a plan may have; give fewer");
    let arrivals = "constant:1e9".parse().expect("arrivals");
    let loads = Some(Loads { arrivals, sweep: None, find_max: None });
    insta::assert_snapshot!(refused(Overrides { loads, ..Overrides::default() }), @"--arrivals constant:1000000000: no client makes so many; with 1 client thread, give at most 10.0M calls/s");
}
