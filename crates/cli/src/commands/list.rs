//! `rpcbench list`.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use rpcbench_harness::host::cpus::Topology;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::manifest::{Catalog, Entry, Selection, Server};
use rpcbench_harness::suite::{Suite, Suites};
use rpcbench_harness::toolchain::{Probe, Versions};
use rpcbench_record::Role;

use super::{matrix, shared, suites};
use crate::Verdict;
use crate::args::{ListArgs, ListWhat};
use crate::context::Context;
use crate::print::{FILE_WIDTH, Unprinted, hanging, note, out, print};

pub fn list(context: &Context, args: &ListArgs) -> anyhow::Result<Verdict> {
    let root = context.root()?;
    let catalog = shared::catalog(&root, Role::Server)?;
    if args.matrix {
        out!("{}", matrix::text(&catalog.matrix()))?;
        return Ok(Verdict::Done);
    }
    let width = context.style.width.unwrap_or(FILE_WIDTH);
    let lists = |what| args.what().is_none_or(|only| only == what);
    // A folder with the user's own servers needs no clients.
    let lists_clients = args.what() == Some(ListWhat::Clients)
        || args.what().is_none() && root.join("clients").is_dir();
    let servers = if lists(ListWhat::Servers) { catalog.servers() } else { &[] };
    let clients = lists_clients.then(|| shared::catalog(&root, Role::Client)).transpose()?;
    let clients = clients.as_ref().map_or(&[][..], Catalog::servers);
    let mut entries = Vec::new();
    if lists(ListWhat::Suites) {
        entries = catalog.select(&Selection::default())?;
        entries.retain(|entry| !entry.server.build.container_only);
    }
    // Runs each command once, and only for what is shown: they take seconds of CPU time.
    let shown = servers.iter().chain(clients).chain(entries.iter().map(|entry| &entry.server));
    let shown = shown.map(Arc::as_ref);
    let versions = Versions::ask(shown, &context.build_env, &Interrupt::default());
    let show_all = |all: &[Arc<Server>]| {
        all.iter().try_for_each(|it| show_server(it, &versions.of(it), width))
    };
    if lists(ListWhat::Servers) {
        out!("Servers")?;
        show_all(servers)?;
    }
    if lists_clients {
        between(args)?;
        out!("Clients")?;
        show_all(clients)?;
    }
    if lists(ListWhat::Suites) {
        between(args)?;
        let can_run = |server: &Server| versions.of(server).iter().all(|it| it.found().is_some());
        let entries = entries.iter().filter(|entry| can_run(&entry.server)).cloned();
        show_suites(&root, &entries.collect::<Vec<_>>(), width)?;
    }
    Ok(Verdict::Done)
}

/// Lists suites. `entries` are those of a default run that can run here.
fn show_suites(root: &Path, entries: &[Entry], width: usize) -> anyhow::Result<()> {
    out!("Suites")?;
    let topology = Topology::read().context("CPUs available to this process")?;
    let cpus = u32::try_from(topology.cpus().len()).unwrap_or(u32::MAX);
    let shown = |suite: &Suite| print(&suites::text(suite, entries, cpus, width));
    let suites = Suites::load(root)?;
    suites.all.iter().try_for_each(shown)?;
    for (name, problem) in &suites.left_out {
        note!("rpcbench: {name} is left out: {problem}");
    }
    Ok(())
}

/// Prints an empty line between parts, if there are several.
fn between(args: &ListArgs) -> Result<(), Unprinted> {
    if args.what().is_none() { out!("") } else { Ok(()) }
}

fn show_server(server: &Server, probes: &[Probe], width: usize) -> Result<(), Unprinted> {
    let missing: Vec<String> = probes.iter().filter_map(Probe::remedy).collect();
    let found = probes.iter().filter_map(Probe::found).map(ToString::to_string);
    let found: Vec<String> = found.collect();
    let state = match (server.build.container_only, missing.is_empty()) {
        (true, _) => Server::CONTAINER_ONLY.to_owned(),
        (false, true) => format!("can run here ({})", found.join(", ")),
        (false, false) => format!("can't run here: {}", missing.join("; ")),
    };
    let text = format!("{}, {}: {state}", server.library, server.language_title);
    print(&hanging(&format!("  {:<16} ", server.name), &text, width))?;
    server.variants.iter().try_for_each(|(name, variant)| {
        let head = format!("    {:<30} ", format!("{}@{name}", server.name));
        print(&hanging(&head, &variant.note, width))
    })
}
