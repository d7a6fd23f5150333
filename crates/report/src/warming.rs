//! Whether a server was still warming up while it was measured.

use std::collections::BTreeMap;

use rpcbench_record::{Measured, Preparation, ServerUsage, WarmUp};
use rpcbench_stats::{Drift, Observation, drift};

use crate::figures::share;
use crate::format::{percent, percent_near};

/// Largest share of the server's CPU time that compiler threads of its runtime can use within the windows. Twice what a
/// steady JVM spends on occasional recompilation.
const COMPILER_SHARE: f64 = 0.05;

/// How an entry's speed changed while it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Course {
    /// Unknown: too few windows per process, or no other entry to compare with.
    Unseen,
    /// No change beyond noise.
    Level,
    /// It became faster, or slower, within its processes.
    Drifting(Drift),
}

/// Fewest windows of a process that show a course: two before a step and two after.
const LEAST_WINDOWS: usize = 4;

/// The course of each of the plan's entries.
pub(crate) fn courses(observations: &[Observation], entries: usize, precision: f64) -> Vec<Course> {
    let found = drift(observations, entries, precision).into_iter();
    let unchanged = unchanged(observations, entries);
    found.zip(unchanged).map(|(drift, course)| drift.map_or(course, Course::Drifting)).collect()
}

/// The course of entries without a change.
fn unchanged(observations: &[Observation], entries: usize) -> Vec<Course> {
    let mut windows: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    for observation in observations {
        *windows.entry((observation.entry, observation.process)).or_default() += 1;
    }
    let long = |entry| windows.iter().any(|(of, n)| of.0 == entry && *n >= LEAST_WINDOWS);
    let compared = |entry| windows.keys().any(|(other, _)| *other != entry);
    let course = |entry| match long(entry) && compared(entry) {
        true => Course::Level,
        false => Course::Unseen,
    };
    (0..entries).map(course).collect()
}

/// The first reason to call a cell in a closed loop still warming. A server that is meant to be cold never is, and the end
/// of the warm-up matters only if the windows don't show the course.
pub(crate) fn warming(
    warm_up: WarmUp,
    course: Course,
    preparations: &[&Preparation],
    trials: &[&Measured],
) -> Option<String> {
    if warm_up == (WarmUp::Fixed { length_ms: 0 }) {
        return None;
    }
    let compiling = || compiling(trials.iter().filter_map(|t| t.server.as_ref()));
    let climbing = match course {
        Course::Drifting(drift) if drift.change > 0.0 => Some(drifted(drift)),
        Course::Unseen => unsteady(warm_up, preparations),
        Course::Level | Course::Drifting(_) => None,
    };
    climbing.or_else(compiling)
}

/// A note on a cell that is not considered warming up.
pub(crate) fn remark(
    warm_up: WarmUp,
    course: Course,
    preparations: &[&Preparation],
) -> Option<String> {
    match course {
        Course::Drifting(drift) if drift.change < 0.0 => Some(drifted(drift)),
        Course::Level => {
            Some(format!("{}; its windows show no change", unsteady(warm_up, preparations)?))
        }
        Course::Drifting(_) | Course::Unseen => None,
    }
}

fn drifted(Drift { change }: Drift) -> String {
    let how = if change > 0.0 { "faster" } else { "slower" };
    let by = percent(change.abs());
    format!("it became {by} {how} than before, compared with the others, while it was measured")
}

/// The first preparation that did not end steady. Below capacity there is no other evidence, since CPU time per call
/// depends on the load.
pub(crate) fn unsteady(warm_up: WarmUp, preparations: &[&Preparation]) -> Option<String> {
    let WarmUp::UntilSteady { .. } = warm_up else { return None };
    let mut curves = preparations.iter().filter_map(|p| p.warm.as_ref());
    // A warm-up as long as those of earlier processes judges nothing: they were steady.
    let curve = curves.find(|curve| curve.steady_after_ms.is_none() && !curve.as_earlier)?;
    let why = curve.unsteady.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    Some(format!("not steady when its warm-up ended{why}"))
}

