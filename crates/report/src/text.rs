//! A summary for a terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style as Ansi};
use comfy_table::{CellAlignment, Table as Grid, presets};

use crate::cell::Row;
use crate::columns::{Align, CURVE, Column, RANKING};
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
                grid(&mut out, &RANKING, &table.rows.iter().collect::<Vec<_>>(), style);
                below(&mut out, table, style);
            }
            Part::Curve(curve) => {
                grid(&mut out, &CURVE, &curve.rows(), style);
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

fn grid(out: &mut String, columns: &'static [Column], rows: &[&Row], style: Style) {
    if rows.is_empty() {
        return;
    }
    let (columns, hidden) = fitting(columns, rows, style.width);
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING).set_header(columns.iter().map(|c| c.title));
    for row in rows {
        grid.add_row(columns.iter().map(|c| (c.cell)(row)));
    }
    for (shown, column) in grid.column_iter_mut().zip(&columns) {
        shown.set_padding((0, GAP));
        shown.set_cell_alignment(match column.align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    let inks = std::iter::once(Some(BOLD)).chain(rows.iter().map(|row| ink(row)));
    for (line, ink) in grid.lines().zip(inks) {
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
        | Verdict::StillWarming(_) => Some(CAUTION),
        Verdict::Suspect { .. } | Verdict::Failed { .. } => Some(BAD),
    }
}

/// The columns that fit, and the titles of those that do not.
fn fitting(
    all: &'static [Column],
    rows: &[&Row],
    width: Option<usize>,
) -> (Vec<&'static Column>, Vec<&'static str>) {
    let mut columns: Vec<(&Column, usize)> = all.iter().map(|c| (c, room(c, rows))).collect();
    let mut hidden = Vec::new();
    let limit = width.unwrap_or(usize::MAX);
    while columns.iter().map(|(_, room)| room + usize::from(GAP)).sum::<usize>() > limit {
        let spare = columns.iter().enumerate().max_by_key(|(_, (c, _))| c.spare);
        match spare {
            Some((at, (column, _))) if column.spare > 0 => {
                hidden.push(column.title);
                columns.remove(at);
            }
            _ => break,
        }
    }
    hidden.sort_by_key(|title| all.iter().position(|c| c.title == *title));
    (columns.into_iter().map(|(c, _)| c).collect(), hidden)
}

fn room(column: &Column, rows: &[&Row]) -> usize {
    let cells = rows.iter().map(|row| (column.cell)(row).chars().count());
    cells.max().unwrap_or_default().max(column.title.chars().count())
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
