//! Warms a server until it is steady.

use rpcbench_clock::Nanos;
use rpcbench_record::{Unsteady, WarmCurve, WarmSlice, WarmUp, Window};
use rpcbench_stats::{Steadiness, SteadyRule, WarmSample, assess};

use super::loaded_server::{LoadedServer, StepError};
use super::observer::Event;
use super::prepare::Preparing;
use crate::load::Progress;
use crate::manifest::Runtime;
use crate::placement::CpuReading;

/// Length of a slice of the warm-up.
const SLICE: Nanos = Nanos::from_millis(250);
/// Slices that must be flat: three seconds, as compilations often come in bursts a second or two apart. A server that
/// compiles later is warmed further before its windows, which show whether it climbs.
const WINDOW: usize = 12;
/// Change of calls per server CPU-second over the window that counts as flat, regardless of noise.
const TOLERANCE: f64 = 0.05;
/// Extra warm-up of later processes, beyond the time until the first was steady: processes differ, and connections and caches are
/// new.
const MARGIN: Nanos = Nanos::from_millis(1000);
/// Interval of checks whether the last call of a warm-up has ended.
const POLL: Nanos = Nanos::from_millis(5);
/// Share of the server's CPU time below which compiler threads count as quiet.
pub(super) const COMPILER_SHARE: f64 = 0.05;
/// Describes in messages when calls failed.
const WHEN: &str = "in the warm-up";

/// When to stop warming.
struct Goal {
    rule: SteadyRule,
    /// Maximum slices.
    cap: usize,
    /// The entry's own cap. `cap` is lower if the run is short of time.
    full_cap: usize,
    until: Until,
}

/// The condition that ends a warm-up before its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// None: its length is fixed.
    Cap,
    Steady,
    /// The number of slices that earlier processes of the entry took, unless the server still climbs or compiles.
    AsEarlier(usize),
}

impl Goal {
    /// `known`: warm-up that earlier processes of the entry needed.
    fn new(warm_up: WarmUp, runtime: &Runtime, known: Option<Nanos>) -> Self {
        let (least, cap, until) = match warm_up {
            WarmUp::Fixed { length_ms } => (Nanos(0), Nanos::from_millis(length_ms), Until::Cap),
            WarmUp::Calls { .. } => (Nanos(0), Nanos(0), Until::Cap),
            WarmUp::UntilSteady { least_ms, cap_ms } => {
                let least = Nanos::from(runtime.warmup_min).max(Nanos::from_millis(least_ms));
                let cap = cap_ms.map_or(Nanos::from(runtime.warmup_max), Nanos::from_millis);
                let as_earlier = |known| Until::AsEarlier(slices(known));
                (least, cap, known.map_or(Until::Steady, as_earlier))
            }
        };
        let rule = SteadyRule {
            min_slices: slices(least).max(1),
            window: WINDOW,
            tolerance: TOLERANCE,
            compiler_share: COMPILER_SHARE,
        };
        let cap = match until {
            Until::AsEarlier(known) => slices(cap).max(known),
            Until::Cap | Until::Steady => slices(cap),
        };
        Self { rule, cap, full_cap: cap, until }
    }

    /// Lowers the cap to `left`, but not below what it takes to judge the warm-up, or what earlier processes took.
    fn limit(&mut self, left: Nanos) {
        let least = match self.until {
            Until::Cap => return,
            Until::Steady => self.rule.min_slices.max(WINDOW),
            Until::AsEarlier(known) => known,
        };
        self.cap = self.cap.min(slices(left).max(least));
    }

    /// True if a warm-up of this many slices has reached the goal.
    fn is_reached(&self, slices: usize, verdict: Steadiness) -> bool {
        match self.until {
            Until::Cap => slices >= self.cap,
            Until::Steady => verdict == Steadiness::Steady,
            Until::AsEarlier(known) => {
                let warms =
                    matches!(verdict, Steadiness::Climbing { .. } | Steadiness::Compiling { .. });
                slices >= known && !warms
            }
        }
    }

    /// The reason why a warm-up of this many slices ended without reaching the goal.
    fn missed(&self, slices: usize, verdict: Steadiness) -> Option<Unsteady> {
        let climbs = matches!(verdict, Steadiness::Climbing { .. });
        // If the warm-up took no longer than those of earlier processes, noise may look like a climb.
        let is_chance = climbs && self.until == Until::AsEarlier(slices);
        Unsteady::of(verdict).filter(|_| !is_chance && !self.is_reached(slices, verdict))
    }
}

