//! The result of `load`: one window against one address.

use rpcbench_record::{Measured, Workload};

use crate::cell::kinds;
use crate::doubt::doubts;
use crate::export::{ExportError, to_csv, to_json};
use crate::figures::Figures;
use crate::format;
use crate::text::Style;
use crate::verdict::SATURATED;
use crate::view::{EXPORT_SCHEMA, LoadView, MeasuredView};
use crate::words;

/// A load and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// As typed.
    pub address: &'a str,
    /// What was asked for.
    pub workload: &'a Workload,
    /// What was measured.
    pub measured: &'a Measured,
}

/// A title and the lines below it: a name and a value each.
struct Block {
    title: &'static str,
    lines: Vec<(String, String)>,
}

impl Load<'_> {
    /// `ok`; or why the figures are not the server's own: `suspect`, `client-bound`, `failed` (some call did).
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        if self.measured.outcomes.errors() > 0 || self.measured.outcomes.ok == 0 {
            "failed"
        } else if !doubts(self.measured, self.workload).is_empty() {
            "suspect"
        } else if self.busiest() >= SATURATED {
            "client-bound"
        } else {
            "ok"
        }
    }

    fn busiest(&self) -> f64 {
        Figures::of(&[self.measured], None).map_or(0.0, |f| f.client.busiest_share)
    }

    fn blocks(&self) -> Vec<Block> {
        let Some(figures) = Figures::of(&[self.measured], None) else { return Vec::new() };
        let mut blocks = vec![Block { title: "Summary", lines: self.summary(&figures) }];
        if let Some(r) = figures.response {
            let times = [
                ("min", r.min_ns as f64),
                ("mean", r.mean_ns),
                ("stddev", r.stddev_ns),
                ("p50", r.p50_ns as f64),
                ("p90", r.p90_ns as f64),
                ("p95", r.p95_ns as f64),
                ("p99", r.p99_ns as f64),
                ("p99.9", r.p999_ns as f64),
                ("max", r.max_ns as f64),
            ];
            let lines = times.map(|(name, ns)| (name.to_owned(), format::duration_ns(ns)));
            blocks.push(Block { title: "Response time of ok calls", lines: lines.into() });
        }
        blocks.push(Block { title: "Outcomes", lines: self.outcomes() });
        blocks
    }

    fn summary(&self, figures: &Figures) -> Vec<(String, String)> {
        let calls = figures.outcomes.total();
        let client = format!(
            "{} of {}, the busiest at {}",
            format::percent(figures.client.cpu_share),
            format::plural(u64::from(self.measured.client.threads), "thread"),
            format::percent(figures.client.busiest_share),
        );
        [
            ("calls", format::count(calls)),
            ("time", format::duration_ns(self.measured.window_ns as f64)),
            ("ok calls/s", format::si(figures.calls_per_s.mean)),
            ("errors", format::percent(figures.error_share())),
            ("client CPU", client),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn outcomes(&self) -> Vec<(String, String)> {
        let outcomes = &self.measured.outcomes;
        let share = |n: u64| {
            let share = crate::figures::share(n as f64, outcomes.total() as f64);
            format!("{} ({})", format::count(n), format::percent(share))
        };
        let mut lines = vec![("ok".to_owned(), format::count(outcomes.ok))];
        lines.extend(kinds(outcomes).into_iter().map(|(kind, n)| (kind, share(n))));
        lines
    }

    /// Sentences that a reader must not miss.
    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = doubts(self.measured, self.workload)
            .iter()
            .map(|doubt| format!("suspect: {doubt}"))
            .collect();
        if self.busiest() >= SATURATED {
            remarks.push(
                "the client was the limit, the server may do more; take more --client-threads"
                    .to_owned(),
            );
        }
        remarks
    }
}

/// A load for a terminal, ending in a line feed.
#[must_use]
pub fn load_text(load: &Load, style: Style) -> String {
    let mut out = format!("{}\n", style.title(&title(load)));
    for block in load.blocks() {
        out.push_str(&format!("\n{}\n", style.title(block.title)));
        let names = block.lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, value) in block.lines {
            out.push_str(&format!("  {name:names$}  {value}\n"));
        }
    }
    out.push_str(&section("Errors seen", &load.measured.error_examples, style));
    out.push_str(&section("Warnings", &load.remarks(), style));
    out
}

fn section(title: &str, lines: &[String], style: Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\n{}\n{lines}", style.title(title))
}

/// A load as Markdown, ending in a line feed.
#[must_use]
pub fn load_markdown(load: &Load) -> String {
    let mut out = format!("# {}\n", title(load));
    for block in load.blocks() {
        out.push_str(&format!("\n## {}\n\n| | |\n|---|---:|\n", block.title));
        for (name, value) in block.lines {
            out.push_str(&format!("| {name} | {value} |\n"));
        }
    }
    for (title, lines) in
        [("Errors seen", &load.measured.error_examples), ("Warnings", &load.remarks())]
    {
        if !lines.is_empty() {
            let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
            out.push_str(&format!("\n## {title}\n\n{lines}"));
        }
    }
    out
}

/// A load as JSON. Its fields are those of a trial, with the load's own before them.
///
/// # Errors
/// If a value can't be written; see [`ExportError`].
pub fn load_json(load: &Load) -> Result<String, ExportError> {
    #[derive(serde::Serialize)]
    struct Versioned<'a> {
        schema: u32,
        #[serde(flatten)]
        load: LoadView<'a>,
        #[serde(flatten)]
        measured: MeasuredView,
    }
    let (view, measured) = view(load);
    to_json(&Versioned { schema: EXPORT_SCHEMA, load: view, measured })
}

/// A load as CSV: a header and a row.
///
/// # Errors
/// If the row can't be written; see [`ExportError`].
pub fn load_csv(load: &Load) -> Result<String, ExportError> {
    to_csv(std::iter::once(view(load)))
}

fn view<'a>(load: &Load<'a>) -> (LoadView<'a>, MeasuredView) {
    let view = LoadView::of(load.address, load.workload, load.verdict());
    (view, MeasuredView::of(load.measured))
}

fn title(load: &Load) -> String {
    format!("{}: {}", load.address, words::load(load.workload))
}
