//! `rpcbench load`: what its options mean, and which contradict each other.

use rpcbench_record::{Arrivals, Protocol, Workload};

use super::*;

/// The load itself, which comes last.
fn workload(line: &str) -> Workload {
    load(line).workloads().expect("workloads").pop().expect("a load")
}

fn contradicts(line: &str) -> String {
    load(line).workloads().expect_err("a refusal").to_string()
}

#[test]
fn load_alone_keeps_twenty_calls_on_each_connection() {
    let alone = workload("rpcbench load 127.0.0.1:50051");
    assert_eq!((alone.connections, alone.in_flight), (50, 1000));
    assert_eq!((alone.settle_ms, alone.warm_up), (1000, WarmUp::Fixed { length_ms: 0 }));
    let fewer = workload("rpcbench load localhost:1 -c 3 -t 2 -z 2s --warmup none");
    assert_eq!((fewer.connections, fewer.in_flight, fewer.client_threads), (3, 60, 2));
    assert_eq!((fewer.window.length_ms(), fewer.settle_ms), (Some(2000), 0));
}

#[test]
fn result_options_are_refused_without_a_load() {
    for (results, option) in [
        ("--format json", "--format"),
        ("--out o", "--out"),
        ("--hdr h", "--hdr"),
        ("--log l.csv", "--log"),
        ("--interval-file i", "--interval-file"),
        ("--fail-if errors>1%", "--fail-if"),
        ("--stop-if errors>1%", "--stop-if"),
    ] {
        for inspection in ["--once", "--list", "--dry-run", "--describe=A"] {
            let said = contradicts(&format!("rpcbench load h:1 {inspection} {results}"));
            let name = inspection.trim_end_matches("=A");
            assert!(
                said.starts_with(&format!("{option} contradicts {name}: it makes no load")),
                "{said}"
            );
        }
    }
}

/// What the help of an option says between `[WORD: ` and a comma or a bracket.
fn in_help(command: &str, id: &str, word: &str) -> String {
    let mut all = Cli::command();
    all.build();
    let command = all.find_subcommand(command).expect("a command");
    let arg = command.get_arguments().find(|arg| arg.get_id() == id).expect(id);
    let help = arg.get_help().expect(id).to_string();
    let (_, rest) = help.split_once(&format!("[{word}: ")).expect(&help);
    rest.split([',', ']']).next().unwrap_or_default().to_owned()
}

