//! Progress of a load on standard error: a line that is redrawn on a terminal, plain lines elsewhere.

use std::cell::{Cell, RefCell};
use std::fmt;

use indicatif::{ProgressBar, ProgressDrawTarget};
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::Sample;
use rpcbench_harness::run::{Event, Observer, Phase, Stage};
use rpcbench_record::{Arrivals, Plan, Trial};
use rpcbench_report::LoadPoint;
use rpcbench_report::format::{count, duration_ns, percent, plural, si};

use super::tap::LogTap;
use super::watch::Watch;
use crate::context::Context;
use crate::live;
use crate::print::note;

/// How often the line on a terminal changes. Each sample costs every load thread a copy of its histograms.
const INTERVAL: Nanos = Nanos::from_millis(1000);
/// Maximum redraws of a terminal per second.
const DRAWN: u8 = 4;
/// Maximum plain lines per stage.
const LINES: u64 = 10;

/// Shows the progress of a load.
pub struct Live<'a> {
    view: View,
    plan: &'a Plan,
    log: &'a LogTap,
    watch: &'a Watch,
    /// When the next plain line is due.
    next_line: Cell<Nanos>,
    last: RefCell<Option<(Nanos, Sample)>>,
}

enum View {
    Drawn(ProgressBar),
    Lines,
    Quiet,
}

impl<'a> Live<'a> {
    pub fn new(
        context: &Context,
        quiet: bool,
        plan: &'a Plan,
        (log, watch): (&'a LogTap, &'a Watch),
    ) -> Self {
        let view = match (quiet, context.live) {
            (true, _) => View::Quiet,
            (false, false) => View::Lines,
            (false, true) => {
                let bar = live::line(context, "{msg}");
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWN));
                View::Drawn(bar)
            }
        };
        let (last, next_line) = (RefCell::new(None), Cell::new(Nanos(0)));
        Self { view, plan, log, watch, next_line, last }
    }

    /// Removes the line.
    pub fn finish(&self) {
        if let View::Drawn(bar) = &self.view {
            bar.finish_and_clear();
        }
    }

    fn keep(&self, line: &str) {
        match &self.view {
            View::Drawn(bar) => bar.suspend(|| note!("{line}")),
            View::Lines => note!("{line}"),
            View::Quiet => {}
        }
    }

    /// Shows a line on a terminal until the next one.
    fn now(&self, line: &str) {
        if let View::Drawn(bar) = &self.view {
            bar.set_message(line.to_owned());
        }
    }

    /// True if the workload measures the capacity.
    fn finds_capacity(&self, name: &str) -> bool {
        self.plan.workload(name).is_some_and(|workload| self.plan.finds_capacity(workload))
    }

    fn begun(&self, name: &str, arrivals: Arrivals) {
        let Some(workload) = self.plan.workload(name) else { return };
        if self.plan.finds_capacity(workload) {
            let window_ms = workload.window.length_ms().unwrap_or_default();
            let seconds = Nanos::from_millis(workload.settle_ms + window_ms).as_secs_f64();
            self.keep(&format!(
                "the rate is a share of the capacity, which a closed loop of {seconds} s measures first"
            ));
            return;
        }
        if workload.arrivals.needs_capacity() {
            self.keep(&format!("arrivals: {arrivals}"));
        }
        self.log.start();
    }

    fn ended(&self, trial: &Trial) {
        let Some(measured) = trial.measured() else { return };
        if !self.finds_capacity(&trial.workload) {
            self.watch.end(measured);
        }
        if self.finds_capacity(&trial.workload) {
            self.log.forget();
            let found = measured.outcomes.ok as f64 * 1e9 / measured.window_ns.max(1) as f64;
            self.keep(&format!("capacity: {} calls/s", si(found)));
        } else if self.plan.loads().count() > 1
            && let Some(point) = LoadPoint::of(self.plan, trial)
        {
            self.keep(&point.line());
        }
    }
}

impl Observer for Live<'_> {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Measuring { planned, arrivals, .. } => self.begun(&planned.workload, *arrivals),
            Event::Connecting { open, wanted } => self.now(&format!("connecting {open}/{wanted}")),
            Event::Draining => self.now("waiting for the last calls"),
            Event::Step { step, .. } => self.keep(&LoadPoint::searched(step).line()),
            Event::Trial(trial) => self.ended(trial),
            Event::Starting(_)
            | Event::Warming { .. }
            | Event::Prepared(_)
            | Event::Repeating { .. }
            | Event::Restless { .. }
            | Event::NotStopped { .. } => {}
        }
    }

    fn sample_every(&self, stage: &Stage<'_>) -> Option<Nanos> {
        let watched = self.watch.every().filter(|_| self.is_load(stage));
        [self.show_every(stage), watched].into_iter().flatten().min()
    }

    fn sample(&self, stage: &Stage<'_>, sample: &Sample) {
        let now = clock::now();
        if self.is_load(stage) {
            self.watch.sample(now - stage.start, sample);
        }
        self.show(stage, now, sample);
    }
}

