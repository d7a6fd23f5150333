//! `rpcbench compare`.

use std::path::Path;

use anyhow::bail;
use rpcbench_record::Run;
use rpcbench_report::{
    Changes, LoadView, changes, changes_csv, changes_json, changes_markdown, changes_text,
};

use crate::Verdict;
use crate::args::{CompareArgs, Format};
use crate::context::Context;
use crate::print::{note, print};

pub fn compare(context: &Context, args: &CompareArgs) -> anyhow::Result<Verdict> {
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let changes = changes(&old, &new, &args.asked());
    if !args.force {
        refuse(&changes)?;
    }
    print(&match args.format {
        Format::Table => changes_text(&changes, context.style),
        Format::Markdown => changes_markdown(&changes),
        Format::Json => changes_json(&changes)?,
        Format::Csv => changes_csv(&changes)?,
    })?;
    Ok(judged(&changes, args))
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
            verdict = Verdict::Against;
            let (entry, workload) = (&row.entry, &row.workload);
            note!("rpcbench: {limit} is broken by {entry} under {workload}");
        }
    }
    verdict
}
