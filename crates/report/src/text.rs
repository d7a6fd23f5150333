//! A summary for a terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style as Ansi};
use comfy_table::{Table as Grid, presets};

use crate::catalog::{Kind, Subject};
use crate::cell::Row;
use crate::columns::{columns, fill, fitting};
use crate::curve::{Curve, Part, parts};
use crate::summary::{Summary, Table};
use crate::verdict::Verdict;
use crate::words::{self, Unranked};

const BOLD: Ansi = Ansi::new().bold();
const DIM: Ansi = Ansi::new().dimmed();
const GOOD: Ansi = AnsiColor::Green.on_default();
const CAUTION: Ansi = AnsiColor::Yellow.on_default();
const BAD: Ansi = AnsiColor::Red.on_default();

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are wanted. The caller knows the terminal, `NO_COLOR` and `--color`.
    pub color: bool,
    /// Characters in a line. Columns that readers miss least are left out to fit, and named.
    /// `None`: as wide as it gets.
    pub width: Option<usize>,
}

impl Style {
    pub(crate) fn paint(self, style: Ansi, text: &str) -> String {
        match self.color {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }

    pub(crate) fn title(self, text: &str) -> String {
        self.paint(BOLD, text)
    }
}

/// Renders a summary, ending in a line feed.
#[must_use]
pub fn text(summary: &Summary, style: Style) -> String {
    let mut out = String::new();
    for part in parts(&summary.tables) {
        let [load, setting] = words::heading(&summary.header.plan, &part);
        push(&mut out, &style.title(&load));
        push(&mut out, &setting);
        out.push('\n');
        match part {
            Part::Ranking(table) => {
                grid(&mut out, Kind::Ranking, &summary.rows_of(table), style);
                below(&mut out, table, style);
            }
            Part::Curve(curve) => {
                grid(&mut out, Kind::Curve, &curve.subjects(summary), style);
                below_curve(&mut out, &curve, style);
            }
        }
    }
    section(&mut out, "Warnings", style, &warnings(summary, style));
    let lines: Vec<String> = words::how_to_read(summary).map(|l| format!("  {l}")).collect();
    section(&mut out, "How to read it", style, &lines);
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

fn section(out: &mut String, title: &str, style: Style, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    push(out, &style.title(title));
    lines.iter().for_each(|line| push(out, line));
    out.push('\n');
}

fn grid(out: &mut String, kind: Kind, rows: &[Subject], style: Style) {
    if rows.is_empty() {
        return;
    }
    let (columns, hidden) = fitting(columns(kind, rows), style.width, usize::from(GAP));
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    fill(&mut grid, &columns, str::to_owned);
    grid.column_iter_mut().for_each(|column| {
        column.set_padding((0, GAP));
    });
    let inks = rows.iter().map(|row| row.cell.and_then(ink));
    for (line, ink) in grid.lines().zip(std::iter::once(Some(BOLD)).chain(inks)) {
        let line = line.trim_end();
        push(out, &ink.map_or_else(|| line.to_owned(), |ink| style.paint(ink, line)));
    }
    if !hidden.is_empty() {
        let note = format!("not shown for lack of room: {}", hidden.join(", "));
        push(out, &style.paint(DIM, &note));
    }
    out.push('\n');
}

/// Spaces between columns.
const GAP: u16 = 2;

fn ink(row: &Row) -> Option<Ansi> {
    match &row.verdict {
        Verdict::ServerBound | Verdict::Unclear | Verdict::Ok => {
            row.rank.filter(|rank| rank.place == 1).map(|_| GOOD)
        }
        Verdict::ClientBound { .. }
        | Verdict::Overloaded { .. }
        | Verdict::GeneratorLate { .. }
        | Verdict::LimitExceeded { .. }
        | Verdict::StillWarming(_) => Some(CAUTION),
        Verdict::Suspect { .. } | Verdict::Failed { .. } => Some(BAD),
    }
}

fn below(out: &mut String, table: &Table, style: Style) {
    if let Some(sentence) = words::conclusion(&table.conclusion) {
        push(out, &style.title(&sentence));
        out.push('\n');
    }
    let mut lines = Vec::new();
    for row in words::unranked(table) {
        lines.extend(trouble(&row.entry, &row, style));
    }
    section(out, "Not ranked", style, &lines);
    let lines: Vec<String> =
        table.absent.iter().map(|a| format!("  {}: {}", a.entry(), a.reason())).collect();
    section(out, "Not measured", style, &lines);
    let lines: Vec<String> = words::notes(table).iter().map(|n| format!("  {n}")).collect();
    section(out, "Notes", style, &lines);
}

fn below_curve(out: &mut String, curve: &Curve, style: Style) {
    let mut lines = Vec::new();
    for (row, loads) in curve.troubles() {
        lines.extend(trouble(&format!("{} ({loads})", row.entry), &row, style));
    }
    section(out, "Not ok", style, &lines);
    let absent = curve.absent();
    let lines: Vec<String> = absent
        .iter()
        .map(|(a, loads)| format!("  {} ({loads}): {}", a.entry(), a.reason()))
        .collect();
    section(out, "Not measured", style, &lines);
    let lines: Vec<String> = words::curve_notes(curve).iter().map(|n| format!("  {n}")).collect();
    section(out, "Notes", style, &lines);
}

fn trouble(whose: &str, row: &Unranked, style: Style) -> Vec<String> {
    let mut lines = vec![format!("  {whose}: {}: {}", row.verdict, row.reason)];
    lines.extend(row.evidence.iter().map(|l| style.paint(DIM, &format!("    | {l}"))));
    lines
}

fn warnings(summary: &Summary, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for warning in &summary.warnings {
        let mut line = String::new();
        let _ = write!(line, "  {}; {}", warning.message(), warning.advice());
        lines.push(style.paint(CAUTION, &line));
    }
    lines
}
