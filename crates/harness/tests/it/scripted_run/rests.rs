//! Servers, which are always busy here, between their windows.

use rpcbench_clock::Nanos;
use rpcbench_record::{Run, ServerUsage, Trial};

use super::failures;
use super::load::Answer;
use super::slices::{sliced, slices};

/// The rests before the last window of each process.
fn rests(run: &Run) -> Vec<ServerUsage> {
    let windows = run.trials.iter().rev().filter_map(Trial::measured);
    windows.take(2).map(|window| window.server.clone().expect("its usage")).collect()
}

#[test]
fn server_busy_at_rest_is_named_once_and_frozen_from_then_on() {
    let made = sliced(|_, _| Answer::After(Nanos(1000)), &["a", "b"], (1, 40));
    assert_eq!(slices(&made.run)[0], None);
    assert_eq!([made.count("a is named"), made.count("b is named")], [1, 1], "{:?}", made.log);
    for entry in ["a", "b"] {
        let index =
            |what: &str| made.log.iter().position(|line| *line == format!("{entry} {what}"));
        assert!(index("is named") < index("freezes"), "{:?}", made.log);
    }
    for usage in rests(&made.run) {
        assert_eq!(usage.restless_share(), Some(1.0));
        assert!(usage.rest_ns < 2 * ServerUsage::REST_JUDGED_NS, "{usage:?}");
    }
}

/// Servers may have watchdogs.
#[test]
fn end_after_a_freeze_is_reported_with_its_length() {
    let why = |entries: [&'static str; 2]| {
        let made = sliced(|_, _| Answer::After(Nanos(1000)), &entries, (1, 400));
        let why = failures(&made.run).into_iter().find_map(|(_, why)| why);
        why.expect("a failure").to_owned()
    };
    assert_eq!(
        why(["a", "ends late"]),
        "ended between its trials; before that, it had no calls for 1s 420ms, and was frozen for 1s 420ms"
    );
    assert_eq!(
        why(["freezes", "freezes, ends late"]),
        "ended during a trial; it was last frozen for 142ms, with its calls in flight"
    );
}

/// It rests while others are prepared, and is frozen in all rounds.
#[test]
fn server_of_slices_busy_at_rest_is_named() {
    let entries = ["freezes a", "freezes b", "freezes c", "freezes d", "freezes e"];
    let made = sliced(|_, _| Answer::After(Nanos(1000)), &entries, (1, 4));
    assert_eq!(slices(&made.run)[0], Some(10));
    assert_eq!([made.count("a is named"), made.count("e is named")], [1, 0], "{:?}", made.log);
    assert!(rests(&made.run).iter().any(|usage| usage.rest_cpu_ns == usage.rest_ns));
}
