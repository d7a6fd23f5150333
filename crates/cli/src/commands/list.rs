//! `rpcbench list`.

use std::sync::Arc;

use anyhow::Context as _;
use rpcbench_harness::host::cpus::Topology;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::manifest::{Catalog, Selection, Server};
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
    let versions = ask(&catalog, context);
    let width = context.style.width.unwrap_or(FILE_WIDTH);
    let lists = |what| args.what().is_none_or(|only| only == what);
    if lists(ListWhat::Servers) {
        out!("Servers")?;
        let mut servers = catalog.servers().iter();
        servers.try_for_each(|server| show_server(server, &versions.of(server), width))?;
    }
    // A folder of your own servers needs no clients.
    if args.what() == Some(ListWhat::Clients)
        || args.what().is_none() && root.join("clients").is_dir()
    {
        between(args)?;
        out!("Clients")?;
        let clients = shared::catalog(&root, Role::Client)?;
        let versions = ask(&clients, context);
        let mut clients = clients.servers().iter();
        clients.try_for_each(|client| show_server(client, &versions.of(client), width))?;
    }
    if lists(ListWhat::Suites) {
        between(args)?;
        out!("Suites")?;
        let mut entries = catalog.select(&Selection::default())?;
        entries.retain(|entry| !entry.server.build.container_only);
        entries.retain(|entry| versions.of(&entry.server).iter().all(|it| it.found().is_some()));
        let topology = Topology::read().context("CPUs available to this process")?;
        let cpus = u32::try_from(topology.cpus().len()).unwrap_or(u32::MAX);
        let shown = |suite: &Suite| print(&suites::text(suite, &entries, cpus, width));
        let suites = Suites::load(&root)?;
        suites.all.iter().try_for_each(shown)?;
        for (path, problem) in &suites.left_out {
            note!("rpcbench: {} is left out: {problem}", path.display());
        }
    }
    Ok(Verdict::Done)
}

fn ask<'a>(catalog: &'a Catalog, context: &Context) -> Versions<'a> {
    let servers = catalog.servers().iter().map(Arc::as_ref);
    Versions::ask(servers, &context.build_env, &Interrupt::default())
}

/// An empty line between parts, if there are several.
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
