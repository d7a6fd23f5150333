//! Looking at a run before its end.

use rpcbench_record::{Analysis, RankedBy, Run, observations};
use rpcbench_stats::compare;

/// Whether the run is looked at after so many processes of each entry, and each two neighbours under every load that is
/// there for its own sake are told apart, or known to be equal within the precision.
pub(super) fn is_clear(run: &Run, processes: u32) -> bool {
    let plan = &run.header.plan;
    if !plan.is_analyzed_after(processes) {
        return false;
    }
    let question = plan.question(Analysis::Interim(processes));
    plan.loads().all(|workload| {
        let observations = observations(run, workload, RankedBy::of(run, workload));
        compare(&observations, plan.servers.len(), &question).is_decided()
    })
}
