//! Two loads of the same calls, side by side.

use rpcbench_record::{Latency, Run};
use serde::Serialize;

use super::Load;
use crate::columns::Column;
use crate::document::{Block, Content, Document, Part, Table};
use crate::export::{EXPORT_SCHEMA, Export, ExportError, rows_csv, to_json};
use crate::format::{self, NOTHING};
use crate::view::View;
use crate::words;

const HOW_TO_READ: &str = "Each is one window on one process, so a change may be chance: `rpcbench history FOLDER` shows how much loads of \
                           this target vary";

/// An earlier and a later load of the same calls.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPair {
    old: Load,
    new: Load,
}

/// A figure of both loads.
#[derive(Serialize)]
struct Row {
    figure: &'static str,
    old: Option<f64>,
    new: Option<f64>,
    /// The later value divided by the earlier.
    ratio: Option<f64>,
    #[serde(skip)]
    shown: fn(f64) -> String,
}

impl LoadPair {
    /// The loads of two records. With `force`, they may differ in settings, but never in the calls.
    ///
    /// # Errors
    /// Why the loads can't be compared.
    pub fn of(old: &Run, new: &Run, force: bool) -> Result<Self, String> {
        let (old, new) = (single(old)?, single(new)?);
        let call = |load: &Load| format!("{} {}", load.protocol, load.workload.content);
        let target = |load: &Load| load.workload.content.call().map(|call| call.target.clone());
        if (target(&old), old.protocol) != (target(&new), new.protocol) {
            return Err(format!(
                "the loads make different calls, which are never compared: {}, and {}",
                call(&old),
                call(&new)
            ));
        }
        let address = |load: &Load| [("address", load.address.clone())];
        let settings = |load: &Load| address(load).into_iter().chain(load.workload.settings());
        let differing: Vec<String> = settings(&old)
            .zip(settings(&new))
            .filter(|(old, new)| old != new)
            .map(|((field, old), (_, new))| format!("  {field}: {old}, now {new}"))
            .collect();
        match differing.is_empty() || force {
            true => Ok(Self { old, new }),
            false => Err(format!(
                "the loads differ in more than their figures, so they can't be compared:\n{}\n\
                 Load again in the same way, or use --force",
                differing.join("\n")
            )),
        }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |figure, of: &dyn Fn(&Load) -> Option<f64>, shown| {
            let (old, new) = (of(&self.old), of(&self.new));
            let ratio = old.zip(new).filter(|(old, _)| *old > 0.0).map(|(old, new)| new / old);
            Row { figure, old, new, ratio, shown }
        };
        let time = |ns: fn(&Latency) -> u64| {
            move |load: &Load| load.measured.latency.as_ref().map(|it| ns(it) as f64)
        };
        let errors = |load: &Load| Some(load.measured.outcomes.error_share());
        let rate = |load: &Load| load.figures().map(|figures| figures.calls_per_s.value);
        vec![
            row("calls_per_s", &rate, format::si),
            row("p50_ns", &time(|it| it.p50_ns), format::duration_ns),
            row("p90_ns", &time(|it| it.p90_ns), format::duration_ns),
            row("p99_ns", &time(|it| it.p99_ns), format::duration_ns),
            row("p999_ns", &time(|it| it.p999_ns), format::duration_ns),
            row("max_ns", &time(|it| it.max_ns), format::duration_ns),
            row("error_share", &errors, format::percent),
        ]
    }

    fn table(&self) -> Table {
        let rows = self.rows();
        let of = |text: &dyn Fn(&Row) -> String| rows.iter().map(text).collect::<Vec<_>>();
        let value = |row: &Row, value: Option<f64>| value.map_or(NOTHING.to_owned(), row.shown);
        let change = |row: &Row| {
            let change = row.ratio.map(|ratio| format!("{:+.1} %", 100.0 * (ratio - 1.0)));
            change.unwrap_or_else(|| NOTHING.to_owned())
        };
        let columns = vec![
            Column::new("", false, of(&|row| title(row.figure).to_owned())),
            Column::new("old", true, of(&|row| value(row, row.old))),
            Column::new("new", true, of(&|row| value(row, row.new))),
            Column::new("change", true, of(&change)),
        ];
        Table { columns, tones: Vec::new() }
    }
}

/// The load of a record.
fn single(run: &Run) -> Result<Load, String> {
    match View::of(run) {
        View::Load(load) => Ok(*load),
        View::Curve(curve) => Err(format!(
            "a sweep or a search is not compared: {}; `rpcbench report` shows each",
            curve.title()
        )),
        View::Run(_) => Err("a load and a run of servers are not compared".to_owned()),
    }
}

fn title(figure: &'static str) -> &'static str {
    match figure {
        "calls_per_s" => "ok calls/s",
        "error_share" => "errors",
        "p999_ns" => "p99.9",
        time => time.trim_end_matches("_ns"),
    }
}

impl<'a> Document<'a> {
    /// The document of two loads.
    pub fn of_load_pair(pair: &'a LoadPair) -> Self {
        let LoadPair { old, new } = pair;
        let began = |load: &Load| words::began(&load.header);
        let doubts = [("old", old), ("new", new)].into_iter().filter_map(|(name, load)| {
            let verdict = load.verdict();
            (!verdict.is_ranked()).then(|| format!("{name}: {verdict}"))
        });
        let table =
            vec![Content::Table(pair.table()), Content::Prose(vec![HOW_TO_READ.to_owned()])];
        let setting = vec![format!("{}: {} to {}", new.name(), began(old), began(new))];
        let part = Part {
            setting,
            blocks: vec![Block { title: None, content: table }],
            ..Part::default()
        };
        let warnings = doubts.collect();
        Self { parts: vec![part], warnings, ..Self::new(new.name(), pair) }
    }
}

impl Export for LoadPair {
    fn json(&self) -> Result<String, ExportError> {
        #[derive(Serialize)]
        struct View {
            schema: u32,
            name: String,
            figures: Vec<Row>,
        }
        to_json(&View { schema: EXPORT_SCHEMA, name: self.new.name(), figures: self.rows() })
    }

    fn csv(&self) -> Result<String, ExportError> {
        rows_csv(self.rows())
    }
}
