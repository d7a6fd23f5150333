//! A record as one HTML file that opens anywhere, offline.
//!
//! The page is built from `web/` and committed as `assets/report.html`. What it shows is put into it here: its data, made
//! from the same rows as every other view, as JSON that is deflated and in base64; and the same as text, for a reader
//! without scripts. The page draws and sorts. It computes no figure, verdict or sentence of its own.

mod buckets;
mod calls;
mod cell;
mod changes;
mod load;
mod page;
mod part;
mod rates;
mod table;

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use rpcbench_record::Run;

use crate::changes::{Asked, Changes, changes_of_builds, changes_text};
use crate::export::ExportError;
use crate::layout::Layout;
use crate::load::LoadView;
use crate::summary::{Summary, summary};
use crate::text::{Style, text};

/// The page without data.
const TEMPLATE: &str = include_str!("../../assets/report.html");

/// Where the template takes what is put into it; each stands in it once.
const TITLE: &str = "<!--rpcbench:title-->";
const TEXT: &str = "<!--rpcbench:text-->";
const DATA: &str = "<!--rpcbench:data-->";

pub use calls::{Calls, TrialCalls};

/// Records as one HTML page, one after the other.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn html(runs: &[Run]) -> Result<String, ExportError> {
    html_with_calls(runs, Vec::new())
}

/// As [`html`]. `calls` has what is known of each record's single calls, in the order of `runs`.
///
/// # Errors
/// As [`html`].
pub fn html_with_calls(runs: &[Run], calls: Vec<Vec<TrialCalls>>) -> Result<String, ExportError> {
    let builds = match runs {
        [run] => changes_of_builds(run, &Asked::default()).map(|changes| (run, changes)),
        _ => None,
    };
    let comparison = builds
        .as_ref()
        .map(|(run, changes)| Comparison { changes, arguments: &run.header.arguments });
    write(runs, calls, comparison.as_ref())
}

/// What is compared on a page.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// What changed.
    pub changes: &'a Changes,
    /// Of the command that says so.
    pub arguments: &'a [String],
}

/// What changed, then the records that say so: the old run and the new one, or the run of both builds. `calls` as of
/// [`html_with_calls`].
///
/// # Errors
/// As [`html`].
pub fn changes_html(
    comparison: &Comparison<'_>,
    runs: &[Run],
    calls: Vec<Vec<TrialCalls>>,
) -> Result<String, ExportError> {
    write(runs, calls, Some(comparison))
}

fn write(
    runs: &[Run],
    calls: Vec<Vec<TrialCalls>>,
    comparison: Option<&Comparison<'_>>,
) -> Result<String, ExportError> {
    let runs: Vec<Run> = runs.iter().map(Run::printable).collect();
    let records: Vec<Record> = runs.iter().map(Record::of).collect();
    let mut page = page::Page::of(&records, calls);
    if let Some(comparison) = comparison {
        page.compare(comparison);
    }
    let names: Vec<&str> = page.runs.iter().map(|run| run.name.as_str()).collect();
    let title = format!("rpcbench: {}", names.join(", "));
    let changed = comparison.map(|it| changes_text(it.changes, Style::default()));
    let plain: Vec<String> = changed.into_iter().chain(records.iter().map(Record::text)).collect();
    let data = packed(&serde_json::to_vec(&page)?)?;
    // The data goes in last: nothing foreign is searched for a place to put something.
    let (head, rest) = halves(TEMPLATE, TITLE);
    let (upper, rest) = halves(rest, TEXT);
    let (lower, tail) = halves(rest, DATA);
    let (title, plain) = (escaped(&title), escaped(&plain.join("\n")));
    Ok([head, &title, upper, &plain, lower, &data, tail].concat())
}

/// What is before the mark, and what is behind it.
fn halves<'a>(template: &'a str, mark: &str) -> (&'a str, &'a str) {
    template.split_once(mark).unwrap_or((template, ""))
}

/// A record, with what is known of it.
struct Record<'a> {
    run: &'a Run,
    view: View,
}

enum View {
    /// Of a server at an address.
    Load(LoadView),
    /// Of servers that were run, or of a load that never came to a whole window.
    Servers(Box<Summary>),
}

impl<'a> Record<'a> {
    fn of(run: &'a Run) -> Self {
        let load = LoadView::of(run).map(View::Load);
        Self { run, view: load.unwrap_or_else(|| View::Servers(Box::new(summary(run)))) }
    }

    /// As a terminal shows it.
    fn text(&self) -> String {
        match &self.view {
            View::Load(load) => load.text(Style::default()),
            View::Servers(summary) => text(summary, Style::default(), &Layout::default()),
        }
    }
}

/// Deflated (zlib), base64: no character of it means anything to HTML.
fn packed(json: &[u8]) -> Result<String, ExportError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(json)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// Text within an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_takes_everything_once_and_in_order() {
        for mark in [TITLE, TEXT, DATA] {
            assert_eq!(TEMPLATE.matches(mark).count(), 1, "{mark}");
        }
        let at = |mark| TEMPLATE.find(mark);
        assert!(at(TITLE) < at(TEXT) && at(TEXT) < at(DATA));
    }

    #[test]
    fn the_template_is_small_and_asks_the_network_for_nothing() {
        assert!(TEMPLATE.len() < 600_000, "{} bytes", TEMPLATE.len());
        assert!(TEMPLATE.contains("default-src 'none'"));
        for tag in ["src=\"", "<link", "@import", "url(http"] {
            assert!(!TEMPLATE.contains(tag), "{tag}");
        }
    }
}
