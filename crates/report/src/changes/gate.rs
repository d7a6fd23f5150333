//! Verdicts of limits on changes, cell by cell. A gate never passes what was not measured or could not have been detected.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::words::change;
use super::{Change, ChangeLimit, Changes};

/// Verdict of a limit on a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The change is within the limit, and the runs would have detected a larger one.
    Holds,
    /// The entry was not measured in the old run.
    NoBaseline,
    /// A value is missing or unranked, or the noise hides changes as large as the limit.
    CantTell,
    /// The server failed in the new run.
    Failed,
    /// The change clearly exceeds the limit.
    Exceeded,
}

/// A cell that can't be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// `go-grpc under quick`, or a workload.
    pub cell: String,
    /// Why.
    pub reason: String,
    /// The verdict of limits on the cell.
    pub gate: Gate,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.cell, self.reason)
    }
}

/// Verdict of a limit on a cell, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gated {
    /// The limit as typed.
    pub limit: String,
    /// The cell, such as `go-grpc under quick`, or a workload.
    pub cell: String,
    /// The verdict on the cell.
    pub gate: Gate,
    /// Reason for the verdict.
    pub reason: String,
}

impl fmt::Display for Gated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, cell, reason, .. } = self;
        match self.gate {
            Gate::Holds => write!(f, "{cell} keeps {limit}: {reason}"),
            Gate::NoBaseline => write!(f, "{cell} has no baseline: {reason}"),
            Gate::CantTell => write!(f, "can't tell if {cell} exceeds {limit}: {reason}"),
            Gate::Failed => write!(f, "{cell} failed: {reason}"),
            Gate::Exceeded => write!(f, "{cell} exceeds {limit}: {reason}"),
        }
    }
}

impl Changes {
    /// The verdicts of `limits` on each cell, compared ones first.
    pub(super) fn gated(&self, limits: &[ChangeLimit]) -> Vec<Gated> {
        let mut found = Vec::new();
        for limit in limits {
            let gated = |cell: &str, gate, reason| Gated {
                limit: limit.to_string(),
                cell: cell.to_owned(),
                gate,
                reason,
            };
            for cell in &self.compared {
                let row =
                    self.rows.iter().find(|row| row.figure == limit.figure && row.cell() == *cell);
                let (gate, reason) =
                    row.map_or_else(not_measured, |row| of_row(*limit, row, self.precision));
                found.push(gated(cell, gate, reason));
            }
            found
                .extend(self.left_out.iter().map(|it| gated(&it.cell, it.gate, it.reason.clone())));
        }
        found
    }
}

fn not_measured() -> (Gate, String) {
    (Gate::CantTell, "not measured in both".to_owned())
}

/// A limit holds if the change is within it and a change as large as the limit, or as the precision if that is larger, would have
/// been detected.
fn of_row(limit: ChangeLimit, row: &Change, precision: f64) -> (Gate, String) {
    let shown = limit.show(row);
    if limit.is_exceeded_by(row) {
        return (Gate::Exceeded, shown);
    }
    let seen = row.range.map(|range| limit.min_detectable(row.ratio, range));
    match seen {
        Some(seen) if seen <= limit.share().max(precision) => (Gate::Holds, shown),
        Some(seen) => {
            let seen = change(1.0 + seen);
            (
                Gate::CantTell,
                format!("{shown}, but these runs only detect changes of {seen} or more"),
            )
        }
        None => {
            (Gate::CantTell, format!("{shown}, but the noise is unknown; measure more processes"))
        }
    }
}
