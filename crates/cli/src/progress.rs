//! A run as it goes, on standard error: a line that is drawn over on a terminal, and plain lines for
//! what stays.

use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rpcbench_harness::run::{Event, Observer};
use rpcbench_record::{
    Failure, Measured, Preparation, Readiness, Search, Trial, TrialResult, WarmSlice,
};
use rpcbench_report::format::{duration_ns, si};
use rpcbench_stats::Steadiness;

use crate::context::Context;

/// Trials of a run of which each has no line of its own that stays.
const MANY: usize = 60;
/// How often the line moves.
const TICK: Duration = Duration::from_millis(200);

/// Shows a run's progress.
pub struct Progress {
    bar: ProgressBar,
    live: bool,
    verbose: u8,
    position: Mutex<(usize, usize)>,
}

impl Progress {
    pub fn new(context: &Context) -> Self {
        let bar = if context.live { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.set_style(ProgressStyle::default_spinner());
        if context.live {
            bar.enable_steady_tick(TICK);
        }
        let (live, verbose) = (context.live, context.verbose);
        Self { bar, live, verbose, position: Mutex::new((0, 0)) }
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// A line that stays.
    fn keep(&self, line: &str) {
        match self.live {
            true => self.bar.suspend(|| anstream::eprintln!("{line}")),
            false => anstream::eprintln!("{line}"),
        }
    }

    /// The line that is drawn over; with `-v`, and where there is no terminal, one that stays.
    fn now(&self, line: String) {
        if self.verbose > 0 && !self.live {
            anstream::eprintln!("{line}");
        }
        let (done, all) = self.position.lock().map(|p| *p).unwrap_or_default();
        let count = if all > 0 { format!("{done}/{all} trials  ") } else { String::new() };
        self.bar.set_message(format!("{count}{line}"));
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
            Readiness::Ready => self.keep(&format!("{entry:<28} {}", warmed(preparation))),
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
                let (_, all) = self.position.lock().map(|p| *p).unwrap_or_default();
                if all > MANY { self.now(line) } else { self.keep(&line) }
            }
            TrialResult::Failed(failure) => self.failed(&trial.entry, failure),
        }
    }
}

impl Observer for Progress {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Starting { entry } => self.now(format!("{entry}: starting and checking")),
            Event::Warming { entry, slice: Some(slice), verdict } => {
                self.now(format!("{entry}: warming, {}", warming(slice, *verdict)));
            }
            Event::Warming { slice: None, .. } | Event::Draining => {}
            Event::Prepared(preparation) => self.prepared(preparation),
            Event::Measuring { entry, workload, number, position, .. } => {
                if let Ok(mut current) = self.position.lock() {
                    *current = *position;
                }
                self.now(format!("{entry}: {workload}: measuring, trial {number}"));
            }
            Event::Step { entry, step } => {
                let rate = si(step.rate.get());
                self.now(format!("{entry}: searching, {rate} calls/s: {}", step.verdict));
            }
            Event::Trial(trial) => self.trial(trial),
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

fn warmed(preparation: &Preparation) -> String {
    let cases = preparation.check.passed;
    let warm = preparation.warm.as_ref().map_or(String::new(), |warm| match warm.steady_after_ms {
        Some(ms) => format!(", steady after {:.1} s", ms as f64 / 1e3),
        None => warm.unsteady.as_ref().map_or(String::new(), |why| format!(", not steady: {why}")),
    });
    format!("ready: {cases} cases passed{warm}")
}

/// `trial 2`; `load-40, trial 2` in an open loop, which has a name that says more.
fn name(trial: &Trial) -> String {
    let workload = trial.arrivals.map(|_| format!("{}, ", trial.workload)).unwrap_or_default();
    format!("{workload}trial {}", trial.number)
}

/// What a search found: `12.3k calls/s met p99<10ms, 12.8k did not (overloaded)`.
fn found(search: &Search) -> String {
    let met = search
        .met()
        .map_or("no rate".to_owned(), |step| format!("{} calls/s", si(step.rate.get())));
    let unmet =
        search.unmet().map(|step| format!(", {} did not ({})", si(step.rate.get()), step.verdict));
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
