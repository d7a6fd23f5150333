//! `rpcbench-client-bench`: runs rpcbench, h2load, ghz and the floor in turn against the same servers.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, ValueEnum};
use rpcbench_client_bench::command::{Clients, message};
use rpcbench_client_bench::machine::{Machine, first_cpus};
use rpcbench_client_bench::parse;
use rpcbench_client_bench::plan::{Client, Load, ROWS, Row, Server, order};
use rpcbench_client_bench::process::{self, Service};
use rpcbench_client_bench::render::{Heading, Style, render};
use rpcbench_client_bench::summary::{Sample, Usage, summarise};

/// Compares rpcbench with h2load, ghz and the floor: calls per client CPU-second against the same servers
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
    format: Format,
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
    #[arg(long, value_name = "FILE", default_value = "build/servers/rust-tonic/release/server")]
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
    #[arg(long, value_name = "VERSION", default_value = "of unknown version")]
    ghz_version: String,
}

fn row() -> impl TypedValueParser<Value = Row> {
    let names = ROWS.map(|row| row.to_string());
    PossibleValuesParser::new(names).try_map(|name| Row::named(&name).ok_or("there is no such row"))
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// Markdown, to be pasted
    Markdown,
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
    let clients = Clients {
        rpcbench: arguments.programs.join("rpcbench"),
        floor: arguments.programs.join("rpcbench-floor"),
        h2load: arguments.h2load.clone(),
        ghz: arguments.ghz.clone(),
        proto: arguments.proto.clone(),
        body: body.path().to_owned(),
    };
    let heading = Heading {
        machine: Machine::read().context("/proc")?,
        versions: versions(&clients, arguments, cpus.0)?,
        rounds: arguments.rounds,
        seconds: arguments.seconds,
        seed: arguments.seed,
        cpus,
    };
    let rows = if arguments.rows.is_empty() { &ROWS } else { arguments.rows.as_slice() };
    let samples = measure(arguments, &clients, rows, cpus)?;
    let lines = summarise(rows, &samples, arguments.seconds);
    let style = match arguments.format {
        Format::Text => Style::Text,
        Format::Markdown => Style::Markdown,
    };
    write!(io::stdout(), "{}", render(&heading, &lines, style))?;
    Ok(lines.iter().all(|line| line.figures.is_ok()))
}

/// The client's CPU and the server's.
fn cpus(arguments: &Arguments) -> anyhow::Result<(usize, usize)> {
    let (first, second) = first_cpus().context("CPUs that this process may use")?;
    let client = arguments.client_cpu.unwrap_or(first);
    let server = arguments.server_cpu.or(second);
    let server = server.context("client and server need a CPU each, and there is only one")?;
    anyhow::ensure!(
        client != server,
        "client and server need a CPU each, and both have CPU {client}: change --client-cpu or --server-cpu"
    );
    Ok((client, server))
}

fn versions(clients: &Clients, arguments: &Arguments, cpu: usize) -> anyhow::Result<Vec<String>> {
    let mut versions = Vec::new();
    for client in [Client::Rpcbench, Client::H2load] {
        let Some(program) = clients.program(client) else { continue };
        let mut command = Command::new(program);
        command.arg("--version");
        versions.push(process::run(command, cpu)?.output.trim().to_owned());
    }
    versions.extend(clients.ghz.is_some().then(|| format!("ghz {}", arguments.ghz_version)));
    Ok(versions)
}

/// Takes every step, with both servers running all the time; one of them is idle.
fn measure(
    arguments: &Arguments,
    clients: &Clients,
    rows: &[Row],
    (client_cpu, server_cpu): (usize, usize),
) -> anyhow::Result<Vec<Sample>> {
    let testkit = arguments.programs.join("rpcbench-testkit");
    let null = Service::start(testkit, &["--behaviour", "null"], server_cpu)?;
    let tonic = Service::start(arguments.tonic.clone(), &["current-thread"], server_cpu)?;
    let missing = |client| clients.program(client).is_none();
    let steps = order(rows, arguments.rounds, arguments.seed, missing);
    let mut samples = Vec::new();
    for (taken, step) in steps.iter().enumerate() {
        let row = rows[step.row];
        let address = match row.server {
            Server::Tonic => tonic.address,
            Server::Null => null.address,
        };
        let (round, client) = (step.round + 1, step.client);
        let taken = taken + 1;
        let _ = writeln!(
            io::stderr(),
            "{taken} of {}: round {round}, {} {}, {client}",
            steps.len(),
            row.server,
            row.load
        );
        let client = (client, row.load);
        let result = take(client, clients, &address.to_string(), (arguments.seconds, client_cpu));
        samples.push(Sample { step: *step, result: result.map_err(|error| format!("{error:#}")) });
    }
    Ok(samples)
}

fn take(
    (client, load): (Client, Load),
    clients: &Clients,
    address: &str,
    (seconds, cpu): (u64, usize),
) -> anyhow::Result<Usage> {
    let program = clients.program(client).context("there is no program")?;
    let mut command = Command::new(program);
    command.args(clients.arguments(client, load, address, seconds));
    let finished = process::run(command, cpu)?;
    let counts = parse::counts(client, &finished.output)?;
    Usage::new(counts, finished.cpu).map_err(anyhow::Error::msg)
}
