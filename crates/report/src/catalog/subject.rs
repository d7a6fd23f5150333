//! The subject of a row.

use std::borrow::Cow;
use std::cell::OnceCell;

use rpcbench_record::{Header, Measured, PlannedServer, Run, Trial, Workload};

use crate::figures::Figures;
use crate::load::AllCalls;
use crate::row::Row;
use crate::summary::{Summary, Table};

/// The source of a row's figures.
pub(crate) struct Subject<'a> {
    pub(crate) header: &'a Header,
    pub(crate) workload: Option<&'a Workload>,
    pub(crate) server: Option<&'a PlannedServer>,
    pub(crate) cell: Option<&'a Row>,
    pub(crate) trial: Option<&'a Trial>,
    /// The figures over all its windows.
    pub(crate) figures: Option<Cow<'a, Figures>>,
    pub(crate) window: Option<Window<'a>>,
}

pub(crate) struct Window<'a> {
    pub(crate) measured: &'a Measured,
    /// Read on first use.
    all_calls: OnceCell<Option<AllCalls>>,
}

impl<'a> Window<'a> {
    fn of(measured: &'a Measured) -> Self {
        Self { measured, all_calls: OnceCell::new() }
    }

    /// `None` if no call came due.
    pub(crate) fn all_calls(&self) -> Option<&AllCalls> {
        self.all_calls.get_or_init(|| AllCalls::of(self.measured)).as_ref()
    }
}

impl<'a> Subject<'a> {
    /// A row of a summary's table.
    pub(crate) fn cell(summary: &'a Summary, table: &'a Table, row: &'a Row) -> Self {
        Self {
            workload: Some(&table.workload),
            server: Some(&row.server),
            cell: Some(row),
            figures: row.figures.as_ref().map(Cow::Borrowed),
            ..Self::of_run(&summary.header)
        }
    }

    pub(crate) fn trial(run: &'a Run, trial: &'a Trial) -> Self {
        let plan = &run.header.plan;
        let measured = trial.measured();
        Self {
            workload: plan.workload(&trial.workload),
            server: plan.servers.iter().find(|server| server.entry == trial.entry),
            trial: Some(trial),
            figures: measured.and_then(|m| Figures::of(&[m], Some(plan.limits))).map(Cow::Owned),
            window: measured.map(Window::of),
            ..Self::of_run(&run.header)
        }
    }

    pub(crate) fn window(header: &'a Header, measured: &'a Measured) -> Self {
        Self {
            figures: Figures::of(&[measured], Some(header.plan.limits)).map(Cow::Owned),
            window: Some(Window::of(measured)),
            ..Self::of_run(header)
        }
    }

    fn of_run(header: &'a Header) -> Self {
        Self {
            header,
            workload: None,
            server: None,
            cell: None,
            trial: None,
            figures: None,
            window: None,
        }
    }
}
