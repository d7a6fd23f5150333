//! Judges a record of a real run, and runs made from it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use rpcbench_record::{PlannedServer, PlannedTrial, Preparation, Run, Trial, TrialResult};

use super::change::Compared;
use super::design::Experiment;
use super::judge::Judged;
use super::noise::{Noise, noise};

/// The golden record of the suite `quick`.
fn golden() -> Run {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tests/records/quick");
    let to = tempfile::tempdir().unwrap();
    fs::copy(from.join("run.json"), to.path().join("run.json")).unwrap();
    let mut events = String::new();
    let zipped = fs::File::open(from.join("events.jsonl.gz")).unwrap();
    GzDecoder::new(zipped).read_to_string(&mut events).unwrap();
    fs::write(to.path().join("events.jsonl"), events).unwrap();
    rpcbench_record::read(to.path()).unwrap()
}

/// Rounded, as the last digits depend on the processor. The reference does not predict this run, so nothing is adjusted by it.
#[test]
fn the_noise_of_a_record_by_part() {
    let run = golden();
    let Noise { windows, in_rounds, by_part, by_all } = noise(&run, &run.header.plan.workloads[0]);
    let shares = [&[windows, in_rounds][..], &by_part, &[by_all]].concat();
    let shares = shares.into_iter().flatten().map(|share| format!("{:.3} %", share * 100.0));
    insta::assert_snapshot!(shares.collect::<Vec<_>>().join(", "), @"16.383 %, 17.673 %");
}

/// Processes of each entry of [`of_design`].
const PROCESSES: u32 = 8;

/// A run of a design with the windows of go-grpc, in which the entry `slow` uses twice the CPU time.
fn of_design(design: Experiment, slow: Option<&str>) -> Run {
    let mut run = golden();
    let server = run.header.plan.servers.iter().find(|it| it.entry == "go-grpc").unwrap().clone();
    let entries = names(design);
    let named = |entry: &String| PlannedServer { entry: entry.clone(), ..server.clone() };
    run.header.plan.servers = entries.iter().map(named).collect();
    let trials: Vec<Trial> =
        run.trials.drain(..).filter(|trial| trial.entry == "go-grpc").collect();
    let mut prepared: Vec<Preparation> = run.preparations.drain(..).collect();
    prepared.retain(|it| it.entry == "go-grpc" && it.process == 1);
    for entry in &entries {
        for process in 1..=PROCESSES {
            let again = Preparation { entry: entry.clone(), process, ..prepared[0].clone() };
            run.preparations.push(again);
            let half = trials.iter().filter(|trial| trial.process == 1 + process % 2);
            run.trials.extend((1..).zip(half).map(|(at, trial)| {
                let number = process * 100 + at;
                let mut trial = Trial { entry: entry.clone(), process, number, ..trial.clone() };
                let TrialResult::Measured(window) = &mut trial.result else { unreachable!() };
                let server = Arc::make_mut(window).server.as_mut().unwrap();
                let times = if slow == Some(entry.as_str()) { 2 } else { 1 };
                server.cpu_user_ns *= times;
                server.cpu_system_ns *= times;
                trial
            }));
        }
    }
    run.header.plan.order = run.trials.iter().map(planned).collect();
    run
}

/// The entries of a design of the testkit, as in a record.
fn names(design: Experiment) -> Vec<String> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    let numbered = |name: &&'static str| {
        let number = times.entry(name).or_default();
        *number += 1;
        if *number == 1 { (*name).to_owned() } else { format!("{name}#{number}") }
    };
    design.spec().servers.iter().map(numbered).collect()
}

fn planned(trial: &Trial) -> PlannedTrial {
    PlannedTrial {
        entry: trial.entry.clone(),
        workload: trial.workload.clone(),
        process: trial.process,
        number: trial.number,
    }
}

fn compared(design: Experiment, slow: Option<&str>) -> Compared {
    let (base, new) = (of_design(Experiment::Equal, None), of_design(design, slow));
    let compared = Compared::of(("base", &base), ("new", &new), design).unwrap();
    assert!(compared.resolution.unwrap() < 0.5);
    compared
}

#[test]
fn a_costlier_entry_is_compared_with_an_equal_one() {
    let costlier = compared(Experiment::Costlier10, Experiment::Costlier10.costlier());
    assert_eq!((costlier.wrong, costlier.found, costlier.is_right()), (0, Some(true), true));
    let unseen = compared(Experiment::Costlier10, None);
    assert_eq!((unseen.wrong, unseen.found, unseen.is_right()), (0, Some(false), false));
}

#[test]
fn an_equal_entry_reported_as_changed_is_wrong() {
    let equal = compared(Experiment::Equal, None);
    assert_eq!((equal.wrong, equal.found, equal.is_right()), (0, None, true));
    let one = compared(Experiment::Equal, Some("testkit-liar@honest#2"));
    assert_eq!((one.wrong, one.found, one.is_right()), (1, None, false));
    let other = compared(Experiment::Costlier10, Some("testkit-liar@honest"));
    assert_eq!((other.wrong, other.found, other.is_right()), (1, Some(false), false));
}

#[test]
fn runs_of_a_design_are_judged() {
    let run = of_design(Experiment::Costlier10, Experiment::Costlier10.costlier());
    let judged = Judged::of("run", Experiment::Costlier10, &run).unwrap();
    assert_eq!((judged.design, judged.processes, judged.found), (Experiment::Costlier10, 8, 5));
    assert!(judged.is_right());
}
