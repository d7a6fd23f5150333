//! The order of trials.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use rpcbench_record::{PlannedServer, PlannedTrial};

use super::Suite;

/// Rounds of all entries in random order, process by process, and for each workload by workload. What drifts over minutes (a
/// clock that throttles, a neighbour that wakes) so falls on every entry alike.
pub(super) fn order(suite: &Suite, entries: &[PlannedServer], seed: u64) -> Vec<PlannedTrial> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut order = Vec::new();
    for process in 1..=suite.processes {
        for workload in &suite.workloads {
            for round in 1..=suite.rounds {
                let mut shuffled: Vec<&PlannedServer> = entries.iter().collect();
                rand::seq::SliceRandom::shuffle(shuffled.as_mut_slice(), &mut rng);
                order.extend(shuffled.into_iter().map(|server| PlannedTrial {
                    entry: server.entry.clone(),
                    workload: workload.name.clone(),
                    process,
                    number: (process - 1) * suite.rounds + round,
                }));
            }
        }
    }
    order
}
