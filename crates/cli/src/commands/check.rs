//! `rpcbench check`.

use anyhow::bail;
use rpcbench_harness::run::{BuildState, Interrupt, Subject, Verified, verify};
use rpcbench_record::{Failure, Limits};

use super::{build, shared};
use crate::Verdict;
use crate::args::CheckArgs;
use crate::context::Context;
use crate::print::{note, out};

/// A check measures nothing: one CPU, and memory for the largest messages of the slowest runtime.
const LIMITS: Limits = Limits { cpus: 1, memory_bytes: Some(1 << 30) };
/// Payloads of a check are the same every time.
const SEED: u64 = 1;

pub fn check(context: &Context, args: &CheckArgs) -> anyhow::Result<Verdict> {
    let interrupt = shared::listen(Interrupt::default())?;
    let catalog = shared::catalog(&context.root()?)?;
    let entries = catalog.into_selected(&args.selection.selection())?;
    let candidates = build::prepare(context, &entries, args.no_build, &interrupt)?;
    let machine = shared::this_machine(context, LIMITS, 1)?;
    let environment = machine.environment(SEED, interrupt);
    let unbuilt = candidates.iter().any(|it| matches!(it.build, BuildState::Failed(_)));
    let (mut passed, mut failed) = (0, 0);
    for candidate in &candidates {
        let name = candidate.entry.name();
        match verify(&environment, &Subject::native(&machine.native, candidate))? {
            Verified::Skipped { reason } => out!("{name:<32} skipped: {reason}")?,
            Verified::Checked(report) if report.failed.is_empty() => {
                passed += 1;
                out!("{name:<32} passed: {} cases", report.passed)?;
            }
            Verified::Checked(report) => {
                failed += 1;
                let all = report.failed.len() + report.passed as usize;
                out!("{name:<32} FAILED: {} of {all} cases", report.failed.len())?;
                report.failed.iter().try_for_each(|case| out!("    {case}"))?;
            }
            Verified::Failed(failure) => {
                failed += u32::from(matches!(candidate.build, BuildState::Built(_)));
                out!("{name:<32} FAILED: {}", failure.reason)?;
                log(&failure);
            }
        }
    }
    if passed + failed == 0 && !unbuilt {
        bail!("nothing could be checked here; `rpcbench doctor` says what is missing");
    }
    Ok(match (failed, unbuilt) {
        (0, false) => Verdict::Done,
        (0, true) => Verdict::Stopped,
        _ => Verdict::Against,
    })
}

fn log(failure: &Failure) {
    for line in &failure.log_tail {
        note!("    {line}");
    }
}
