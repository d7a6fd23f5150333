//! The events of a runtime log, summarized by window.

use std::collections::BTreeMap;

use rpcbench_clock::{Nanos, Span};
use rpcbench_record::{Pauses, RuntimeStatistics, Slice, units};

use crate::host::freezes::Freezes;

/// Tolerance, as a share: how much pauses may exceed the time that contains them, and how much a count of allocated bytes may
/// fall. Runtimes round, and count without stopping their threads.
const TOLERANCE: f64 = 0.01;

/// The events of a server's processes, by process id.
#[derive(Debug, Default)]
pub(super) struct RuntimeEvents {
    processes: BTreeMap<u32, Process>,
}

#[derive(Debug, Default)]
struct Process {
    /// When the process began, by its own account.
    begun: Option<Nanos>,
    pauses: Vec<Pause>,
    readings: Vec<Reading>,
}

#[derive(Debug)]
struct Pause {
    end: Nanos,
    length_ns: u64,
    kind: String,
    /// Heap before the pause, bytes.
    heap: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Nanos,
    heap: Option<u64>,
    /// Bytes allocated since the process began.
    allocated: Option<u64>,
}

impl RuntimeEvents {
    /// Adds a line, converted to the server's own time. `None` if the contract does not define such a line.
    pub(super) fn take(&mut self, line: &str, freezes: &Freezes) -> Option<()> {
        let own = |at: &str| Some(freezes.own(Nanos(at.parse().ok()?)));
        let words: Vec<&str> = line.split(' ').collect();
        let (process, words) = words.split_first()?;
        let process = self.processes.entry(process.parse().ok()?).or_default();
        match *words {
            ["begin", at] => process.begun = Some(own(at)?),
            ["reading", at, heap, allocated] => process.readings.push(Reading {
                at: own(at)?,
                heap: known(heap)?,
                allocated: known(allocated)?,
            }),
            ["pause", end, length, kind, heap] if !kind.is_empty() => {
                let (end, length) = (Nanos(end.parse().ok()?), Nanos(length.parse().ok()?));
                process.pauses.push(Pause {
                    end: freezes.own(end),
                    length_ns: (length - frozen(freezes, end, length)).0,
                    kind: kind.to_owned(),
                    heap: known(heap)?,
                });
            }
            _ => return None,
        }
        Some(())
    }

    /// True if all events before `until` have been written. Processes without readings write events immediately.
    pub(super) fn is_complete(&self, until: Nanos) -> bool {
        let last = |process: &Process| process.readings.last().map(|reading| reading.at);
        self.processes.values().filter_map(last).all(|at| at >= until)
    }

    /// Summarizes a window of a server that was started after `since`. `None` if no process reports anything. Contradictory
    /// events are refused with the reason.
    pub(super) fn over(&self, window: &[Span], since: Nanos) -> Option<RuntimeStatistics> {
        let processes = || self.processes.values();
        processes().next()?;
        if let Some(reason) = processes().find_map(|process| process.contradiction(window, since)) {
            return Some(RuntimeStatistics { refused: Some(reason), ..Default::default() });
        }
        let ended: Vec<&Pause> = processes().flat_map(|it| it.ended_in(window)).collect();
        let mut pauses: BTreeMap<String, Pauses> = BTreeMap::new();
        for pause in &ended {
            let one = Pauses { count: 1, total_ns: pause.length_ns, max_ns: pause.length_ns };
            pauses.entry(pause.kind.clone()).or_default().add(one);
        }
        Some(RuntimeStatistics {
            refused: None,
            pauses,
            paused_ns: paused_ns(&ended, window),
            allocated_bytes: processes().map(|process| process.allocated(window)).sum(),
            heap_peak_bytes: processes().map(|process| process.heap_peak(window)).sum(),
        })
    }

    /// Forgets events that windows after `at` don't need.
    pub(super) fn forget_before(&mut self, at: Nanos) {
        for process in self.processes.values_mut() {
            process.pauses.retain(|pause| pause.end >= at);
            let before = process.readings.iter().filter(|reading| reading.at <= at).count();
            process.readings.drain(..before.saturating_sub(1));
        }
    }
}

/// How long the server was frozen in the `length` before `end`.
fn frozen(freezes: &Freezes, end: Nanos, length: Nanos) -> Nanos {
    let own = freezes.own(end) - freezes.own(end - length);
    length.min(end) - own
}

