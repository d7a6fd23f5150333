//! `rpcbench report`, and the views that every run leaves beside its record.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use rpcbench_record::Run;
use rpcbench_report::{LoadView, csv, json, markdown, summary, text, trials_csv};

use super::shared;
use crate::Verdict;
use crate::args::{Format, ReportArgs};
use crate::context::Context;

pub fn report(context: &Context, args: &ReportArgs) -> anyhow::Result<Verdict> {
    let run = rpcbench_record::read(&args.run)?;
    show(context, &run, args.format)?;
    Ok(Verdict::Done)
}

/// Prints a run: as a load, if it is one.
pub fn show(context: &Context, run: &Run, format: Format) -> anyhow::Result<()> {
    if let Some(load) = LoadView::of(run) {
        let text = match format {
            Format::Table => load.text(context.style),
            Format::Markdown => load.markdown(),
            Format::Json => load.json()?,
            Format::Csv => load.csv()?,
        };
        return shared::print(&text);
    }
    let summary = summary(run);
    let text = match format {
        Format::Table => text(&summary, context.style),
        Format::Markdown => markdown(&summary),
        Format::Json => json(&summary)?,
        Format::Csv => csv(&summary)?,
    };
    shared::print(&text)
}

/// Writes the Markdown and CSV views into the record's folder.
pub fn write_views(folder: &Path, run: &Run) -> anyhow::Result<()> {
    let (page, cells) = match LoadView::of(run) {
        Some(load) => (load.markdown(), load.csv()?),
        None => {
            let summary = summary(run);
            (markdown(&summary), csv(&summary)?)
        }
    };
    let views = [("report.md", page), ("cells.csv", cells), ("trials.csv", trials_csv(run)?)];
    for (name, text) in views {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
