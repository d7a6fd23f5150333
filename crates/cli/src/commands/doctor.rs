//! `rpcbench doctor`.

use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use rpcbench_harness::doctor::{Facts, Language, examine, languages, noise};
use rpcbench_harness::finding::Severity;
use rpcbench_harness::host::cpus::Topology;
use rpcbench_harness::host::isolation::Isolation;
use rpcbench_harness::manifest::Selection;
use rpcbench_harness::run::Ending;
use rpcbench_harness::setup::{FinishedRun, RunRequest};
use rpcbench_harness::spec::RunSpec;
use rpcbench_harness::toolchain::Probe;
use rpcbench_record::Role;
use rpcbench_report::spreads;

use super::run::measure;
use super::shared;
use crate::Verdict;
use crate::args::{DoctorArgs, Whose};
use crate::context::Context;
use crate::print::{FILE_WIDTH, Unprinted, hanging, out, print};

/// Rounds of work on each CPU, 2 ms each.
const ROUNDS: u32 = 2500;
/// The server to measure against itself: it needs only Rust, and is warm immediately.
const EQUAL: &str = "rust-tonic@current-thread";
const PROCESSES: u32 = 2;
/// The figure that rates a machine, and the largest differences between equal servers that are good and fair: the usual
/// precision, and what a run of default length still achieves.
const PRICE: &str = "calls per server CPU-second";
const GOOD: f64 = 0.05;
const FAIR: f64 = 0.15;

pub fn doctor(context: &Context, args: &DoctorArgs) -> anyhow::Result<Verdict> {
    let catalog = shared::catalog(&context.root()?, Role::Server)?;
    if let Some(whose) = args.missing {
        let entries = catalog.select(&match whose {
            Whose::All => Selection::ALL,
            Whose::Default => Selection::default(),
        })?;
        let servers = entries.iter().map(|entry| &*entry.server);
        languages(servers, &context.build_env).iter().try_for_each(show_missing)?;
        return Ok(Verdict::Done);
    }
    let topology = Topology::read().context("CPUs available to this process")?;
    let isolation = Isolation::detect(&topology.cpus());
    let findings = examine(&Facts::gather(&topology, &isolation, &catalog, &context.build_env));
    let width = context.style.width.unwrap_or(FILE_WIDTH);
    for finding in &findings {
        let (mark, style) = match finding.severity {
            Severity::Ok => ("ok", AnsiColor::Green.on_default()),
            Severity::Advice => ("advice", AnsiColor::Yellow.on_default()),
            Severity::Problem => ("problem", AnsiColor::Red.on_default()),
        };
        let head = format!("{mark:<8} {:<21}", finding.id);
        let lines = hanging(&head, &finding.what, width);
        print(&format!("{style}{mark}{style:#}{}", lines.split_at(mark.len()).1))?;
        if let Some(remedy) = &finding.remedy {
            print(&hanging(&format!("{:30}-> ", ""), remedy, width))?;
        }
    }
    let wrong = findings.iter().any(|finding| finding.severity == Severity::Problem);
    let verdict = if args.noise { show_noise(context, &topology.cpus())? } else { Verdict::Done };
    Ok(if wrong && verdict == Verdict::Done { Verdict::ChecksFailed } else { verdict })
}

/// Prints a line per missing toolchain of a language.
fn show_missing(language: &Language) -> Result<(), Unprinted> {
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
        out!("{}", fields.join("\t"))?;
    }
    Ok(())
}

/// Shows the noise of each CPU under equal work, then that of a run of equal servers.
fn show_noise(context: &Context, cpus: &[u32]) -> anyhow::Result<Verdict> {
    let bold = Style::new().bold();
    out!("\n{bold}The same work, {ROUNDS} rounds of about 2 ms on each CPU{bold:#}")?;
    for cpu in noise(cpus, ROUNDS)? {
        out!(
            "  CPU {:<3} median {:.3} ms, 5th to 95th percentile {:.1} % of it, worst {:.1} % above",
            cpu.cpu,
            cpu.median_ns as f64 / 1e6,
            cpu.spread * 100.0,
            cpu.worst * 100.0
        )?;
    }
    out!("\n{bold}The same server, entered twice{bold:#}")?;
    let FinishedRun { run, ending, .. } = measure(context, |setup| setup.run(&equals()))?;
    let spreads = spreads(&run);
    for spread in &spreads {
        out!(
            "  {:<28} between the two {:.1} %, between all trials {:.1} %",
            spread.figure,
            spread.between * 100.0,
            spread.trials * 100.0
        )?;
    }
    let Some(price) = spreads.iter().find(|spread| spread.figure == PRICE) else {
        out!("Bad: nothing could be measured.")?;
        return Ok(Verdict::ChecksFailed);
    };
    let (good, words) = judged(price.between);
    out!("{words}")?;
    Ok(match (ending?, good) {
        (Ending::Interrupted, _) => Verdict::Stopped,
        (Ending::Finished, true) => Verdict::Done,
        (Ending::Finished, false) => Verdict::ChecksFailed,
    })
}

/// Tells in words if equal servers differ little enough to compare servers. `between` is their difference, as a share of the
/// mean.
fn judged(between: f64) -> (bool, String) {
    let share = format!("equal servers differ by {:.1} % in {PRICE} here", between * 100.0);
    if between <= GOOD {
        (true, format!("Good: {share}."))
    } else if between <= FAIR {
        (
            true,
            format!(
                "Fair: {share}; smaller differences need more processes, which runs add automatically."
            ),
        )
    } else {
        (false, format!("Bad: {share}; stop other programs, or use a dedicated machine."))
    }
}

/// A run of one server against itself. The record is kept, as for any run.
fn equals() -> RunRequest {
    RunRequest {
        selection: Selection::named(vec![EQUAL.to_owned(); 2]),
        suite: "quick".to_owned(),
        spec: RunSpec::with_processes(PROCESSES),
        results: "results".into(),
        ..RunRequest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_good_fair_or_bad() {
        assert_eq!(
            judged(0.012),
            (
                true,
                "Good: equal servers differ by 1.2 % in calls per server CPU-second here."
                    .to_owned()
            )
        );
        assert!(judged(0.1).0 && judged(0.1).1.starts_with("Fair: "));
        assert!(!judged(0.3).0 && judged(0.3).1.starts_with("Bad: "));
    }
}
