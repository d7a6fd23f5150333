//! `rpcbench report`, and the views that every run leaves beside its record.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use rpcbench_record::{LoadRecord, Run};
use rpcbench_report::{csv, json, markdown, summary, text, trials_csv};

use super::{load, scene};
use crate::Verdict;
use crate::args::{Format, ReportArgs};
use crate::context::Context;

pub fn report(context: &Context, args: &ReportArgs) -> anyhow::Result<Verdict> {
    if args.run.is_file() {
        load::show(context, &LoadRecord::read(&args.run)?, args.format)?;
        return Ok(Verdict::Done);
    }
    let run = rpcbench_record::read(&args.run)?;
    show(context, &run, args.format)?;
    Ok(Verdict::Done)
}

/// Prints a run.
pub fn show(context: &Context, run: &Run, format: Format) -> anyhow::Result<()> {
    let summary = summary(run);
    let text = match format {
        Format::Table => text(&summary, context.style),
        Format::Markdown => markdown(&summary),
        Format::Json => json(&summary)?,
        Format::Csv => csv(&summary)?,
    };
    scene::print(&text)
}

/// Writes the Markdown and CSV views into the record's folder.
pub fn write_views(folder: &Path, run: &Run) -> anyhow::Result<()> {
    let summary = summary(run);
    let views = [
        ("report.md", markdown(&summary)),
        ("cells.csv", csv(&summary)?),
        ("trials.csv", trials_csv(run)?),
    ];
    for (name, text) in views {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
