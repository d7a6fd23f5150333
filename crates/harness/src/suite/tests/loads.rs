//! Arrivals, sweeps and searches of a suite.

use super::*;

/// A suite of a capacity workload and one with these keys.
fn suite(keys: &str) -> Result<Suite, ConfigError> {
    let load =
        "shape = \"text:100\"\nconnections = 5\nin_flight_per_connection = 2\nwarmup = \"1s\"";
    let text = format!(
        "description = \"\"\nprocesses = 1\n[limits]\ncpus = 1\n\
         [[workload]]\nname = \"capacity\"\nduration = \"1s\"\n{load}\n\
         [[workload]]\nname = \"load\"\nduration = \"3s\"\n{load}\n{keys}\n"
    );
    Suite::parse(Path::new("suites/mine.toml"), &text)
}

fn loads(keys: &str) -> Vec<String> {
    let suite = suite(keys).expect("a good suite");
    let loads = suite.workloads.iter().skip(1).map(|w| {
        let find = w.find_max.map(|threshold| format!(" for {threshold}"));
        format!("{}: {}{}", w.name, w.arrivals, find.unwrap_or_default())
    });
    loads.collect()
}

fn refused(keys: &str) -> String {
    suite(keys).expect_err("a refusal").to_string()
}

#[test]
fn workload_has_an_arrival_process_a_sweep_or_a_search() {
    assert_eq!(loads(""), ["load: closed"]);
    assert_eq!(loads("arrivals = \"constant:2k\""), ["load: constant:2000"]);
    assert_eq!(loads("arrivals = \"poisson:40%\""), ["load: poisson:40%"]);
    assert_eq!(
        loads("arrivals = \"poisson\"\nsweep = \"20%..40%\""),
        ["load-20: poisson:20%", "load-30: poisson:30%", "load-40: poisson:40%"]
    );
    assert_eq!(
        loads("arrivals = \"constant\"\nsweep = \"1k..2k+1k\""),
        ["load-1000: constant:1000", "load-2000: constant:2000"]
    );
    assert_eq!(
        loads("arrivals = \"poisson\"\nfind_max = \"p99 < 10ms\""),
        ["load: poisson:50% for p99<10ms"]
    );
}

#[test]
fn loads_of_one_process_take_shares_of_the_closed_loop_before_them() {
    let suite = suite("arrivals = \"poisson\"\nsweep = \"10%..20%\"").expect("a good suite");
    let [capacity, low, high] = suite.workloads.as_slice() else { panic!("three workloads") };
    assert!(low.shares_process(high) && low.shares_process(capacity));
    assert_eq!(high.capacity_from(&suite.workloads), Some(capacity));
    assert_eq!(capacity.capacity_from(&suite.workloads), None);
    let other = Workload { connections: 6, ..low.clone() };
    assert!(!other.shares_process(low));
    assert_eq!(other.capacity_from(&suite.workloads), None);
}

#[test]
fn suite_takes_arrivals_as_options_do() {
    assert_eq!(loads("sweep = \"20%..30%\""), ["load-20: poisson:20%", "load-30: poisson:30%"]);
    assert_eq!(loads("find_max = \"p99<10ms\""), ["load: poisson:50% for p99<10ms"]);
    assert_eq!(
        loads("arrivals = \"constant:30%\"\nfind_max = \"p99<10ms\""),
        ["load: constant:30% for p99<10ms"]
    );
    assert_eq!(loads("rate = \"5k\""), ["load: constant:5000"]);
    assert_eq!(loads("rate = 500\narrivals = \"poisson\""), ["load: poisson:500"]);
}

#[test]
fn contradictory_load_keys_are_refused_with_remedy() {
    insta::assert_snapshot!(refused("arrivals = \"open\""), @r#"suites/mine.toml:19: arrivals = "open": 'open' is not an arrival process; expected closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or steps:FROM..TO+STEP/LENGTH, with rates in calls a second such as 500, 20k or (constant and poisson) 40% of the measured capacity, and lengths such as 30s; steps must rise"#);
    insta::assert_snapshot!(refused("arrivals = \"poisson\""), @r#"suites/mine.toml:19: arrivals = "poisson": needs a rate: write it behind a colon, as in poisson:5k or poisson:40%, or give a rate too"#);
    insta::assert_snapshot!(refused("arrivals = \"poisson:10%\"\nsweep = \"10%..90%\""), @r#"suites/mine.toml:20: sweep = "10%..90%" contradicts suites/mine.toml:19: arrivals = "poisson:10%": a sweep sets the rates; give poisson or constant arrivals without a rate"#);
    insta::assert_snapshot!(refused("arrivals = \"poisson\"\nsweep = \"10%\""), @r#"suites/mine.toml:20: sweep = "10%": invalid sweep '10%'; write FROM..TO or FROM..TO+STEP, such as '10%..90%' of the measured capacity or '1k..10k+1k' calls a second"#);
    insta::assert_snapshot!(refused("arrivals = \"closed\"\nfind_max = \"p99<10ms\""), @r#"suites/mine.toml:20: find_max = "p99<10ms" contradicts suites/mine.toml:19: arrivals = "closed": a search needs one rate; give poisson or constant arrivals"#);
    insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99>10ms\""), @r#"suites/mine.toml:20: find_max = "p99>10ms": only a response time or errors below a limit have a highest rate, such as 'p99<10ms'"#);
    insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99<10\""), @r#"suites/mine.toml:20: find_max = "p99<10": 'p99<10': '10' is not a limit for p99; expected a time with its unit, such as 500us, 10ms or 1.5s"#);
    insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99<1s\"\nsweep = \"10%..90%\""), @r#"suites/mine.toml:21: sweep = "10%..90%" contradicts suites/mine.toml:20: find_max = "p99<1s": a workload has one of them; make it two workloads"#);
    // Different connections need another process, whose capacity is not measured.
    insta::assert_snapshot!(refused("arrivals = \"poisson:10%\"\ntimeout = \"9s\""), @r#"suites/mine.toml:19: arrivals = "poisson:10%": nothing measures the capacity that this is a share of; put a closed-loop workload before it that differs only in name, arrivals and duration"#);
    insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99<1s\"\ntimeout = \"9s\""), @r#"suites/mine.toml:20: find_max = "p99<1s": nothing measures the capacity that this is a share of; put a closed-loop workload before it that differs only in name, arrivals and duration"#);
}
