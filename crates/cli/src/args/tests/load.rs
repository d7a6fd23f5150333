//! `rpcbench load`: what its options mean, and which contradict each other.

use rpcbench_record::Arrivals;

use super::*;

#[test]
fn load_alone_keeps_twenty_calls_on_each_connection() {
    let workload = load("rpcbench load 127.0.0.1:50051").workload().expect("a workload");
    assert_eq!((workload.connections, workload.in_flight), (50, 1000));
    assert_eq!(workload.warm_up, WarmUp::Fixed { length_ms: 1000 });
    let fewer = load("rpcbench load localhost:1 -c 3 -t 2 -d 2s --warmup none");
    let workload = fewer.workload().expect("a workload");
    assert_eq!((workload.connections, workload.in_flight, workload.client_threads), (3, 60, 2));
    assert_eq!(
        (workload.window.length_ms(), workload.warm_up),
        (2000, WarmUp::Fixed { length_ms: 0 })
    );
}

#[test]
fn the_last_calls_of_a_load_have_five_seconds_but_no_more_than_the_timeout() {
    let grace = |options: &str| {
        load(&format!("rpcbench load h:1 {options}")).workload().expect("a workload").grace_ms
    };
    assert_eq!([grace(""), grace("--timeout 2s"), grace("--grace 1s")], [5000, 2000, 1000]);
}

#[test]
fn options_of_load_may_not_contradict() {
    let refused = |line| load(line).workload().expect_err("a refusal");
    insta::assert_snapshot!(refused("rpcbench load h:1 -c 50 -n 49"), @"--in-flight 49 contradicts --connections 50: every connection carries at least one call; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 -c 1 --threads 2"), @"--connections 1 contradicts --client-threads 2: every client thread needs a connection; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 --timeout 1s --grace 5s"), @"--timeout 1s contradicts --grace 5s: no call is waited for beyond its timeout; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 --duration 50ms"), @"--duration 50ms: must be at least 100ms, one slice of a trial's series");
    insta::assert_snapshot!(refused("rpcbench load h:1 --rate 5k -n 49"), @"--in-flight 49 contradicts --connections 50: every connection carries at least one call; raise the first or lower the second");
}

#[test]
fn an_arrival_process_and_a_rate_may_not_contradict() {
    let refused = |line| load(line).workload().expect_err("a refusal");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals closed --rate 500"), @"--rate 500 contradicts --arrivals closed: a closed loop has no rate of its own; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals constant:20k --rate 500"), @"--rate 500 contradicts --arrivals constant:20000: it has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals poisson:40% --rate 50%"), @"--rate 50% contradicts --arrivals poisson:40%: it has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals ramp:1..2/1s --rate 500"), @"--rate 500 contradicts --arrivals ramp:1..2/1s: it has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals steps:1..2+1/1s --rate 500"), @"--rate 500 contradicts --arrivals steps:1..2+1/1s: it has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals poisson"), @"--arrivals poisson: needs a rate: write --arrivals poisson:RATE, or add --rate RATE");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals constant"), @"--arrivals constant: needs a rate: write --arrivals constant:RATE, or add --rate RATE");
}

#[test]
fn several_loads_take_their_rates_from_one_place() {
    let contradicts = |line| load(line).workload().expect_err("a refusal");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --find-max p99<1ms --arrivals closed"), @"--find-max p99<1ms contradicts --arrivals closed: a search needs one rate; write --arrivals poisson or --arrivals constant");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --find-max p99<1ms --arrivals ramp:1..2/1s"), @"--find-max p99<1ms contradicts --arrivals ramp:1..2/1s: a search needs one rate; write --arrivals poisson or --arrivals constant");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --sweep 10%..90% --arrivals poisson:5"), @"--sweep 10%..90% contradicts --arrivals poisson:5: a sweep sets the rates; write --arrivals poisson or --arrivals constant");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --sweep 10%..90% --arrivals closed"), @"--sweep 10%..90% contradicts --arrivals closed: a sweep sets the rates; write --arrivals poisson or --arrivals constant");
    let arrivals = |words: &str| {
        let args = load(&format!("rpcbench load h:1 {words}"));
        args.workload().expect("a workload").arrivals.to_string()
    };
    assert_eq!(arrivals("--find-max p99<1ms"), "poisson:50%");
    assert_eq!(arrivals("--find-max p99<1ms --arrivals constant"), "constant:50%");
    assert_eq!(arrivals("--find-max p99<1ms --rate 500"), "poisson:500");
    assert_eq!(arrivals("--find-max p99<1ms --arrivals constant:30%"), "constant:30%");
    assert_eq!(arrivals("--sweep 1k..3k+1k --arrivals constant"), "constant:1000");
}