fn slices(length: Nanos) -> usize {
    length.0.div_ceil(SLICE.0) as usize
}

/// Loads the server until it is steady, or the cap is reached. `begin` is when its preparation began. `None` if the workload
/// has no warm-up.
pub(super) fn warm(
    server: &mut LoadedServer<'_>,
    preparing: &Preparing<'_, '_>,
    begin: Nanos,
) -> Result<Option<WarmCurve>, StepError> {
    let (context, subject) = (server.context, server.subject);
    let mut goal = Goal::new(preparing.workload.warm_up, &subject.runtime, preparing.known_warm_up);
    if let Some(limit) = preparing.limit {
        goal.limit(begin + limit - context.now());
    }
    if goal.cap == 0 {
        return Ok(None);
    }
    let mut curve = Curve::begin(server)?;
    server.load()?.start()?;
    server.await_first_call(preparing.workload, Nanos::NEVER)?;
    let mut verdict = Steadiness::TooShort;
    while curve.samples.len() < goal.cap && !goal.is_reached(curve.samples.len(), verdict) {
        context.interrupt().wait_until(curve.at + SLICE)?;
        curve.add(server)?;
        verdict = assess(&curve.samples, &goal.rule);
        let (entry, slice) = (subject.entry.clone(), curve.slices.last());
        context.observer.event(&Event::Warming { entry, slice, verdict });
    }
    // Checked under load: a server may connect to others only while it has calls.
    server.check_port(subject.is_proven())?;
    let unmeasured = server.load()?.pause()?;
    server.alive("while it was warmed")?;
    let curve = curve.end(&goal, verdict);
    server.is_steady = curve.unsteady.is_none();
    server.level = server.is_steady.then(|| level(&curve.slices));
    server.warm_up_left = Nanos(SLICE.0 * (goal.full_cap - curve.slices.len()) as u64);
    server.judge_unmeasured(unmeasured, WHEN)?;
    Ok(Some(curve))
}

/// Makes `calls` calls over the open connections.
pub(super) fn warm_by_calls(
    server: &mut LoadedServer<'_>,
    warm_up: WarmUp,
    calls: u64,
) -> Result<WarmCurve, StepError> {
    let goal = Goal::new(warm_up, &server.subject.runtime, None);
    let context = server.context;
    let mut curve = Curve::begin(server)?;
    server.load()?.measure(curve.begin, Window::Calls { calls })?;
    while !server.load()?.is_drained()? {
        context.interrupt().wait_until(context.now() + POLL)?;
        if context.now() >= curve.at + SLICE {
            curve.add(server)?;
        }
    }
    curve.add(server)?;
    let tally = server.load()?.finish()?.tally.calls;
    if !tally.outcomes.is_only_late() {
        return Err(server.blame_calls(&tally.outcomes, WHEN, &tally.examples));
    }
    if tally.outcomes.errors() > 0 {
        server.spot_check(true)?;
    }
    Ok(curve.end(&goal, Steadiness::TooShort))
}

struct Curve {
    begin: Nanos,
    /// End of the last slice.
    at: Nanos,
    cpu: CpuReading,
    progress: Progress,
    slices: Vec<WarmSlice>,
    samples: Vec<WarmSample>,
}

impl Curve {
    fn begin(server: &mut LoadedServer<'_>) -> Result<Self, StepError> {
        let begin = server.context.now();
        let progress = server.load()?.progress()?;
        let cpu = server.sample_cpu()?;
        Ok(Self { begin, at: begin, cpu, progress, slices: Vec::new(), samples: Vec::new() })
    }

    fn add(&mut self, server: &mut LoadedServer<'_>) -> Result<(), StepError> {
        let at = server.context.now();
        server.alive("while it was warmed")?;
        let progress = server.load()?.progress()?;
        let cpu = server.sample_cpu()?;
        let used = cpu.since(self.cpu);
        let sample = WarmSample {
            calls: progress.ended - self.progress.ended,
            server_cpu_ns: used.cpu_ns,
            compiler_cpu_ns: used.compiler_ns,
        };
        self.slices.push(WarmSlice {
            at_ms: at.since(self.begin) / 1_000_000,
            calls: sample.calls,
            server_cpu_ns: sample.server_cpu_ns,
            compiler_cpu_ns: sample.compiler_cpu_ns,
        });
        self.samples.push(sample);
        (self.at, self.cpu, self.progress) = (at, cpu, progress);
        Ok(())
    }

