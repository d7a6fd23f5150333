//! Views of a run record. Every function is pure: it reads no file, no clock and no terminal, so that an
//! old record can be drawn again at any time, and gives the same words.

#![forbid(unsafe_code)]

mod catalog;
mod cell;
mod changes;
mod columns;
mod conclusion;
mod connections;
mod curve;
mod doubt;
mod export;
mod figures;
mod groups;
mod history;
mod html;
mod layout;
mod lives;
mod load;
mod markdown;
mod open;
mod published;
mod row;
mod runtime;
mod spectrum;
mod spread;
mod standings;
mod summary;
mod text;
mod verdict;
mod warming;
mod warning;
mod words;
mod wrap;

pub use catalog::figure_list;
pub use changes::{
    Asked, Change, ChangeLimit, ChangeLimitError, Changes, ComparedFigure, Difference,
    UnknownFigure, changes, changes_csv, changes_json, changes_markdown, changes_of_builds,
    changes_schema, changes_text,
};
pub use columns::{ColumnName, Columns, UnknownColumn};
pub use conclusion::Conclusion;
pub use doubt::{Doubt, LITTLE_TOLERANCE, SeriesFault, doubts};
pub use export::{EXPORT_SCHEMA, ExportError, csv, export_schema, json, trials_csv};
pub use rpcbench_record::units as format;

pub use figures::{ClientFigures, Estimate, Figures, Response, ServerFigures};
pub use groups::{GroupBy, UnknownGroup};
pub use history::{
    CellHistory, History, Point, Since, history, history_csv, history_json, history_markdown,
    history_schema, history_text,
};
pub use html::{Calls, Comparison, TrialCalls, changes_html, html, html_with_calls};
pub use layout::Layout;
pub use lives::Lives;
pub use load::{
    AllCalls, Bound, Capacity, Load, LoadCurve, LoadPoint, LoadView, PointVerdict, curve_csv,
    curve_json, curve_markdown, curve_text, cut_short, found, load_csv, load_hdr, load_json,
    load_markdown, load_text,
};
pub use markdown::markdown;
pub use row::{Absent, Row};
pub use runtime::RuntimeFigures;
pub use spectrum::{Bar, draw, spectrum};
pub use spread::{Spread, spreads};
pub use standings::{Pair, Standings};
pub use summary::{Summary, Table, summary};
pub use text::{Style, text};
pub use verdict::{SATURATED, Verdict, saturation};
pub use warming::{COMPILER_SHARE, Course, Warming, warming};
pub use warning::{FOREIGN_SHARE, STEAL_SHARE, THROTTLED_SHARE, Warning};
