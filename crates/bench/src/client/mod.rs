//! Compares rpcbench's client with other load generators, the floor, or another build of rpcbench.
//!
//! `lineup` says what is compared and in which order, `command` has each client's command line, `process` runs them,
//! `parse` reads their output, `summary` computes figures and `render` prints them.

mod command;
mod lineup;
mod parse;
mod process;
mod render;
mod summary;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rpcbench_harness::host::cpus::{Topology, pin_this_thread};
use rpcbench_harness::host::fingerprint::fingerprint;
use rpcbench_record::{IsolationMode, Protocol};

use crate::table::Style;
use command::{Programs, message};
pub use lineup::Load;
use lineup::{Client, ROWS, Row, Server, order};
use process::Target;
use render::{Heading, render};
use summary::{Sample, Usage, summarise};

/// Compares calls per client CPU-second with those of h2load, ghz, wrk and the floor, or of another build
#[derive(clap::Args)]
pub struct Arguments {
    /// Rounds; in each, every client of every row runs once
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only this row; may be repeated [default: all]
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
    /// CPU of the clients [default: chosen as for a run]
    #[arg(long, value_name = "CPU")]
    client_cpu: Option<u32>,
    /// CPU of the servers [default: chosen as for a run]
    #[arg(long, value_name = "CPU")]
    server_cpu: Option<u32>,
    /// The tonic server
    #[arg(long, value_name = "FILE", default_value = "build/servers/rust-tonic/server")]
    tonic: PathBuf,
    #[command(flatten)]
    programs: Programs,
    /// Version of ghz, which does not know its own if built as a Go module
    #[arg(long, value_name = "VERSION", default_value = UNKNOWN)]
    ghz_version: String,
    /// Version of wrk, which can't be asked for it without an error
    #[arg(long, value_name = "VERSION", default_value = UNKNOWN)]
    wrk_version: String,
}

const UNKNOWN: &str = "of unknown version";

fn row() -> impl TypedValueParser<Value = Row> {
    let names = ROWS.map(|row| row.to_string());
    PossibleValuesParser::new(names).try_map(|name| Row::named(&name).ok_or("unknown row"))
}

/// The table, and whether every line has figures.
pub fn run(arguments: &Arguments) -> anyhow::Result<(String, bool)> {
    let topology = Topology::read().context("the CPUs that this process may use")?;
    let cpus = cpus(arguments, &topology)?;
    let machine = fingerprint(&topology, IsolationMode::Affinity);
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let body = folder.path().join("request");
    std::fs::write(&body, message()).context("the request for h2load")?;
    let rows = if arguments.rows.is_empty() { &ROWS } else { arguments.rows.as_slice() };
    let targets = Targets::start(arguments, rows, cpus.server, folder.path())?;
    // The clients inherit it.
    pin_this_thread(&[cpus.client]).context("the client's CPU")?;
    let heading = Heading {
        machine,
        versions: versions(arguments)?,
        rounds: arguments.rounds,
        seconds: arguments.seconds,
        seed: arguments.seed,
        cpus,
    };
    let programs = Programs { body, ..arguments.programs.clone() };
    let bench = Bench { arguments, programs, targets };
    let samples = bench.measure(rows)?;
    let lines = summarise(rows, &samples, arguments.seconds);
    Ok((render(&heading, &lines, arguments.format), lines.iter().all(|it| it.figures.is_ok())))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cpus {
    client: u32,
    server: u32,
}

fn cpus(arguments: &Arguments, topology: &Topology) -> anyhow::Result<Cpus> {
    let split = topology.split(1, 1);
    let client = arguments.client_cpu.unwrap_or(split.client[0]);
    let server = arguments.server_cpu.unwrap_or(split.server[0]);
    anyhow::ensure!(
        client != server,
        "client and server need different CPUs, but both have CPU {client}; change --client-cpu or --server-cpu"
    );
    Ok(Cpus { client, server })
}

fn versions(arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let programs = &arguments.programs;
    let mut versions = Vec::new();
    let asked = match &programs.against {
        Some(_) => [Client::Rpcbench, Client::Baseline],
        None => [Client::Rpcbench, Client::H2load],
    };
    for client in asked {
        let Some(program) = programs.program(client) else { continue };
        let mut command = Command::new(program);
        command.arg("--version");
        versions.push(process::run(command)?.output.trim().to_owned());
    }
    let known = [(Client::Ghz, &arguments.ghz_version), (Client::Wrk, &arguments.wrk_version)];
    for (client, version) in known.iter().filter(|_| programs.against.is_none()) {
        versions.extend(programs.program(*client).map(|_| format!("{client} {version}")));
    }
    Ok(versions)
}

/// The servers of all rows. All of them run all the time; those that are not loaded are idle.
struct Targets(Vec<((Server, Protocol), Target)>);

impl Targets {
    fn start(arguments: &Arguments, rows: &[Row], cpu: u32, logs: &Path) -> anyhow::Result<Self> {
        let testkit = arguments.programs.folder.join("rpcbench-testkit");
        let mut targets = Self(Vec::new());
        for row in rows {
            if targets.address(*row).is_err() {
                let target = match row.server {
                    Server::Null => {
                        let behaviour = ["--behaviour", null(row.protocol)];
                        Target::start(&testkit, &behaviour, cpu, logs)
                    }
                    Server::Tonic => {
                        Target::start(&arguments.tonic, &["current-thread"], cpu, logs)
                    }
                };
                targets.0.push(((row.server, row.protocol), target?));
            }
        }
        Ok(targets)
    }

    fn address(&self, row: Row) -> anyhow::Result<SocketAddr> {
        let found = self.0.iter().find(|(served, _)| *served == (row.server, row.protocol));
        found.map(|(_, target)| target.address).with_context(|| format!("no server for {row}"))
    }
}

/// The behaviour of the testkit that is a protocol's null server.
fn null(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Grpc => "null",
        Protocol::Json => "null-json",
        other => other.name(),
    }
}

struct Bench<'a> {
    arguments: &'a Arguments,
    programs: Programs,
    targets: Targets,
}

impl Bench<'_> {
    fn measure(&self, rows: &[Row]) -> anyhow::Result<Vec<Sample>> {
        let Self { arguments: Arguments { rounds, seed, .. }, programs, .. } = self;
        let clients = |row: &Row| -> Vec<Client> {
            let all = match programs.against {
                Some(_) => vec![Client::Baseline, Client::Rpcbench],
                None => row.clients.iter().map(|(client, _)| *client).collect(),
            };
            all.into_iter().filter(|client| programs.program(*client).is_some()).collect()
        };
        let steps = order(rows, *rounds, *seed, clients);
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
        let Self { arguments, programs, .. } = self;
        let program = programs.program(client).context("no program")?;
        let mut command = Command::new(program);
        let address = address.to_string();
        command.args(programs.arguments(client, row, &address, arguments.seconds));
        let finished = process::run(command)?;
        let counts = parse::counts(client, &finished.output)?;
        Usage::new(counts, finished.cpu).map_err(anyhow::Error::msg)
    }
}
