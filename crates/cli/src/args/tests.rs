//! The command line: help for everything, examples that work, refusals that teach.

use std::collections::BTreeSet;

use clap::{CommandFactory, Parser};
use rpcbench_harness::manifest::Selection;
use rpcbench_harness::spec::RunSpec;
use rpcbench_harness::suite::Suite;
use rpcbench_record::{Protocol, WarmUp};

use super::*;

mod load;

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
fn definition_is_sound() {
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

/// The remark after an example.
fn remark(example: &str) -> Option<&str> {
    Some(example.trim_start().split_once("  ")?.1.trim_start())
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
        for example in &examples {
            // Two spaces precede a remark, `>` a redirection.
            let line = example.trim_start().split("  ").next().unwrap_or_default();
            let line = line.split(" > ").next().unwrap_or_default();
            assert!(parse(line).is_ok(), "{example}: {}", parse(line).expect_err("an error"));
            // The maximum width of help. Beyond it, remarks would wrap.
            assert!(example.chars().count() <= 100, "{example}");
        }
        let remarks = examples.iter().filter_map(|line| Some(line.len() - remark(line)?.len()));
        let columns: BTreeSet<usize> = remarks.collect();
        assert!(columns.len() <= 1, "remarks that don't line up: {help}");
    }
}

#[test]
fn examples_of_new_name_no_existing_server() {
    let servers = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
    let mut command = Cli::command();
    let new = command.find_subcommand_mut("new").expect("new");
    let help = new.get_after_help().expect("examples").to_string();
    let examples = help.lines().filter_map(|line| line.trim().strip_prefix("rpcbench new server "));
    for example in examples {
        let words: Vec<&str> = example.split(' ').take(2).collect();
        let [language, library] = words[..] else { panic!("{example}") };
        let language = servers.join(language);
        assert!(language.join("_new").is_dir() && !language.join(library).exists(), "{example}");
    }
}

