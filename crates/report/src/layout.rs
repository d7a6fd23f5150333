//! The layout of tables for people.

use std::cmp::Ordering;

use crate::catalog::{Subject, Unit, Value};
use crate::columns::{ColumnName, Columns};
use crate::groups::GroupBy;

/// The columns and rows of a run's document, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The columns.
    pub columns: Columns,
    /// The column to sort rows by. Rates are in descending order, everything else ascending; unknown values come last. `None` for
    /// fastest first.
    pub sort: Option<ColumnName>,
    /// Shows the best of each group below the table.
    pub group_by: Option<GroupBy>,
    /// True to explain words and columns on a terminal.
    pub explain: bool,
}

impl From<Columns> for Layout {
    fn from(columns: Columns) -> Self {
        Self { columns, ..Self::default() }
    }
}

impl Layout {
    /// Every column and all explanations, for documents that are not shown on a terminal.
    pub fn complete() -> Self {
        Self { explain: true, ..Columns::Wide.into() }
    }

    pub(crate) fn arrange(&self, rows: &mut [Subject]) {
        let Some(ColumnName(figure)) = self.sort else { return };
        rows.sort_by(|a, b| match (figure.value(a), figure.value(b)) {
            (Some(a), Some(b)) if figure.unit == Unit::PerSecond => order(&b, &a),
            (Some(a), Some(b)) => order(&a, &b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
    }
}

fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => a.as_f64().unwrap_or_default().total_cmp(&b.as_f64().unwrap_or_default()),
    }
}
