//! Documents as Markdown.

use comfy_table::{Table as Grid, presets};
use itertools::Itertools as _;

use super::{Block, Content, Document, Item, Part, Table};
use crate::columns::{Column, fill};

pub(super) fn render(document: &Document) -> String {
    let mut paragraphs = vec![format!("# rpcbench: {}", document.title)];
    paragraphs.extend(document.origin.clone());
    document.parts.iter().for_each(|it| part(&mut paragraphs, it));
    let lists = [("Warnings", &document.warnings), ("How to read it", &document.how_to_read)];
    for (title, lines) in lists {
        block(&mut paragraphs, &Block::list(title, lines.iter().cloned()), "##");
    }
    let mut text = paragraphs.join("\n\n");
    text.push('\n');
    text
}

fn part(paragraphs: &mut Vec<String>, part: &Part) {
    paragraphs.extend(part.title.as_ref().map(|title| format!("## {title}")));
    paragraphs.extend(part.headline.iter().map(|line| format!("**{line}**")));
    if !part.setting.is_empty() {
        paragraphs.push(part.setting.join("  \n"));
    }
    let heading = if part.title.is_some() { "###" } else { "##" };
    part.blocks.iter().for_each(|it| block(paragraphs, it, heading));
}

fn block(paragraphs: &mut Vec<String>, block: &Block, heading: &str) {
    if block.is_empty() {
        return;
    }
    paragraphs.extend(block.title.as_ref().map(|title| format!("{heading} {title}")));
    for content in &block.content {
        match content {
            Content::Table(it) => paragraphs.extend((it.rows() > 0).then(|| table(it))),
            Content::Prose(lines) => paragraphs.extend(lines.iter().cloned()),
            Content::List(items) => paragraphs.push(items.iter().map(item).join("\n")),
            Content::Drawing(lines) => paragraphs.push(format!("```\n{}\n```", lines.join("\n"))),
            Content::Hint(_) => {}
        }
    }
}

fn item(item: &Item) -> String {
    // An indented code block, which no log line can close.
    let evidence: String = item.evidence.iter().map(|line| format!("\n      {line}")).collect();
    match evidence.is_empty() {
        true => format!("- {}", item.text.trim_end()),
        false => format!("- {}\n{}", item.text, evidence.trim_end()),
    }
}

fn table(table: &Table) -> String {
    let columns: Vec<Column> = table.columns.iter().filter(|it| !it.drawn).cloned().collect();
    let mut grid = Grid::new();
    grid.load_style(presets::ASCII_MARKDOWN);
    if !fill(&mut grid, &columns, |cell| cell.replace('|', "\\|")) {
        grid.set_header(vec![""; columns.len()]);
    }
    let text = grid.to_string();
    // A colon at the end of its dashes aligns a column right; the grid does not write colons.
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(dashes) = lines.get_mut(1) {
        *dashes = aligned(dashes, &columns);
    }
    lines.join("\n")
}

fn aligned(dashes: &str, columns: &[Column]) -> String {
    let columns = dashes.trim_matches('|').split('|').zip(columns);
    let mut cells = columns.map(|(cell, column)| match column.is_number {
        false => cell.to_owned(),
        true => format!("{}:", &cell[..cell.len().saturating_sub(1)]),
    });
    format!("|{}|", cells.join("|"))
}
