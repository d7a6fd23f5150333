//! Options that replace values of a suite, and their contradictions.

use super::*;

#[test]
fn every_option_replaces_its_key() {
    let options = typed(
        "--processes 3 --rounds 5 --max-time 1s --runtime-statistics --log-calls --cpus 2 --memory 1G --shape dto \
         --connections 7 --connection-life short --in-flight-per-connection 1 --warmup until-steady --warmup-min 8s --warmup-max 9s \
         --settle 70ms --duration 11s --timeout 3s --grace 2s --connect-timeout 4s --client-threads 2 --pipelining",
    );
    let suite = good().with(&options).expect("no contradiction");
    let stopping = Stopping { max_time_ms: Some(1000), ..Stopping::default() };
    assert_eq!((suite.processes, suite.rounds, suite.stopping), (Some(3), Some(5), Some(stopping)));
    assert_eq!(suite.limits, Limits { cpus: 2, memory_bytes: Some(1 << 30) });
    assert!(suite.runtime_statistics && suite.log_calls);
    let expected = Workload {
        content: Content::Shape("dto".to_owned()),
        connections: 7,
        connection_life: ConnectionLife::SHORT,
        in_flight: 7,
        warm_up: WarmUp::UntilSteady { least_ms: 8000, cap_ms: Some(9000) },
        settle_ms: 70,
        window: Window::Duration { length_ms: 11_000 },
        timeout_ms: 3000,
        grace_ms: 2000,
        connect_timeout_ms: 4000,
        client_threads: 2,
        pipelining: true,
        headers: Vec::new(),
        authority: None,
        tls: TlsMode::Off,
        keepalive: None,
        ..good().workloads[0].clone()
    };
    assert_eq!(suite.workloads, [expected]);
}

#[test]
fn price_is_a_suites_or_the_command_lines_and_in_the_plan() {
    let priced = |text: &str, options: &str| {
        let suite = parsed(text).expect("a suite");
        let plan = plan(&suite, &typed(options), &servers(&["go-grpc"]), 1).expect("a plan");
        plan.price.map(|price| price.to_string())
    };
    let own = GOOD.replace("processes = 2", "processes = 2\nprice = \"$0.04/cpu-hour\"");
    assert_eq!(priced(GOOD, ""), None);
    assert_eq!(priced(&own, "").as_deref(), Some("$0.04/cpu-hour"));
    assert_eq!(priced(&own, "--price 1/GiB-hour").as_deref(), Some("1/GiB-hour"));
    insta::assert_snapshot!(refused("processes = 2", "processes = 2\nprice = 4"), @"suites/mine.toml:4: price = 4: '4' has no unit; write prices such as 0.04/cpu-hour or 0.04/cpu-hour,0.005/GiB-hour");
}

#[test]
fn fixed_warm_up_on_the_command_line_drops_the_suites_cap() {
    let capped = GOOD.replace("duration =", "warmup_max = \"20s\"\nduration =");
    let suite =
        parsed(&capped).and_then(|s| s.with(&typed("--warmup 1s"))).expect("no contradiction");
    assert_eq!(suite.workloads[0].warm_up, WarmUp::Fixed { length_ms: 1000 });
}

