//! `rpcbench check`.

use anstream::{eprintln, println};
use anyhow::bail;
use rpcbench_harness::manifest::Catalog;
use rpcbench_harness::run::{Interrupt, Subject, Verified, verify};
use rpcbench_record::{Failure, Limits};

use super::{build, shared};
use crate::Verdict;
use crate::args::CheckArgs;
use crate::context::Context;

/// A check measures nothing: one CPU, and memory for the largest messages of the slowest runtime.
const LIMITS: Limits = Limits { cpus: 1, memory_bytes: Some(1 << 30) };
/// Payloads of a check are the same every time.
const SEED: u64 = 1;

pub fn check(context: &Context, args: &CheckArgs) -> anyhow::Result<Verdict> {
    let interrupt = shared::listen(Interrupt::default(), "stopping after this server")?;
    let catalog = Catalog::load(&context.root()?)?;
    let entries = catalog.select(&args.selection.selection())?;
    let candidates = build::prepare(context, &entries, args.no_build);
    let machine = shared::this_machine(context, LIMITS, 1)?;
    let environment = machine.environment(SEED, interrupt.clone());
    let (mut passed, mut failed) = (0, 0);
    for candidate in &candidates {
        let name = candidate.entry.name();
        if interrupt.after_this() {
            return Ok(Verdict::Stopped);
        }
        match verify(&environment, &Subject::native(&machine.native, candidate))? {
            Verified::Skipped { reason } => println!("{name:<32} skipped: {reason}"),
            Verified::Checked(report) if report.failed.is_empty() => {
                passed += 1;
                println!("{name:<32} passed: {} cases", report.passed);
            }
            Verified::Checked(report) => {
                failed += 1;
                let all = report.failed.len() + report.passed as usize;
                println!("{name:<32} FAILED: {} of {all} cases", report.failed.len());
                report.failed.iter().for_each(|case| println!("    {case}"));
            }
            Verified::Failed(failure) => {
                failed += 1;
                println!("{name:<32} FAILED: {}", failure.reason);
                log(&failure);
            }
        }
    }
    if passed + failed == 0 {
        bail!("nothing could be checked here; `rpcbench doctor` says what is missing");
    }
    Ok(if failed > 0 { Verdict::Against } else { Verdict::Done })
}

fn log(failure: &Failure) {
    for line in &failure.log_tail {
        eprintln!("    {line}");
    }
}