fn length_ns(window: &[Span]) -> u64 {
    window.iter().map(|span| span.end.since(span.start)).sum()
}

fn is_within(window: &[Span], at: Nanos) -> bool {
    window.iter().any(|span| span.contains(at))
}

/// Time paused in each slice of a window. Empty if there was no pause.
fn paused_ns(pauses: &[&Pause], window: &[Span]) -> Vec<u64> {
    let slices = length_ns(window).div_ceil(Slice::LENGTH_NS) as usize;
    let mut paused = if pauses.is_empty() { Vec::new() } else { vec![0; slices] };
    for pause in pauses {
        let Some(at) = window.iter().position(|span| span.contains(pause.end)) else { continue };
        let before = length_ns(&window[..at]);
        let end = before + pause.end.since(window[at].start);
        let mut from = end.saturating_sub(pause.length_ns).max(before);
        while from < end {
            let slice = from / Slice::LENGTH_NS;
            let to = end.min((slice + 1) * Slice::LENGTH_NS);
            if let Some(paused) = paused.get_mut(slice as usize) {
                *paused += to - from;
            }
            from = to;
        }
    }
    paused
}

impl Process {
    /// The contradiction between its events, one line.
    fn contradiction(&self, window: &[Span], since: Nanos) -> Option<String> {
        let time = |ns: u64| units::duration_ns(ns as f64);
        let born = self.begun.unwrap_or(since).max(since);
        let lived = |pause: &&Pause| pause.length_ns > pause.end.since(born);
        let eternal = self.ended_in(window).find(lived).map(|pause| {
            let lived = time(pause.end.since(born));
            format!("a pause of {} in a process that had lived for {lived}", time(pause.length_ns))
        });
        let length = length_ns(window);
        let start = |end| window.iter().find(|span| span.contains(end)).map(|span| span.start);
        let within = |pause: &Pause| {
            pause.length_ns.min(pause.end.since(start(pause.end).unwrap_or(pause.end)))
        };
        let paused: u64 = self.ended_in(window).map(within).fold(0, u64::saturating_add);
        let crowded = (paused as f64 > length as f64 * (1.0 + TOLERANCE))
            .then(|| format!("pauses of {} in a window of {}", time(paused), time(length)));
        let shrunk = self.readings.windows(2).find_map(|pair| {
            if pair[1].at < pair[0].at {
                return Some("its readings go back in time".to_owned());
            }
            let (before, after) = (pair[0].allocated?, pair[1].allocated?);
            ((after as f64) < before as f64 * (1.0 - TOLERANCE)).then(|| {
                let [before, after] = [before, after].map(units::bytes);
                format!("the bytes allocated since it began fell from {before} to {after}")
            })
        });
        eternal.or(crowded).or(shrunk)
    }

    fn ended_in<'a>(&'a self, window: &'a [Span]) -> impl Iterator<Item = &'a Pause> {
        self.pauses.iter().filter(move |pause| is_within(window, pause.end))
    }

    fn heap_peak(&self, window: &[Span]) -> Option<u64> {
        let within = |reading: &&Reading| is_within(window, reading.at);
        let read = self.readings.iter().filter(within).filter_map(|reading| reading.heap);
        read.chain(self.ended_in(window).filter_map(|pause| pause.heap)).max()
    }

    fn allocated(&self, window: &[Span]) -> Option<u64> {
        let of = |span: &Span| Some(self.allocated_at(span.end)? - self.allocated_at(span.start)?);
        let bytes: f64 = window.iter().map(of).sum::<Option<f64>>()?;
        Some(bytes.max(0.0).round() as u64)
    }

    /// Bytes allocated until `at`, interpolated between the adjacent readings.
    fn allocated_at(&self, at: Nanos) -> Option<f64> {
        let before = self.readings.iter().rev().find(|reading| reading.at <= at)?;
        let after = self.readings.iter().find(|reading| reading.at >= at)?;
        let (low, high) = (before.allocated? as f64, after.allocated? as f64);
        let (part, whole) = (at.since(before.at) as f64, after.at.since(before.at) as f64);
        Some(if whole > 0.0 { low + (high - low) * part / whole } else { low })
    }
}

/// A number, or `-` if unknown. `None` for anything else.
fn known(word: &str) -> Option<Option<u64>> {
    match word {
        "-" => Some(None),
        number => number.parse().ok().map(Some),
    }
}
