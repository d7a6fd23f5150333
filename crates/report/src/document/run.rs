//! The document of a run.

use super::{Block, Content, Document, Item, Part, Tone};
use crate::catalog::{Kind, Subject};
use crate::columns::{Columns, columns};
use crate::curve::{Curve, Results, results};
use crate::layout::Layout;
use crate::parties::Parties;
use crate::row::Row;
use crate::summary::{Summary, Table};
use crate::verdict::VerdictKind;
use crate::warning::Warning;
use crate::words::{self, Unranked};
use crate::{conclusion, groups, matrix, published, tls_cost};

impl<'a> Document<'a> {
    /// The document of a run.
    pub fn of_run(summary: &'a Summary, layout: &Layout) -> Self {
        let document = Self {
            origin: Some(words::origin(&summary.header)),
            parts: results(&summary.tables).iter().map(|it| part(summary, it, layout)).collect(),
            warnings: summary.warnings.iter().map(Warning::line).collect(),
            how_to_read: words::how_to_read(summary),
            explain: layout.explain,
            ..Self::new(summary.header.plan.suite.clone(), summary)
        };
        match Parties::of_run(&summary.header.plan) {
            Parties::Server => document,
            Parties::Client => document.in_words_of(Parties::Client),
            Parties::Pair => {
                let mut document = document.in_words_of(Parties::Pair);
                document.how_to_read.splice(..0, words::PAIRS.map(str::to_owned));
                document
            }
        }
    }

    /// Rewords the document for these parties. Rows, warnings and lists already use their words.
    fn in_words_of(mut self, parties: Parties) -> Self {
        let parts = self.parts.iter_mut();
        let lines = parts.flat_map(|part| {
            let blocks = part.blocks.iter_mut();
            let prose = blocks.flat_map(|block| block.content.iter_mut().flat_map(Content::prose));
            part.headline.iter_mut().chain(&mut part.title).chain(&mut part.setting).chain(prose)
        });
        for line in lines.chain(&mut self.how_to_read) {
            *line = parties.words(line).into_owned();
        }
        let blocks = self.parts.iter_mut().flat_map(|part| &mut part.blocks);
        for content in blocks.flat_map(|block| &mut block.content) {
            if let Content::Table(table) = content {
                for column in &mut table.columns {
                    column.title = parties.title(std::mem::take(&mut column.title));
                }
            }
        }
        self
    }
}

impl Content {
    fn prose(&mut self) -> &mut [String] {
        match self {
            Self::Prose(lines) => lines,
            _ => &mut [],
        }
    }
}

fn part(summary: &Summary, of: &Results, layout: &Layout) -> Part {
    let [load, setting] = words::heading(&summary.header.plan, of);
    let (headline, blocks) = match of {
        Results::Ranking(table) => (conclusion::headline(table), ranking(summary, table, layout)),
        Results::Curve(curve) => (Vec::new(), over_load(summary, curve, layout)),
    };
    Part { headline, title: Some(load), setting: vec![setting], blocks }
}

fn ranking(summary: &Summary, table: &Table, layout: &Layout) -> Vec<Block> {
    let mut rows = summary.rows_of(table);
    layout.arrange(&mut rows);
    let mut blocks = Vec::from_iter(matrix::block(table));
    blocks.push(grid(Kind::Ranking, &rows, &layout.columns));
    blocks.extend(
        layout
            .group_by
            .map(|by| Block::list(format!("Best of each {by}"), groups::lines(table, by))),
    );
    let sentences = [groups::protocols_by_language(table), conclusion::resolution(table)].concat();
    let unranked = words::unranked(table);
    let published = published::lines(&summary.header.plan, table);
    blocks.extend([Block::untitled(Content::Prose(sentences))]);
    blocks.extend(tls_cost::blocks(&summary.tables, table));
    blocks.extend([
        Block::list("Not ranked", unranked.into_iter().map(|row| trouble(&row, None))),
        Block::list("Not measured", table.absent.iter().map(|it| it.line(None))),
        Block::list("Notes", words::notes(table.rows.iter())),
        Block::list(published::TITLE, published),
    ]);
    blocks
}

fn over_load(summary: &Summary, curve: &Curve, layout: &Layout) -> Vec<Block> {
    let unranked_rows = curve.unranked_rows();
    let absent = curve.absent();
    vec![
        grid(Kind::Curve, &curve.subjects(summary), &layout.columns),
        Block::list("Not ok", unranked_rows.iter().map(|(row, loads)| trouble(row, Some(loads)))),
        Block::list("Not measured", absent.iter().map(|(it, loads)| it.line(Some(loads)))),
        Block::list("Notes", words::notes(curve.rows())),
    ]
}

fn grid(kind: Kind, rows: &[Subject], which: &Columns) -> Block {
    let columns = columns(kind, rows, which);
    let tones = rows.iter().map(|row| row.cell.map_or(Tone::Neither, tone)).collect();
    Block::untitled(Content::Table(super::Table { columns, tones }))
}

fn tone(row: &Row) -> Tone {
    match row.verdict.kind {
        VerdictKind::Suspect | VerdictKind::Failed => Tone::Bad,
        _ if !row.verdict.is_ranked() => Tone::Caution,
        _ if row.place.is_some_and(|place| place.best == 1) => Tone::Good,
        _ => Tone::Neither,
    }
}

fn trouble(row: &Unranked, loads: Option<&String>) -> Item {
    let loads = loads.map(|loads| format!(" ({loads})")).unwrap_or_default();
    Item {
        text: format!("{}{loads}: {}: {}", row.entry, row.verdict, row.reason),
        evidence: row.evidence.clone(),
    }
}
