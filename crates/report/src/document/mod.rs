//! A result for people, independent of the format. Each kind of result builds a document; each format renders it.

mod markdown;
mod run;
mod text;

use serde::Serialize;

pub use text::Style;

use crate::columns::Column;
use crate::export::{Export, ExportError};

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text,
    /// Markdown with GitHub's tables.
    Markdown,
    /// Every figure, in full precision.
    Json,
    /// A header, and a row per cell, load, rate, change, or run of a cell.
    Csv,
}

/// A result for people, along with its data for programs.
pub struct Document<'a> {
    /// Markdown's first heading.
    pub(crate) title: String,
    /// When and where it was measured. Not shown on terminals.
    pub(crate) origin: Option<String>,
    pub(crate) parts: Vec<Part>,
    /// Limits of the figures, most important first.
    pub(crate) warnings: Vec<String>,
    /// The meaning of words and columns.
    pub(crate) how_to_read: Vec<String>,
    /// True if a terminal shows `how_to_read`.
    pub(crate) explain: bool,
    pub(crate) data: &'a dyn Export,
}

/// The results of a workload, or another part of a document.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) headline: Vec<String>,
    pub(crate) title: Option<String>,
    /// Load, limits, and the origin of the data.
    pub(crate) setting: Vec<String>,
    pub(crate) blocks: Vec<Block>,
}

/// Content that belongs together, with or without a title.
#[derive(Serialize)]
pub(crate) struct Block {
    pub(crate) title: Option<String>,
    pub(crate) content: Vec<Content>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    Table(Table),
    Prose(Vec<String>),
    List(Vec<Item>),
    /// Lines drawn in fixed-width characters.
    Drawing(Vec<String>),
    /// A sentence only needed on terminals.
    Hint(&'static str),
}

/// A header and rows. There is no header without titles.
#[derive(Default, Serialize)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// One per row; empty if all rows are plain.
    #[serde(skip)]
    pub(crate) tones: Vec<Tone>,
}

/// An entry of a list, with the last lines of its log or examples of its errors.
#[derive(Serialize)]
pub(crate) struct Item {
    pub(crate) text: String,
    pub(crate) evidence: Vec<String>,
}

/// The emphasis of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tone {
    Good,
    Bad,
    Caution,
    Neither,
}

impl<'a> Document<'a> {
    pub(crate) fn new(title: String, data: &'a dyn Export) -> Self {
        Self {
            title,
            origin: None,
            parts: Vec::new(),
            warnings: Vec::new(),
            how_to_read: Vec::new(),
            explain: false,
            data,
        }
    }

    /// Renders the document. The result ends in a line feed.
    ///
    /// # Errors
    /// Only [`Format::Json`] and [`Format::Csv`] can fail; see [`ExportError`].
    pub fn render(&self, format: Format, style: Style) -> Result<String, ExportError> {
        match format {
            Format::Text => Ok(self.text(style)),
            Format::Markdown => Ok(self.markdown()),
            Format::Json => self.data.json(),
            Format::Csv => self.data.csv(),
        }
    }

    /// Renders the document for a terminal.
    pub fn text(&self, style: Style) -> String {
        text::render(self, style)
    }

    /// Renders the document as Markdown.
    pub fn markdown(&self) -> String {
        markdown::render(self)
    }
}

impl Block {
    pub(crate) fn titled(title: impl Into<String>, content: Vec<Content>) -> Self {
        Self { title: Some(title.into()), content }
    }

    pub(crate) fn untitled(content: Content) -> Self {
        Self { title: None, content: vec![content] }
    }

    pub(crate) fn list(
        title: impl Into<String>,
        lines: impl IntoIterator<Item = impl Into<Item>>,
    ) -> Self {
        let items = lines.into_iter().map(Into::into).collect();
        Self::titled(title, vec![Content::List(items)])
    }

    fn is_empty(&self) -> bool {
        self.content.iter().all(Content::is_empty)
    }
}

impl Content {
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Table(table) => table.rows() == 0,
            Self::Prose(lines) | Self::Drawing(lines) => lines.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Hint(_) => false,
        }
    }
}

impl Table {
    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { text, evidence: Vec::new() }
    }
}
