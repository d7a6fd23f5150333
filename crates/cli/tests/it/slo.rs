//! The search for the highest rate, end to end.

use rpcbench_record::{Arrivals, Rate, Run, Search, StepVerdict, Trial};

use crate::bench::Bench;

/// Searches before it is accepted that other programs let the client keep no schedule.
const CHANCES: usize = 3;

/// The trial that searched.
fn searched(run: &Run) -> (&Trial, &Search) {
    let trial = run.trials.last().expect("a trial");
    (trial, trial.search.as_ref().expect("a search"))
}

/// Every rate was tried once, those that met the threshold lie below those that did not, and the search ended where
/// they come within its precision, or for a client that was late at every rate left to try.
#[track_caller]
fn is_a_bracket(search: &Search) {
    let mut rates: Vec<_> = search.steps.iter().map(|step| step.rate).collect();
    rates.sort();
    rates.dedup();
    assert_eq!(rates.len(), search.steps.len(), "a rate twice");
    // Five looks of at most eight windows.
    assert!(search.steps.iter().all(|step| (1..=40).contains(&step.windows.len())));
    if let (Some(met), Some(unmet)) = (search.met(), search.unmet()) {
        let is_clients = unmet.verdict.is_clients();
        let (met, unmet) = (met.rate.get(), unmet.rate.get());
        assert!(met < unmet && (is_clients || unmet <= met * 1.05), "{met} {unmet}");
    }
}

/// A call costs 2 ms of one CPU, so no more than 500 a second can be answered. A window of half a second keeps up with
/// a fifth more (2 % + 3 / sqrt(calls due)), and may draw a sixth fewer calls than its rate says. Where the client gets no CPU in the
/// middle of the window, the 16 calls in flight count for its second half: a sixth more. Below that the highest rate
/// depends on the machine, so it is compared with the capacity that the same run measured just before.
#[test]
fn limit_of_a_known_server_is_found() {
    for _ in 0..CHANCES {
        let bench = Bench::alone().variant("two-ms", "--behaviour busy:2000");
        let ended = bench.run("run @two-ms --suite slo");
        let run = bench.record();
        let (trial, search) = searched(&run);
        is_a_bracket(search);
        let highest = search.met().map_or(0.0, |step| step.rate.get());
        assert!(highest < 820.0, "{highest}");
        if let Some(StepVerdict::NotMet(why)) = search.unmet().map(|step| step.verdict)
            && why.is_clients()
        {
            ended.shows(&[&why.to_string()]);
            continue;
        }
        let capacity =
            run.capacity(&trial.entry, &trial.workload, Some(trial.process)).expect("a capacity");
        assert!(highest > 0.4 * capacity, "{highest} of {capacity}");
        // The trial is a window at that rate.
        let met = search.met().expect("a rate");
        assert_eq!(trial.arrivals, Some(Arrivals::Poisson { rate: Rate::PerSecond(met.rate) }));
        let measured = trial.measured().unwrap_or_else(|| panic!("{trial:?}"));
        assert!(met.windows.contains(measured));
        assert_eq!(search.threshold.holds(measured), Some(true));
        ended.expect(0).shows(&["open loop, highest rate of Poisson arrivals with p99<1s"]);
        return;
    }
}

/// Each call takes 1 ms at any load. On a busy machine the client may be late at the lowest rates too: then the search can't
/// tell, and the server has not failed.
#[test]
fn limit_that_no_rate_keeps_is_a_failure() {
    let bench = Bench::new().variant("one-ms", "--behaviour slow:1ms").edit(
        "suites/slo.toml",
        "p99<1s",
        "p99<500us",
    );
    let ended = bench.run("run @one-ms --suite slo --duration 100ms");
    let run = bench.record();
    let (trial, search) = searched(&run);
    is_a_bracket(search);
    assert!(search.met().is_none());
    match search.unmet().expect("a rate").verdict {
        StepVerdict::NotMet(why) if why.is_clients() => {
            assert!(trial.measured().is_some());
            // The windows may have been disturbed as well, which is shown first.
            let shown = [why.to_string(), "free CPUs, and don't stop rpcbench".to_owned()];
            let said = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.iter().any(|it| said.contains(it)), "{}", ended.out);
        }
        _ => {
            ended.expect(1).shows(&["failed: no rate met p99<500us, not even "]);
        }
    }
}
