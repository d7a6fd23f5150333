//! `rpcbench-client-bench`: runs rpcbench, other load generators and the floor in turn against the same servers.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rpcbench_client_bench::command::{Programs, message};
use rpcbench_client_bench::lineup::{Client, ROWS, Row, Target, order};
use rpcbench_client_bench::machine::{Cpus, Machine, first_cpus};
use rpcbench_client_bench::parse;
use rpcbench_client_bench::process::{self, TargetProcess};
use rpcbench_client_bench::protocol::Protocol;
use rpcbench_client_bench::render::{Heading, Style, render};
use rpcbench_client_bench::summary::{Sample, Usage, summarise};

/// Benchmarks rpcbench's own client: calls per client CPU-second, beside h2load, ghz, wrk and the floor
///
/// Exit code: 0 when every client ran without a failed call, 1 when a line is void, 2 when it could not run.
#[derive(Parser)]
#[command(name = "rpcbench-client-bench", version, max_term_width = 100)]
struct Arguments {
    /// Rounds; each has every client of every row once
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only this row; may be given several times [default: all]
    #[arg(long = "row", value_name = "ROW", value_delimiter = ',', value_parser = row())]
    rows: Vec<Row>,
    /// How long a client runs in each round, seconds
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Seed of the order
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How the table is printed
    #[arg(long, default_value = "text")]
    format: Style,
    /// CPU of the clients [default: the first]
    #[arg(long, value_name = "CPU")]
    client_cpu: Option<usize>,
    /// CPU of the servers [default: the second]
    #[arg(long, value_name = "CPU")]
    server_cpu: Option<usize>,
    /// Folder with rpcbench, rpcbench-floor and rpcbench-testkit
    #[arg(long, value_name = "DIR", default_value = "target/release")]
    programs: PathBuf,
    /// The tonic server
    #[arg(long, value_name = "FILE", default_value = "build/servers/rust-tonic/server")]
    tonic: PathBuf,
    /// The contract
    #[arg(long, value_name = "FILE", default_value = "contract/echo.proto")]
    proto: PathBuf,
    /// h2load; without it, its lines are left out
    #[arg(long, value_name = "FILE")]
    h2load: Option<PathBuf>,
    /// ghz; without it, its lines are left out
    #[arg(long, value_name = "FILE")]
    ghz: Option<PathBuf>,
    /// The version of ghz, which does not know it where it was built as a Go module
    #[arg(long, value_name = "VERSION", default_value = UNKNOWN)]
    ghz_version: String,
    /// wrk; without it, its lines are left out
    #[arg(long, value_name = "FILE")]
    wrk: Option<PathBuf>,
    /// The version of wrk, which takes being asked for it as an error
    #[arg(long, value_name = "VERSION", default_value = UNKNOWN)]
    wrk_version: String,
    /// What wrk sends
    #[arg(long, value_name = "FILE", default_value = "crates/client-bench/wrk.lua")]
    wrk_script: PathBuf,
}

const UNKNOWN: &str = "of unknown version";

fn row() -> impl TypedValueParser<Value = Row> {
    let names = ROWS.map(|row| row.to_string());
    PossibleValuesParser::new(names).try_map(|name| Row::named(&name).ok_or("there is no such row"))
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "rpcbench-client-bench: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let cpus = cpus(arguments)?;
    let mut body = tempfile::NamedTempFile::new().context("a file with the request for h2load")?;
    body.write_all(&message()).context("a file with the request for h2load")?;
    let programs = Programs {
        rpcbench: arguments.programs.join("rpcbench"),
        floor: arguments.programs.join("rpcbench-floor"),
        h2load: arguments.h2load.clone(),
        ghz: arguments.ghz.clone(),
        wrk: arguments.wrk.clone(),
        proto: arguments.proto.clone(),
        body: body.path().to_owned(),
        script: arguments.wrk_script.clone(),
    };
    let heading = Heading {
        machine: Machine::read().context("/proc")?,
        versions: versions(&programs, arguments, cpus.client)?,
        rounds: arguments.rounds,
        seconds: arguments.seconds,
        seed: arguments.seed,
        cpus,
    };
    let rows = if arguments.rows.is_empty() { &ROWS } else { arguments.rows.as_slice() };
    let targets = Targets::start(arguments, rows, cpus.server)?;
    let bench = Bench { programs, targets, seconds: arguments.seconds, cpu: cpus.client };
    let samples = bench.measure(rows, arguments.rounds, arguments.seed)?;
    let lines = summarise(rows, &samples, arguments.seconds);
    write!(io::stdout(), "{}", render(&heading, &lines, arguments.format))?;
    Ok(lines.iter().all(|line| line.figures.is_ok()))
}

