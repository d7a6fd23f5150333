//! A summary as Markdown.

use comfy_table::{Table as Grid, presets};

use crate::catalog::{Kind, Subject};
use crate::columns::{Column, Columns, columns, fill};
use crate::conclusion;
use crate::curve::{Curve, Part, parts};
use crate::format;
use crate::groups;
use crate::published::{self, PUBLISHED};
use crate::summary::{Summary, Table};
use crate::warning::Warning;
use crate::words::{self, Unranked};

/// Renders a summary as Markdown (GitHub's tables), ending in a line feed.
#[must_use]
pub fn markdown(summary: &Summary) -> String {
    let mut blocks = vec![format!("# rpcbench: {}", summary.header.plan.suite), origin(summary)];
    for part in parts(&summary.tables) {
        let [load, setting] = words::heading(&summary.header.plan, &part);
        blocks.push(format!("## {load}"));
        if let Part::Ranking(table) = &part {
            let won = conclusion::headline(table);
            blocks.extend(won.into_iter().map(|line| format!("**{line}**")));
        }
        blocks.push(setting);
        match part {
            Part::Ranking(table) => {
                blocks.extend(grid(Kind::Ranking, &summary.rows_of(table)));
                blocks.extend(groups::protocols_by_language(table));
                blocks.extend(conclusion::resolution(table));
                blocks.extend(below(table));
                let published = published::lines(&summary.header.plan, table);
                blocks.extend(list(PUBLISHED, published.into_iter()));
            }
            Part::Curve(curve) => {
                blocks.extend(grid(Kind::Curve, &curve.subjects(summary)));
                blocks.extend(below_curve(&curve));
            }
        }
    }
    blocks.extend(list("Warnings", summary.warnings.iter().map(Warning::line)));
    blocks.extend(list("How to read it", words::how_to_read(summary).into_iter()));
    let mut text = blocks.join("\n\n");
    text.push('\n');
    text
}

fn origin(summary: &Summary) -> String {
    let (machine, tool) = (&summary.header.machines.client, &summary.header.tool);
    format!(
        "{} on {}, {} of {}, {}, {}, Linux {}; rpcbench {tool}",
        words::began(&summary.header),
        machine.cpu.model,
        format::plural(u64::from(machine.cpu.logical), "CPU"),
        format::plural(u64::from(machine.cpu.cores), "core"),
        format::bytes(machine.memory_bytes),
        machine.os,
        machine.kernel,
    )
}

fn grid(kind: Kind, rows: &[Subject]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    Some(table(&columns(kind, rows, &Columns::Wide)))
}

/// A table with its header.
pub(crate) fn table(columns: &[Column]) -> String {
    let mut grid = Grid::new();
    grid.load_style(presets::ASCII_MARKDOWN);
    fill(&mut grid, columns, escaped);
    let text = grid.to_string();
    // A colon at the end of a dash line is what aligns a column right; the grid does not write it.
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(dashes) = lines.get_mut(1) {
        *dashes = aligned(dashes, columns);
    }
    lines.join("\n")
}

fn aligned(dashes: &str, columns: &[Column]) -> String {
    let columns = dashes.trim_matches('|').split('|').zip(columns);
    let cells = columns.map(|(cell, column)| match column.is_number {
        false => cell.to_owned(),
        true => format!("{}:", &cell[..cell.len().saturating_sub(1)]),
    });
    format!("|{}|", cells.collect::<Vec<_>>().join("|"))
}

fn below(table: &Table) -> Vec<String> {
    let mut blocks = Vec::new();
    let unranked = words::unranked(table);
    blocks.extend(list("Not ranked", unranked.iter().map(|row| trouble(&row.entry, row))));
    let absent = table.absent.iter().map(|a| format!("{}: {}", a.entry(), a.reason()));
    blocks.extend(list("Not measured", absent));
    blocks.extend(list("Notes", words::notes(table).into_iter()));
    blocks
}

fn below_curve(curve: &Curve) -> Vec<String> {
    let mut blocks = Vec::new();
    let troubles = curve.troubles();
    let troubles =
        troubles.iter().map(|(row, loads)| trouble(&format!("{} ({loads})", row.entry), row));
    blocks.extend(list("Not ok", troubles));
    let absent = curve.absent();
    let absent = absent.iter().map(|(a, loads)| format!("{} ({loads}): {}", a.entry(), a.reason()));
    blocks.extend(list("Not measured", absent));
    blocks.extend(list("Notes", words::curve_notes(curve).into_iter()));
    blocks
}

fn trouble(whose: &str, row: &Unranked) -> String {
    let line = format!("{whose}: {}: {}", row.verdict, row.reason);
    match row.evidence.is_empty() {
        true => line,
        false => format!("{line}\n\n{}\n", quoted(&row.evidence)),
    }
}

/// Lines of a log as an indented code block, which no line of it can end.
fn quoted(lines: &[String]) -> String {
    lines.iter().map(|line| format!("      {line}")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn list(title: &str, items: impl Iterator<Item = String>) -> Option<String> {
    let items: Vec<String> = items.map(|item| format!("- {}", item.trim_end())).collect();
    (!items.is_empty()).then(|| format!("### {title}\n\n{}", items.join("\n")))
}

fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|")
}
