//! Watches a load while it runs: writes a line of figures for each interval, and checks limits that end the load early.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rpcbench_clock::Nanos;
use rpcbench_engine::Sample;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_record::{Latency, Measured, Outcomes, Threshold};
use rpcbench_stats::Histogram;
use serde::Serialize;

use crate::commands::out_file::OutFile;
use crate::print::note;

/// The first bytes of every file of intervals.
const BEGIN: &[u8] = b"{\"elapsed_s\":";

/// Watches a load.
pub struct Watch {
    every: Nanos,
    intervals: Option<RefCell<Intervals>>,
    stop_if: Vec<Threshold>,
    interrupt: Interrupt,
    /// The limit that ended the load.
    broken: RefCell<Option<Threshold>>,
}

/// A file with a line of JSON per interval.
pub struct Intervals {
    path: PathBuf,
    file: File,
    /// The calls written so far.
    outcomes: Outcomes,
    ok: Histogram,
    elapsed: Nanos,
    /// The first error while writing.
    problem: Option<io::Error>,
}

/// The calls that ended in an interval of the window.
#[derive(Serialize)]
struct Interval {
    /// From the window's start to the interval's end.
    elapsed_s: f64,
    calls: u64,
    ok: u64,
    errors: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<serde_json::Map<String, serde_json::Value>>,
    ok_per_s: f64,
    in_flight: u64,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

impl Watch {
    /// Samples the load at this interval, if there is anything to watch.
    pub fn new(
        every: Nanos,
        intervals: Option<Intervals>,
        stop_if: Vec<Threshold>,
        interrupt: Interrupt,
    ) -> Self {
        let (intervals, broken) = (intervals.map(RefCell::new), RefCell::default());
        Self { every, intervals, stop_if, interrupt, broken }
    }

    /// The interval between samples. `None` if nothing is watched.
    pub fn every(&self) -> Option<Nanos> {
        (self.intervals.is_some() || !self.stop_if.is_empty()).then_some(self.every)
    }

    /// Processes the state of the window `elapsed` after its start.
    pub fn sample(&self, elapsed: Nanos, sample: &Sample) {
        if let Some(intervals) = &self.intervals {
            let mut intervals = intervals.borrow_mut();
            // A sample may come a little early.
            if (elapsed - intervals.elapsed).0 >= self.every.0 / 10 * 9 {
                intervals.add(elapsed, &sample.outcomes, &sample.ok, sample.outstanding);
            }
        }
        let is_early = elapsed.0 < self.every.0 / 10 * 9;
        if is_early || self.stop_if.is_empty() || self.broken.borrow().is_some() {
            return;
        }
        let window = Measured {
            window_ns: elapsed.0,
            outcomes: sample.outcomes.clone(),
            latency: Latency::of(&sample.ok),
            ..Measured::default()
        };
        let broken = self.stop_if.iter().find(|limit| limit.holds(&window) == Some(true));
        if let Some(limit) = broken {
            note!("rpcbench: --stop-if {limit}: ending the load");
            self.broken.replace(Some(*limit));
            self.interrupt.raise();
        }
    }

    /// Processes the complete window.
    pub fn end(&self, window: &Measured) {
        if let Some(intervals) = &self.intervals {
            let histogram = window.latency.as_ref().map(|it| Histogram::from_base64(&it.histogram));
            let ok = histogram.and_then(Result::ok).unwrap_or_default();
            intervals.borrow_mut().add(Nanos(window.window_ns), &window.outcomes, &ok, 0);
        }
    }

    /// The limit that ended the load. `None` if no limit did.
    pub fn broken(&self) -> Option<Threshold> {
        *self.broken.borrow()
    }

    /// # Errors
    /// If a line could not be written.
    pub fn finish(self) -> anyhow::Result<()> {
        let Some(Intervals { path, problem, .. }) = self.intervals.map(RefCell::into_inner) else {
            return Ok(());
        };
        problem.map_or(Ok(()), |error| Err(error).context(path.display().to_string()))
    }
}

impl Intervals {
    /// Creates the file, unless a file of another kind has this name.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        drop(OutFile::open(path, BEGIN)?);
        let file = File::create(path).with_context(|| path.display().to_string())?;
        let (outcomes, ok) = (Outcomes::default(), Histogram::new());
        Ok(Self { path: path.to_owned(), file, outcomes, ok, elapsed: Nanos(0), problem: None })
    }

