//! The command line: help for everything, examples that work, refusals that teach.

use clap::{CommandFactory, Parser};
use rpcbench_contract::Shape;
use rpcbench_harness::suite::Overrides;
use rpcbench_record::{Driver, Fresh, Law, Protocol, WarmUp};

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(words(line))
}

/// Splits as a shell would, for single quotes and blanks.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (n, part) in line.split('\'').enumerate() {
        match n % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

fn refused(line: &str) -> String {
    let text = parse(line).expect_err("a refusal").to_string();
    let end = text.find("\n\nUsage:").or_else(|| text.find("\n\nFor more information"));
    text[..end.unwrap_or(text.len())].to_owned()
}

fn run(line: &str) -> RunArgs {
    match parse(line).expect("a command line").command {
        Command::Run(args) => *args,
        other => panic!("not run: {other:?}"),
    }
}

fn load(line: &str) -> LoadArgs {
    match parse(line).expect("a command line").command {
        Command::Load(args) => *args,
        other => panic!("not load: {other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn everything_has_help() {
    let mut command = Cli::command();
    command.build();
    let all: Vec<_> = std::iter::once(&command).chain(command.get_subcommands()).collect();
    for command in all.into_iter().filter(|c| c.get_name() != "help") {
        assert!(command.get_about().is_some(), "{} has no help", command.get_name());
        for arg in command.get_arguments() {
            assert!(
                arg.get_help().is_some(),
                "{} {} has no help",
                command.get_name(),
                arg.get_id()
            );
        }
    }
}

#[test]
fn every_example_parses() {
    let mut command = Cli::command();
    command.build();
    let all: Vec<_> = std::iter::once(&command).chain(command.get_subcommands()).collect();
    for command in all.into_iter().filter(|c| c.get_name() != "help") {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = help.lines().filter(|l| l.starts_with("  rpcbench ")).collect();
        assert!(!examples.is_empty(), "{} has no examples", command.get_name());
        for example in examples {
            // Two blanks set a remark apart, `>` a redirection.
            let line = example.trim_start().split("  ").next().unwrap_or_default();
            let line = line.split(" > ").next().unwrap_or_default();
            assert!(parse(line).is_ok(), "{example}: {}", parse(line).expect_err("an error"));
        }
    }
}

#[test]
fn run_takes_every_field_of_a_workload() {
    let args = run("rpcbench run go-grpc 'java-*' --suite one-core --trials 5 --duration 10s \
         --warmup until-steady --warmup-max 1m --cpus 2 --memory 512M --seed 7 --fresh \
         --connections 10 --in-flight 20 --shape record --protocol grpc --timeout 2s --grace 1s \
         --client-threads 2");
    assert_eq!(args.servers, ["go-grpc", "java-*"]);
    assert_eq!((args.suite.as_str(), args.seed), ("one-core", Some(7)));
    let expected = Overrides {
        trials: Some(5),
        fresh: Some(Fresh::EachTrial),
        cpus: Some(2),
        memory_bytes: Some(512 << 20),
        protocol: Some(Protocol::Grpc),
        shape: Some(Shape::Record),
        connections: Some(10),
        in_flight: Some(20),
        warm_up: Some(WarmUp::UntilSteady { least_ms: 0, cap_ms: None }),
        warm_up_cap_ms: Some(60_000),
        duration_ms: Some(10_000),
        timeout_ms: Some(2000),
        grace_ms: Some(1000),
        client_threads: Some(2),
    };
    assert_eq!(args.workload.overrides(), expected);
}

#[test]
fn run_alone_leaves_the_suite_as_it_is() {
    let args = run("rpcbench run");
    assert_eq!(args.workload.overrides(), Overrides::default());
    assert_eq!(args.suite, "quick");
    assert_eq!(args.format, Format::Table);
    assert_eq!(run("rpcbench run --kept").workload.overrides().fresh, Some(Fresh::Kept));
}

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
fn options_of_load_may_not_contradict() {
    let refused = |line| load(line).workload().expect_err("a refusal");
    insta::assert_snapshot!(refused("rpcbench load h:1 -c 50 -n 49"), @"--in-flight 49 contradicts --connections 50: every connection carries at least one call; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 -c 1 --threads 2"), @"--connections 1 contradicts --client-threads 2: every client thread needs a connection; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 --timeout 1s"), @"--timeout 1s contradicts --grace 5s: no call is waited for beyond its timeout; raise the first or lower the second");
    insta::assert_snapshot!(refused("rpcbench load h:1 --duration 50ms"), @"--duration 50ms: must be at least 100ms, one slice of a trial's series");
    insta::assert_snapshot!(refused("rpcbench load h:1 --rate 5k -n 49"), @"--in-flight 49 contradicts --connections 50: every connection carries at least one call; raise the first or lower the second");
}

