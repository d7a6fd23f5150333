//! A record as one HTML file that opens anywhere, offline.
//!
//! The page is built from `web/` and committed as `assets/report.html`. This module inserts the data as deflated JSON in base64,
//! made from the same rows as every other view, and the text of the document for readers without scripts. The page draws and
//! sorts; it computes no figure, verdict or sentence.

mod buckets;
mod calls;
mod cell;
mod changes;
mod load;
mod names;
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

use crate::changes::{Changes, CompareOptions, changes_of_builds};
use crate::document::{Document, Style};
use crate::export::ExportError;
use crate::layout::Layout;
use crate::view::View;

/// The page without data.
const TEMPLATE: &str = include_str!("../../assets/report.html");

/// Marks in the template that are replaced. Each occurs once.
const TITLE: &str = "<!--rpcbench:title-->";
const TEXT: &str = "<!--rpcbench:text-->";
const DATA: &str = "<!--rpcbench:data-->";

pub use calls::{Calls, TrialCalls};

/// Renders records as one HTML page, in order, with the logged calls of each.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn html(runs: &[Run], calls: Vec<Vec<TrialCalls>>) -> Result<String, ExportError> {
    let builds = match runs {
        [run] => changes_of_builds(run, &CompareOptions::default()).map(|changes| (run, changes)),
        _ => None,
    };
    let comparison = builds
        .as_ref()
        .map(|(run, changes)| Comparison { changes, arguments: &run.header.arguments });
    write(runs, calls, comparison.as_ref())
}

/// A comparison to show on a page.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// What changed.
    pub changes: &'a Changes,
    /// Arguments of the command that made the comparison.
    pub arguments: &'a [String],
}

/// Renders the changes, followed by the records behind them: the old and the new run, or the run of both builds. `calls` as in
/// [`html`].
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
    let views: Vec<View> = runs.iter().map(View::of).collect();
    let layout = Layout::default();
    let documents: Vec<Document> = views.iter().map(|view| view.document(&layout)).collect();
    let changed = comparison.map(|it| Document::of_changes(it.changes));
    let text = |document: &Document| document.text(Style::default());
    let plain: Vec<String> = changed.iter().chain(&documents).map(text).collect();
    let records = runs.iter().zip(&views).zip(documents).map(|((run, view), it)| (run, view, it));
    let mut page = page::Page::of(records, calls);
    if let Some(comparison) = comparison {
        page.compare(comparison);
    }
    let names: Vec<&str> = page.runs.iter().map(|run| run.name.as_str()).collect();
    let title = format!("rpcbench: {}", names.join(", "));
    let data = packed(&serde_json::to_vec(&page)?)?;
    // The data is inserted last, so that nothing in it is mistaken for a mark.
    let (head, rest) = halves(TEMPLATE, TITLE);
    let (upper, rest) = halves(rest, TEXT);
    let (lower, tail) = halves(rest, DATA);
    let (title, plain) = (escaped(&title), escaped(&plain.join("\n")));
    Ok([head, &title, upper, &plain, lower, &data, tail].concat())
}

/// The parts before and after the mark.
fn halves<'a>(template: &'a str, mark: &str) -> (&'a str, &'a str) {
    template.split_once(mark).unwrap_or((template, ""))
}

/// Deflates (zlib) and encodes in base64, which needs no escapes in HTML.
fn packed(json: &[u8]) -> Result<String, ExportError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(json)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// Escapes text within an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_has_each_mark_once_and_in_order() {
        for mark in [TITLE, TEXT, DATA] {
            assert_eq!(TEMPLATE.matches(mark).count(), 1, "{mark}");
        }
        let at = |mark| TEMPLATE.find(mark);
        assert!(at(TITLE) < at(TEXT) && at(TEXT) < at(DATA));
    }

    #[test]
    fn template_is_small_and_makes_no_request() {
        assert!(TEMPLATE.len() < 600_000, "{} bytes", TEMPLATE.len());
        assert!(TEMPLATE.contains("default-src 'none'"));
        for tag in ["src=\"", "<link", "@import", "url(http"] {
            assert!(!TEMPLATE.contains(tag), "{tag}");
        }
    }
}
