//! `rpcbench compare`.

use std::path::Path;
use std::slice;

use anyhow::{Context as _, bail};
use rpcbench_harness::run::Interrupt;
use rpcbench_record::Run;
use rpcbench_report::{
    Changes, Comparison, LoadView, changes, changes_csv, changes_html, changes_json,
    changes_markdown, changes_of_builds, changes_text,
};

use super::out_file::OutFile;
use super::run::{Order, Work, conclude};
use super::{report, shared};
use crate::Verdict;
use crate::args::{CompareArgs, Compared, Format};
use crate::context::Context;
use crate::print::{note, print};

pub fn compare(context: &Context, args: &CompareArgs) -> anyhow::Result<Verdict> {
    let compared = args.compared()?;
    let page = args.html.as_deref().map(report::open_page).transpose()?;
    let output = Output { context, args, page };
    match compared {
        Compared::Runs(old, new) => {
            let runs = [read(old)?, read(new)?];
            let changes = changes(&runs[0], &runs[1], &args.asked());
            if !args.force {
                refuse(&changes)?;
            }
            output.show(&changes, &Records { folders: &[old, new], runs: &runs })
        }
        Compared::Run(folder) => {
            let runs = [read(folder)?];
            let changes = of_builds(&runs[0], args)?;
            output.show(&changes, &Records { folders: &[folder], runs: &runs })
        }
        Compared::Builds { builds, selection, overrides } => {
            let order = Order {
                selection,
                builds: Some(builds),
                suite: &args.suite,
                overrides: *overrides,
                scale_to_machine: false,
                seed: args.seed,
                results: &args.results,
                no_build: args.no_build,
            };
            measure(output, &order)
        }
    }
}

/// Measures builds, and compares them as far as that got.
fn measure(output: Output<'_>, order: &Order<'_>) -> anyhow::Result<Verdict> {
    let Output { context, args, .. } = output;
    let interrupt = shared::listen(Interrupt::default())?;
    let work = Work::begin(context, order, interrupt)?;
    let folder = work.folder.clone();
    let (run, ending) = work.execute(context);
    let records = Records { folders: &[&folder], runs: slice::from_ref(&run) };
    let shown = output.show(&of_builds(&run, args)?, &records);
    let verdict = conclude(&run, &folder, ending)?;
    let limits = shown?;
    Ok(if verdict == Verdict::Done { limits } else { verdict })
}

fn of_builds(run: &Run, args: &CompareArgs) -> anyhow::Result<Changes> {
    changes_of_builds(run, &args.asked()).context(
        "this run did not compare builds; name an earlier run and a later one, or two --build and a server",
    )
}

/// What changes are read from.
struct Records<'a> {
    folders: &'a [&'a Path],
    /// One for each folder.
    runs: &'a [Run],
}

/// Where changes are shown.
struct Output<'a> {
    context: &'a Context,
    args: &'a CompareArgs,
    /// Open before anything is measured.
    page: Option<OutFile>,
}

impl Output<'_> {
    fn show(self, changes: &Changes, records: &Records<'_>) -> anyhow::Result<Verdict> {
        let Self { context, args, page } = self;
        if let Some(page) = page {
            let calls = report::calls(records.folders)?;
            let comparison = Comparison { changes, arguments: &context.arguments };
            report::write_page(page, &changes_html(&comparison, records.runs, calls)?)?;
        }
        print(&match args.format {
            Format::Table => changes_text(changes, context.style),
            Format::Markdown => changes_markdown(changes),
            Format::Json => changes_json(changes)?,
            Format::Csv => changes_csv(changes)?,
        })?;
        Ok(judged(changes, args))
    }
}

/// A run of servers; a load on an address has one process, of which nothing follows.
fn read(folder: &Path) -> anyhow::Result<Run> {
    let run = rpcbench_record::read(folder)?;
    if LoadView::of(&run).is_some() {
        bail!(
            "{} is the record of a load, of one process; compare takes runs, which measure several",
            folder.display()
        );
    }
    Ok(run)
}

fn refuse(changes: &Changes) -> anyhow::Result<()> {
    let differing: Vec<String> = changes
        .obstacles()
        .map(|it| format!("  {}: {}, now {}", it.field, it.old, it.new))
        .collect();
    if !differing.is_empty() {
        bail!(
            "the runs differ in more than their servers, so that no change can be told from it:\n{}\n\
             Measure again under the same conditions, or give --force",
            differing.join("\n")
        );
    }
    Ok(())
}

/// Says which limits are broken.
fn judged(changes: &Changes, args: &CompareArgs) -> Verdict {
    let mut verdict = Verdict::Done;
    for limit in &args.fail_if {
        for row in changes.broken(limit) {
            verdict = Verdict::ChecksFailed;
            let (entry, workload) = (&row.entry, &row.workload);
            note!("rpcbench: {limit} is broken by {entry} under {workload}");
        }
    }
    verdict
}