#[test]
fn a_law_and_a_rate_may_not_contradict() {
    let refused = |line| load(line).workload().expect_err("a refusal");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law closed --rate 500"), @"--rate 500 contradicts --law closed: a closed loop has no rate of its own; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law constant:20k --rate 500"), @"--rate 500 contradicts --law constant:20000: that law has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law poisson:40% --rate 50%"), @"--rate 50% contradicts --law poisson:40%: that law has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law ramp:1..2/1s --rate 500"), @"--rate 500 contradicts --law ramp:1..2/1s: that law has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law steps:1..2+1/1s --rate 500"), @"--rate 500 contradicts --law steps:1..2+1/1s: that law has its rate already; leave one of them out");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law poisson"), @"--law poisson: needs a rate: write --law poisson:RATE, or add --rate RATE");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law constant"), @"--law constant: needs a rate: write --law constant:RATE, or add --rate RATE");
}

#[test]
fn several_loads_take_their_rates_from_one_place() {
    let contradicts = |line| load(line).workload().expect_err("a refusal");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --find-max p99<1ms --law closed"), @"--find-max p99<1ms contradicts --law closed: a search needs a law with one rate; write --law poisson or --law constant");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --find-max p99<1ms --law ramp:1..2/1s"), @"--find-max p99<1ms contradicts --law ramp:1..2/1s: a search needs a law with one rate; write --law poisson or --law constant");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --sweep 10%..90% --law poisson:5"), @"--sweep 10%..90% contradicts --law poisson:5: a sweep sets the rates; write --law poisson or --law constant");
    insta::assert_snapshot!(contradicts("rpcbench load h:1 --sweep 10%..90% --law closed"), @"--sweep 10%..90% contradicts --law closed: a sweep sets the rates; write --law poisson or --law constant");
    let law = |words: &str| {
        let args = load(&format!("rpcbench load h:1 {words}"));
        args.workload().expect("a workload").law.to_string()
    };
    assert_eq!(law("--find-max p99<1ms"), "poisson:50%");
    assert_eq!(law("--find-max p99<1ms --law constant"), "constant:50%");
    assert_eq!(law("--find-max p99<1ms --rate 500"), "poisson:500");
    assert_eq!(law("--find-max p99<1ms --law constant:30%"), "constant:30%");
    assert_eq!(law("--sweep 1k..3k+1k --law constant"), "constant:1000");
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
    let law = |text: &str| text.parse().expect("a law");
    let constant = workload("rpcbench load h:1 -c 4 --rate 20k");
    assert_eq!((constant.law, constant.in_flight), (law("constant:20000"), 400));
    assert_eq!(workload("rpcbench load h:1 --law poisson --rate 5").law, law("poisson:5"));
    assert_eq!(workload("rpcbench load h:1 --law constant -r 40%").law, law("constant:40%"));
    let ramp = workload("rpcbench load h:1 -n 70 --law ramp:1k..2k/10s");
    assert_eq!((ramp.law, ramp.in_flight), (law("ramp:1000..2000/10s"), 70));
    let closed = workload("rpcbench load h:1 --law closed");
    assert_eq!((closed.law, closed.in_flight), (Law::Closed, 1000));
}

#[test]
fn the_driver_is_left_to_the_engine_where_none_is_named() {
    let driver = |words: &str| load(&format!("rpcbench load h:1 {words}")).driver.driver();
    assert_eq!((driver(""), driver("--driver auto")), (None, None));
    assert_eq!(driver("--driver epoll"), Some(Driver::Epoll));
    assert_eq!(driver("--driver io-uring"), Some(Driver::IoUring));
}

