//! `rpcbench compare`.

use std::path::Path;
use std::slice;

use anyhow::{Context as _, bail};
use rpcbench_harness::setup::RunRequest;
use rpcbench_record::Run;
use rpcbench_report::{
    Changes, Comparison, Document, Gate, LoadPair, changes, changes_html, changes_of_builds,
};

use super::build::building;
use super::out_file::OutFile;
use super::{report, run, shared};
use crate::Verdict;
use crate::args::{CompareArgs, Compared};
use crate::context::Context;
use crate::print::{note, print};

pub fn compare(context: &Context, args: &CompareArgs) -> anyhow::Result<Verdict> {
    refuse_servers(context, args)?;
    let compared = args.compared()?;
    let page = args.html.as_deref().map(report::open_page).transpose()?;
    let output = Output { context, args, page };
    match compared {
        Compared::Runs(old, new) => {
            let (old, new) = (&*report::record_in(old)?, &*report::record_in(new)?);
            let runs = [rpcbench_record::read(old)?, rpcbench_record::read(new)?];
            if runs[0].header.id == runs[1].header.id {
                bail!(
                    "{} and {} are one run; name an earlier run and a later one",
                    old.display(),
                    new.display()
                );
            }
            if runs.iter().any(is_load) {
                return output.show_loads(&runs);
            }
            let changes = changes(&runs[0], &runs[1], &args.options());
            if !args.force {
                refuse(&changes)?;
            }
            output.show(&changes, &Records { folders: &[old, new], runs: &runs })
        }
        Compared::Run(folder) => {
            let folder = &*report::record_in(folder)?;
            let runs = [rpcbench_record::read(folder)?];
            let changes = of_builds(&runs[0], args)?;
            output.show(&changes, &Records { folders: &[folder], runs: &runs })
        }
        Compared::Builds { builds, selection, spec } => {
            let request = RunRequest {
                selection,
                builds: Some(builds.map(str::to_owned)),
                suite: args.suite.clone(),
                spec: *spec,
                seed: args.seed,
                results: args.results.clone(),
                building: building(args.no_build),
                ..RunRequest::default()
            };
            measure(output, &request)
        }
    }
}

/// Measures builds, and compares them.
fn measure(output: Output<'_>, request: &RunRequest) -> anyhow::Result<Verdict> {
    let args = output.args;
    let finished = run::measure(output.context, |setup| setup.run(request))?;
    let folders = Vec::from_iter(finished.folder.as_deref());
    let records = Records { folders: &folders, runs: slice::from_ref(&finished.run) };
    let shown = output.show(&of_builds(&finished.run, args)?, &records);
    let verdict = run::conclude(finished)?;
    let limits = shown?;
    Ok(if verdict == Verdict::Done { limits } else { verdict })
}

fn of_builds(run: &Run, args: &CompareArgs) -> anyhow::Result<Changes> {
    changes_of_builds(run, &args.options()).context(
        "this run did not compare builds; name an earlier run and a later one, or two --build and a server",
    )
}

struct Records<'a> {
    folders: &'a [&'a Path],
    /// One per folder.
    runs: &'a [Run],
}

/// Where to show changes.
struct Output<'a> {
    context: &'a Context,
    args: &'a CompareArgs,
    /// Opened before the measurement.
    page: Option<OutFile>,
}

impl Output<'_> {
    /// Shows two loads of the same calls.
    fn show_loads(self, runs: &[Run; 2]) -> anyhow::Result<Verdict> {
        let Self { context, args, page } = self;
        if page.is_some() || !args.fail_if.is_empty() || !args.figures.is_empty() {
            bail!(
                "--html, --figure and --fail-if are for runs of servers; a load is one window on one process, whose limits `rpcbench load \
                 --fail-if` checks"
            );
        }
        let pair = LoadPair::of(&runs[0], &runs[1], args.force).map_err(anyhow::Error::msg)?;
        let format = report::document_format(args.format);
        print(&Document::of_load_pair(&pair).render(format, context.style)?)?;
        Ok(Verdict::Done)
    }

    fn show(self, changes: &Changes, records: &Records<'_>) -> anyhow::Result<Verdict> {
        let Self { context, args, page } = self;
        if let Some(page) = page {
            let calls = report::calls(records.folders)?;
            let comparison = Comparison { changes, arguments: &context.arguments };
            report::write_page(page, &changes_html(&comparison, records.runs, calls)?)?;
        }
        let format = report::document_format(args.format);
        print(&Document::of_changes(changes).render(format, context.style)?)?;
        let verdict = check_limits(changes);
        if changes.rows.is_empty() && verdict != Verdict::ChecksFailed {
            bail!("nothing to compare: no server has a ranked figure in both");
        }
        Ok(verdict)
    }
}

/// Refuses servers in place of runs.
fn refuse_servers(context: &Context, args: &CompareArgs) -> anyhow::Result<()> {
    let runs = args.runs();
    match runs.iter().find(|name| shared::is_server(context, name)) {
        None => Ok(()),
        Some(server) => bail!(
            "{server} is a server; without --build, compare takes the folders of two runs\n\
             to compare servers:            rpcbench run {}\n\
             to compare builds of a server: rpcbench compare --build OLD --build NEW {server}",
            runs.join(" ")
        ),
    }
}

/// True if a run is a load on a server that the user runs.
fn is_load(run: &Run) -> bool {
    !run.header.plan.placement.starts_servers()
}

fn refuse(changes: &Changes) -> anyhow::Result<()> {
    let differing: Vec<String> = changes
        .obstacles()
        .map(|it| format!("  {}: {}, now {}", it.field, it.old, it.new))
        .collect();
    if !differing.is_empty() {
        bail!(
            "the runs differ in more than their servers, so they can't be compared:\n{}\n\
             Measure again under the same conditions, or use --force",
            differing.join("\n")
        );
    }
    Ok(())
}

/// Reports the limits, with a line for each cell that does not keep one.
fn check_limits(changes: &Changes) -> Verdict {
    let worst = changes.gates.iter().map(|it| it.gate).max();
    for gated in changes.gates.iter().filter(|it| it.gate != Gate::Holds) {
        note!("rpcbench: {gated}");
    }
    match worst {
        Some(Gate::Exceeded | Gate::Failed) => Verdict::ChecksFailed,
        Some(Gate::CantTell) => Verdict::Undecided,
        Some(Gate::Holds | Gate::NoBaseline) | None => Verdict::Done,
    }
}
