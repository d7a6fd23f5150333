//! Progress of a run on standard error: a line that is redrawn on a terminal, and lines that remain.

use std::cell::RefCell;
use std::collections::BTreeMap;

use indicatif::ProgressBar;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_harness::run::{Estimate, Event, Left, Observer};
use rpcbench_record::{
    Failure, Measured, Plan, PlannedTrial, Preparation, Readiness, Search, Trial, TrialResult,
    WarmCurve, WarmSlice,
};
use rpcbench_report::format::{duration_ns, si};
use rpcbench_stats::Steadiness;

use crate::context::Context;
use crate::live;
use crate::print::note;

/// Number of windows above which windows get no permanent line.
const MANY: usize = 60;
/// Number of entries whose figures are shown in the progress line.
const LEADERS: usize = 3;

/// Shows a run's progress.
pub struct Progress<'a> {
    bar: ProgressBar,
    live: bool,
    verbose: u8,
    state: RefCell<State<'a>>,
}

struct State<'a> {
    estimate: Estimate<'a>,
    /// Number of finished windows, and of all windows.
    position: (usize, usize),
    /// When the current preparation or window began.
    begun: Nanos,
    /// Correct answers and server CPU time, nanoseconds, of each entry in closed loops.
    figures: BTreeMap<String, (u64, u64)>,
}

impl<'a> Progress<'a> {
    pub fn new(context: &Context, plan: &'a Plan) -> Self {
        let bar = live::ticking(context, "{spinner} {msg}");
        let (live, verbose, now) = (context.live, context.verbose, clock::now());
        let state = RefCell::new(State {
            estimate: Estimate::new(plan, now),
            position: (0, plan.order.len()),
            begun: now,
            figures: BTreeMap::new(),
        });
        Self { bar, live, verbose, state }
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn keep(&self, line: &str) {
        self.bar.suspend(|| note!("{line}"));
    }

    /// Redraws the line. Without a terminal, prints a permanent line if `-v` is given.
    fn now(&self, line: String) {
        if self.verbose > 0 && !self.live {
            note!("{line}");
        }
        self.bar.set_message(self.state.borrow().message(&line, clock::now()));
    }

    fn failed(&self, entry: &str, failure: &Failure) {
        self.keep(&format!("{entry:<28} failed: {}", failure.reason));
        if self.verbose > 0 {
            failure.log_tail.iter().for_each(|line| self.keep(&format!("    {line}")));
        }
    }

    fn prepared(&self, preparation: &Preparation) {
        let entry = &preparation.entry;
        match &preparation.readiness {
            Readiness::Ready => {
                let Preparation { process, check, warm, .. } = preparation;
                let how = ready(*process, check.passed, warm.as_ref());
                self.keep(&format!("{entry:<28} {how}"));
            }
            Readiness::Skipped { reason } => self.keep(&format!("{entry:<28} skipped: {reason}")),
            Readiness::Failed(failure) => self.failed(entry, failure),
        }
    }

    fn trial(&self, trial: &Trial) {
        match &trial.result {
            TrialResult::Measured(measured) => {
                let figures = match &trial.search {
                    Some(search) => found(search),
                    None => figures(measured),
                };
                let line = format!("{:<28} {}: {figures}", trial.entry, name(trial));
                let (_, all) = self.state.borrow().position;
                if all > MANY { self.now(line) } else { self.keep(&line) }
            }
            TrialResult::Failed(failure) => self.failed(&trial.entry, failure),
        }
    }
}

impl State<'_> {
    /// The current step, the position, the time left and the figures so far.
    fn message(&self, now: &str, at: Nanos) -> String {
        let (done, all) = self.position;
        let left = self.estimate.left(done, at).map(|left| format!(", {}", left_over(left)));
        let leaders = self.leaders().map(|it| format!("\n  so far: {it}")).unwrap_or_default();
        format!("{done}/{all} trials{}  {now}{leaders}", left.unwrap_or_default())
    }