#[test]
fn defaults_in_help_are_those_that_are_planned() {
    let length = rpcbench_record::units::length_ms;
    let alone = workload("rpcbench load h:1");
    let defaults = [
        ("shape", alone.content.to_string()),
        ("connections", alone.connections.to_string()),
        ("in_flight_per_connection", (alone.in_flight / alone.connections).to_string()),
        ("duration", alone.window.to_string()),
        ("timeout", length(alone.timeout_ms)),
        ("grace", length(alone.grace_ms)),
        ("connect_timeout", length(alone.connect_timeout_ms)),
        ("client_threads", alone.client_threads.to_string()),
    ];
    for (id, planned) in defaults {
        assert_eq!(in_help("load", id, "default"), planned, "{id}");
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let quick = Suite::named(&root, "quick").expect("quick");
    let stopping = quick.stopping.expect("a time limit");
    let settle_ms = quick.workloads[0].settle_ms;
    assert_eq!(in_help("run", "settle", "quick"), length(settle_ms));
    assert_eq!(in_help("run", "max_time", "quick"), length(stopping.max_time_ms.expect("a limit")));
    let precision = stopping.precision.expect("a precision");
    assert_eq!(in_help("run", "precision", "quick"), format!("{}%", precision * 100.0));
    assert_eq!(in_help("run", "placement", "default"), quick.placement.to_string());
}

#[test]
fn calls_in_flight_are_given_for_each_connection() {
    assert_eq!(workload("rpcbench load h:1 -c 4 -m 7").in_flight, 28);
    assert_eq!(
        workload("rpcbench load h:1 -c 4 --in-flight-per-connection 1 --rate 5").in_flight,
        4
    );
    insta::assert_snapshot!(contradicts("rpcbench load h:1 -c 65536 -m 65536"), @"--in-flight-per-connection 65536: on each of 65536 connections is more than 4294967295 calls in all; give fewer");
}

#[test]
fn options_have_the_short_names_of_other_load_generators() {
    let short = workload("rpcbench load h:1 -c 8 -m 2 -t 4 -z 3s -r 50");
    let long = workload(
        "rpcbench load h:1 --connections 8 --in-flight-per-connection 2 --client-threads 4 --duration 3s --rate 50",
    );
    assert_eq!(short, long);
    insta::assert_snapshot!(contradicts("rpcbench load h:1 -n 1000 -z 3s"), @"--calls 1000 contradicts --duration 3s: a window has a length or a number of calls; remove one of them");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 -n 10 --sweep 10%..90%"), @"--calls 10 contradicts --sweep 10%..90%: the loads of a sweep have windows of one length; give a duration");
    insta::assert_snapshot!(refused("rpcbench load h:1 -n 0"), @"error: invalid value '0' for '--calls <N>': must be more than zero");
    assert_eq!(load("rpcbench load http://h/ -d 3s").call.data.as_deref(), Some("3s"));
}

#[test]
fn protocol_and_a_process_may_be_named() {
    let plain = load("rpcbench load h:1");
    assert_eq!((plain.protocol().unwrap(), plain.pid), (Protocol::Grpc, None));
    let named = load("rpcbench load h:1 --protocol tcp-echo --pid 42");
    assert_eq!((named.protocol().unwrap(), named.pid), (Protocol::TcpEcho, Some(42)));
}

#[test]
fn url_is_called_over_the_given_version_of_http() {
    let protocol = |options: &str| {
        let protocol = load(&format!("rpcbench load http://h/p {options}")).protocol();
        protocol.map_or_else(|error| error.to_string(), |protocol| protocol.to_string())
    };
    assert_eq!(
        [protocol(""), protocol("--http 2"), protocol("--protocol http2")],
        ["http", "http2", "http2"]
    );
    insta::assert_snapshot!(protocol("--http 2 --protocol http"), @"--protocol http contradicts --http 2: leave --protocol out; a URL is called over the version of --http");
    insta::assert_snapshot!(protocol("--protocol json"), @"--protocol json: a URL is called over plain HTTP; leave the option out, or give HOST:PORT");
    insta::assert_snapshot!(protocol("-d x --data-size 1k"), @"--data contradicts --data-size: calls have one source of data; leave one of them out");
    let url = workload("rpcbench load http://h/p");
    assert_eq!((url.connections, url.in_flight), (50, 50));
    insta::assert_snapshot!(contradicts("rpcbench load http://h/p --shape dto"), @"--shape dto contradicts http://h/p: a shape is of rpcbench's contract; give --data, or leave it out");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 -X PUT"), @"--method: calls of rpcbench's contract don't have it; give a URL such as http://127.0.0.1:8080/path, or --call METHOD");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --protocol http"), @"--protocol http: its calls need a URL; write http://h:1/PATH");
    insta::assert_snapshot!(refused("rpcbench load http://h/p -X get"), @"error: invalid value 'get' for '--method <METHOD>': methods of HTTP are in capitals; write GET");
    insta::assert_snapshot!(refused("rpcbench load http://h/p --data-size 65M"), @"error: invalid value '65M' for '--data-size <SIZE>': expected 1 byte to 64M, such as 64k");
}

#[test]
fn last_calls_of_a_load_have_five_seconds_but_no_more_than_the_timeout() {
    let grace = |options: &str| workload(&format!("rpcbench load h:1 {options}")).grace_ms;
    assert_eq!([grace(""), grace("--timeout 2s"), grace("--grace 1s")], [5000, 2000, 1000]);
}

#[test]
fn options_of_load_may_not_contradict() {
    let refused = contradicts;
    insta::assert_snapshot!(refused("rpcbench load h:1 -c 1 --client-threads 2"), @"--connections 1 contradicts --client-threads 2: every thread needs a connection; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 --timeout 1s --grace 5s"), @"--timeout 1s contradicts --grace 5s: the grace can't exceed the timeout; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 --duration 50ms"), @"--duration 50ms: must be at least 100ms, one slice of its series");
    insta::assert_snapshot!(refused("rpcbench load h:1 --duration 49h"), @"--duration 49h: must be at most 48h: every 100ms of it takes memory");
    insta::assert_snapshot!(refused("rpcbench load h:1 --find-max p99>10ms"), @"--find-max p99>10ms: only a response time or errors below a limit have a highest rate, such as 'p99<10ms'");
}

