//! Documents for terminals.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style as Ansi};
use comfy_table::{Table as Grid, presets};

use super::{Block, Content, Document, Item, Part, Table, Tone};
use crate::columns::{fill, fitting};
use crate::wrap::wrap;

const BOLD: Ansi = Ansi::new().bold();
const PLAIN: Ansi = Ansi::new();
const DIM: Ansi = Ansi::new().dimmed();
const GOOD: Ansi = AnsiColor::Green.on_default();
const CAUTION: Ansi = AnsiColor::Yellow.on_default();
const BAD: Ansi = AnsiColor::Red.on_default();

/// Spaces between columns.
const GAP: u16 = 2;

/// Indent of lines under a title.
const INDENT: &str = "  ";

/// Lines of a small terminal. In longer output the headline has scrolled off by the end.
const SCREEN: usize = 20;

/// Points to the explanation of words and columns.
const EXPLAIN: &str = "What each word and column means: rpcbench report --explain";

/// The abilities of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// True to use colours. The caller considers the terminal, `NO_COLOR` and `--color`.
    pub color: bool,
    /// Characters per line. Tables drop their least important columns to fit. `None` for no limit.
    pub width: Option<usize>,
    /// True if only ASCII can be shown.
    pub ascii: bool,
}

impl Style {
    fn paint(self, ink: Ansi, text: &str) -> String {
        match self.color {
            true => format!("{ink}{text}{ink:#}"),
            false => text.to_owned(),
        }
    }

    /// Replaces characters that an ASCII terminal can't show.
    fn plain(self, text: &str) -> Cow<'_, str> {
        if self.ascii && !text.is_ascii() {
            Cow::Owned(text.replace('\u{b1}', "+/-").replace(|c: char| !c.is_ascii(), "?"))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Adds a line, wrapped to the terminal's width.
    fn line(self, out: &mut String, line: &str, ink: Ansi) {
        for part in wrap(&self.plain(line), self.width) {
            out.push_str(&self.paint(ink, &part));
            out.push('\n');
        }
    }

    fn lines(self, lines: &[String], ink: Ansi) -> String {
        let mut out = String::new();
        lines.iter().for_each(|line| self.line(&mut out, line, ink));
        out
    }
}

pub(super) fn render(document: &Document, style: Style) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    for part in &document.parts {
        paragraphs.push(heading(part, style));
        paragraphs.extend(part.blocks.iter().map(|it| block(it, PLAIN, style)));
    }
    let list = |title: &str, lines: &[String]| Block::list(title, lines.iter().cloned());
    paragraphs.push(block(&list("Warnings", &document.warnings), CAUTION, style));
    if document.explain {
        paragraphs.push(block(&list("How to read it", &document.how_to_read), PLAIN, style));
    } else if !document.how_to_read.is_empty() {
        paragraphs.push(style.lines(&[EXPLAIN.to_owned()], DIM));
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    let mut out = paragraphs.join("\n");
    if out.lines().count() >= SCREEN {
        repeat_headline(&mut out, document, style);
    }
    out
}

/// Repeats the answer at the end.
fn repeat_headline(out: &mut String, document: &Document, style: Style) {
    let headlines = document.parts.iter().map(|part| style.lines(&part.headline, BOLD));
    let headlines: String = headlines.collect();
    if !headlines.is_empty() {
        out.push('\n');
        out.push_str(&headlines);
    }
}

/// The answer, or else the first line, in bold.
fn heading(part: &Part, style: Style) -> String {
    let mut out = style.lines(&part.headline, BOLD);
    for line in part.title.iter().chain(&part.setting) {
        let ink = if out.is_empty() { BOLD } else { PLAIN };
        style.line(&mut out, line, ink);
    }
    out
}

fn block(block: &Block, ink: Ansi, style: Style) -> String {
    let mut out = String::new();
    if block.is_empty() {
        return out;
    }
    if let Some(title) = &block.title {
        style.line(&mut out, title, BOLD);
    }
    let indent = if block.title.is_some() { INDENT } else { "" };
    for content in &block.content {
        match content {
            Content::Table(it) => table(&mut out, it, indent, style),
            Content::Prose(lines) => {
                lines.iter().for_each(|line| style.line(&mut out, &format!("{indent}{line}"), ink));
            }
            Content::List(items) => items.iter().for_each(|it| item(&mut out, it, ink, style)),
            Content::Drawing(lines) => {
                lines.iter().for_each(|line| out.push_str(&format!("{indent}{line}\n")));
            }
            Content::Hint(line) => style.line(&mut out, &format!("{indent}{line}"), ink),
        }
    }
    out
}

fn item(out: &mut String, item: &Item, ink: Ansi, style: Style) {
    style.line(out, &format!("{INDENT}{}", item.text), ink);
    item.evidence.iter().for_each(|line| style.line(out, &format!("{INDENT}  | {line}"), DIM));
}

fn table(out: &mut String, table: &Table, indent: &str, style: Style) {
    if table.rows() == 0 {
        return;
    }
    let (columns, hidden) = fitting(&table.columns, style.width, usize::from(GAP));
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    let header = fill(&mut grid, &columns, |cell| style.plain(cell).into_owned());
    grid.column_iter_mut().for_each(|column| {
        column.set_padding((0, GAP));
    });
    let tones = table.tones.iter().copied().chain(std::iter::repeat(Tone::Neither));
    let inks = header.then_some(BOLD).into_iter().chain(tones.map(ink));
    for (line, ink) in grid.lines().zip(inks) {
        out.push_str(&style.paint(ink, format!("{indent}{line}").trim_end()));
        out.push('\n');
    }
    if !hidden.is_empty() {
        style.line(out, &format!("hidden to fit the terminal: {}", hidden.join(", ")), DIM);
    }
}

fn ink(tone: Tone) -> Ansi {
    match tone {
        Tone::Good => GOOD,
        Tone::Bad => BAD,
        Tone::Caution => CAUTION,
        Tone::Neither => PLAIN,
    }
}