    fn learn(&mut self, event: &Event<'_>, now: Nanos) {
        let took = Nanos(now.since(self.begun));
        match event {
            Event::Starting(_) => self.begun = now,
            Event::Prepared(preparation) => self.estimate.prepared(preparation, took),
            Event::Measuring { position, .. } => {
                (self.position, self.begun) = (*position, now);
            }
            Event::Trial(trial) => {
                self.position.0 += 1;
                self.estimate.trial(&trial.workload, took);
                // Within a round, the next window began before this one ended.
                self.begun = now;
                self.count(trial);
            }
            _ => {}
        }
    }

    fn count(&mut self, trial: &Trial) {
        let Some(measured) = trial.measured() else { return };
        let Some(usage) = measured.server.as_ref().filter(|_| trial.arrivals.is_none()) else {
            return;
        };
        let (ok, cpu) = self.figures.entry(trial.entry.clone()).or_default();
        *ok += measured.outcomes.ok;
        *cpu += usage.cpu_user_ns + usage.cpu_system_ns;
    }

    /// `rust-tonic 129k, go-grpc 63.0k calls/cpu-s`: the best entries.
    fn leaders(&self) -> Option<String> {
        let price = |(ok, cpu): &(u64, u64)| *ok as f64 * 1e9 / (*cpu).max(1) as f64;
        let mut all: Vec<_> =
            self.figures.iter().map(|(entry, sums)| (price(sums), entry)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let shown =
            all.iter().take(LEADERS).map(|(price, entry)| format!("{entry} {}", si(*price)));
        let shown: Vec<String> = shown.collect();
        (!shown.is_empty()).then(|| format!("{} calls/cpu-s", shown.join(", ")))
    }
}

/// `4 min left`, `at most 25 s left`.
fn left_over(left: Left) -> String {
    let seconds = left.length.as_secs_f64();
    let at_most = if left.at_most { "at most " } else { "" };
    match seconds < 100.0 {
        true => format!("{at_most}{seconds:.0} s left"),
        false => format!("{at_most}{:.0} min left", seconds / 60.0),
    }
}

impl Observer for Progress<'_> {
    fn event(&self, event: &Event<'_>) {
        self.state.borrow_mut().learn(event, clock::now());
        match event {
            Event::Starting(planned) => {
                self.now(format!("{}: starting and checking", planned.entry));
            }
            Event::Warming { entry, slice: Some(slice), verdict } => {
                self.now(format!("{entry}: warming, {}", warming(slice, *verdict)));
            }
            Event::Connecting { open, wanted } => self.now(format!("connecting {open}/{wanted}")),
            Event::Warming { slice: None, .. } | Event::Draining => {}
            Event::Prepared(preparation) => self.prepared(preparation),
            Event::Measuring { planned, .. } => {
                let PlannedTrial { entry, workload, number, .. } = planned;
                self.now(format!("{entry}: {workload}: measuring, trial {number}"));
            }
            Event::Repeating { entry } => {
                self.now(format!("{entry}: the window was disturbed, measuring it again"));
            }
            Event::Step { entry, step } => {
                let rate = si(step.rate.get());
                self.now(format!("{entry}: searching, {rate} calls/s: {}", step.verdict));
            }
            Event::Trial(trial) => self.trial(trial),
            Event::Restless { entry, share } => self.keep(&format!(
                "{entry:<28} uses {:.1} % of a CPU without calls; it is frozen between its windows",
                share * 100.0
            )),
            Event::NotStopped { entry, failure } => {
                self.keep(&format!("{entry:<28} {}", failure.reason))
            }
        }
    }
}

fn warming(slice: &WarmSlice, verdict: Steadiness) -> String {
    let state = match verdict {
        Steadiness::Steady => "steady".to_owned(),
        Steadiness::Noisy { .. } => "noisy".to_owned(),
        Steadiness::Climbing { change } => format!("climbing {:.0} %", change * 100.0),
        Steadiness::Falling { change } => format!("falling {:.0} %", -change * 100.0),
        Steadiness::Compiling { share } => format!("compiling {:.0} %", share * 100.0),
        Steadiness::TooShort => "watching".to_owned(),
        Steadiness::Idle => "idle".to_owned(),
    };
    let efficiency = slice.calls as f64 * 1e9 / slice.server_cpu_ns.max(1) as f64;
    let at = slice.at_ms as f64 / 1e3;
    format!("{at:.1} s: {} calls per CPU-second, {state}", si(efficiency))
}

