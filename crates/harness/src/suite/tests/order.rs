//! The order of trials.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn two_workloads() -> Suite {
    let (_, load) = GOOD.split_at(GOOD.find("[[workload]]").expect("a workload"));
    let second = load.replace("shape", "name = \"second\"\nshape");
    parsed(&format!("{GOOD}{second}")).expect("a good suite")
}

proptest! {
    #[test]
    fn each_cell_has_exactly_its_trials(entries in 0_usize..9, rounds in 1_u32..7, seed: u64) {
        let names: Vec<String> = (0..entries).map(|n| format!("s{n}")).collect();
        let entries = servers(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let options = typed(&format!("--rounds {rounds}"));
        let plan = plan(&two_workloads(), &options, &entries, seed).expect("a plan");
        let mut cells: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
        for trial in &plan.order {
            let cell = (trial.entry.clone(), trial.workload.clone());
            prop_assert_eq!(trial.process, (trial.number - 1) % 2 + 1);
            prop_assert!(cells.entry(cell).or_default().insert(trial.number));
        }
        prop_assert_eq!(cells.len(), entries.len() * 2);
        prop_assert!(cells.values().all(|numbers| numbers.iter().copied().eq(1..=2 * rounds)));
    }

    #[test]
    fn round_is_every_process_of_every_entry_once(entries in 1_usize..9, rounds in 1_u32..7, seed: u64) {
        let mut names: Vec<String> = (0..entries).map(|n| format!("s{n}")).collect();
        let entries = servers(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let options = typed(&format!("--rounds {rounds}"));
        let plan = plan(&two_workloads(), &options, &entries, seed).expect("a plan");
        let mut processes: Vec<(String, u32)> =
            names.drain(..).flat_map(|name| [(name.clone(), 1), (name, 2)]).collect();
        processes.sort();
        let numbers = plan.rounds(&plan.workloads[0].name);
        for round in plan.order.chunks(entries.len() * 2) {
            let mut inside: Vec<(String, u32)> =
                round.iter().map(|t| (t.entry.clone(), t.process)).collect();
            inside.sort();
            prop_assert_eq!(&inside, &processes);
            prop_assert!(round.iter().all(|t| numbers[&t.number] == numbers[&round[0].number]));
            prop_assert!(round.iter().all(|t| t.workload == round[0].workload));
        }
    }

    #[test]
    fn one_seed_gives_one_order(seed: u64) {
        let entries = servers(&["a", "b", "c", "d"]);
        let make = || plan(&good(), &RunSpec::default(), &entries, seed).expect("a plan");
        prop_assert_eq!(make(), make());
    }
}

#[test]
fn seeds_and_rounds_differ_in_order() {
    let entries = servers(&["a", "b", "c", "d", "e", "f"]);
    let options = typed("--rounds 8");
    let order = |seed| plan(&good(), &options, &entries, seed).expect("a plan").order;
    assert_ne!(order(1), order(2));
    let rounds: Vec<Vec<String>> =
        order(1).chunks(12).map(|r| r.iter().map(|t| t.entry.clone()).collect()).collect();
    assert!(rounds.windows(2).any(|pair| pair[0] != pair[1]));
}