fn cpus(arguments: &Arguments) -> anyhow::Result<Cpus> {
    let (first, second) = first_cpus().context("CPUs that this process may use")?;
    let client = arguments.client_cpu.unwrap_or(first);
    let server = arguments.server_cpu.or(second);
    let server = server.context("client and server need a CPU each, and there is only one")?;
    anyhow::ensure!(
        client != server,
        "client and server need a CPU each, and both have CPU {client}: change --client-cpu or --server-cpu"
    );
    Ok(Cpus { client, server })
}

fn versions(programs: &Programs, arguments: &Arguments, cpu: usize) -> anyhow::Result<Vec<String>> {
    let mut versions = Vec::new();
    for client in [Client::Rpcbench, Client::H2load] {
        let Some(program) = programs.program(client) else { continue };
        let mut command = Command::new(program);
        command.arg("--version");
        versions.push(process::run(command, cpu)?.output.trim().to_owned());
    }
    for (client, version) in
        [(Client::Ghz, &arguments.ghz_version), (Client::Wrk, &arguments.wrk_version)]
    {
        versions.extend(programs.program(client).map(|_| format!("{client} {version}")));
    }
    Ok(versions)
}

/// The servers of all rows, which run all the time; those that are not loaded are idle.
struct Targets(Vec<((Target, Protocol), TargetProcess)>);

impl Targets {
    fn start(arguments: &Arguments, rows: &[Row], cpu: usize) -> anyhow::Result<Self> {
        let testkit = arguments.programs.join("rpcbench-testkit");
        let mut targets = Self(Vec::new());
        for row in rows {
            if targets.address(*row).is_err() {
                let process = match row.target {
                    Target::Null => {
                        TargetProcess::start(&testkit, &["--behaviour", null(row.protocol)], cpu)
                    }
                    Target::Tonic => {
                        TargetProcess::start(&arguments.tonic, &["current-thread"], cpu)
                    }
                };
                targets.0.push(((row.target, row.protocol), process?));
            }
        }
        Ok(targets)
    }

    fn address(&self, row: Row) -> anyhow::Result<SocketAddr> {
        let found = self.0.iter().find(|(served, _)| *served == (row.target, row.protocol));
        found.map(|(_, process)| process.address).with_context(|| format!("no server for {row}"))
    }
}

/// The testkit's null server of a protocol.
fn null(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Grpc => "null",
        Protocol::Json => "null-json",
        Protocol::Thrift => "thrift",
    }
}

/// What every step needs.
struct Bench {
    programs: Programs,
    targets: Targets,
    /// How long a client runs.
    seconds: u64,
    /// The clients' CPU.
    cpu: usize,
}

impl Bench {
    fn measure(&self, rows: &[Row], rounds: u32, seed: u64) -> anyhow::Result<Vec<Sample>> {
        let missing = |client| self.programs.program(client).is_none();
        let steps = order(rows, rounds, seed, missing);
        let mut samples = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let row = rows[step.row];
            let (number, round, client) = (index + 1, step.round + 1, step.client);
            let _ = writeln!(
                io::stderr(),
                "{number} of {}: round {round}, {row}, {client}",
                steps.len()
            );
            let result = self.run_client(client, row, self.targets.address(row)?);
            let result = result.map_err(|error| format!("{error:#}"));
            samples.push(Sample { step: *step, result });
        }
        Ok(samples)
    }

    fn run_client(&self, client: Client, row: Row, address: SocketAddr) -> anyhow::Result<Usage> {
        let program = self.programs.program(client).context("there is no program")?;
        let mut command = Command::new(program);
        command.args(self.programs.arguments(client, row, &address.to_string(), self.seconds));
        let finished = process::run(command, self.cpu)?;
        let counts = parse::counts(client, &finished.output)?;
        Usage::new(counts, finished.cpu).map_err(anyhow::Error::msg)
    }
}
