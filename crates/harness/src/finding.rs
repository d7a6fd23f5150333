//! The result of a check of this machine.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Fine.
    Ok,
    /// Figures are right, but could be steadier or more complete.
    Advice,
    /// Figures will be wrong or missing.
    Problem,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable across versions: `governor`, `toolchain-go`.
    pub id: String,
    /// Severity.
    pub severity: Severity,
    /// What was found, one line.
    pub what: String,
    /// What to do, unless it is [`Severity::Ok`].
    pub remedy: Option<String>,
}

/// A finding of severity [`Severity::Ok`].
pub(crate) fn fine(id: &str, what: String) -> Finding {
    Finding { id: id.to_owned(), severity: Severity::Ok, what, remedy: None }
}

/// A finding of severity [`Severity::Advice`].
pub(crate) fn advice(id: &str, what: String, remedy: &str) -> Finding {
    let remedy = Some(remedy.to_owned());
    Finding { id: id.to_owned(), severity: Severity::Advice, what, remedy }
}

pub(crate) fn problem(id: &str, what: String, remedy: &str) -> Finding {
    Finding { severity: Severity::Problem, ..advice(id, what, remedy) }
}