#[test]
fn wrong_values_of_load_are_refused_with_the_remedy() {
    insta::assert_snapshot!(refused("rpcbench load h:1 --rate fast"), @"error: invalid value 'fast' for '--rate <RATE>': write calls a second such as 500 or 20k, or a share of the measured capacity such as 40%");
    insta::assert_snapshot!(refused("rpcbench load h:1 --law sometimes:5"), @"error: invalid value 'sometimes:5' for '--law <LAW>': 'sometimes:5' is no arrival law; write closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or steps:FROM..TO+STEP/LENGTH, with rates in calls a second such as 500, 20k or (constant and poisson) 40% of the measured capacity, and lengths such as 30s; steps must rise");
    insta::assert_snapshot!(refused("rpcbench load h:1 --driver dpdk"), @"
    error: invalid value 'dpdk' for '--driver <DRIVER>'
      [possible values: auto, epoll, io-uring]
    ");
    insta::assert_snapshot!(refused("rpcbench load h:1 --fail-if p99=1ms"), @"error: invalid value 'p99=1ms' for '--fail-if <THRESHOLD>': 'p99=1ms' is no threshold; write FIGURE<LIMIT or FIGURE>LIMIT, such as 'p99<10ms', 'errors>0.1%' or 'rate<20k'");
    insta::assert_snapshot!(refused("rpcbench load h:1 --log calls.txt"), @"error: invalid value 'calls.txt' for '--log <FILE>': its ending names the format; use .parquet or .csv");
    insta::assert_snapshot!(refused("rpcbench load h:1 --log calls"), @"error: invalid value 'calls' for '--log <FILE>': its ending names the format; use .parquet or .csv");
}

#[test]
fn wrong_values_are_refused_with_the_remedy() {
    insta::assert_snapshot!(refused("rpcbench run --duration 10"), @"error: invalid value '10' for '--duration <LENGTH>': '10' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m");
    insta::assert_snapshot!(refused("rpcbench run --duration 0s"), @"error: invalid value '0s' for '--duration <LENGTH>': must be at least 1ms");
    insta::assert_snapshot!(refused("rpcbench run --memory lots"), @"error: invalid value 'lots' for '--memory <SIZE>': 'lots' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)");
    insta::assert_snapshot!(refused("rpcbench run --cpus 0"), @"error: invalid value '0' for '--cpus <N>': must be more than zero");
    insta::assert_snapshot!(refused("rpcbench run --shape text"), @"error: invalid value 'text' for '--shape <SHAPE>': shape `text` has no valid length; write `text:N` with N from 0 to 4000000 bytes");
    insta::assert_snapshot!(refused("rpcbench run --protocol thrift"), @"error: invalid value 'thrift' for '--protocol <PROTOCOL>': use grpc");
    insta::assert_snapshot!(refused("rpcbench run --warmup soon"), @"error: invalid value 'soon' for '--warmup <LENGTH>': 'soon' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m; or until-steady, or none");
    insta::assert_snapshot!(refused("rpcbench run --trails 3"), @"
    error: unexpected argument '--trails' found

      tip: a similar argument exists: '--trials'
    ");
    insta::assert_snapshot!(refused("rpcbench run --format xml"), @"
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: table, markdown, json, csv]
    ");
    insta::assert_snapshot!(refused("rpcbench load h:1 --warmup until-steady"), @"error: invalid value 'until-steady' for '--warmup <LENGTH>': a server that rpcbench did not start can't be watched until it is steady; give a length such as 30s");
}

#[test]
fn contradicting_options_are_refused() {
    insta::assert_snapshot!(refused("rpcbench run --fresh --kept"), @"error: the argument '--fresh' cannot be used with '--kept'");
    insta::assert_snapshot!(refused("rpcbench run --resume results/x go-grpc"), @"error: the argument '--resume <DIR>' cannot be used with '[SERVER]...'");
}

#[test]
fn a_resumed_run_has_its_plan_already() {
    let mut command = Cli::command();
    command.build();
    let run = command.find_subcommand("run").expect("run");
    // What remains free: how results are shown, and whether to build.
    let free = ["format", "no_build", "resume", "verbose", "color", "root", "help", "version"];
    for arg in run.get_arguments().filter(|a| !free.contains(&a.get_id().as_str())) {
        let value = match arg.get_id().as_str() {
            "fresh" | "kept" => "",
            "shape" => "dto",
            "protocol" => "grpc",
            "memory" => "1G",
            "duration" | "warmup" | "warmup_max" | "timeout" | "grace" => "1s",
            _ => "1",
        };
        let option = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
        let line = format!("rpcbench run --resume results/x {option} {value}");
        let error = parse(&line).expect_err("a refusal");
        assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict, "{line}");
    }
    assert!(parse("rpcbench run --resume results/x --format json --no-build").is_ok());
}

#[test]
fn addresses_read_back_as_written() {
    for text in ["127.0.0.1:50051", "[::1]:1", "some-host.example:65535"] {
        assert_eq!(text.parse::<Address>().map(|a| a.to_string()), Ok(text.to_owned()));
    }
    let refused = |text: &str| text.parse::<Address>().expect_err("a refusal");
    insta::assert_snapshot!(refused("http://localhost:1"), @"leave 'http://' out; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051");
    insta::assert_snapshot!(refused("localhost"), @"the port is missing; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051");
    insta::assert_snapshot!(refused("::1:50051"), @"'::1' is not a host; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051");
    insta::assert_snapshot!(refused("localhost:0"), @"'0' is not a port from 1 to 65535; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051");
    insta::assert_snapshot!(refused(":50051"), @"'' is not a host; write HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051");
}

#[test]
fn help_reads_well() {
    insta::assert_snapshot!(Cli::command().term_width(100).render_help().to_string(), @"
    Benchmarks RPC stacks: which serves your calls fastest, cheapest and most steadily, on this machine

    Usage: rpcbench [OPTIONS] <COMMAND>

    Commands:
      run          Build, check, warm and measure servers, and compare them
      check        Prove that servers keep the contract: every case, no measuring
      build        Build servers whose toolchains are installed
      list         List servers and suites: what there is, what can run here, and why not
      doctor       Examine this machine: toolchains, cgroup rights, CPU layout; each finding with its
                   remedy
      report       Show a run that was made before
      load         Load one server that runs already, at an address
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
      -v, --verbose...    Say more about what is done; twice for every step
          --color <WHEN>  Colour the output: auto does where it goes to a terminal and NO_COLOR is not
                          set [default: auto] [possible values: auto, always, never]
          --root <DIR>    Folder that holds servers/ and suites/ [default: the nearest above the current
                          one, or beside the program]

    Examples:
      rpcbench run                                Compare every server that can run here
      rpcbench run go-grpc 'java-*' --trials 5    Compare some of them, with tighter intervals
      rpcbench load 127.0.0.1:50051               Load a server that runs already
      rpcbench doctor                             Say what this machine lacks for good figures

    Exit codes: 0 done, 1 a verdict against (a check failed), 2 could not run.
    ");
}

#[test]
fn help_of_run_reads_well() {
    let mut command = Cli::command().term_width(100);
    command.build();
    let run = command.find_subcommand_mut("run").expect("run");
    insta::assert_snapshot!(run.render_help().to_string(), @"
    Build, check, warm and measure servers, and compare them

    Usage: rpcbench run [OPTIONS] [SERVER]...

    Arguments:
      [SERVER]...  Servers by name or glob; a variant is NAME@VARIANT [default: all that can run here]

    Options:
          --suite <NAME>     Suite that gives the workloads and limits [default: quick]
          --seed <N>         Seed of payloads and of the order of trials [default: drawn anew, and
                             recorded]
          --format <FORMAT>  How the results are printed [default: table] [possible values: table,
                             markdown, json, csv]
          --results <DIR>    Folder in which the run gets a folder of its own [default: results]
          --resume <DIR>     Go on with an interrupted run, as it was planned
          --no-build         Run servers as they were built before
      -h, --help             Print help (see more with '--help')

    In place of the suite's values:
          --trials <N>           Trials of each server; an interval needs two, a narrow one more
          --duration <LENGTH>    Length of a trial's measured window, such as 10s
          --warmup <LENGTH>      Warm-up: until-steady, none, or a length such as 30s
          --warmup-max <LENGTH>  Give up on a server that is not steady after this
          --cpus <N>             CPUs that a server may use
          --memory <SIZE>        Memory that a server may use, such as 512M or 2G (M means MiB)
          --fresh                Start a new process for each trial
          --kept                 Keep a server's process over its trials, frozen while others run
          --connections <N>      Connections
          --in-flight <N>        Calls in flight over all connections, at least one for each
          --shape <SHAPE>        What a call carries: text:N (N bytes), record, dto or tree
          --protocol <PROTOCOL>  How calls travel: grpc
          --timeout <LENGTH>     A call unanswered for this long has failed
          --grace <LENGTH>       How long calls in flight at the end of a trial may still be answered
          --client-threads <N>   Threads that make the load, each with a CPU of its own where there are
                                 enough

    Global options:
      -v, --verbose...    Say more about what is done; twice for every step
          --color <WHEN>  Colour the output: auto does where it goes to a terminal and NO_COLOR is not
                          set [default: auto] [possible values: auto, always, never]
          --root <DIR>    Folder that holds servers/ and suites/ [default: the nearest above the current
                          one, or beside the program]

    Examples:
      rpcbench run
      rpcbench run go-grpc 'java-*' --trials 5 --duration 10s --cpus 1 --memory 512M --seed 7
      rpcbench run go-grpc go-grpc                 The same server twice: how far do equals differ?
      rpcbench run --suite one-core 'java-grpc@*'
      rpcbench run --warmup 30s --shape record --connections 10 --in-flight 100
      rpcbench run --resume results/2026-03-01T12-00-00
    ");
}