impl Live<'_> {
    /// True for the window that is the result.
    fn is_load(&self, stage: &Stage<'_>) -> bool {
        stage.phase == Phase::Measuring && !self.finds_capacity(stage.workload)
    }

    /// How often the progress of a stage is shown.
    fn show_every(&self, stage: &Stage<'_>) -> Option<Nanos> {
        let plain = self.is_load(stage);
        match self.view {
            View::Drawn(_) => Some(INTERVAL),
            View::Lines if plain && stage.end == Nanos::NEVER => Some(Nanos(INTERVAL.0 * LINES)),
            View::Lines if plain => Some(INTERVAL.max(Nanos((stage.end - stage.start).0 / LINES))),
            View::Lines | View::Quiet => None,
        }
    }

    fn show(&self, stage: &Stage<'_>, now: Nanos, sample: &Sample) {
        let Some(every) = self.show_every(stage) else { return };
        let is_line_due = self.next_line.get() <= now;
        if matches!(self.view, View::Lines) && !is_line_due {
            return;
        }
        // A sample may come a little early.
        self.next_line.set(now + Nanos(every.0 / 10 * 9));
        let earlier = self.last.replace(Some((now, sample.clone())));
        let threads = self.plan.workload(stage.workload).map_or(1, |w| w.client_threads);
        let reading = earlier.as_ref().map(|(then, earlier)| {
            Reading::of((earlier, sample), (now - *then).as_secs_f64(), threads)
        });
        let name = match stage.phase {
            Phase::Settling => "warm-up",
            Phase::Measuring if self.finds_capacity(stage.workload) => "capacity",
            Phase::Measuring => "measuring",
        };
        let at = now - stage.start;
        let stage_now = match stage.end {
            Nanos::NEVER => {
                let calls = plural(sample.outcomes.total(), "call");
                format!("{name} {:.1} s, {calls}", at.as_secs_f64())
            }
            end => format!("{name} {}", progress(at, end - stage.start)),
        };
        match (&self.view, reading) {
            // Two lines, as one would not fit in 80 columns.
            (View::Drawn(bar), Some(reading)) => {
                let times = reading.times().map(|times| format!("\n  {times}")).unwrap_or_default();
                bar.set_message(format!("{stage_now}, {}{times}", reading.pace()));
            }
            (View::Drawn(bar), None) => bar.set_message(name),
            // The first sample only serves for comparison with the next one.
            (View::Lines, Some(reading)) if now >= stage.start + INTERVAL => {
                note!("{stage_now}, {reading}");
            }
            (View::Lines | View::Quiet, _) => {}
        }
    }
}

/// `3.0 of 10.0 s`.
fn progress(at: Nanos, length: Nanos) -> String {
    format!("{:.1} of {:.1} s", at.min(length).as_secs_f64(), length.as_secs_f64())
}

/// The state of a load.
#[derive(Debug, PartialEq)]
struct Reading {
    /// Calls that ended per second since the previous sample.
    rate: f64,
    in_flight: u64,
    /// p50, p99 and maximum of `ok` calls in the window so far, nanoseconds.
    times: Option<[u64; 3]>,
    /// Errors since the session was opened.
    errors: u64,
    /// CPU use since the previous sample, as a share of the threads' time.
    cpu: f64,
}

impl Reading {
    /// Compares two samples; `time` is the time between them, seconds.
    fn of((earlier, later): (&Sample, &Sample), time: f64, threads: u32) -> Self {
        let time = time.max(1e-9);
        let ended = later.progress.ended.saturating_sub(earlier.progress.ended);
        let quantile = |q| later.ok.quantile(q);
        let times = quantile(0.5).zip(quantile(0.99)).zip(later.ok.max());
        Self {
            rate: ended as f64 / time,
            in_flight: later.outstanding,
            times: times.map(|((p50, p99), max)| [p50, p99, max]),
            errors: later.progress.failed,
            cpu: (later.cpu - earlier.cpu).as_secs_f64() / time / f64::from(threads.max(1)),
        }
    }

    fn pace(&self) -> String {
        format!(
            "{} calls/s, {} in flight, {}, client CPU {}",
            si(self.rate),
            count(self.in_flight),
            plural(self.errors, "error"),
            percent(self.cpu)
        )
    }

    /// `None` before the first `ok` call of the window.
    fn times(&self) -> Option<String> {
        let [p50, p99, max] = self.times?.map(|ns| duration_ns(ns as f64));
        Some(format!("p50 {p50}, p99 {p99}, max {max}"))
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pace())?;
        self.times().map_or(Ok(()), |times| write!(f, ", {times}"))
    }
}

#[cfg(test)]
mod tests {
    use rpcbench_engine::Progress;
    use rpcbench_record::Outcomes;
    use rpcbench_stats::Histogram;

    use super::*;

    fn sample(ended: u64, failed: u64, cpu_ms: u64, times: &[u64]) -> Sample {
        let mut ok = Histogram::new();
        times.iter().for_each(|time| ok.record(*time));
        let (progress, cpu) = (Progress { ended, failed }, Nanos::from_millis(cpu_ms));
        Sample { progress, outstanding: 1000, cpu, ok, outcomes: Outcomes::default() }
    }

    #[test]
    fn reading_shows_what_happened_since_the_previous_one() {
        let (first, second) =
            (sample(500, 0, 100, &[]), sample(25_500, 3, 600, &[1000, 2000, 9000]));
        let reading = Reading::of((&first, &second), 2.0, 2);
        let shown = reading.to_string();
        assert_eq!(
            shown,
            "12.5k calls/s, 1,000 in flight, 3 errors, client CPU 12 %, p50 2.00 us, p99 9.00 us, max 9.00 us"
        );
    }

    #[test]
    fn before_the_window_there_are_no_times() {
        let (first, second) = (sample(0, 0, 0, &[]), sample(100, 0, 10, &[]));
        let shown = Reading::of((&first, &second), 1.0, 1).to_string();
        assert_eq!(shown, "100 calls/s, 1,000 in flight, 0 errors, client CPU 1.0 %");
    }

    #[test]
    fn progress_ends_with_the_stage() {
        let second = Nanos::from_millis(1000);
        assert_eq!(progress(second, Nanos(second.0 * 10)), "1.0 of 10.0 s");
        assert_eq!(progress(Nanos(second.0 * 11), Nanos(second.0 * 10)), "10.0 of 10.0 s");
    }
}
