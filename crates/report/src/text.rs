//! A summary for a terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style as Ansi};
use comfy_table::{Table as Grid, presets};

use crate::catalog::{Kind, Subject};
use crate::columns::{Column, Columns, columns, fill, fitting};
use crate::conclusion;
use crate::curve::{Curve, Part, parts};
use crate::groups;
use crate::layout::Layout;
use crate::published::{self, PUBLISHED};
use crate::row::Row;
use crate::summary::{Summary, Table};
use crate::verdict::Verdict;
use crate::words::{self, Unranked};
use crate::wrap::wrap;

pub(crate) const BOLD: Ansi = Ansi::new().bold();
pub(crate) const PLAIN: Ansi = Ansi::new();
const DIM: Ansi = Ansi::new().dimmed();
pub(crate) const GOOD: Ansi = AnsiColor::Green.on_default();
pub(crate) const CAUTION: Ansi = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Ansi = AnsiColor::Red.on_default();

/// What the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are wanted. The caller knows the terminal, `NO_COLOR` and `--color`.
    pub color: bool,
    /// Characters in a line. Columns that readers miss least are left out to fit, and named.
    /// `None`: as wide as it gets.
    pub width: Option<usize>,
    /// Whether it takes ASCII only.
    pub ascii: bool,
}

impl Style {
    pub(crate) fn paint(self, style: Ansi, text: &str) -> String {
        match self.color {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }

    /// Without the signs that a terminal of ASCII would show as something else.
    pub(crate) fn plain(self, text: &str) -> Cow<'_, str> {
        if self.ascii && !text.is_ascii() {
            Cow::Owned(text.replace('\u{b1}', "+/-").replace(|c: char| !c.is_ascii(), "?"))
        } else {
            Cow::Borrowed(text)
        }
    }

    pub(crate) fn title(self, text: &str) -> String {
        self.paint(BOLD, text)
    }
}

/// Renders a summary, ending in a line feed.
#[must_use]
pub fn text(summary: &Summary, style: Style, layout: &Layout) -> String {
    let mut out = String::new();
    for part in parts(&summary.tables) {
        heading(&mut out, summary, &part, style);
        match part {
            Part::Ranking(table) => {
                let mut rows = summary.rows_of(table);
                layout.arrange(&mut rows);
                grid(&mut out, Kind::Ranking, &layout.columns, &rows, style);
                below(&mut out, table, layout, style);
                let published = published::lines(&summary.header.plan, table);
                section(&mut out, PUBLISHED, style, plain(published));
            }
            Part::Curve(curve) => {
                grid(&mut out, Kind::Curve, &layout.columns, &curve.subjects(summary), style);
                below_curve(&mut out, &curve, style);
            }
        }
    }
    section(&mut out, "Warnings", style, warnings(summary));
    let meaning = words::how_to_read(summary);
    if layout.explain {
        section(&mut out, "How to read it", style, plain(meaning));
    } else if !meaning.is_empty() {
        prose(&mut out, EXPLAIN, DIM, style);
        out.push('\n');
    }
    again(&mut out, summary, style);
    close(&mut out);
    out
}

/// Takes empty lines from the end.
pub(crate) fn close(out: &mut String) {
    while out.ends_with("\n\n") {
        out.pop();
    }
}

/// Where the words of a table are explained.
const EXPLAIN: &str = "What each word and column means: rpcbench report --explain";

/// Lines above which the first has scrolled out of a small terminal by the time that the last is there.
const SCREEN: usize = 20;

/// Who won, once more below everything that came since.
fn again(out: &mut String, summary: &Summary, style: Style) {
    if out.lines().count() <= SCREEN {
        return;
    }
    let won = summary.tables.iter().flat_map(conclusion::headline);
    won.for_each(|line| prose(out, &line, BOLD, style));
}

/// Who won, and under which load.
fn heading(out: &mut String, summary: &Summary, part: &Part, style: Style) {
    let won = match part {
        Part::Ranking(table) => conclusion::headline(table),
        Part::Curve(_) => Vec::new(),
    };
    won.iter().for_each(|line| prose(out, line, BOLD, style));
    let [load, setting] = words::heading(&summary.header.plan, part);
    let load_style = if won.is_empty() { BOLD } else { PLAIN };
    prose(out, &load, load_style, style);
    prose(out, &setting, PLAIN, style);
    out.push('\n');
}

