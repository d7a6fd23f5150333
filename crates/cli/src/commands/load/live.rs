//! A load as it goes, on standard error: a line that is drawn over on a terminal, plain lines elsewhere.

use std::fmt;

use anstream::eprintln;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{Sample, Session};
use rpcbench_harness::run::Interrupt;
use rpcbench_report::format::{count, duration_ns, percent, plural, si};

use crate::context::Context;

/// How often the line on a terminal moves. A look costs each load thread a copy of its histograms.
const LOOK: Nanos = Nanos::from_millis(1000);
/// How often a terminal may be drawn on, a second.
const DRAWN: u8 = 4;
/// Plain lines of a stage, at most.
const LINES: u64 = 10;

/// Shows how a load goes.
pub struct Live {
    view: View,
    threads: u32,
    last: Option<(Nanos, Sample)>,
}

enum View {
    Drawn(ProgressBar),
    Lines,
    Quiet,
}

/// A part of a load.
pub struct Stage {
    /// In the words of a reader.
    pub name: &'static str,
    /// First instant.
    pub start: Nanos,
    /// First instant after it.
    pub end: Nanos,
    /// Whether plain lines tell of it too.
    pub plain: bool,
}

impl Live {
    pub fn new(context: &Context, quiet: bool, threads: u32) -> Self {
        let view = match (quiet, context.live) {
            (true, _) => View::Quiet,
            (false, false) => View::Lines,
            (false, true) => {
                let target = ProgressDrawTarget::stderr_with_hz(DRAWN);
                let bar = ProgressBar::with_draw_target(None, target);
                bar.set_style(
                    ProgressStyle::with_template("{msg}")
                        .unwrap_or_else(|_| ProgressStyle::default_spinner()),
                );
                View::Drawn(bar)
            }
        };
        Self { view, threads, last: None }
    }

    /// Removes the line.
    pub fn finish(&self) {
        if let View::Drawn(bar) = &self.view {
            bar.finish_and_clear();
        }
    }

    /// A line that stays.
    pub fn keep(&self, line: &str) {
        match &self.view {
            View::Drawn(bar) => bar.suspend(|| eprintln!("{line}")),
            View::Lines => eprintln!("{line}"),
            View::Quiet => {}
        }
    }

    /// What a terminal shows until there is more to say.
    pub fn now(&self, line: &str) {
        if let View::Drawn(bar) = &self.view {
            bar.set_message(line.to_owned());
        }
    }

    /// Waits for the stage's end, and tells of it on the way. Whether Ctrl-C came before it.
    pub fn follow(
        &mut self,
        stage: &Stage,
        session: &Session,
        interrupt: &Interrupt,
    ) -> anyhow::Result<bool> {
        let Some(step) = self.step(stage) else {
            return Ok(interrupt.cuts_short(stage.end)?);
        };
        let mut next = stage.start;
        while next < stage.end {
            if interrupt.cuts_short(next)? {
                return Ok(true);
            }
            self.look(stage, session)?;
            next = next + step;
        }
        Ok(interrupt.cuts_short(stage.end)?)
    }

    /// From one look to the next. `None`: none in this stage.
    fn step(&self, stage: &Stage) -> Option<Nanos> {
        match self.view {
            View::Drawn(_) => Some(LOOK),
            View::Lines if stage.plain => {
                Some(LOOK.max(Nanos((stage.end - stage.start).0 / LINES)))
            }
            View::Lines | View::Quiet => None,
        }
    }

    fn look(&mut self, stage: &Stage, session: &Session) -> anyhow::Result<()> {
        let (sample, now) = (session.sample()?, clock::now());
        let reading = self.last.as_ref().map(|(then, earlier)| {
            let time = (now - *then).as_secs_f64();
            Reading::of((earlier, &sample), time, self.threads)
        });
        let (at, length) = (now - stage.start, stage.end - stage.start);
        let stage_now = format!("{} {}", stage.name, progress(at, length));
        let line = |reading: Reading| format!("{stage_now}, {reading}");
        match (&self.view, reading) {
            // Two lines, as one would not fit into 80 columns.
            (View::Drawn(bar), Some(reading)) => {
                let times = reading.times().map(|times| format!("\n  {times}")).unwrap_or_default();
                bar.set_message(format!("{stage_now}, {}{times}", reading.pace()));
            }
            (View::Drawn(bar), None) => bar.set_message(stage.name),
            // The first look is what the second one is compared with.
            (View::Lines, Some(reading)) if now >= stage.start + LOOK => {
                eprintln!("{}", line(reading))
            }
            (View::Lines | View::Quiet, _) => {}
        }
        self.last = Some((now, sample));
        Ok(())
    }
}

/// `3.0 of 10.0 s`.
fn progress(at: Nanos, length: Nanos) -> String {
    format!("{:.1} of {:.1} s", at.min(length).as_secs_f64(), length.as_secs_f64())
}

/// How a load goes now, and how it went so far.
#[derive(Debug, PartialEq)]
struct Reading {
    /// Calls that ended, a second, since the look before.
    rate: f64,
    in_flight: u64,
    /// p50, p99 and maximum of `ok` calls of the window so far, nanoseconds.
    times: Option<[u64; 3]>,
    /// Since the session was opened.
    errors: u64,
    /// Share of the threads' time since the look before.
    cpu: f64,
}

impl Reading {
    /// `time` lies between the two samples, seconds.
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
}

impl Reading {
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
    fn a_look_tells_what_happened_since_the_one_before() {
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