/// `ready: 62 cases passed, steady after 1.2 s`, `process 2 ready: warmed for 2.0 s`.
fn ready(process: u32, cases: u32, warm: Option<&WarmCurve>) -> String {
    let ready = match process {
        1 => "ready".to_owned(),
        process => format!("process {process} ready"),
    };
    let passed = (cases > 0).then(|| format!("{cases} cases passed"));
    let warm = warm.and_then(|warm| match (warm.steady_after_ms, &warm.unsteady) {
        (Some(0), _) => Some("steady from the start".to_owned()),
        (Some(ms), _) => Some(format!("steady after {:.1} s", ms as f64 / 1e3)),
        (None, Some(why)) => Some(format!("not steady: {why}")),
        (None, None) if warm.as_earlier => {
            Some(format!("warmed for {:.1} s", warm.length_ms() as f64 / 1e3))
        }
        (None, None) => None,
    });
    let how: Vec<String> = passed.into_iter().chain(warm).collect();
    if how.is_empty() { ready } else { format!("{ready}: {}", how.join(", ")) }
}

/// `trial 2`. In an open loop `load-40, trial 2`, as the workload's name says more.
fn name(trial: &Trial) -> String {
    let workload = trial.arrivals.map(|_| format!("{}, ", trial.workload)).unwrap_or_default();
    format!("{workload}trial {}", trial.number)
}

/// The result of a search: `12.3k calls/s met p99<10ms, 12.8k did not (overloaded)`.
fn found(search: &Search) -> String {
    let met = search
        .met()
        .map_or("no rate".to_owned(), |step| format!("{} calls/s", si(step.rate.get())));
    let unmet = search.unmet().map(|step| {
        let rate = si(step.rate.get());
        if step.verdict.is_clients() {
            format!(", {rate} can't be judged ({})", step.verdict)
        } else {
            format!(", {rate} did not ({})", step.verdict)
        }
    });
    format!("{met} met {}{}", search.threshold, unmet.unwrap_or_default())
}

fn figures(measured: &Measured) -> String {
    let seconds = measured.window_ns as f64 / 1e9;
    let rate = si(measured.outcomes.total() as f64 / seconds);
    let p99 = measured.latency.as_ref().map_or("-".to_owned(), |l| duration_ns(l.p99_ns as f64));
    let errors = match measured.outcomes.errors() {
        0 => String::new(),
        errors => format!(", {errors} ERRORS"),
    };
    format!("{rate} calls/s, p99 {p99}{errors}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_in_seconds_then_in_minutes() {
        let left = |ms, at_most| left_over(Left { length: Nanos::from_millis(ms), at_most });
        assert_eq!(left(25_400, true), "at most 25 s left");
        assert_eq!(left(240_000, false), "4 min left");
    }

    #[test]
    fn prepared_process_says_what_was_done_for_it() {
        let prepared = |process, cases, steady_after_ms| {
            let slice = WarmSlice { at_ms: 2004, calls: 1, server_cpu_ns: 1, compiler_cpu_ns: 0 };
            let warm = WarmCurve {
                slices: vec![slice],
                steady_after_ms,
                as_earlier: steady_after_ms.is_none(),
                later_ms: None,
                unsteady: None,
                cold_rate: 0.0,
            };
            ready(process, cases, Some(&warm))
        };
        assert_eq!(prepared(1, 62, Some(1234)), "ready: 62 cases passed, steady after 1.2 s");
        assert_eq!(prepared(1, 62, Some(0)), "ready: 62 cases passed, steady from the start");
        assert_eq!(prepared(2, 0, None), "process 2 ready: warmed for 2.0 s");
        assert_eq!(ready(1, 0, None), "ready");
    }
}