#[test]
fn several_loads_have_no_files_and_no_limits() {
    for (first, value) in [("--find-max", "p99<1ms"), ("--sweep", "10%..90%")] {
        for second in ["--fail-if p99>1ms", "--out a.json", "--hdr a.hlog", "--log a.csv"] {
            let refusal = refused(&format!("rpcbench load h:1 {first} {value} {second}"));
            let option = second.split(' ').next().expect("an option");
            assert!(refusal.contains("cannot be used with"), "{refusal}");
            assert!(refusal.contains(first) && refusal.contains(option), "{refusal}");
        }
    }
    insta::assert_snapshot!(refused("rpcbench load h:1 --find-max p99<1ms --sweep 10%..90%"), @"error: the argument '--find-max <THRESHOLD>' cannot be used with '--sweep <RATES>'");
    insta::assert_snapshot!(refused("rpcbench load h:1 --sweep 10%..90% --rate 5"), @"error: the argument '--sweep <RATES>' cannot be used with '--rate <RATE>'");
}

#[test]
fn two_results_may_not_share_a_file() {
    let refused = |line| load(line).workload().expect_err("a refusal");
    insta::assert_snapshot!(refused("rpcbench load h:1 --out a.csv --hdr a.csv"), @"--hdr a.csv contradicts --out a.csv: two things can't be written to one file; give each its own");
    insta::assert_snapshot!(refused("rpcbench load h:1 --out a.csv --log a.csv"), @"--log a.csv contradicts --out a.csv: two things can't be written to one file; give each its own");
    insta::assert_snapshot!(refused("rpcbench load h:1 --hdr a.csv --log a.csv"), @"--log a.csv contradicts --hdr a.csv: two things can't be written to one file; give each its own");
    let apart = load("rpcbench load h:1 --out a.json --hdr a.hlog --log a.csv");
    assert!(apart.workload().is_ok());
}

#[test]
fn a_rate_makes_an_open_loop() {
    let workload = |line| load(line).workload().expect("a workload");
    let arrivals = |text: &str| text.parse().expect("arrivals");
    let constant = workload("rpcbench load h:1 -c 4 --rate 20k");
    assert_eq!((constant.arrivals, constant.in_flight), (arrivals("constant:20000"), 400));
    assert_eq!(
        workload("rpcbench load h:1 --arrivals poisson --rate 5").arrivals,
        arrivals("poisson:5")
    );
    assert_eq!(
        workload("rpcbench load h:1 --arrivals constant -r 40%").arrivals,
        arrivals("constant:40%")
    );
    let ramp = workload("rpcbench load h:1 -n 70 --arrivals ramp:1k..2k/10s");
    assert_eq!((ramp.arrivals, ramp.in_flight), (arrivals("ramp:1000..2000/10s"), 70));
    let closed = workload("rpcbench load h:1 --arrivals closed");
    assert_eq!((closed.arrivals, closed.in_flight), (Arrivals::Closed, 1000));
}

#[test]
fn wrong_values_of_load_are_refused_with_the_remedy() {
    insta::assert_snapshot!(refused("rpcbench load h:1 --rate fast"), @"error: invalid value 'fast' for '--rate <RATE>': write calls a second such as 500 or 20k, or a share of the measured capacity such as 40%");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals sometimes:5"), @"error: invalid value 'sometimes:5' for '--arrivals <ARRIVALS>': 'sometimes:5' is no arrival process; write closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or steps:FROM..TO+STEP/LENGTH, with rates in calls a second such as 500, 20k or (constant and poisson) 40% of the measured capacity, and lengths such as 30s; steps must rise");
    insta::assert_snapshot!(refused("rpcbench load h:1 --fail-if p99=1ms"), @"error: invalid value 'p99=1ms' for '--fail-if <THRESHOLD>': 'p99=1ms' is no threshold; write FIGURE<LIMIT or FIGURE>LIMIT, such as 'p99<10ms', 'errors>0.1%' or 'rate<20k'");
    insta::assert_snapshot!(refused("rpcbench load h:1 --log calls.txt"), @"error: invalid value 'calls.txt' for '--log <FILE>': its ending names the format; use .parquet or .csv");
    insta::assert_snapshot!(refused("rpcbench load h:1 --log calls"), @"error: invalid value 'calls' for '--log <FILE>': its ending names the format; use .parquet or .csv");
}
