//! Views of a run record. Every function is pure: it reads no file, clock or terminal, so an old record always gives the same
//! output.

#![forbid(unsafe_code)]

mod catalog;
mod cell;
mod changes;
mod columns;
mod conclusion;
mod connection_churn;
mod connections;
mod curve;
mod disturbed;
mod document;
mod doubt;
mod export;
mod figures;
mod groups;
mod history;
mod html;
mod in_slices;
mod layout;
mod left_out;
mod load;
mod matrix;
mod open;
mod openings;
mod parties;
mod published;
mod row;
mod runtime;
mod spectrum;
mod speed_trend;
mod spread;
mod standings;
mod summary;
mod tls_cost;
mod verdict;
mod view;
mod warming;
mod warning;
mod words;
mod wrap;

pub use catalog::figure_list;
pub use changes::{
    Change, ChangeLimit, Changes, CompareOptions, ComparedFigure, Difference, Gate, Gated, LeftOut,
    changes, changes_of_builds, changes_schema,
};
pub use columns::{ColumnName, Columns};
pub use conclusion::Conclusion;
pub use connection_churn::ConnectionChurn;
pub use document::{Document, Format, Style};
pub use doubt::doubts;
pub use export::{EXPORT_SCHEMA, ExportError, export_schema, trials_csv};
pub use figures::{ClientFigures, Estimate, Figures, Response, ServerFigures};
pub use groups::GroupBy;
pub use history::{
    CellHistory, History, HistoryBuilder, LoadHistory, PastCurve, PastLoad, Point, Since,
    history_schema,
};
pub use html::{Calls, Comparison, TrialCalls, changes_html, html};
pub use layout::Layout;
pub use load::{
    AllCalls, Bound, Capacity, Load, LoadCurve, LoadPair, LoadPoint, PointVerdict, cut_short,
    load_hdr,
};
pub use openings::Openings;
pub use row::{Absent, Row};
pub use rpcbench_record::units as format;
pub use runtime::RuntimeFigures;
pub use spectrum::{Bar, draw, spectrum};
pub use spread::{Spread, spreads};
pub use standings::{Pair, Standings};
pub use summary::{Summary, Table, summary};
pub use verdict::{Verdict, VerdictKind};
pub use view::View;
pub use warning::{FOREIGN_SHARE, STEAL_SHARE, THROTTLED_SHARE, Warning};
