//! Checks before a run whether its time is sufficient.

use std::time::Duration;

use rpcbench_record::{Plan, Stopping, WarmUp, Workload, units};

use super::SetupError;
use crate::build::Candidate;
use crate::manifest::Entry;

/// Time to start a process and to check it or connect to it.
const START: Duration = Duration::from_millis(1500);
/// Time to check a client.
const CLIENT_CHECK: Duration = Duration::from_millis(2500);
/// Overhead of a window: load before it, its last calls, checks after it.
const AROUND_WINDOW: Duration = Duration::from_millis(1500);
/// Overhead of a window in slices.
const AROUND_SLICES: Duration = Duration::from_millis(250);
/// Maximum share of the time to spend on preparation.
const PREPARATION: f64 = 0.5;

/// A line with the time needed, if a run's time is too short to warm its servers and measure each a few times.
pub(super) fn shortage(plan: &Plan, candidates: &[Candidate]) -> Option<String> {
    let given = Duration::from_millis(plan.stopping?.max_time_ms?);
    let built: Vec<&Entry> =
        candidates.iter().filter(|it| it.is_built()).map(|it| &it.entry).collect();
    let preparing = preparation(plan, &built);
    let needed =
        preparing.div_f64(PREPARATION).max(preparing + windows(plan, built.len(), AROUND_WINDOW));
    (needed > given).then(|| {
        let (given, preparing) = (units::length(given), units::length(whole(preparing, 1)));
        let enough = units::length(whole(needed, 60));
        let or_more = if counts_calls(plan) { " or more" } else { "" };
        format!(
            "{given} is too short for this run: warming its processes takes at least {preparing}, and they must then be measured; \
             use --max-time {enough}{or_more}, or fewer {}",
            plan.role().plural()
        )
    })
}

/// The time that a matrix of clients and servers takes if all of them can run here. If it is too short to measure each pair a few
/// times, fails with the number of pairs that would fit.
pub(super) fn of_matrix(plan: &Plan, entries: &[Entry]) -> Result<String, SetupError> {
    let pairs: Vec<&Entry> = entries.iter().collect();
    let (count, preparing) = (pairs.len(), preparation(plan, &pairs));
    let named = format!("{} of a client and a server", units::plural(count as u64, "pair"));
    let Some(ms) = plan.stopping.and_then(|stopping| stopping.max_time_ms) else {
        let time = units::length(whole(preparing + all_windows(plan), 60));
        return Ok(match counts_calls(plan) {
            true => {
                format!("{named}: more than {time} after the builds, as long as its calls take")
            }
            false => format!("{named}: about {time} after the builds"),
        });
    };
    let (given, needed) =
        (Duration::from_millis(ms), preparing + windows(plan, count, AROUND_SLICES));
    let time = units::length(given);
    if needed <= given {
        return Ok(format!("{named}: at most {time} after the builds"));
    }
    let (least, most) = if counts_calls(plan) { ("at least ", "at most ") } else { ("", "") };
    let fitting = match (given.as_secs_f64() / needed.as_secs_f64() * count as f64) as usize {
        0 => "not even one pair fits".to_owned(),
        1 => format!("{most}one pair fits"),
        fitting => format!("{most}{fitting} pairs fit"),
    };
    let enough = units::length(whole(needed, 60));
    Err(SetupError::Refused(format!(
        "{named}: they need {least}{enough}, and the time is {time}, in which {fitting}; give --max-time {enough} or \
         more, or name fewer clients or servers"
    )))
}

/// True if the length of some windows or warm-ups is a number of calls, so their time is unknown. All times here are lower bounds
/// then.
fn counts_calls(plan: &Plan) -> bool {
    let of_calls = |it: &Workload| {
        it.window.length_ms().is_none() || matches!(it.warm_up, WarmUp::Calls { .. })
    };
    plan.workloads.iter().any(of_calls)
}

/// The total time of all windows of a plan.
fn all_windows(plan: &Plan) -> Duration {
    let window = |name: &String| plan.workload(name).and_then(|it| it.window.length_ms());
    let windows = plan.order.iter().map(|trial| window(&trial.workload).unwrap_or(0));
    windows.map(|ms| AROUND_SLICES + Duration::from_millis(ms)).sum()
}

/// Rounds up to a multiple of `seconds`.
fn whole(length: Duration, seconds: u64) -> Duration {
    Duration::from_secs((length.as_secs_f64().ceil() as u64).next_multiple_of(seconds))
}