    fn end(self, goal: &Goal, verdict: Steadiness) -> WarmCurve {
        let steady = goal.until == Until::Steady && verdict.is_warm();
        // It has been steady since the first slice of the flat window.
        let flat_from = self.slices.len().saturating_sub(goal.rule.window);
        let before = flat_from.checked_sub(1).and_then(|at| self.slices.get(at));
        let steady_after_ms = steady.then(|| before.map_or(0, |slice| slice.at_ms));
        // At the entry's own cap, noise is no reason to warm longer. At a lower cap, it hides how long a warm-up takes.
        let known_ms =
            steady_after_ms.filter(|_| goal.cap == goal.full_cap || verdict == Steadiness::Steady);
        let least_ms = goal.rule.min_slices as u64 * SLICE.0 / 1_000_000;
        WarmCurve {
            steady_after_ms,
            as_earlier: matches!(goal.until, Until::AsEarlier(_)),
            later_ms: known_ms.map(|ms| (ms + MARGIN.0 / 1_000_000).max(least_ms)),
            unsteady: goal.missed(self.slices.len(), verdict),
            cold_rate: cold_rate(&self.slices),
            slices: self.slices,
        }
    }
}

/// Calls per nanosecond of CPU time over the last [`WINDOW`] slices.
fn level(slices: &[WarmSlice]) -> f64 {
    let last = || slices.iter().rev().take(WINDOW);
    let calls: u64 = last().map(|slice| slice.calls).sum();
    let cpu_ns: u64 = last().map(|slice| slice.server_cpu_ns).sum();
    calls as f64 / cpu_ns.max(1) as f64
}

