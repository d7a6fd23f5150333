//! Servers whose runtime compiles.

use rpcbench_clock::Nanos;
use rpcbench_harness::run::Admission;

use super::load::{Answer, COMPILES, RECOMPILES};
use super::{quick, run_plan};

#[test]
fn server_that_still_compiles_is_warmed_more_before_its_first_window() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let entries = [COMPILES, "a"];
    let made = run_plan(script, Admission::Unchecked, &entries, (1, 4, usize::MAX), quick(40));
    let warm = made.run.preparations[1].warm.as_ref().expect("a warm-up");
    assert!(warm.unsteady.is_some(), "{warm:?}");
    assert_eq!([made.count("measures"), made.count("too early")], [8, 0], "{:?}", made.log);
}

#[test]
fn server_that_compiles_again_after_its_warm_up_is_waited_for() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let made = run_plan(script, Admission::Unchecked, &[RECOMPILES], (1, 2, usize::MAX), quick(40));
    let warm = made.run.preparations[0].warm.as_ref().expect("a warm-up");
    assert!(warm.unsteady.is_none() && warm.length_ms() == 3000, "{warm:?}");
    assert_eq!([made.count("measures"), made.count("too early")], [2, 0], "{:?}", made.log);
}

#[test]
fn compiling_server_gets_another_cpu_until_it_is_warm() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let made = run_plan(script, Admission::Unchecked, &[COMPILES], (1, 2, usize::MAX), quick(40));
    let warmed = ["spreads", "connects", "warms", "ends its calls", "takes its place", "wakes"];
    assert_eq!(made.log[1..7], warmed.map(|what| format!("{COMPILES} {what}")));
    assert_eq!(made.count("takes its place"), 1);
}

#[test]
fn slow_language_is_prepared_last_with_remaining_time() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let entries = [COMPILES, "a", "b"];
    let made = run_plan(script, Admission::Unchecked, &entries, (2, 4, usize::MAX), quick(100));
    let order: Vec<&str> = made.run.preparations.iter().map(|it| &*it.entry).collect();
    let last = ["a", "b", COMPILES];
    assert_eq!(order, [last, last].concat());
    // Equal shares of 40 s would be 9 s.
    let warm = made.run.preparations[2].warm.as_ref().expect("a warm-up");
    assert!(warm.length_ms() > 12_000 && warm.unsteady.is_none(), "{warm:?}");
}
