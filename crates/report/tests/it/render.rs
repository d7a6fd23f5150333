//! Documents of every kind in every format.

use rpcbench_report::{
    Changes, Document, ExportError, Format, History, Layout, Load, LoadCurve, Style, Summary,
};

/// A kind of result.
pub trait Shown {
    fn document(&self, layout: &Layout) -> Document<'_>;
}

pub fn text(of: &impl Shown, style: Style, layout: &Layout) -> String {
    of.document(layout).text(style)
}

pub fn plain(of: &impl Shown, style: Style) -> String {
    text(of, style, &Layout::default())
}

pub fn markdown(of: &impl Shown) -> String {
    of.document(&Layout::complete()).markdown()
}

pub fn json(of: &impl Shown) -> Result<String, ExportError> {
    of.document(&Layout::default()).render(Format::Json, Style::default())
}

pub fn csv(of: &impl Shown) -> Result<String, ExportError> {
    of.document(&Layout::default()).render(Format::Csv, Style::default())
}

impl Shown for Summary {
    fn document(&self, layout: &Layout) -> Document<'_> {
        Document::of_run(self, layout)
    }
}

impl Shown for Load {
    fn document(&self, _: &Layout) -> Document<'_> {
        Document::of_load(self)
    }
}

impl Shown for LoadCurve {
    fn document(&self, _: &Layout) -> Document<'_> {
        Document::of_curve(self)
    }
}

impl Shown for Changes {
    fn document(&self, _: &Layout) -> Document<'_> {
        Document::of_changes(self)
    }
}

impl Shown for History {
    fn document(&self, _: &Layout) -> Document<'_> {
        Document::of_history(self)
    }
}