/// A line in the width of the terminal.
pub(crate) fn prose(out: &mut String, line: &str, ink: Ansi, style: Style) {
    for part in wrap(&style.plain(line), style.width) {
        out.push_str(&style.paint(ink, &part));
        out.push('\n');
    }
}

/// Lines, each with its ink, under a title.
pub(crate) fn section(
    out: &mut String,
    title: &str,
    style: Style,
    lines: impl IntoIterator<Item = (Ansi, String)>,
) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    prose(out, title, BOLD, style);
    lines.for_each(|(ink, line)| prose(out, &format!("  {line}"), ink, style));
    out.push('\n');
}

fn grid(out: &mut String, kind: Kind, which: &Columns, rows: &[Subject], style: Style) {
    if rows.is_empty() {
        return;
    }
    let width = style.width.filter(|_| *which == Columns::Few);
    let (columns, hidden) = fitting(columns(kind, rows, which), width, usize::from(GAP));
    let inks = rows.iter().map(|row| row.cell.and_then(ink).unwrap_or(PLAIN));
    lines(out, &columns, inks, style);
    if !hidden.is_empty() {
        let note = format!("not shown for lack of room: {}", hidden.join(", "));
        prose(out, &note, DIM, style);
    }
    out.push('\n');
}

/// A header, and a line for each row in its ink.
pub(crate) fn lines(
    out: &mut String,
    columns: &[Column],
    inks: impl Iterator<Item = Ansi>,
    style: Style,
) {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    fill(&mut grid, columns, |cell| style.plain(cell).into_owned());
    grid.column_iter_mut().for_each(|column| {
        column.set_padding((0, GAP));
    });
    for (line, ink) in grid.lines().zip(std::iter::once(BOLD).chain(inks)) {
        out.push_str(&style.paint(ink, line.trim_end()));
        out.push('\n');
    }
}

/// Spaces between columns.
const GAP: u16 = 2;

fn ink(row: &Row) -> Option<Ansi> {
    match &row.verdict {
        Verdict::ServerBound | Verdict::Unclear | Verdict::Ok => {
            row.place.filter(|place| place.best == 1).map(|_| GOOD)
        }
        Verdict::ClientBound { .. }
        | Verdict::Overloaded { .. }
        | Verdict::GeneratorLate { .. }
        | Verdict::LimitExceeded { .. }
        | Verdict::StillWarming(_) => Some(CAUTION),
        Verdict::Suspect { .. } | Verdict::Failed { .. } => Some(BAD),
    }
}

fn below(out: &mut String, table: &Table, layout: &Layout, style: Style) {
    if let Some(by) = layout.group_by {
        section(out, &format!("Best of each {by}"), style, plain(groups::lines(table, by)));
    }
    let by_language = groups::protocols_by_language(table);
    let told = [by_language, conclusion::resolution(table)].concat();
    told.iter().for_each(|line| prose(out, line, PLAIN, style));
    if !told.is_empty() {
        out.push('\n');
    }
    let unranked = words::unranked(table);
    let troubles = unranked.iter().flat_map(|row| trouble(&row.entry, row));
    section(out, "Not ranked", style, troubles);
    let absent = table.absent.iter().map(|a| format!("{}: {}", a.entry(), a.reason()));
    section(out, "Not measured", style, plain(absent));
    section(out, "Notes", style, plain(words::notes(table)));
}

fn below_curve(out: &mut String, curve: &Curve, style: Style) {
    let troubles = curve.troubles();
    let troubles =
        troubles.iter().flat_map(|(row, loads)| trouble(&format!("{} ({loads})", row.entry), row));
    section(out, "Not ok", style, troubles);
    let absent = curve.absent().into_iter();
    let absent = absent.map(|(a, loads)| format!("{} ({loads}): {}", a.entry(), a.reason()));
    section(out, "Not measured", style, plain(absent));
    section(out, "Notes", style, plain(words::curve_notes(curve)));
}

pub(crate) fn plain(
    lines: impl IntoIterator<Item = String>,
) -> impl Iterator<Item = (Ansi, String)> {
    lines.into_iter().map(|line| (PLAIN, line))
}

fn trouble(whose: &str, row: &Unranked) -> Vec<(Ansi, String)> {
    let mut lines = vec![(PLAIN, format!("{whose}: {}: {}", row.verdict, row.reason))];
    lines.extend(row.evidence.iter().map(|line| (DIM, format!("  | {line}"))));
    lines
}

fn warnings(summary: &Summary) -> impl Iterator<Item = (Ansi, String)> {
    summary.warnings.iter().map(|warning| (CAUTION, warning.line()))
}