/// Those between fences, as they stand there; a line that ends with a backslash continues.
#[test]
fn every_command_line_of_the_documents_parses() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tried = 0;
    for page in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/guide.md",
        "docs/containers.md",
        "docs/performance.md",
        "docs/record.md",
    ] {
        let text = std::fs::read_to_string(root.join(page)).expect(page).replace("\\\n", "");
        for block in text.split("```").skip(1).step_by(2) {
            for line in block.lines().map(|line| line.trim_start_matches("$ ").trim()) {
                let line = line.strip_prefix("target/release/").unwrap_or(line);
                if line.starts_with("rpcbench ") {
                    let line = line.split(" #").next().unwrap_or_default();
                    let line = &line.replace("ADDRESS", "127.0.0.1:1");
                    assert!(parse(line).is_ok(), "{page}: {line}\n{}", refused(line));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn values_record_the_options_that_set_them() {
    let args = run(
        "rpcbench run go-grpc 'java-*' --suite one-core --rounds 5 --precision 2% --max-time 9m \
         --duration 10s --warmup until-steady --warmup-min 9s --warmup-max 1m --settle 200ms --cpus 2 --memory 512M --seed 7 \
         --connections 10 --in-flight-per-connection 20 --shape record --protocol grpc --language go --timeout 2s --grace 1s \
         --client-threads 2 --runtime-statistics --log-calls --pipelining --connection-life calls:2 \
         --in native",
    );
    let selection = Selection {
        protocols: vec![rpcbench_record::ContractProtocol(Protocol::Grpc)],
        languages: vec!["go".into()],
        ..Selection::named(vec!["go-grpc".into(), "java-*".into()])
    };
    assert_eq!(args.selection, selection);
    assert_eq!((args.plan.suite.as_str(), args.plan.seed), ("one-core", Some(7)));
    let shown = format!("{:?}", args.spec);
    let options = [
        "--rounds 5",
        "--precision 2%",
        "--max-time 9m",
        "--duration 10s",
        "--warmup until-steady",
        "--warmup-min 9s",
        "--warmup-max 1m",
        "--settle 200ms",
        "--cpus 2",
        "--memory 512M",
        "--connections 10",
        "--in-flight-per-connection 20",
        "--shape record",
        "--timeout 2s",
        "--grace 1s",
        "--client-threads 2",
        "--runtime-statistics",
        "--log-calls",
        "--in native",
        "--pipelining",
        "--connection-life calls:2",
    ];
    for option in options {
        assert!(shown.contains(&format!("CommandLine({option:?})")), "{option}: {shown}");
    }
}

#[test]
fn workload_keys_have_options_of_the_same_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let suite = "description = \"\"\nprocesses = 1\nrounds = 1\n[limits]\ncpus = 1\n";
    std::fs::write(&file, format!("{suite}[[workload]]\nno_such_key = 1\n")).unwrap();
    let refused = Suite::load(&file).expect_err("a refusal").to_string();
    let (_, keys) = refused.split_once("allowed here: ").expect(&refused);
    let command = Cli::command();
    let run = command.find_subcommand("run").unwrap();
    for key in keys.split(", ").filter(|key| *key != "name") {
        let option = key.replace('_', "-");
        let known = run.get_arguments().any(|arg| arg.get_long() == Some(&*option));
        assert!(known, "--{option} is missing, for {key}");
    }
}

#[test]
fn run_without_options_uses_the_quick_suite() {
    let args = run("rpcbench run");
    assert_eq!(args.selection, Selection::default());
    assert_eq!(run("rpcbench run --all").selection, Selection::ALL);
    assert_eq!(args.spec, RunSpec::default());
    assert_eq!(args.plan.suite, "quick");
    assert_eq!(args.format, Format::Table);
}

#[test]
fn wrong_values_are_refused_with_the_remedy() {
    insta::assert_snapshot!(refused("rpcbench run --duration -1s"), @"error: invalid value '-1s' for '--duration <LENGTH>': '-1s' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m");
    insta::assert_snapshot!(refused("rpcbench run --memory 1"), @"error: invalid value '1' for '--memory <SIZE>': no server starts in 1 B; write a number and a unit, such as 512M or 2G");
    insta::assert_snapshot!(refused("rpcbench serve x --port 80x"), @"error: invalid value '80x' for '--port <PORT>': must be a whole number from 1 to 65535");
    insta::assert_snapshot!(refused("rpcbench load h:1 --pid -1"), @"error: invalid value '-1' for '--pid <PID>': must be a whole number from 1 to 2147483647");
    insta::assert_snapshot!(refused("rpcbench load h:1 --pid 0"), @"error: invalid value '0' for '--pid <PID>': must be a whole number from 1 to 2147483647");
    insta::assert_snapshot!(refused("rpcbench load h:1 -n -5"), @"error: invalid value '-5' for '--calls <N>': must be a whole number from 1, such as 500, 20k or 1M");
    insta::assert_snapshot!(refused("rpcbench run --calls -5"), @"error: invalid value '-5' for '--calls <N>': must be a whole number from 1, such as 500, 20k or 1M");
    insta::assert_snapshot!(refused("rpcbench run --seed abc"), @"error: invalid value 'abc' for '--seed <N>': must be a whole number from 0 to 9007199254740991");
    insta::assert_snapshot!(refused("rpcbench run --seed 9007199254740992"), @"error: invalid value '9007199254740992' for '--seed <N>': must be a whole number from 0 to 9007199254740991");
    insta::assert_snapshot!(refused("rpcbench load 127.0.0.1:1 --rate -5"), @"error: invalid value '-5' for '--rate <RATE>': write calls a second such as 500 or 20k, or a share of the measured capacity such as 40%");
    insta::assert_snapshot!(refused("rpcbench run --duration 10"), @"error: invalid value '10' for '--duration <LENGTH>': '10' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m");
    insta::assert_snapshot!(refused("rpcbench run --duration 0s"), @"error: invalid value '0s' for '--duration <LENGTH>': must be at least 1ms");
    insta::assert_snapshot!(refused("rpcbench run --memory lots"), @"error: invalid value 'lots' for '--memory <SIZE>': 'lots' is not a size of memory; write a number and a unit, such as 512M, 512MiB or 2G (M means MiB)");
    for command in ["run", "report"] {
        let refusal = refused(&format!("rpcbench {command} --price 4"));
        let expected = "error: invalid value '4' for '--price <PRICES>': '4' has no unit; write prices such as 0.04/cpu-hour or 0.04/cpu-hour,0.005/GiB-hour";
        assert_eq!(refusal, expected);
    }
    insta::assert_snapshot!(refused("rpcbench run --price -1/cpu-hour"), @"error: invalid value '-1/cpu-hour' for '--price <PRICES>': '-1' must be a number above zero, after a currency such as $ or EUR if you like; write prices such as 0.04/cpu-hour or 0.04/cpu-hour,0.005/GiB-hour");
    insta::assert_snapshot!(refused("rpcbench run --cpus 0"), @"error: invalid value '0' for '--cpus <N>': must be more than zero");
    insta::assert_snapshot!(refused("rpcbench run --shape text"), @"error: invalid value 'text' for '--shape <SHAPE>': shape `text` has no valid length; write `text:N` with N from 0 to 4000000 bytes");
    insta::assert_snapshot!(refused("rpcbench run --protocol http"), @"error: invalid value 'http' for '--protocol <PROTOCOL>': unknown protocol 'http'; expected one of grpc, json, json-h2c, connect, thrift, thrift-compact, thrift-buffered, thrift-buffered-compact, tcp-echo");
    insta::assert_snapshot!(refused("rpcbench run --warmup soon"), @"error: invalid value 'soon' for '--warmup <LENGTH>': 'soon' is not a length of time; write a number and a unit, such as 500ms, 10s or 2m; or until-steady, or none");
    insta::assert_snapshot!(refused("rpcbench run --round 3"), @"
    error: unexpected argument '--round' found

      tip: a similar argument exists: '--rounds'
    ");
    insta::assert_snapshot!(refused("rpcbench run --format xml"), @"
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: table, markdown, json, csv]
    ");
    for command in ["run", "check", "serve go-grpc"] {
        let refusal = refused(&format!("rpcbench {command} --in nowhere"));
        assert_eq!(
            refusal,
            "error: invalid value 'nowhere' for '--in <PLACEMENT>': unknown placement 'nowhere'; expected one of native, docker, podman"
        );
    }
    insta::assert_snapshot!(refused("rpcbench load h:1 --warmup until-steady"), @"error: invalid value 'until-steady' for '--warmup <LENGTH>': only a server that rpcbench starts is warmed until it is steady; give a length such as 30s");
}

#[test]
fn contradicting_options_are_refused() {
    insta::assert_snapshot!(refused("rpcbench run --resume results/x go-grpc"), @"
error: the argument '--resume <DIR>' cannot be used with:
  [SERVER]...
  --clients [<CLIENT>...]
  --protocol <PROTOCOL>
  --language <LANGUAGE>
  --all
");
}

#[test]
fn clients_are_listed_by_option_as_by_name() {
    let listed = |line| match parse(line).unwrap().command {
        Command::List(args) => args.what(),
        other => panic!("{other:?}"),
    };
    assert_eq!(listed("rpcbench list --clients"), Some(ListWhat::Clients));
    assert_eq!(listed("rpcbench list clients"), Some(ListWhat::Clients));
    assert_eq!(listed("rpcbench list"), None);
}

#[test]
fn servers_of_clients_need_clients() {
    assert!(refused("rpcbench run --servers go-grpc").contains("--clients"));
    let args = run("rpcbench run --clients go-grpc --servers --cpus 1");
    assert_eq!(args.plan.servers, Some(Vec::new()));
}

#[test]
fn resumed_run_takes_no_option_of_a_plan() {
    let mut command = Cli::command();
    command.build();
    let run = command.find_subcommand("run").expect("run");
    // Allowed: how results are shown, and whether to build.
    let free = [
        "format", "wide", "columns", "sort", "group_by", "explain", "no_build", "resume",
        "verbose", "color", "root", "help", "version",
    ];
    let planning = |arg: &&clap::Arg| !arg.is_hide_set() && !free.contains(&arg.get_id().as_str());
    for arg in run.get_arguments().filter(planning) {
        let value = match arg.get_id().as_str() {
            "precision" => "5%",
            "shape" => "dto",
            "connection_life" => "short",
            "protocols" => "grpc",
            "memory" => "1G",
            "arrivals" => "closed",
            "sweep" => "10%..90%",
            "find_max" => "p99<10ms",
            "duration" | "max_time" | "warmup" | "warmup_min" | "warmup_max" | "settle"
            | "timeout" | "grace" | "connect_timeout" => "1s",
            "log_calls" | "runtime_statistics" | "pipelining" => "",
            "placement" => "native",
            "price" => "0.04/cpu-hour",
            "header" => "a:b",
            "tag" => "a=b",
            _ => "1",
        };
        let option = arg.get_long().map(|long| format!("--{long}")).unwrap_or_default();
        let line = format!("rpcbench run --resume results/x {option} {value}");
        let error = parse(&line).expect_err(&line);
        assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict, "{line}");
    }
    assert!(parse("rpcbench run --resume results/x --format json --no-build").is_ok());
    assert!(parse("rpcbench run --resume results/x --wide").is_ok());
}

#[test]
fn help_reads_well() {
    insta::assert_snapshot!(Cli::command().term_width(100).render_help().to_string(), @"
Benchmarks RPC stacks: which serves your calls fastest, cheapest and most steadily, on this machine

Usage: rpcbench [OPTIONS] <COMMAND>

Commands:
  run          Build, check, warm and measure servers, and compare them
  check        Check that servers implement the contract, without measuring them
  build        Build the servers whose toolchains are installed
  new          Create a server from a template
  list         List servers and suites, and what can't run here and why
  doctor       Check this machine and say how to fix what is wrong
  report       Show an earlier run
  compare      Compare two runs or builds: faster, slower, the same, or can't tell
  history      Show how figures changed from run to run
  serve        Start one server under limits, and print how to load it
  load         Load one running server, at an address
  completions  Print a completion script for a shell
  help         Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help
  -V, --version  Print version

Global options:
  -v, --verbose...    Print more; -vv prints every step
      --color <WHEN>  Colour the output; auto: on a terminal, unless NO_COLOR is set [default: auto]
                      [possible values: auto, always, never]
      --root <DIR>    Folder with servers/ and suites/ [default: the nearest above the current
                      folder or the program]

Examples:
  rpcbench run                                    Compare up to twelve representative servers
  rpcbench run go-grpc 'java-*' --precision 2%    Compare some of them, more closely
  rpcbench load 127.0.0.1:50051                   Load a running server
  rpcbench compare results/monday results/tuesday
  rpcbench compare --build HEAD --build . go-grpc
  rpcbench doctor                                 Check this machine

Exit codes: 0 done, 1 a check or a limit failed, 2 could not run, 3 can't tell, 4 load gave up.
");
}

#[test]
fn help_of_run_reads_well() {
    let mut command = Cli::command().term_width(100);
    command.build();
    let run = command.find_subcommand_mut("run").expect("run");
    insta::assert_snapshot!(run.render_help().to_string());
}

#[test]
fn table_has_few_columns_all_or_those_asked_for() {
    use rpcbench_report::{Columns, Layout};
    assert_eq!(run("rpcbench run").table.layout(), Layout::default());
    assert_eq!(run("rpcbench run --wide").table.layout(), Columns::Wide.into());
    let chosen = run("rpcbench run --columns place,server,calls/cpu-s").table.layout();
    let Columns::Chosen(chosen) = chosen.columns else { panic!("not chosen") };
    assert_eq!(chosen.len(), 3);
    let unknown = refused("rpcbench report x --columns place,p98");
    assert!(unknown.contains("unknown column 'p98'; expected one of "), "{unknown}");
    assert!(refused("rpcbench run --wide --columns p99").contains("cannot be used with"));
    let arranged = run("rpcbench run --sort p99 --group-by protocol").table.layout();
    assert_eq!((arranged.sort, arranged.group_by), ("p99".parse().ok(), "protocol".parse().ok()));
}
