//! `rpcbench list`.

use std::collections::BTreeMap;

use rpcbench_harness::build_env::BuildEnv;
use rpcbench_harness::manifest::{Selection, Server};
use rpcbench_harness::suite::{Suite, Suites};
use rpcbench_harness::toolchain::{Probe, probe_all};

use super::{matrix, shared, suites};
use crate::Verdict;
use crate::args::{ListArgs, ListWhat};
use crate::context::Context;
use crate::print::{Unprinted, note, out};

pub fn list(context: &Context, args: &ListArgs) -> anyhow::Result<Verdict> {
    let root = context.root()?;
    let catalog = shared::catalog(&root)?;
    if args.matrix {
        out!("{}", matrix::text(&catalog.matrix()))?;
        return Ok(Verdict::Done);
    }
    let mut probed = Probed { env: &context.build_env, by_server: BTreeMap::new() };
    if args.what != Some(ListWhat::Suites) {
        out!("Servers")?;
        catalog.servers().iter().try_for_each(|server| show_server(server, probed.of(server)))?;
    }
    if args.what.is_none() {
        out!("")?;
    }
    if args.what != Some(ListWhat::Servers) {
        out!("Suites")?;
        let mut entries = catalog.select(&Selection::default())?;
        entries.retain(|entry| probed.of(&entry.server).iter().all(|it| it.found().is_some()));
        let cpus = shared::available_cpus()?;
        let shown = |suite: &Suite| out!("{}", suites::text(suite, &entries, cpus));
        let suites = Suites::load(&root)?;
        suites.all().iter().try_for_each(shown)?;
        for (path, problem) in suites.left_out() {
            note!("rpcbench: {} is left out: {problem}", path.display());
        }
    }
    Ok(Verdict::Done)
}

/// Results of probing toolchains, once per server.
struct Probed<'a> {
    env: &'a BuildEnv,
    by_server: BTreeMap<String, Vec<Probe>>,
}

impl Probed<'_> {
    fn of(&mut self, server: &Server) -> &[Probe] {
        let ask = || probe_all(server, self.env);
        self.by_server.entry(server.name.clone()).or_insert_with(ask)
    }
}

fn show_server(server: &Server, probes: &[Probe]) -> Result<(), Unprinted> {
    let missing: Vec<String> = probes.iter().filter_map(Probe::remedy).collect();
    let found = probes.iter().filter_map(Probe::found).map(ToString::to_string);
    let found: Vec<String> = found.collect();
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