#[test]
fn protocol_of_one_call_at_a_time_takes_no_more_without_pipelining() {
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --protocol thrift --in-flight-per-connection 5"), @"--in-flight-per-connection 5 contradicts --protocol thrift: a connection takes one call at a time; give more --connections, or --pipelining");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --protocol thrift-buffered-compact -m 2"), @"--in-flight-per-connection 2 contradicts --protocol thrift-buffered-compact: a connection takes one call at a time; give more --connections, or --pipelining");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --protocol json -m 2"), @"--in-flight-per-connection 2 contradicts --protocol json: a connection takes one call at a time; give more --connections, or --pipelining");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --protocol grpc --pipelining"), @"--pipelining contradicts --protocol grpc: it always takes many calls in flight on a connection; leave --pipelining out");
    let piped = workload("rpcbench load h:1 --protocol thrift -c 2 -m 5 --pipelining");
    assert_eq!((piped.connections, piped.in_flight, piped.pipelining), (2, 10, true));
    let alone = workload("rpcbench load h:1 --protocol thrift -c 7");
    assert_eq!((alone.connections, alone.in_flight, alone.pipelining), (7, 7, false));
}

#[test]
fn arrival_process_and_a_rate_may_not_contradict() {
    let refused = contradicts;
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals closed --rate 500"), @"--rate 500 contradicts --arrivals closed: a closed loop has no rate; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals constant:20k --rate 500"), @"--rate 500 contradicts --arrivals constant:20k: the arrivals have a rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals poisson:40% --rate 50%"), @"--rate 50% contradicts --arrivals poisson:40%: the arrivals have a rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals ramp:1..2/1s --rate 500"), @"--rate 500 contradicts --arrivals ramp:1..2/1s: the arrivals have a rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals steps:1..2+1/1s --rate 500"), @"--rate 500 contradicts --arrivals steps:1..2+1/1s: the arrivals have a rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals poisson"), @"--arrivals poisson: needs a rate: write it behind a colon, as in poisson:5k or poisson:40%, or give a rate too");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals constant"), @"--arrivals constant: needs a rate: write it behind a colon, as in poisson:5k or poisson:40%, or give a rate too");
}

#[test]
fn several_loads_take_their_rates_from_one_place() {
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --find-max p99<1ms --arrivals closed"), @"--find-max p99<1ms contradicts --arrivals closed: a search needs one rate; give poisson or constant arrivals");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --find-max p99<1ms --arrivals ramp:1..2/1s"), @"--find-max p99<1ms contradicts --arrivals ramp:1..2/1s: a search needs one rate; give poisson or constant arrivals");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --sweep 10%..90% --arrivals poisson:5"), @"--sweep 10%..90% contradicts --arrivals poisson:5: a sweep sets the rates; give poisson or constant arrivals without a rate");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --sweep 10%..90% --arrivals closed"), @"--sweep 10%..90% contradicts --arrivals closed: a sweep sets the rates; give poisson or constant arrivals without a rate");
    let arrivals =
        |words: &str| workload(&format!("rpcbench load h:1 {words}")).arrivals.to_string();
    assert_eq!(arrivals("--find-max p99<1ms"), "poisson:50%");
    assert_eq!(arrivals("--find-max p99<1ms --arrivals constant"), "constant:50%");
    assert_eq!(arrivals("--find-max p99<1ms --rate 500"), "poisson:500");
    assert_eq!(arrivals("--find-max p99<1ms --arrivals constant:30%"), "constant:30%");
    assert_eq!(arrivals("--sweep 1k..3k+1k --arrivals constant"), "constant:3000");
}

#[test]
fn share_of_the_capacity_has_a_closed_loop_before_it() {
    let loads = |words: &str| -> Vec<String> {
        let args = load(&format!("rpcbench load h:1 --duration 9s {words}"));
        let workloads = args.workloads().expect("workloads");
        for workload in &workloads[1..] {
            let from = workload.capacity_from(&workloads).expect("a capacity");
            assert_eq!((from.name.as_str(), from.window.length_ms()), ("capacity", Some(3000)));
        }
        workloads.iter().map(|w| format!("{}: {}", w.name, w.arrivals)).collect()
    };
    assert_eq!(loads("--rate 40%"), ["capacity: closed", "load: constant:40%"]);
    assert_eq!(loads("--find-max p99<1ms"), ["capacity: closed", "load: poisson:50%"]);
    assert_eq!(
        loads("--sweep 10%..20%"),
        ["capacity: closed", "load-10: poisson:10%", "load-20: poisson:20%"]
    );
    let known = load("rpcbench load h:1 --sweep 1k..2k+1k").workloads().expect("workloads");
    let names: Vec<&str> = known.iter().map(|workload| workload.name.as_str()).collect();
    assert_eq!(names, ["load-1000", "load-2000"]);
}