    /// Writes a line for the calls since the last one.
    fn add(&mut self, elapsed: Nanos, outcomes: &Outcomes, ok: &Histogram, in_flight: u64) {
        let (new, times) = (outcomes.since(&self.outcomes), ok.since(&self.ok));
        let length = elapsed.since(self.elapsed).max(1) as f64 / 1e9;
        let interval = Interval {
            elapsed_s: elapsed.as_secs_f64(),
            calls: new.total(),
            ok: new.ok,
            errors: new.errors(),
            ok_per_s: new.ok as f64 / length,
            failed: failed(&new),
            in_flight,
            p50_ns: times.quantile(0.5),
            p90_ns: times.quantile(0.9),
            p99_ns: times.quantile(0.99),
            max_ns: times.max(),
        };
        (self.outcomes, self.ok, self.elapsed) = (outcomes.clone(), ok.clone(), elapsed);
        let line = serde_json::to_string(&interval).unwrap_or_default() + "\n";
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            self.problem.get_or_insert(error);
        }
    }
}

/// The outcomes of failed calls. `None` if no call failed.
fn failed(outcomes: &Outcomes) -> Option<serde_json::Map<String, serde_json::Value>> {
    let Ok(serde_json::Value::Object(mut kinds)) = serde_json::to_value(outcomes) else {
        return None;
    };
    kinds.remove("ok");
    (outcomes.errors() > 0).then_some(kinds)
}

#[cfg(test)]
mod tests {
    use rpcbench_engine::Progress;

    use super::*;

    const SECOND: Nanos = Nanos(1_000_000_000);

    fn sample(ok: u64, timeout: u64) -> Sample {
        let mut times = Histogram::new();
        (1..=ok).for_each(|ms| times.record(ms * 1_000_000));
        Sample {
            progress: Progress::default(),
            outstanding: 7,
            cpu: Nanos(0),
            ok: times,
            outcomes: Outcomes { ok, timeout, ..Outcomes::default() },
        }
    }

    #[test]
    fn lines_of_intervals_add_up_to_the_window() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("intervals");
        let intervals = Intervals::create(&path).unwrap();
        let watch = Watch::new(SECOND, Some(intervals), Vec::new(), Interrupt::default());
        watch.sample(Nanos(0), &sample(0, 0));
        watch.sample(SECOND, &sample(10, 0));
        watch.sample(Nanos(2 * SECOND.0), &sample(30, 2));
        let Sample { ok, outcomes, .. } = sample(40, 2);
        let latency = Latency::of(&ok);
        watch.end(&Measured { window_ns: 3 * SECOND.0, outcomes, latency, ..Measured::default() });
        watch.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<serde_json::Value> = lines.collect();
        let of =
            |key: &str| lines.iter().map(|line| line[key].as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!(
            (of("calls"), of("ok"), of("errors")),
            (vec![10, 22, 10], vec![10, 20, 10], vec![0, 2, 0])
        );
        assert_eq!(
            (lines[1]["ok_per_s"].as_f64(), lines[1]["failed"]["timeout"].as_u64()),
            (Some(20.0), Some(2))
        );
        assert_eq!(lines[1]["failed"].get("ok"), None);
        let p50 = lines[1]["p50_ns"].as_f64().unwrap() / 1e6;
        assert!((p50 - 20.0).abs() < 0.1, "{p50}");
        assert_eq!(of("in_flight"), [7, 7, 0]);
        Intervals::create(&path).unwrap();
        std::fs::write(&path, "mine").unwrap();
        assert!(Intervals::create(&path).is_err());
    }

    #[test]
    fn load_ends_when_a_limit_is_broken() {
        let interrupt = Interrupt::ending_windows();
        let trial = interrupt.begin_trial(None);
        let limit: Threshold = "errors>5%".parse().unwrap();
        let watch = Watch::new(SECOND, None, vec![limit], interrupt.clone());
        watch.sample(Nanos(0), &sample(0, 1));
        watch.sample(SECOND, &sample(100, 5));
        assert!(watch.broken().is_none() && !interrupt.is_raised());
        watch.sample(Nanos(2 * SECOND.0), &sample(100, 6));
        watch.sample(Nanos(3 * SECOND.0), &sample(100, 7));
        assert_eq!(watch.broken(), Some(limit));
        assert!(interrupt.is_raised() && interrupt.check().is_ok());
        drop(trial);
    }
}