#[test]
fn precision_is_a_percentage() {
    insta::assert_snapshot!(refused("processes = 2", "processes = 2\nprecision = \"0%\""), @r#"suites/mine.toml:4: precision = "0%": '0%' is not a percentage between 0 and 100; write one such as 5%"#);
}

#[test]
fn window_has_a_slice_and_room_in_memory() {
    insta::assert_snapshot!(refused_with("--duration 99ms"), @"--duration 99ms: must be at least 100ms, one slice of its series");
    assert!(good().with(&typed("--duration 100ms")).is_ok());
    assert!(refused_with("--duration 172800001ms").contains("at most 48h"));
    assert!(good().with(&typed("--duration 48h")).is_ok());
}

#[test]
fn calls_in_flight_are_multiplied_by_connections() {
    let total = |options: &str| {
        let suite = good().with(&typed(options)).expect("no contradiction");
        (suite.workloads[0].connections, suite.workloads[0].in_flight)
    };
    assert_eq!(total("-c 10"), (10, 200));
    assert_eq!(total("-c 1001"), (1001, 20_020));
    assert_eq!(total("-m 2"), (50, 100));
    assert_eq!(total("-c 10 -m 1"), (10, 10));
    let calls = good().with(&typed("-n 500")).expect("no contradiction");
    assert_eq!(calls.workloads[0].window, Window::Calls { calls: 500 });
    let long = good().with(&typed("-z 7s")).expect("no contradiction");
    assert_eq!(long.workloads[0].window, Window::Duration { length_ms: 7000 });
    let each = "--in-flight-per-connection 4294967295: on each of 50 connections is more than 4294967295 calls in all; give fewer";
    assert_eq!(refused_with("-m 4294967295"), each);
}

#[test]
fn more_threads_than_connections_contradict() {
    insta::assert_snapshot!(refused_with("--client-threads 51"), @"suites/mine.toml:9: connections = 50 contradicts --client-threads 51: every thread needs a connection; raise the first or lower the second");
}

#[test]
fn grace_beyond_the_timeout_contradicts() {
    let text = GOOD.replace("duration =", "grace = \"5s\"\nduration =");
    let error = parsed(&text).and_then(|s| s.with(&typed("--timeout 4999ms")));
    insta::assert_snapshot!(error.expect_err("a refusal"), @r#"--timeout 4999ms contradicts suites/mine.toml:12: grace = "5s": the grace can't exceed the timeout; raise the first or lower the second"#);
    insta::assert_snapshot!(refused_with("--grace 11s"), @"--grace 11s: the grace can't exceed the timeout, 10s by default; raise --timeout or lower --grace");
    // The default grace never exceeds the timeout.
    let shorter = good().with(&typed("--timeout 2s")).expect("no contradiction");
    assert_eq!(shorter.workloads[0].grace_ms, 2000);
}

#[test]
fn bounds_of_a_fixed_warm_up_contradict() {
    insta::assert_snapshot!(refused_with("--warmup 30s --warmup-max 60s"), @"--warmup-max 60s contradicts --warmup 30s: only a warm-up until steady has bounds; leave one of them out");
    let text = GOOD.replace("until-steady", "30s");
    let error =
        parsed(&text).and_then(|s| s.with(&typed("--warmup-max 60s"))).expect_err("a refusal");
    insta::assert_snapshot!(error, @r#"--warmup-max 60s contradicts suites/mine.toml:11: warmup = "30s": only a warm-up until steady has bounds; leave one of them out"#);
    let in_file = text.replace("duration =", "warmup_max = \"60s\"\nduration =");
    insta::assert_snapshot!(parsed(&in_file).expect_err("a refusal"), @r#"suites/mine.toml:12: warmup_max = "60s" contradicts suites/mine.toml:11: warmup = "30s": only a warm-up until steady has bounds; leave one of them out"#);
}

#[test]
fn warm_up_does_not_end_before_its_minimum() {
    let least = GOOD.replace("duration =", "warmup_min = \"30s\"\nduration =");
    let both = least.replace("duration =", "warmup_max = \"20s\"\nduration =");
    insta::assert_snapshot!(parsed(&both).expect_err("a refusal"), @r#"suites/mine.toml:13: warmup_max = "20s" contradicts suites/mine.toml:12: warmup_min = "30s": a warm-up can't end before its minimum; raise the first"#);
    let warm_up = parsed(&least).expect("no contradiction").workloads[0].warm_up;
    assert_eq!(warm_up, WarmUp::UntilSteady { least_ms: 30_000, cap_ms: None });
}

fn with_loads(suite: &Suite, options: &str) -> Vec<String> {
    let workloads = suite.with(&typed(options)).expect("no contradiction").workloads;
    workloads.iter().map(|w| format!("{}: {}, {}", w.name, w.arrivals, w.connections)).collect()
}

#[test]
fn loads_replace_those_of_suite() {
    let quick = Suite::named(repository(), "quick").expect("quick");
    assert_eq!(with_loads(&quick, "--rate 5k"), ["quick: constant:5000, 50"]);
    assert_eq!(
        with_loads(&quick, "--sweep 10%..20%"),
        ["capacity: closed, 50", "quick-10: poisson:10%, 50", "quick-20: poisson:20%, 50"]
    );
    assert_eq!(
        with_loads(&quick, "--find-max p99<10ms"),
        ["capacity: closed, 50", "quick: poisson:50%, 50"]
    );
    let latency = Suite::named(repository(), "latency").expect("latency");
    assert_eq!(with_loads(&latency, "--arrivals closed"), ["latency: closed, 50"]);
    let long = Suite::named(repository(), "long-connections").expect("long-connections");
    let names = with_loads(&long, "--rate 1k");
    assert_eq!(names.len(), long.workloads.len(), "{names:?}");
}

#[test]
fn plan_that_is_too_long_is_refused_before_it_is_made() {
    let refused = |options: &str| {
        let refused = plan(&good(), &typed(options), &servers(&["go-grpc"]), 1);
        refused.expect_err("a refusal").to_string()
    };
    insta::assert_snapshot!(refused("--rounds 999999999"), @"--rounds 999999999: 2 processes x 999999999 rounds x 1 entries x 1 workloads are more than the 1,000,000 windows that a plan may have; give fewer");
    insta::assert_snapshot!(refused("--processes 4294967295"), @"--processes 4294967295: 4294967295 processes x 1 rounds x 1 entries x 1 workloads are more than the 1,000,000 windows that a plan may have; give fewer");
    insta::assert_snapshot!(refused("--arrivals constant:1e9"), @"--arrivals constant:1e9: more than a client can make; with 1 client thread, give at most 10.0M calls/s");
    insta::assert_snapshot!(refused("--rate 1e9"), @"--rate 1e9: more than a client can make; with 1 client thread, give at most 10.0M calls/s");
    insta::assert_snapshot!(refused("--sweep 1k..1001M+1000M"), @"--sweep 1k..1001M+1000M: more than a client can make; with 1 client thread, give at most 10.0M calls/s");
}

#[test]
fn options_take_arrivals_as_a_suite_does() {
    let loads = |options: &str| {
        let suite = good().with(&typed(options)).map_err(|error| error.to_string())?;
        let shown = suite.workloads.iter().map(|w| {
            let find = w.find_max.map(|limit| format!(" for {limit}")).unwrap_or_default();
            format!("{}{find}", w.arrivals)
        });
        Ok::<_, String>(shown.collect::<Vec<_>>().join(", "))
    };
    let is = |options: &str, expected: &str| assert_eq!(loads(options).as_deref(), Ok(expected));
    is("--connections 5", "closed");
    is("--rate 5k", "constant:5000");
    is("--arrivals poisson:40%", "closed, poisson:40%");
    is("--arrivals closed", "closed");
    is("--find-max p99<10ms", "closed, poisson:50% for p99<10ms");
    is("--sweep 10%..20%", "closed, poisson:10%, poisson:20%");
    is("--sweep 1k..2k+1k --arrivals constant", "constant:1000, constant:2000");
    insta::assert_snapshot!(loads("--arrivals closed --rate 5").unwrap_err(), @"--rate 5 contradicts --arrivals closed: a closed loop has no rate; leave one of them out");
    insta::assert_snapshot!(loads("--find-max p99>10ms").unwrap_err(), @"--find-max p99>10ms: only a response time or errors below a limit have a highest rate, such as 'p99<10ms'");
}

#[test]
fn headers_replace_those_of_the_suite() {
    let text = GOOD.replace("duration =", "header = [\"x-trace: 7\", \"X-Tenant: a\"]\nduration =");
    let suite = parsed(&text).expect("a good suite");
    let shown = |suite: &Suite| -> Vec<String> {
        suite.workloads[0].headers.iter().map(ToString::to_string).collect()
    };
    assert_eq!(shown(&suite), ["x-trace: 7", "x-tenant: a"]);
    let other = suite.with(&typed("-H x-trace:8")).expect("no contradiction");
    assert_eq!(shown(&other), ["x-trace: 8"]);
    let mut entries = servers(&["go-grpc", "go-thrift"]);
    entries[1].protocol = Protocol::Thrift;
    let refused = plan(&suite, &RunSpec::default(), &entries, 1).expect_err("a refusal");
    insta::assert_snapshot!(refused, @"go-thrift speaks thrift: its calls have no headers; leave 'x-trace' out, or choose a protocol over HTTP");
    let wrong = text.replace("x-trace: 7", "te: trailers");
    insta::assert_snapshot!(parsed(&wrong).expect_err("a refusal"), @r#"suites/mine.toml:12: header = ["te: trailers", "X-Tenant: a"]: header 'te' is set by rpcbench; leave it out"#);
}

#[test]
fn host_replaces_that_of_the_suite() {
    let text = GOOD.replace("duration =", "authority = \"api.test\"\nduration =");
    let suite = parsed(&text).expect("a good suite");
    let shown = |suite: &Suite| suite.workloads[0].authority.clone();
    assert_eq!(shown(&suite), "api.test".parse().ok());
    let other = suite.with(&typed("--authority [::1]:8443")).expect("no contradiction");
    assert_eq!(shown(&other), "[::1]:8443".parse().ok());
    assert_eq!(shown(&good()), None);
    let wrong = text.replace("api.test", "api test");
    insta::assert_snapshot!(parsed(&wrong).expect_err("a refusal"), @r#"suites/mine.toml:12: authority = "api test": write HOST or HOST:PORT, such as api.example.org"#);
    let mut entries = servers(&["go-grpc", "go-thrift"]);
    entries[1].protocol = Protocol::Thrift;
    let refused = plan(&suite, &RunSpec::default(), &entries, 1).expect_err("a refusal");
    insta::assert_snapshot!(refused, @"go-thrift speaks thrift: its calls have no host name; leave 'api.test' out, or choose a protocol over HTTP");
}
