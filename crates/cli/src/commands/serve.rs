//! `rpcbench serve`: one server under the limits of a run, until Ctrl-C.

use anyhow::{Context as _, anyhow};
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::run::{Served, Subject, serve as run};
use rpcbench_harness::setup::ServeRequest;
use rpcbench_record::{Failure, Limits, Protocol, units};

use super::build::{SetupProgress, building};
use super::shared;
use crate::Verdict;
use crate::args::ServeArgs;
use crate::context::Context;
use crate::print::{note, out};

pub fn serve(context: &Context, args: &ServeArgs) -> anyhow::Result<Verdict> {
    let mut progress = SetupProgress::new(context);
    let setup = context.setup(shared::listen(Interrupt::default())?, &mut progress)?;
    let servers = setup.serve(&ServeRequest {
        server: args.server.clone(),
        placement: args.placement,
        building: building(args.no_build),
        limits: Limits { cpus: args.cpus.0, memory_bytes: Some(args.memory.0) },
        port: args.port,
        tls: args.calls.tls(),
    })?;
    let subject = servers.subjects.first().context("no server")?;
    let mut printed = Ok(());
    let options = args.calls.options();
    let served = run(&servers.environment, subject, &options, |served| {
        // Only the address, for scripts.
        printed = out!("{}", served.endpoint.address);
        note!("{}", how_to_load(subject, served, &servers.client_cpus));
    });
    printed?;
    served.map(|()| Verdict::Done).map_err(|failure| explained(&subject.entry, &failure))
}

fn how_to_load(subject: &Subject<'_>, served: &Served<'_>, client: &[u32]) -> String {
    let (Subject { entry, protocol, .. }, isolation) = (subject, &served.isolation);
    let list = |cpus: &[u32]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let memory = isolation.memory_bytes.map_or("no memory limit".to_owned(), units::bytes);
    let pid = served.pid.map(|pid| format!(" --pid {pid}")).unwrap_or_default();
    let option = match protocol {
        Protocol::Grpc => String::new(),
        other => format!(" --protocol {other}"),
    };
    let authority = served.authority_file.as_ref();
    let tls = authority.map(|file| format!(" --tls --cacert {}", file.display()));
    let tls = tls.unwrap_or_default();
    let load = format!(
        "{entry} serves {protocol} on CPU {}, {memory}; Ctrl-C ends it. Load it from another terminal:\n  taskset -c {} rpcbench load {}{option}{tls}{pid}",
        list(&isolation.server_cpus),
        list(client),
        served.endpoint.address,
    );
    isolation.notes.iter().fold(load, |text, note| format!("{text}\nnote: {note}"))
}

fn explained(entry: &str, failure: &Failure) -> anyhow::Error {
    failure.log_tail.iter().for_each(|line| note!("    {line}"));
    anyhow!("{entry}: {}", failure.reason)
}
