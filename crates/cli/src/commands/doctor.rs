//! `rpcbench doctor`.

use anstream::println;
use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use rpcbench_harness::cpus::Topology;
use rpcbench_harness::doctor::{Facts, Severity, examine, noise};
use rpcbench_harness::isolation::Isolation;
use rpcbench_harness::manifest::Catalog;

use crate::Verdict;
use crate::args::DoctorArgs;
use crate::context::Context;

/// Rounds of 2 ms on each CPU.
const ROUNDS: u32 = 5000;

pub fn doctor(context: &Context, args: &DoctorArgs) -> anyhow::Result<Verdict> {
    let topology = Topology::read().context("CPUs that this process may use")?;
    let isolation = Isolation::detect(&topology.cpus());
    let catalog = Catalog::load(&context.root()?)?;
    for finding in examine(&Facts::gather(&topology, &isolation, &catalog)) {
        let (mark, style) = match finding.severity {
            Severity::Ok => ("ok", AnsiColor::Green.on_default()),
            Severity::Advice => ("advice", AnsiColor::Yellow.on_default()),
            Severity::Problem => ("problem", AnsiColor::Red.on_default()),
        };
        println!("{style}{mark:<8}{style:#} {:<20} {}", finding.id, finding.what);
        if let Some(remedy) = finding.remedy {
            println!("{:<8} {:<20} -> {remedy}", "", "");
        }
    }
    if args.noise {
        show_noise(&topology.cpus())?;
    }
    Ok(Verdict::Done)
}

fn show_noise(cpus: &[u32]) -> anyhow::Result<()> {
    let bold = Style::new().bold();
    println!("\n{bold}The same work, {ROUNDS} rounds of about 2 ms on each CPU{bold:#}");
    for cpu in noise(cpus, ROUNDS)? {
        println!(
            "CPU {:<3} median {:.3} ms, 5th to 95th percentile {:.1} % of it, worst {:.1} % above",
            cpu.cpu,
            cpu.median_ns as f64 / 1e6,
            cpu.spread * 100.0,
            cpu.worst * 100.0
        );
    }
    println!("Differences between servers that are smaller than this are noise.");
    Ok(())
}
