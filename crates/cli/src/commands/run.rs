//! `rpcbench run`.

use std::collections::BTreeSet;

use anyhow::Context as _;
use rpcbench_engine::call_log;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::run::{Ending, Event, Observer};
use rpcbench_harness::setup::{FinishedRun, PreparedRun, RunRequest, Setup, SetupError};
use rpcbench_report::summary;

use super::build::{SetupProgress, building};
use super::calls_log::CallFiles;
use super::report::{OutputOptions, show, write_views};
use super::shared;
use crate::Verdict;
use crate::args::RunArgs;
use crate::context::Context;
use crate::print::note;
use crate::progress::Progress;

pub fn run(context: &Context, args: &RunArgs) -> anyhow::Result<Verdict> {
    let output = OutputOptions::of(args.format, &args.table)?;
    let building = building(args.no_build);
    let slices = args.slices.clone();
    let finished = measure(context, |setup| match &args.resume {
        None => Setup { slices, ..setup }.run(&RunRequest {
            selection: args.selection.clone(),
            servers: args.plan.servers.clone(),
            builds: None,
            suite: args.plan.suite.clone(),
            spec: args.spec.clone(),
            scale_to_machine: args.plan.scale_to_machine,
            seed: args.plan.seed,
            labels: args.labels.labels(),
            results: args.plan.results.clone(),
            building,
        }),
        Some(folder) => Setup { slices, ..setup }.resume(folder.clone(), building),
    })?;
    let shown = show(context, &finished.run, &output);
    // The record is complete even if the terminal is gone.
    let verdict = conclude(finished)?;
    shown.map(|()| verdict)
}

/// Prepares a run and executes it, with progress.
pub fn measure(
    context: &Context,
    prepare: impl FnOnce(Setup<'_>) -> Result<PreparedRun, SetupError>,
) -> anyhow::Result<FinishedRun> {
    let interrupt = shared::listen(Interrupt::default())?;
    let (sender, calls) = call_log();
    let mut preparing = SetupProgress::new(context);
    let setup = context.setup(interrupt, &mut preparing)?;
    let prepared = prepare(Setup { call_log: Some(sender), ..setup })?;
    let plan = prepared.plan().clone();
    let folder = prepared.folder.as_ref().filter(|_| plan.log_calls);
    let calls = folder.map(|folder| CallFiles::new(folder, calls));
    let progress = Progress::new(context, &plan);
    let finished = prepared.execute(&Logged { progress: &progress, calls });
    progress.finish();
    Ok(finished)
}

/// Shows a run's progress, and writes its calls if requested.
struct Logged<'a> {
    progress: &'a Progress<'a>,
    calls: Option<CallFiles>,
}

impl Observer for Logged<'_> {
    fn event(&self, event: &Event<'_>) {
        self.progress.event(event);
        let Some(calls) = &self.calls else { return };
        match event {
            Event::Repeating { .. } => calls.forget(),
            Event::Trial(trial) => {
                if let Err(problem) = calls.write(trial) {
                    note!("rpcbench: the calls of this window are not written: {problem:#}");
                }
            }
            _ => {}
        }
    }
}

/// Writes the views and decides the verdict. Called after the results are shown.
pub fn conclude(finished: FinishedRun) -> anyhow::Result<Verdict> {
    let FinishedRun { run, ending, folder, .. } = finished;
    let folder = folder.context("a run has a folder")?;
    let views = write_views(&folder, &run);
    let ending = ending.context("the record is incomplete; what was measured is shown above")?;
    views?;
    note!("record: {}", folder.display());
    if ending == Ending::Interrupted {
        note!("to resume: rpcbench run --resume {}", folder.display());
        return Ok(Verdict::Stopped);
    }
    let summary = summary(&run);
    let rows = summary.tables.iter().flat_map(|table| &table.rows);
    let failed: BTreeSet<&str> =
        rows.filter(|row| row.verdict.is_failed()).map(|row| &*row.server.entry).collect();
    if failed.is_empty() {
        return Ok(Verdict::Done);
    }
    note!("failed: {}", Vec::from_iter(failed).join(", "));
    Ok(Verdict::ChecksFailed)
}
