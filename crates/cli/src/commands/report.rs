//! `rpcbench report`, and the views that every run leaves beside its record.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Context as _, bail};
use rpcbench_record::Run;
use rpcbench_report::{
    Layout, LoadView, TrialCalls, csv, html_with_calls, json, markdown, summary, text, trials_csv,
};

use super::out_file::OutFile;
use crate::Verdict;
use crate::args::{Format, ReportArgs, TableArgs};
use crate::context::Context;
use crate::print::print;

pub fn report(context: &Context, args: &ReportArgs) -> anyhow::Result<Verdict> {
    if let Some(file) = &args.html {
        write_page(open_page(file)?, &page(&named(args)?)?)?;
        return Ok(Verdict::Done);
    }
    let look = Look::of(args.format, &args.table)?;
    let folders = named(args)?;
    let [folder] = folders.as_slice() else {
        bail!("several records are shown together by --html FILE; name one");
    };
    let run = rpcbench_record::read(folder)?;
    show(context, &run, &look)?;
    Ok(Verdict::Done)
}

/// The records asked for; where none is, the newest run's.
fn named(args: &ReportArgs) -> anyhow::Result<Vec<PathBuf>> {
    match args.runs.as_slice() {
        [] => Ok(vec![newest(&args.results)?]),
        named => Ok(named.to_owned()),
    }
}

/// Records as one page.
fn page(records: &[PathBuf]) -> anyhow::Result<String> {
    let runs = records.iter().map(|record| rpcbench_record::read(record));
    let runs = runs.collect::<Result<Vec<Run>, _>>()?;
    Ok(html_with_calls(&runs, calls(records)?)?)
}

/// The file of a page; one that is none is not replaced.
pub fn open_page(file: &Path) -> anyhow::Result<OutFile> {
    OutFile::open(file, PAGE)
}

/// Writes a page.
pub fn write_page(mut file: OutFile, page: &str) -> anyhow::Result<()> {
    file.write_all(page.as_bytes()).with_context(|| file.path().display().to_string())?;
    file.commit()
}

/// What a page draws of the calls of each record.
pub fn calls(records: &[impl AsRef<Path>]) -> anyhow::Result<Vec<Vec<TrialCalls>>> {
    records.iter().map(|record| read_calls(record.as_ref())).collect()
}

/// How a page begins.
const PAGE: &[u8] = b"<!doctype html>";

/// What a page draws of the calls that were logged: beside a record, of its only trial.
const CALLS: &str = "calls.json";

/// Where a run has its calls: a Parquet file for each trial, and for each cell what a page draws of its last one.
pub const CALLS_FOLDER: &str = "calls";

/// Writes what a page draws of a load's calls beside its record.
pub fn write_calls(folder: &Path, calls: Option<&TrialCalls>) -> anyhow::Result<()> {
    calls.map_or(Ok(()), |calls| write_drawn(&folder.join(CALLS), calls))
}

/// Writes what a page draws of a trial's calls.
pub fn write_drawn(path: &Path, calls: &TrialCalls) -> anyhow::Result<()> {
    fs::write(path, serde_json::to_vec(calls)?).with_context(|| path.display().to_string())
}

/// What a page draws of each cell's calls; nothing where none were logged.
fn read_calls(folder: &Path) -> anyhow::Result<Vec<TrialCalls>> {
    let mut files: Vec<PathBuf> = match fs::read_dir(folder.join(CALLS_FOLDER)) {
        Ok(files) => files.flatten().map(|file| file.path()).collect(),
        Err(_) => Vec::new(),
    };
    files.push(folder.join(CALLS));
    files.retain(|path| path.extension().is_some_and(|name| name == "json") && path.exists());
    files.sort();
    files.iter().map(|path| read_drawn(path)).collect()
}

fn read_drawn(path: &Path) -> anyhow::Result<TrialCalls> {
    let whose = || format!("{}: not what rpcbench leaves of logged calls", path.display());
    let text = fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text).with_context(whose)
}

/// The run in `results` that was begun last. Folders without a record are left alone.
fn newest(results: &Path) -> anyhow::Result<PathBuf> {
    let none =
        || format!("{}: no run here; name one, or make one with `rpcbench run`", results.display());
    let newest = records(results).with_context(none)?.pop();
    newest.with_context(none)
}

/// The records in `results`, the one that was begun last at the end. Folders without one are left alone.
pub fn records(results: &Path) -> io::Result<Vec<PathBuf>> {
    let begun = |folder: PathBuf| {
        let made = fs::metadata(folder.join("run.json")).and_then(|it| it.modified()).ok()?;
        Some((made, folder))
    };
    let folders = fs::read_dir(results)?.flatten();
    let mut records: Vec<_> = folders.filter_map(|item| begun(item.path())).collect();
    records.sort();
    Ok(records.into_iter().map(|(_, folder)| folder).collect())
}

/// How a run is shown.
pub struct Look {
    format: Format,
    layout: Layout,
}

impl Look {
    /// Nothing to choose.
    pub fn whole(format: Format) -> Self {
        Self { format, layout: Layout::default() }
    }

    /// As asked for. Only the table for the terminal has columns to choose.
    pub fn of(format: Format, table: &TableArgs) -> anyhow::Result<Self> {
        let layout = table.layout();
        if format != Format::Table && layout != Layout::default() {
            bail!(
                "--wide, --columns, --sort, --group-by and --explain are for --format table; markdown has every column, json and csv every figure"
            );
        }
        Ok(Self { format, layout })
    }
}

/// Prints a run: as a load, if it is one.
pub fn show(context: &Context, run: &Run, look: &Look) -> anyhow::Result<()> {
    if let Some(load) = LoadView::of(run) {
        if look.layout != Layout::default() {
            bail!(
                "--wide, --columns, --sort, --group-by and --explain are for runs; this is the record of a load, which is shown whole"
            );
        }
        let text = match look.format {
            Format::Table => load.text(context.style),
            Format::Markdown => load.markdown(),
            Format::Json => load.json()?,
            Format::Csv => load.csv()?,
        };
        return Ok(print(&text)?);
    }
    let summary = summary(run);
    let text = match look.format {
        Format::Table => text(&summary, context.style, &look.layout),
        Format::Markdown => markdown(&summary),
        Format::Json => json(&summary)?,
        Format::Csv => csv(&summary)?,
    };
    Ok(print(&text)?)
}

/// Writes the HTML, Markdown and CSV views into the record's folder.
pub fn write_views(folder: &Path, run: &Run) -> anyhow::Result<()> {
    let (page, cells) = match LoadView::of(run) {
        Some(load) => (load.markdown(), load.csv()?),
        None => {
            let summary = summary(run);
            (markdown(&summary), csv(&summary)?)
        }
    };
    let views = [
        ("report.html", html_with_calls(slice::from_ref(run), vec![read_calls(folder)?])?),
        ("report.md", page),
        ("cells.csv", cells),
        ("trials.csv", trials_csv(run)?),
    ];
    for (name, text) in views {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
