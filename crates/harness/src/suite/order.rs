//! The order of trials.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use rpcbench_record::{PlannedServer, PlannedTrial};

use super::Suite;

/// Rounds of all entries in random order, workload by workload. What drifts over minutes (a clock that
/// throttles, a neighbour that wakes) so falls on every entry alike.
pub(super) fn order(suite: &Suite, entries: &[PlannedServer], seed: u64) -> Vec<PlannedTrial> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut order = Vec::new();
    for workload in &suite.workloads {
        for number in 1..=suite.trials {
            let mut round: Vec<&PlannedServer> = entries.iter().collect();
            rand::seq::SliceRandom::shuffle(round.as_mut_slice(), &mut rng);
            order.extend(round.into_iter().map(|server| PlannedTrial {
                entry: server.entry.clone(),
                workload: workload.name.clone(),
                number,
            }));
        }
    }
    order
}
