//! Interim analyses of a run.

use rpcbench_record::{Analysis, RankedBy, Run, observations};
use rpcbench_stats::compare;

/// True if an analysis is due after `processes` processes of each entry, and under every load each two neighbours differ
/// clearly, or are equal within the precision.
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
