//! `rpcbench check`.

use anyhow::bail;
use indicatif::ProgressBar;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::run::{Subject, Verified, verify};
use rpcbench_record::{Failure, Readiness};

use super::build::{SetupProgress, building};
use super::shared;
use crate::Verdict;
use crate::args::CheckArgs;
use crate::context::Context;
use crate::live;
use crate::print::{Unprinted, note, out};

pub fn check(context: &Context, args: &CheckArgs) -> anyhow::Result<Verdict> {
    let mut preparing = SetupProgress::new(context);
    let setup = context.setup(shared::listen(Interrupt::default())?, &mut preparing)?;
    let (building, tls) = (building(args.no_build), args.calls.tls());
    let servers = setup.check(&args.selection, args.placement, building, tls)?;
    let all = servers.subjects.len();
    let progress = progress(context, all);
    let mut count = Count::default();
    let options = args.calls.options();
    for (done, subject) in servers.subjects.iter().enumerate() {
        let left = live::left(done, all, progress.elapsed());
        progress.inc(1);
        progress.set_message(format!("{}{left}", subject.entry));
        let verified = verify(&servers.environment, subject, &options)?;
        count.add(&verified, subject);
        progress.suspend(|| print_result(&subject.entry, &verified))?;
    }
    progress.finish_and_clear();
    count.verdict()
}

/// The terminal line that names the server being checked.
fn progress(context: &Context, servers: usize) -> ProgressBar {
    let bar = live::ticking(context, "{spinner} checking {pos} of {len}: {msg}");
    bar.set_length(servers as u64);
    bar
}

/// Results so far.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    /// Servers whose build failed.
    unbuilt: usize,
}

impl Count {
    fn add(&mut self, verified: &Verified, subject: &Subject<'_>) {
        match verified {
            Verified::Skipped { .. } => {}
            Verified::Checked(report) if report.failed.is_empty() => self.passed += 1,
            Verified::Failed(_) if subject.readiness != Readiness::Ready => self.unbuilt += 1,
            Verified::Checked(_) | Verified::Failed(_) => self.failed += 1,
        }
    }

    fn verdict(&self) -> anyhow::Result<Verdict> {
        match (self.failed, self.unbuilt, self.passed) {
            (0, 0, 0) => {
                bail!("none of these servers can run here; `rpcbench doctor` says what is missing")
            }
            (0, 0, _) => Ok(Verdict::Done),
            (0, ..) => Ok(Verdict::Stopped),
            _ => Ok(Verdict::ChecksFailed),
        }
    }
}

fn print_result(name: &str, verified: &Verified) -> Result<(), Unprinted> {
    match verified {
        Verified::Skipped { reason } => out!("{name:<32} skipped: {reason}"),
        Verified::Checked(report) if report.failed.is_empty() => {
            out!("{name:<32} passed: {} cases", report.passed)
        }
        Verified::Checked(report) => {
            let all = report.failed.len() + report.passed as usize;
            out!("{name:<32} FAILED: {} of {all} cases", report.failed.len())?;
            report.failed.iter().try_for_each(|case| out!("    {case}"))
        }
        Verified::Failed(failure) => {
            out!("{name:<32} FAILED: {}", failure.reason)?;
            log(failure);
            Ok(())
        }
    }
}

fn log(failure: &Failure) {
    for line in &failure.log_tail {
        note!("    {line}");
    }
}
