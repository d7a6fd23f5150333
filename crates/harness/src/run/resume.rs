//! Going on with a run that was interrupted.

use rpcbench_record::{Machine, PlannedTrial, Readiness, Run, TrialResult};

/// Why a run can't be gone on with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// There is nothing left.
    #[error("this run is finished; `rpcbench report` shows it")]
    Finished,
    /// The numbers would not belong together.
    #[error("this run was made on another machine ({there}; this is {here}); start a new one")]
    OtherMachine {
        /// CPU and kernel of the record.
        there: String,
        /// CPU and kernel of this machine.
        here: String,
    },
}

/// Refuses to go on with a run that is finished, or that was made on another machine.
///
/// # Errors
/// Why not.
pub fn same_machine(run: &Run, here: &Machine) -> Result<(), ResumeError> {
    if run.finished.is_some() {
        return Err(ResumeError::Finished);
    }
    let name = |machine: &Machine| {
        format!("{} x {}, Linux {}", machine.cpu.logical, machine.cpu.model, machine.kernel)
    };
    let (there, here) = (name(&run.header.machine), name(here));
    if there == here { Ok(()) } else { Err(ResumeError::OtherMachine { there, here }) }
}

/// The trials of the plan that have not ended, in the plan's order. A cell whose server failed, or was
/// skipped, has none left.
#[must_use]
pub fn remaining(run: &Run) -> Vec<PlannedTrial> {
    let order = run.header.plan.order.iter();
    order.filter(|planned| !is_done(run, planned)).cloned().collect()
}

fn is_done(run: &Run, planned: &PlannedTrial) -> bool {
    let of_cell =
        |entry: &str, workload: &str| entry == planned.entry && workload == planned.workload;
    let out = run.preparations.iter().any(|preparation| {
        of_cell(&preparation.entry, &preparation.workload)
            && preparation.readiness != Readiness::Ready
    });
    let ended =
        run.trials.iter().filter(|trial| of_cell(&trial.entry, &trial.workload)).any(|trial| {
            trial.number == planned.number || matches!(trial.result, TrialResult::Failed(_))
        });
    out || ended
}