/// Calls per second in the first second.
fn cold_rate(slices: &[WarmSlice]) -> f64 {
    let first: Vec<_> = slices.iter().take((1_000_000_000 / SLICE.0) as usize).collect();
    let calls: u64 = first.iter().map(|slice| slice.calls).sum();
    first.last().map_or(0.0, |last| calls as f64 * 1000.0 / last.at_ms.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn runtime() -> Runtime {
        Runtime {
            warmup_min: Duration::from_secs(2),
            warmup_max: Duration::from_secs(20),
            compiler_threads: Vec::new(),
            statistics: false,
        }
    }

    #[test]
    fn larger_warm_up_minimum_and_given_cap_count() {
        let bounds = |warm_up| {
            let goal = Goal::new(warm_up, &runtime(), None);
            (goal.rule.min_slices, goal.cap, goal.until)
        };
        let until_steady = WarmUp::UntilSteady { least_ms: 0, cap_ms: None };
        assert_eq!(bounds(until_steady), (8, 80, Until::Steady));
        let asked = WarmUp::UntilSteady { least_ms: 30_000, cap_ms: Some(60_001) };
        assert_eq!(bounds(asked), (120, 241, Until::Steady));
        assert_eq!(bounds(WarmUp::Fixed { length_ms: 0 }), (1, 0, Until::Cap));
        assert_eq!(bounds(WarmUp::Fixed { length_ms: 700 }), (1, 3, Until::Cap));
    }

    #[test]
    fn process_is_warmed_for_as_long_as_earlier_ones_took() {
        let goal = as_earlier(3400);
        assert_eq!((goal.cap, goal.until), (80, Until::AsEarlier(14)));
        let noisy = Steadiness::Noisy { change: 0.5 };
        assert!(!goal.is_reached(13, noisy) && goal.is_reached(14, noisy));
        let warm = curve(14).end(&goal, noisy);
        assert_eq!((warm.steady_after_ms, warm.unsteady, warm.later_ms), (None, None, None));
        assert!(warm.as_earlier);
        let fixed = Goal::new(WarmUp::Fixed { length_ms: 700 }, &runtime(), Some(Nanos(1)));
        assert_eq!((fixed.cap, fixed.until), (3, Until::Cap));
    }

    /// In the first process, the conformance check has already compiled much of the code.
    #[test]
    fn process_that_still_warms_is_given_more_than_earlier_ones_took() {
        let mut goal = as_earlier(3400);
        let compiling = Steadiness::Compiling { share: 0.4 };
        let climbing = Steadiness::Climbing { change: 0.4 };
        assert!(!goal.is_reached(14, compiling) && !goal.is_reached(14, climbing));
        assert!(goal.is_reached(20, Steadiness::Steady));
        goal.limit(Nanos::from_millis(6000));
        assert_eq!(goal.cap, 24);
        let at_cap = curve(24).end(&goal, compiling);
        assert!(at_cap.as_earlier && at_cap.unsteady.is_some(), "{at_cap:?}");
        goal.limit(Nanos(0));
        assert_eq!(goal.cap, 14, "at least as long as the earlier ones");
        assert_eq!(goal.missed(14, climbing), None, "it may be noise");
        assert!(goal.missed(14, compiling).is_some() && goal.missed(15, climbing).is_some());
    }

    fn as_earlier(ms: u64) -> Goal {
        let until_steady = WarmUp::UntilSteady { least_ms: 0, cap_ms: None };
        Goal::new(until_steady, &runtime(), Some(Nanos::from_millis(ms)))
    }

    #[test]
    fn warm_up_cut_short_by_the_run_predicts_nothing_for_later_processes() {
        let until_steady = WarmUp::UntilSteady { least_ms: 0, cap_ms: None };
        let limited = |left| {
            let mut goal = Goal::new(until_steady, &runtime(), None);
            goal.limit(Nanos::from_millis(left));
            goal
        };
        let (long, short, none) = (limited(60_000), limited(5000), limited(0));
        assert_eq!([long.cap, short.cap, none.cap], [80, 20, WINDOW]);
        let later = |goal: &Goal, verdict| curve(goal.cap as u64).end(goal, verdict).later_ms;
        let noisy = Steadiness::Noisy { change: 0.3 };
        assert_eq!(later(&long, noisy), Some(18_000));
        assert_eq!(later(&short, noisy), None);
        assert_eq!(later(&short, Steadiness::Climbing { change: 0.3 }), None);
        assert_eq!(later(&short, Steadiness::Steady), Some(3000));
    }

    fn curve(slices: u64) -> Curve {
        let slice =
            |n| WarmSlice { at_ms: n * 250, calls: n * 100, server_cpu_ns: 1, compiler_cpu_ns: 0 };
        Curve {
            begin: Nanos(0),
            at: Nanos(0),
            cpu: CpuReading::default(),
            progress: Progress::default(),
            slices: (1..=slices).map(slice).collect(),
            samples: Vec::new(),
        }
    }

    #[test]
    fn steady_time_is_start_of_flat_window() {
        let goal = Goal::new(WarmUp::UntilSteady { least_ms: 0, cap_ms: None }, &runtime(), None);
        let early = curve(12).end(&goal, Steadiness::Steady);
        assert_eq!((early.steady_after_ms, early.unsteady), (Some(0), None));
        // The language's minimum warm-up.
        assert_eq!(early.later_ms, Some(2000));
        let late = curve(34).end(&goal, Steadiness::Steady);
        assert_eq!((late.steady_after_ms, late.later_ms), (Some(5500), Some(6500)));
        let noisy = curve(40).end(&goal, Steadiness::Noisy { change: 0.3 });
        assert_eq!((noisy.steady_after_ms, noisy.unsteady), (Some(7000), None));
        let never = curve(40).end(&goal, Steadiness::Climbing { change: 0.123 });
        assert_eq!((never.steady_after_ms, never.later_ms), (None, None));
        let why = never.unsteady.unwrap().to_string();
        assert_eq!(why, "calls per CPU-second still rose by 12 % in 3 s");
    }

    #[test]
    fn fixed_warm_up_claims_nothing() {
        let goal = Goal::new(WarmUp::Fixed { length_ms: 5000 }, &runtime(), None);
        let curve = curve(10).end(&goal, Steadiness::Steady);
        assert_eq!((curve.steady_after_ms, curve.unsteady), (None, None));
    }

    #[test]
    fn cold_rate_is_that_of_the_first_second() {
        assert_eq!(cold_rate(&curve(10).slices), 1000.0);
        assert_eq!(cold_rate(&curve(1).slices), 400.0);
        assert_eq!(cold_rate(&[]), 0.0);
    }
}