#[test]
fn several_loads_have_no_files_of_one_and_no_limits() {
    for (first, value) in [("--find-max", "p99<1ms"), ("--sweep", "10%..90%")] {
        for second in ["--fail-if p99>1ms", "--hdr a.hlog", "--log a.csv"] {
            let refusal = refused(&format!("rpcbench load h:1 {first} {value} {second}"));
            let option = second.split(' ').next().expect("an option");
            assert!(refusal.contains("cannot be used with"), "{refusal}");
            assert!(refusal.contains(first) && refusal.contains(option), "{refusal}");
        }
    }
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --find-max p99<1ms --sweep 10%..90%"), @"--sweep 10%..90% contradicts --find-max p99<1ms: a workload has one of them; make it two workloads");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --sweep 10%..90% --rate 5"), @"--rate 5 contradicts --sweep 10%..90%: a sweep sets the rates; leave one of them out");
}

#[test]
fn two_results_may_not_share_a_file() {
    let refused = contradicts;
    insta::assert_snapshot!(refused("rpcbench load h:1 --out a.csv --hdr a.csv"), @"--hdr a.csv contradicts --out a.csv: two results can't be written to one file; give each its own");
    insta::assert_snapshot!(refused("rpcbench load h:1 --out a.csv --log a.csv"), @"--log a.csv contradicts --out a.csv: two results can't be written to one file; give each its own");
    insta::assert_snapshot!(refused("rpcbench load h:1 --hdr a.csv --log a.csv"), @"--log a.csv contradicts --hdr a.csv: two results can't be written to one file; give each its own");
    let apart = load("rpcbench load h:1 --out a.json --hdr a.hlog --log a.csv");
    assert!(apart.workloads().is_ok());
}

#[test]
fn rate_makes_an_open_loop() {
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
    let ramp = workload("rpcbench load h:1 -m 7 -c 10 --arrivals ramp:1k..2k/10s");
    assert_eq!((ramp.arrivals, ramp.in_flight), (arrivals("ramp:1000..2000/10s"), 70));
    let closed = workload("rpcbench load h:1 --arrivals closed");
    assert_eq!((closed.arrivals, closed.in_flight), (Arrivals::Closed, 1000));
}

#[test]
fn wrong_values_of_load_are_refused_with_the_remedy() {
    insta::assert_snapshot!(refused("rpcbench load h:1 --rate ramp:0..50"), @"error: invalid value 'ramp:0..50' for '--rate <RATE>': 'ramp:0..50' has a rate of 0; give at least 0.001 calls/s, and lacks the length of the ramp; add it, such as /30s; a rate is one number; give an arrival process by --arrivals, or the key of that name");
    insta::assert_snapshot!(refused("rpcbench load h:1 --rate fast"), @"error: invalid value 'fast' for '--rate <RATE>': write calls a second such as 500 or 20k, or a share of the measured capacity such as 40%");
    insta::assert_snapshot!(refused("rpcbench load h:1 --arrivals sometimes:5"), @"error: invalid value 'sometimes:5' for '--arrivals <ARRIVALS>': 'sometimes:5' is not an arrival process; expected closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or steps:FROM..TO+STEP/LENGTH, with rates in calls a second such as 500, 20k or (constant and poisson) 40% of the measured capacity, and lengths such as 30s; steps must rise");
    insta::assert_snapshot!(refused("rpcbench load h:1 --fail-if p99=1ms"), @"error: invalid value 'p99=1ms' for '--fail-if <THRESHOLD>': 'p99=1ms' is not a threshold; expected FIGURE<LIMIT or FIGURE>LIMIT, such as 'p99<10ms', 'errors>0.1%' or 'rate<20k'");
    insta::assert_snapshot!(refused("rpcbench load h:1 --log calls.txt"), @"error: invalid value 'calls.txt' for '--log <FILE>': its ending names the format; use .parquet or .csv");
    insta::assert_snapshot!(refused("rpcbench load h:1 --log calls"), @"error: invalid value 'calls' for '--log <FILE>': its ending names the format; use .parquet or .csv");
}
