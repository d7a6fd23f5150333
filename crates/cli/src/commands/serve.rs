//! `rpcbench serve`: one server under the limits of a run, until Ctrl-C.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context as _, anyhow, bail};
use rpcbench_harness::build::{BuildState, Candidate};
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::manifest::{Entry, Selection};
use rpcbench_harness::run::{Served, Subject, serve as run};
use rpcbench_record::{Failure, Limits, Protocol, units};

use super::{build, shared};
use crate::Verdict;
use crate::args::ServeArgs;
use crate::context::Context;
use crate::print::{note, out};

/// Unused: a served server gets no load.
const SEED: u64 = 1;

pub fn serve(context: &Context, args: &ServeArgs) -> anyhow::Result<Verdict> {
    let interrupt = shared::listen(Interrupt::default())?;
    let catalog = shared::catalog(&context.root()?)?;
    let chosen = catalog.into_selected(&Selection::named(vec![args.server.clone()]))?;
    let entry = only(&args.server, chosen)?;
    shared::check_cpus(args.cpus.0)?;
    shared::check_memory(Some(args.memory.0))?;
    free(args.port)?;
    let mut candidates =
        build::prepare(context, &[entry], args.placement, args.no_build, &interrupt)?;
    let candidate = candidates.pop().context("no server")?;
    if let BuildState::Failed(_) | BuildState::Skipped { .. } = candidate.build {
        bail!("{} can't run here; the lines above say why", candidate.entry.name());
    }
    let limits = Limits { cpus: args.cpus.0, memory_bytes: Some(args.memory.0) };
    let site = shared::open_site(context, args.placement, |options| {
        options.limits = limits;
        options.port = Some(args.port);
    })?;
    let environment = shared::environment(&*site, SEED, interrupt, None);
    let subject = Subject::built(&candidate, site.place(&candidate.entry));
    let mut printed = Ok(());
    let served = run(&environment, &subject, |served| {
        // For scripts: only the address.
        printed = out!("{}", served.endpoint.address);
        note!("{}", how_to_load(&candidate, served, site.client_cpus()));
    });
    printed?;
    served.map(|()| Verdict::Done).map_err(|failure| explained(&candidate, &failure))
}

/// The only entry, or the representative one.
fn only(typed: &str, mut entries: Vec<Entry>) -> anyhow::Result<Entry> {
    if entries.len() > 1 && entries.iter().any(Entry::is_representative) {
        entries.retain(Entry::is_representative);
    }
    if entries.len() > 1 {
        let names: Vec<String> = entries.iter().map(Entry::name).collect();
        bail!("'{typed}' matches several entries: {}; name one of them", names.join(", "));
    }
    entries.pop().context("no server")
}

/// Refuses a port that is taken.
fn free(port: u16) -> anyhow::Result<()> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .map(drop)
        .with_context(|| format!("--port {port} can't be used; give another"))
}

fn how_to_load(candidate: &Candidate, served: &Served<'_>, client: &[u32]) -> String {
    let (entry, isolation) = (&candidate.entry, &served.isolation);
    let list = |cpus: &[u32]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let memory = isolation.memory_bytes.map_or("no memory limit".to_owned(), units::bytes);
    let pid = served.pid.map(|pid| format!(" --pid {pid}")).unwrap_or_default();
    let protocol = match entry.protocol {
        Protocol::Grpc => String::new(),
        other => format!(" --protocol {other}"),
    };
    format!(
        "{} serves {} on CPU {}, {memory}; Ctrl-C ends it. Load it from another terminal:\n  taskset -c {} rpcbench load {}{protocol}{pid}",
        entry.name(),
        entry.protocol,
        list(&isolation.server_cpus),
        list(client),
        served.endpoint.address,
    )
}

fn explained(candidate: &Candidate, failure: &Failure) -> anyhow::Error {
    failure.log_tail.iter().for_each(|line| note!("    {line}"));
    anyhow!("{}: {}", candidate.entry.name(), failure.reason)
}
