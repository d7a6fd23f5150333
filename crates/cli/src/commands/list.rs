//! `rpcbench list`.

use rpcbench_harness::build_env::BuildEnv;
use rpcbench_harness::manifest::{Selection, Server};
use rpcbench_harness::suite::{Suite, Suites};
use rpcbench_harness::toolchain::{Probe, probe_all};

use super::{matrix, shared, suites};
use crate::Verdict;
use crate::args::{ListArgs, ListWhat};
use crate::context::Context;
use crate::print::{Unprinted, out};

pub fn list(context: &Context, args: &ListArgs) -> anyhow::Result<Verdict> {
    let root = context.root()?;
    let catalog = shared::catalog(&root)?;
    if args.matrix {
        out!("{}", matrix::text(&catalog.matrix()))?;
        return Ok(Verdict::Done);
    }
    if args.what != Some(ListWhat::Suites) {
        out!("Servers")?;
        catalog.servers().iter().try_for_each(|server| show_server(server, &context.build_env))?;
    }
    if args.what.is_none() {
        out!("")?;
    }
    if args.what != Some(ListWhat::Servers) {
        out!("Suites")?;
        let entries = catalog.select(&Selection::default())?;
        let cpus = shared::available_cpus()?;
        let shown = |suite: &Suite| out!("{}", suites::text(suite, &entries, cpus));
        Suites::load(&root)?.all().iter().try_for_each(shown)?;
    }
    Ok(Verdict::Done)
}

fn show_server(server: &Server, env: &BuildEnv) -> Result<(), Unprinted> {
    let probes = probe_all(server, env);
    let missing: Vec<String> = probes.iter().filter_map(Probe::remedy).collect();
    let found: Vec<String> = probes
        .iter()
        .filter_map(|probe| match probe {
            Probe::Found(toolchain) => Some(format!("{} {}", toolchain.name, toolchain.version)),
            Probe::Missing(_) => None,
        })
        .collect();
    let state = match missing.is_empty() {
        true => format!("can run here ({})", found.join(", ")),
        false => format!("can't run here: {}", missing.join("; ")),
    };
    out!("  {:<16} {}, {}: {state}", server.name, server.library, server.language_title)?;
    for (name, variant) in &server.variants {
        out!("    {:<30} {}", format!("{}@{name}", server.name), variant.note)?;
    }
    Ok(())
}
