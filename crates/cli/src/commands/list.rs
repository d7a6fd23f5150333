//! `rpcbench list`.

use anstream::println;
use rpcbench_harness::build_env::BuildEnv;
use rpcbench_harness::manifest::{Catalog, Server};
use rpcbench_harness::suite::{Suite, Suites};
use rpcbench_harness::toolchain::{Probe, probe_all};
use rpcbench_record::Workload;
use rpcbench_record::units::{bytes, plural};

use super::matrix;
use crate::Verdict;
use crate::args::{ListArgs, ListWhat};
use crate::context::Context;

pub fn list(context: &Context, args: &ListArgs) -> anyhow::Result<Verdict> {
    let root = context.root()?;
    if args.matrix {
        println!("{}", matrix::text(&Catalog::load(&root)?.matrix()));
        return Ok(Verdict::Done);
    }
    if args.what != Some(ListWhat::Suites) {
        println!("Servers");
        let catalog = Catalog::load(&root)?;
        catalog.servers().iter().for_each(|server| show_server(server, &context.build_env));
    }
    if args.what.is_none() {
        println!();
    }
    if args.what != Some(ListWhat::Servers) {
        println!("Suites");
        Suites::load(&root)?.all().iter().for_each(show_suite);
    }
    Ok(Verdict::Done)
}

fn show_server(server: &Server, env: &BuildEnv) {
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
    println!("  {:<16} {}, {}: {state}", server.name, server.library, server.language_title);
    for (name, variant) in &server.variants {
        println!("    {:<30} {}", format!("{}@{name}", server.name), variant.note);
    }
}

fn show_suite(suite: &Suite) {
    let memory = suite.limits.memory_bytes.map_or("no memory limit".to_owned(), bytes);
    println!("  {:<18} {}", suite.name, suite.description);
    println!(
        "  {:<18} {} CPU, {memory}, {}: {}",
        "",
        suite.limits.cpus,
        trials(suite),
        suite.workloads.iter().map(load).collect::<Vec<_>>().join("; ")
    );
}

/// `3 processes`; `at most 16 processes x 16 windows`.
fn trials(suite: &Suite) -> String {
    let at_most = if suite.stopping.is_some() { "at most " } else { "" };
    let processes = plural(suite.processes.into(), "process");
    let windows = match suite.rounds {
        1 => String::new(),
        rounds => format!(" x {rounds} windows"),
    };
    format!("{at_most}{processes}{windows}")
}

fn load(workload: &Workload) -> String {
    format!(
        "{}, {} connections, {} in flight, {}",
        workload.shape, workload.connections, workload.in_flight, workload.window
    )
}