/// Over all windows: one late recompilation in a short window means little.
fn compiling<'a>(windows: impl Iterator<Item = &'a ServerUsage>) -> Option<String> {
    let (mut compilers, mut total) = (0, 0);
    for server in windows {
        compilers += server.compiler_cpu_ns;
        total += server.cpu_user_ns + server.cpu_system_ns;
    }
    let share = share(compilers as f64, total as f64);
    (share > COMPILER_SHARE).then(|| {
        let share = percent_near(share, &[COMPILER_SHARE]);
        format!("compiler threads used {share} of the server's CPU time while it was measured")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of three entries with one process each. The first entry grows in the middle.
    fn grown(windows: u32, growth: f64) -> Vec<Observation> {
        let noise = [0.0, 0.011, -0.008, 0.004, -0.012, 0.007, -0.003, 0.009];
        let window = |entry: usize, round: u32| {
            let noise = noise[(round as usize * 3 + entry * 5) % 8];
            let growth = if entry == 0 && round > windows / 2 { growth } else { 0.0 };
            let value = 1000.0 * (1.0 + noise + growth);
            Observation { entry, process: 1, round, value, reference: None }
        };
        (1..=windows).flat_map(|round| (0..3).map(move |entry| window(entry, round))).collect()
    }

    #[test]
    fn growth_beside_the_others_is_seen_and_nobody_elses() {
        let found = courses(&grown(16, 0.3), 3, 0.05);
        assert!(
            matches!(found[0], Course::Drifting(Drift { change }) if (0.25..0.35).contains(&change)),
            "{found:?}"
        );
        assert_eq!(found[1..], [Course::Level; 2]);
        let slower = courses(&grown(16, -0.3), 3, 0.05);
        assert_eq!(slower[1..], [Course::Level; 2]);
        let slower = slower[0];
        assert_eq!(warming(until_steady(), slower, &[], &[]), None);
        let remark = remark(until_steady(), slower, &[]).expect("a remark");
        assert!(remark.contains(" slower than before"), "{remark}");
    }

    #[test]
    fn of_two_entries_the_one_that_became_faster_changed() {
        let mut two = grown(16, 0.3);
        two.retain(|observation| observation.entry < 2);
        let found = courses(&two, 2, 0.05);
        assert!(
            matches!(found[0], Course::Drifting(Drift { change }) if change > 0.2),
            "{found:?}"
        );
        assert_eq!(found[1], Course::Level);
    }

    #[test]
    fn noise_is_not_warming() {
        assert_eq!(courses(&grown(16, 0.0), 3, 0.05), [Course::Level; 3]);
    }

    #[test]
    fn few_windows_or_a_single_entry_show_nothing() {
        assert_eq!(courses(&grown(3, 0.3), 3, 0.05), [Course::Unseen; 3]);
        let mut alone = grown(16, 0.3);
        alone.retain(|observation| observation.entry == 0);
        assert_eq!(courses(&alone, 3, 0.05), [Course::Unseen; 3]);
    }

    #[test]
    fn a_cold_server_never_warms() {
        let climbing = Course::Drifting(Drift { change: 0.3 });
        let why =
            "it became 30 % faster than before, compared with the others, while it was measured";
        assert_eq!(warming(until_steady(), climbing, &[], &[]).as_deref(), Some(why));
        assert_eq!(warming(WarmUp::Fixed { length_ms: 0 }, climbing, &[], &[]), None);
    }

    fn until_steady() -> WarmUp {
        WarmUp::UntilSteady { least_ms: 0, cap_ms: None }
    }

    #[test]
    fn a_twentieth_of_the_cpu_time_is_the_edge_for_compilers() {
        let usage = |compiler_cpu_ns| ServerUsage {
            cpu_user_ns: 800,
            cpu_system_ns: 200,
            compiler_cpu_ns,
            ..ServerUsage::default()
        };
        let judged = |windows: &[u64]| {
            let windows: Vec<ServerUsage> = windows.iter().map(|ns| usage(*ns)).collect();
            compiling(windows.iter())
        };
        let why = "compiler threads used 5.1 % of the server's CPU time while it was measured";
        assert_eq!(judged(&[50]), None);
        assert_eq!(judged(&[51]), Some(why.to_owned()));
        assert_eq!(judged(&[100, 0]), None);
        assert_eq!(judged(&[102, 0]), Some(why.to_owned()));
        assert_eq!(judged(&[]), None);
    }
}
