//! Checks before a run that it has enough time.

use std::time::Duration;

use rpcbench_record::{Plan, Stopping, WarmUp, Workload, units};

use crate::build::{BuildState, Candidate};

/// Time to start a process, and to check it or to connect.
const START: Duration = Duration::from_millis(1500);
/// Time around a window: load before it, its last calls, checks after it.
const AROUND_WINDOW: Duration = Duration::from_millis(1500);
/// Largest share of the time that preparing should take.
const PREPARATION: f64 = 0.5;

/// A line with the time needed, if a run's time is too short to warm its servers and to measure each a few times.
pub(super) fn shortage(plan: &Plan, candidates: &[Candidate]) -> Option<String> {
    let given = Duration::from_millis(plan.stopping?.max_time_ms?);
    let preparing = preparation(plan, candidates);
    let needed = preparing.div_f64(PREPARATION).max(preparing + windows(plan, candidates));
    (needed > given).then(|| {
        let (given, preparing) = (units::length(given), units::length(whole(preparing, 1)));
        let enough = units::length(whole(needed, 60));
        format!(
            "{given} is short for this run: to warm its processes takes {preparing} at least, and they need time to be measured; \
             --max-time {enough} would do, or fewer {}",
            plan.role().plural()
        )
    })
}

/// Rounded up to a multiple of this many seconds.
fn whole(length: Duration, seconds: u64) -> Duration {
    Duration::from_secs((length.as_secs_f64().ceil() as u64).next_multiple_of(seconds))
}

/// The minimum time in which all processes that run from the start are warm.
fn preparation(plan: &Plan, candidates: &[Candidate]) -> Duration {
    let begins = |at: usize| {
        let (before, own) = (&plan.workloads[..at], &plan.workloads[at]);
        !before.iter().any(|other| other.shares_process(own))
    };
    let groups = (0..plan.workloads.len()).filter(|at| begins(*at)).map(|at| &plan.workloads[at]);
    let of_group = |workload: &Workload| -> Duration {
        runnable(candidates).map(|it| START + warm_up(workload, it)).sum()
    };
    groups.map(of_group).sum::<Duration>() * plan.first_processes()
}

fn warm_up(workload: &Workload, candidate: &Candidate) -> Duration {
    match workload.warm_up {
        WarmUp::UntilSteady { least_ms, .. } => {
            candidate.entry.server.runtime.warmup_min.max(Duration::from_millis(least_ms))
        }
        WarmUp::Fixed { length_ms } => Duration::from_millis(length_ms),
        WarmUp::Calls { .. } => Duration::ZERO,
    }
}

/// The time of the rounds after which a run is analyzed for the first time.
fn windows(plan: &Plan, candidates: &[Candidate]) -> Duration {
    let each: Duration = plan
        .workloads
        .iter()
        .map(|it| AROUND_WINDOW + Duration::from_millis(it.window.length_ms().unwrap_or(0)))
        .sum();
    let count = runnable(candidates).count() as u32;
    each * count * plan.first_processes() * Stopping::MIN_ROUNDS
}

fn runnable(candidates: &[Candidate]) -> impl Iterator<Item = &Candidate> {
    candidates.iter().filter(|it| matches!(it.build, BuildState::Built(_)))
}
