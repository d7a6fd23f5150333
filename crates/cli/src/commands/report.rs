//! `rpcbench report`, and the views that every run writes next to its record.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Context as _, bail};
use rpcbench_record::{Price, Run, regular};
use rpcbench_report::{
    Format as DocumentFormat, Layout, Style, TrialCalls, View, html, trials_csv,
};

use super::out_file::OutFile;
use crate::Verdict;
use crate::args::{Format, ReportArgs, TableArgs};
use crate::context::Context;
use crate::print::print;

pub fn report(context: &Context, args: &ReportArgs) -> anyhow::Result<Verdict> {
    if let Some(file) = &args.html {
        write_page(open_page(file)?, &page(&named(args)?, args.price.as_ref())?)?;
        return Ok(Verdict::Done);
    }
    let output = OutputOptions::of(args.format, &args.table)?;
    let folders = named(args)?;
    let [folder] = folders.as_slice() else {
        bail!("only --html FILE shows several records together; name one");
    };
    let run = read(folder, args.price.as_ref())?;
    show(context, &run, &output)?;
    Ok(Verdict::Done)
}

/// The named records, or the newest run.
fn named(args: &ReportArgs) -> anyhow::Result<Vec<PathBuf>> {
    match args.runs.as_slice() {
        [] => Ok(vec![newest(&args.results)?]),
        named => named.iter().map(|folder| record_in(folder)).collect(),
    }
}

/// The folder itself if it is a record, or else the only record in it.
pub fn record_in(folder: &Path) -> anyhow::Result<PathBuf> {
    if folder.join(RECORD).exists() {
        return Ok(folder.to_owned());
    }
    match records(folder).unwrap_or_default().as_slice() {
        // Reading the folder will report what is wrong.
        [] => Ok(folder.to_owned()),
        [record] => Ok(record.clone()),
        several => {
            let names: Vec<String> =
                several.iter().map(|record| format!("  {}", record.display())).collect();
            bail!(
                "{} has {} records; name one of them:\n{}",
                folder.display(),
                several.len(),
                names.join("\n")
            )
        }
    }
}

/// Reads a record. Replaces its price if one is given.
fn read(record: &Path, price: Option<&Price>) -> anyhow::Result<Run> {
    let mut run = rpcbench_record::read(record)?;
    if let Some(price) = price {
        if !run.header.plan.placement.starts_servers() {
            let record = record.display();
            bail!(
                "{record}: --price is for runs; this is the record of a load, whose cost isn't shown"
            );
        }
        run.header.plan.price = Some(price.clone());
    }
    Ok(run)
}

/// Renders records as one page.
fn page(records: &[PathBuf], price: Option<&Price>) -> anyhow::Result<String> {
    let runs = records.iter().map(|record| read(record, price));
    let runs = runs.collect::<anyhow::Result<Vec<Run>>>()?;
    Ok(html(&runs, calls(records)?)?)
}

/// Opens the file of a page. A file that is not a page is never replaced.
pub fn open_page(file: &Path) -> anyhow::Result<OutFile> {
    OutFile::open(file, PAGE)
}

/// Writes a page.
pub fn write_page(mut file: OutFile, page: &str) -> anyhow::Result<()> {
    file.write_all(page.as_bytes()).with_context(|| file.path().display().to_string())?;
    file.commit()
}

/// The logged calls of each record, as drawn by a page.
pub fn calls(records: &[impl AsRef<Path>]) -> anyhow::Result<Vec<Vec<TrialCalls>>> {
    records.iter().map(|record| read_calls(record.as_ref())).collect()
}

/// The file that makes a folder a record.
const RECORD: &str = "run.json";

/// The first bytes of a page.
const PAGE: &[u8] = b"<!doctype html>";

/// The logged calls of a load, as drawn by a page.
const CALLS: &str = "calls.json";

/// Maximum bytes of such a file: many times the size for the longest log.
const MAX_CALLS: u64 = 256 << 20;

