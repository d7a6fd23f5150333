//! The order of trials.

use rand::seq::SliceRandom as _;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use rpcbench_record::{PlannedServer, PlannedTrial};

use super::Suite;

/// Orders trials workload by workload, in rounds over `most` processes of each entry: one process of each entry in random order,
/// then the next of each, and so on. That way a change of the machine affects all entries and processes alike.
pub(super) fn order(
    suite: &Suite,
    (most, rounds): (u32, u32),
    entries: &[PlannedServer],
    seed: u64,
) -> Vec<PlannedTrial> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut order = Vec::new();
    for workload in &suite.workloads {
        for round in 0..rounds {
            let mut processes: Vec<u32> = (1..=most).collect();
            if round > 0 {
                processes.shuffle(&mut rng);
            }
            for process in processes {
                let mut shuffled: Vec<&PlannedServer> = entries.iter().collect();
                shuffled.shuffle(&mut rng);
                order.extend(shuffled.into_iter().map(|server| PlannedTrial {
                    entry: server.entry.clone(),
                    workload: workload.name.clone(),
                    process,
                    number: round * most + process,
                }));
            }
        }
    }
    order
}