/// The minimum time until all initial processes are warm.
fn preparation(plan: &Plan, entries: &[&Entry]) -> Duration {
    let begins = |at: usize| {
        let (before, own) = (&plan.workloads[..at], &plan.workloads[at]);
        !before.iter().any(|other| other.shares_process(own))
    };
    let groups = (0..plan.workloads.len()).filter(|at| begins(*at)).map(|at| &plan.workloads[at]);
    let of_group = |workload: &Workload| -> Duration {
        entries.iter().map(|it| start(it) + warm_up(workload, it)).sum()
    };
    groups.map(of_group).sum::<Duration>() * plan.first_processes()
}

fn start(entry: &Entry) -> Duration {
    if entry.counterpart.is_some() { START + START + CLIENT_CHECK } else { START }
}

fn warm_up(workload: &Workload, entry: &Entry) -> Duration {
    match workload.warm_up {
        WarmUp::UntilSteady { least_ms, .. } => {
            entry.server.runtime.warmup_min.max(Duration::from_millis(least_ms))
        }
        WarmUp::Fixed { length_ms } => Duration::from_millis(length_ms),
        WarmUp::Calls { .. } => Duration::ZERO,
    }
}

/// The time of the rounds before the first analysis of a run.
fn windows(plan: &Plan, entries: usize, around: Duration) -> Duration {
    let window = |it: &Workload| around + Duration::from_millis(it.window.length_ms().unwrap_or(0));
    let each: Duration = plan.workloads.iter().map(window).sum();
    each * entries as u32 * plan.first_processes() * Stopping::MIN_ROUNDS
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rpcbench_record::{Limits, PlannedTrial, Protocol, Window};

    use super::*;

    /// The result for `count` pairs in a run of this length.
    fn matrix(count: usize, max_time_ms: Option<u64>) -> Result<String, String> {
        matrix_of(Window::Duration { length_ms: 500 }, count, max_time_ms)
    }

    fn matrix_of(window: Window, count: usize, max_time_ms: Option<u64>) -> Result<String, String> {
        let server = Arc::new(Entry::existing("go-grpc".to_owned(), Protocol::Grpc));
        let pair = Entry { counterpart: Some(Arc::clone(&server)), ..(*server).clone() };
        let trial = |number| PlannedTrial {
            entry: String::new(),
            workload: "w".to_owned(),
            process: 1,
            number,
        };
        let workload = Workload {
            window,
            warm_up: WarmUp::Fixed { length_ms: 4000 },
            ..rpcbench_testkit::workload()
        };
        let plan = Plan {
            stopping: max_time_ms
                .map(|ms| Stopping { max_time_ms: Some(ms), ..Stopping::default() }),
            limits: Limits { cpus: 1, memory_bytes: None },
            workloads: vec![workload],
            order: (1..=30).map(trial).collect(),
            ..Plan::default()
        };
        of_matrix(&plan, &vec![pair; count]).map_err(|error| error.to_string())
    }

    #[test]
    fn matrix_shows_its_time_and_is_refused_if_it_does_not_fit() {
        // 9.5 s to prepare a pair, and 3 s for its windows.
        let said = "3 pairs of a client and a server: at most 1m after the builds";
        assert_eq!(matrix(3, Some(60_000)).unwrap(), said);
        let said = "3 pairs of a client and a server: about 1m after the builds";
        assert_eq!(matrix(3, None).unwrap(), said);
        let refused = matrix(6, Some(60_000)).unwrap_err();
        assert_eq!(
            refused,
            "6 pairs of a client and a server: they need 2m, and the time is 1m, in which 4 pairs fit; give --max-time 2m or more, or \
             name fewer clients or servers"
        );
        assert!(matrix(2, Some(10_000)).unwrap_err().contains("in which not even one pair fits"));
    }

    #[test]
    fn times_of_call_count_windows_are_lower_bounds() {
        let window = Window::Calls { calls: 20_000 };
        assert_eq!(
            matrix_of(window, 3, None).unwrap(),
            "3 pairs of a client and a server: more than 1m after the builds, as long as its calls take"
        );
        assert_eq!(
            matrix_of(window, 6, Some(60_000)).unwrap_err(),
            "6 pairs of a client and a server: they need at least 2m, and the time is 1m, in which at most 5 pairs fit; give \
             --max-time 2m or more, or name fewer clients or servers"
        );
    }
}
