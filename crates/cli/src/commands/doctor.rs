//! `rpcbench doctor`.

use std::path::Path;

use anstream::println;
use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use rpcbench_harness::cpus::Topology;
use rpcbench_harness::doctor::{Facts, Language, Severity, examine, languages, noise};
use rpcbench_harness::isolation::Isolation;
use rpcbench_harness::manifest::{Catalog, Selection};
use rpcbench_harness::run::{Ending, Interrupt};
use rpcbench_harness::suite::Overrides;
use rpcbench_harness::toolchain::Probe;
use rpcbench_record::{Run, StoreError};
use rpcbench_report::spreads;

use super::run::{Order, Work};
use super::shared;
use crate::Verdict;
use crate::args::DoctorArgs;
use crate::context::Context;

/// Rounds of 2 ms on each CPU.
const ROUNDS: u32 = 2500;
/// The server that is measured against itself: it needs nothing but Rust, and warms at once.
const EQUAL: &str = "rust-tonic@current-thread";
const PROCESSES: u32 = 2;

pub fn doctor(context: &Context, args: &DoctorArgs) -> anyhow::Result<Verdict> {
    let catalog = Catalog::load(&context.root()?)?;
    if args.missing {
        languages(&catalog, &context.build_env).iter().for_each(show_missing);
        return Ok(Verdict::Done);
    }
    let topology = Topology::read().context("CPUs that this process may use")?;
    let isolation = Isolation::detect(&topology.cpus());
    for finding in examine(&Facts::gather(&topology, &isolation, &catalog, &context.build_env)) {
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
    match args.noise {
        true => show_noise(context, &topology.cpus()),
        false => Ok(Verdict::Done),
    }
}

/// One line for each toolchain that a language lacks.
fn show_missing(language: &Language) {
    for probe in &language.probes {
        let Probe::Missing(missing) = probe else { continue };
        let or_dash = |text: Option<&str>| text.filter(|t| !t.is_empty()).unwrap_or("-").to_owned();
        let fields = [
            language.title.clone(),
            missing.name.clone(),
            or_dash(missing.found.as_deref()),
            or_dash(missing.minimum.as_deref()),
            or_dash(Some(&missing.apt.join(", "))),
            missing.install.clone(),
        ];
        println!("{}", fields.join("\t"));
    }
}

/// What one CPU makes of equal work, then what the whole bench makes of equal servers.
fn show_noise(context: &Context, cpus: &[u32]) -> anyhow::Result<Verdict> {
    let bold = Style::new().bold();
    println!("\n{bold}The same work, {ROUNDS} rounds of about 2 ms on each CPU{bold:#}");
    for cpu in noise(cpus, ROUNDS)? {
        println!(
            "  CPU {:<3} median {:.3} ms, 5th to 95th percentile {:.1} % of it, worst {:.1} % above",
            cpu.cpu,
            cpu.median_ns as f64 / 1e6,
            cpu.spread * 100.0,
            cpu.worst * 100.0
        );
    }
    println!("\n{bold}The same server, entered twice{bold:#}");
    let (run, ending) = run_equals(context)?;
    let spreads = spreads(&run);
    for spread in &spreads {
        println!(
            "  {:<28} between the two {:.1} %, between all trials {:.1} %",
            spread.figure,
            spread.between * 100.0,
            spread.trials * 100.0
        );
    }
    if spreads.is_empty() {
        println!("  nothing could be measured");
    } else {
        println!("Differences between servers that are smaller than this are noise.");
    }
    Ok(if ending? == Ending::Finished { Verdict::Done } else { Verdict::Stopped })
}

/// Runs one server against itself; the record stays like that of any run.
fn run_equals(context: &Context) -> anyhow::Result<(Run, Result<Ending, StoreError>)> {
    let order = Order {
        scale_to_machine: false,
        selection: Selection::named(vec![EQUAL.to_owned(); 2]),
        suite: "quick",
        overrides: Overrides { processes: Some(PROCESSES), ..Overrides::default() },
        seed: None,
        results: Path::new("results"),
        no_build: false,
    };
    let interrupt = shared::listen(Interrupt::default(), shared::AFTER_THIS_TRIAL)?;
    Ok(Work::begin(context, &order, interrupt)?.execute(context))
}
