//! Windows in slices.

use std::collections::BTreeSet;

use rpcbench_clock::Nanos;
use rpcbench_harness::run::Admission;
use rpcbench_record::{Run, Trial};

use super::load::{Answer, Script};
use super::{Made, failures, quick, run_plan};

const FREEZE: [&str; 3] = ["freezes a", "freezes b", "freezes c"];

/// Runs rounds of slices of 12 s at most.
pub fn sliced(script: Script, entries: &[&'static str], extent: (u32, u32)) -> Made {
    let extent = (extent.0, extent.1, usize::MAX);
    run_plan(script, Admission::Unchecked, entries, extent, quick(120))
}

pub fn slices(run: &Run) -> Vec<Option<u32>> {
    let windows = run.trials.iter().filter_map(Trial::measured);
    windows.map(|window| window.slicing.map(|slicing| slicing.slices)).collect()
}

#[test]
fn entries_take_turns_in_slices_and_one_has_the_cpu_at_a_time() {
    let made = sliced(|_, _| Answer::After(Nanos(1000)), &FREEZE, (2, 4));
    // Windows of a second, slices of 100 ms.
    assert_eq!(slices(&made.run), [Some(10); 24]);
    let windows = made.run.trials.iter().filter_map(Trial::measured);
    assert!(windows.map(|window| window.window_ns).all(|ns| ns == 1_000_000_000));
    let mut awake = None;
    for line in made.log.iter().skip_while(|line| !line.ends_with(" wakes")) {
        let (entry, what) = line.rsplit_once(' ').unwrap();
        match what {
            "wakes" => assert_eq!(awake.replace(entry), None, "{line}"),
            "freezes" => assert_eq!(awake.take(), Some(entry), "{line}"),
            _ => {}
        }
        if made.count("has its last slice") == 24 && line.ends_with("stops") {
            break;
        }
    }
}

/// Only their windows are compared round by round.
#[test]
fn processes_of_the_same_number_take_turns_one_right_after_the_other() {
    let made = sliced(|_, _| Answer::After(Nanos(1000)), &FREEZE, (4, 2));
    let turns: Vec<_> = made.log.iter().filter(|line| line.ends_with(" slice")).collect();
    assert_eq!(turns.len(), 24 * 10);
    for turn in turns.chunks(FREEZE.len()) {
        assert_eq!(turn.iter().collect::<BTreeSet<_>>().len(), FREEZE.len(), "{turn:?}");
    }
}

#[test]
fn builds_take_turns_in_the_shortest_slices() {
    let made =
        sliced(|_, _| Answer::After(Nanos(1000)), &["freezes a#old", "freezes a#new"], (1, 4));
    let windows = made.run.trials.iter().filter_map(Trial::measured);
    let lengths = windows.map(|window| window.slicing.map(|it| it.discarded_ns + it.counted_ns));
    assert_eq!(lengths.collect::<Vec<_>>(), [Some(50_000_000); 8]);
}

/// So they cost no server anything.
#[test]
fn owners_of_ports_are_checked_between_slices_only() {
    let made = sliced(|_, _| Answer::After(Nanos(1000)), &FREEZE, (1, 40));
    let last = made.log.iter().rposition(|line| line.ends_with("has its last slice")).unwrap();
    let turns = made.log[..last].iter().skip_while(|line| !line.ends_with(" slice"));
    let (mut is_awake, mut checks) = (false, 0);
    for line in turns {
        is_awake = line.ends_with(" slice") || is_awake && !line.ends_with("freezes");
        if line.ends_with("has its port checked") {
            assert!(!is_awake, "{line}");
            checks += 1;
        }
    }
    assert!(checks >= 3, "{checks}");
}

/// A proxy would time out calls that stay in flight for so long.
#[test]
fn no_process_starts_while_another_is_frozen_with_calls_in_flight() {
    let mut plan = quick(60);
    plan.stopping.as_mut().unwrap().first_processes = Some(1);
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let made = run_plan(script, Admission::Unchecked, &FREEZE[..2], (2, 400, usize::MAX), plan);
    assert_eq!(made.count(" starts"), 4);
    let mut in_flight = BTreeSet::new();
    for line in &made.log {
        let ends = |what| line.strip_suffix(what);
        if let Some(entry) = ends(" has its last slice") {
            in_flight.insert(entry);
        } else if let Some(entry) = ends(" ends its calls") {
            in_flight.remove(entry);
        } else if line.ends_with(" starts") {
            assert_eq!(in_flight, BTreeSet::new(), "{line}");
        }
    }
}

#[test]
fn server_that_cannot_be_frozen_means_windows_in_one_piece_for_all() {
    let made = sliced(|_, _| Answer::After(Nanos(1000)), &["freezes a", "b"], (1, 4));
    assert_eq!(slices(&made.run), [None; 8]);
    let alone = sliced(|_, _| Answer::After(Nanos(1000)), &["freezes a"], (1, 4));
    assert_eq!(slices(&alone.run), [None; 4]);
}

#[test]
fn server_that_fails_in_a_round_leaves_the_others_their_slices() {
    let script = |entry: &str, _| match entry {
        "freezes b" => Answer::Fails,
        _ => Answer::After(Nanos(1000)),
    };
    let made = sliced(script, &FREEZE[..2], (1, 4));
    let failed = failures(&made.run).into_iter().filter_map(|(entry, why)| Some((entry, why?)));
    assert_eq!(failed.collect::<Vec<_>>(), [("freezes b", "the generator is gone")]);
    assert_eq!(slices(&made.run), [Some(10); 4]);
}

#[test]
fn slices_leave_little_time_between_them() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let made = run_plan(script, Admission::Unchecked, &FREEZE, (2, 400, usize::MAX), quick(360));
    let windows = made.run.trials.iter().filter_map(Trial::measured);
    let slicing = windows.filter_map(|window| window.slicing);
    let lengths = slicing.map(|it| u64::from(it.slices) * (it.discarded_ns + it.counted_ns));
    let length = lengths.sum::<u64>() as f64 / 1e9;
    let rounds = made.took.as_secs_f64() - 40.0;
    assert!(length > 0.95 * rounds, "{length} of {rounds} s");
    assert!(made.took.as_secs_f64() < 366.0, "{:?}", made.took);
}