/// The folder of a run's calls: a Parquet file per trial, and for each cell the calls of its last trial as drawn by a page.
pub const CALLS_FOLDER: &str = "calls";

/// Writes the calls of a load, as drawn by a page, next to its record.
pub fn write_calls(folder: &Path, calls: Option<&TrialCalls>) -> anyhow::Result<()> {
    calls.map_or(Ok(()), |calls| write_drawn(&folder.join(CALLS), calls))
}

/// Writes the calls of a trial, as drawn by a page.
pub fn write_drawn(path: &Path, calls: &TrialCalls) -> anyhow::Result<()> {
    regular::replace(path, serde_json::to_vec(calls)?).with_context(|| path.display().to_string())
}

/// The calls of each cell, as drawn by a page. Empty if none were logged.
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
    let whose = || format!("{}: not a file of logged calls from rpcbench", path.display());
    let text = regular::read_bytes(path, MAX_CALLS).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&text).with_context(whose)
}

/// The newest run in `results`.
fn newest(results: &Path) -> anyhow::Result<PathBuf> {
    let none = || {
        format!("{}: no runs here; name one, or create one with `rpcbench run`", results.display())
    };
    let newest = records(results).with_context(none)?.pop();
    newest.with_context(none)
}

/// The records in `results`, newest last. Records that can't be read come first. Other folders are ignored.
pub fn records(results: &Path) -> io::Result<Vec<PathBuf>> {
    let begun = |folder: PathBuf| {
        folder.join(RECORD).exists().then(|| (rpcbench_record::started(&folder).ok(), folder))
    };
    let folders = fs::read_dir(results)?.flatten();
    let mut records: Vec<_> = folders.filter_map(|item| begun(item.path())).collect();
    records.sort();
    Ok(records.into_iter().map(|(_, folder)| folder).collect())
}

/// How a run is shown.
pub struct OutputOptions {
    format: Format,
    layout: Layout,
}

impl OutputOptions {
    /// The default layout of a format.
    pub fn whole(format: Format) -> Self {
        Self { format, layout: Layout::default() }
    }

    /// Only the terminal table has columns to choose.
    pub fn of(format: Format, table: &TableArgs) -> anyhow::Result<Self> {
        let layout = table.layout();
        if format != Format::Table && layout != Layout::default() {
            bail!(
                "--wide, --columns, --sort, --group-by and --explain need --format table; markdown has every column, json and csv every figure"
            );
        }
        Ok(Self { format, layout })
    }
}

/// Prints a run or a load.
pub fn show(context: &Context, run: &Run, output: &OutputOptions) -> anyhow::Result<()> {
    let view = View::of(run);
    if !matches!(view, View::Run(_)) && output.layout != Layout::default() {
        bail!(
            "--wide, --columns, --sort, --group-by and --explain are for runs; this is the record of a load, which is shown whole"
        );
    }
    let complete = Layout::complete();
    let layout = if output.format == Format::Table { &output.layout } else { &complete };
    Ok(print(&view.document(layout).render(document_format(output.format), context.style)?)?)
}

/// The format in which a document is rendered.
pub fn document_format(format: Format) -> DocumentFormat {
    match format {
        Format::Table => DocumentFormat::Text,
        Format::Markdown => DocumentFormat::Markdown,
        Format::Json => DocumentFormat::Json,
        Format::Csv => DocumentFormat::Csv,
    }
}

/// Writes the HTML, Markdown and CSV views into the record's folder.
pub fn write_views(folder: &Path, run: &Run) -> anyhow::Result<()> {
    let (view, layout) = (View::of(run), Layout::complete());
    let document = view.document(&layout);
    let views = [
        ("report.html", html(slice::from_ref(run), vec![read_calls(folder)?])?),
        ("report.md", document.markdown()),
        ("cells.csv", document.render(DocumentFormat::Csv, Style::default())?),
        ("trials.csv", trials_csv(run)?),
    ];
    for (name, text) in views {
        let path = folder.join(name);
        regular::replace(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
