//! Windows in slices: a server runs for a slice, then is frozen, with its calls in flight, while the others run.

use std::str::FromStr;

use jiff::Timestamp;
use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_record::{Arrivals, MachineUsage, Measured, ServerUsage, Slicing, Workload};

use super::loaded_server::{LoadedServer, StepError};
use super::settle::settle_by_slices;
use super::window::Window;
use crate::placement::{Counters, Freezer, MachineReading};

/// The parts of a slice of one server. Parses from `50+70`, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceLength {
    /// Time at the start that does not count: caches warm up, and the calls in flight reach the server.
    pub discarded: Nanos,
    /// Time that counts.
    pub counted: Nanos,
}

impl FromStr for SliceLength {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('+');
        let parts = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parts {
            Some((discarded, counted)) if discarded >= 10 && counted >= 10 => Ok(Self {
                discarded: Nanos::from_millis(discarded),
                counted: Nanos::from_millis(counted),
            }),
            _ => Err("expected what is discarded and what counts of a slice, 10 ms or more \
                      each, such as 50+70"
                .to_owned()),
        }
    }
}

impl SliceLength {
    /// The slice for this kind of freezer and number of connections. After a thaw, the rate is back within 20 to 50 ms with 50
    /// connections, and within 200 ms with 1,000, whose sockets are all ready at once (docs/evidence.md). The machine's noise lasts
    /// some 200 ms, so a window of many short slices says more than one of a few long ones. Two builds of a server lose the same
    /// after a thaw, so the shortest slices tell them apart best.
    pub(super) fn of(freezer: Freezer, connections: u32, of_builds: bool) -> Self {
        let thaw = Nanos::from_millis(42) + Nanos(158_000 * u64::from(connections));
        let thaw = thaw.min(Nanos::from_millis(200));
        let (discarded, counted) = match freezer {
            Freezer::Cgroup if of_builds => (Nanos::from_millis(10), 40),
            Freezer::Cgroup => (thaw, 100),
            Freezer::Slow => (thaw.max(Nanos::from_millis(100)), 400),
        };
        Self { discarded, counted: Nanos::from_millis(counted) }
    }
}

/// A window in progress.
pub(super) struct SlicedWindow {
    length: SliceLength,
    /// Its start, with the counters at that time.
    begun: Option<Begun>,
    slices: Vec<Span>,
    /// Total time between the readings at the slices' edges.
    read: Nanos,
    cpu: CpuOfBoth,
    machine: MachineUsage,
    /// Calls that have ended in slices.
    ended: u64,
}

struct Begun {
    at: Timestamp,
    counters: CountersOfBoth,
    own: Nanos,
}

/// CPU time of a subject and its counterpart, nanoseconds.
#[derive(Clone, Copy, Default)]
struct CpuOfBoth {
    own: u64,
    counterpart: u64,
}

/// All counters of a subject and its counterpart.
struct CountersOfBoth {
    own: Option<Counters>,
    counterpart: Option<Counters>,
}

/// Counters at an edge of a slice.
struct Edge {
    at: Nanos,
    cpu: CpuOfBoth,
    machine: MachineReading,
    ended: u64,
}

impl SlicedWindow {
    pub fn new(length: SliceLength) -> Self {
        Self {
            length,
            begun: None,
            slices: Vec::new(),
            read: Nanos(0),
            cpu: CpuOfBoth::default(),
            machine: MachineUsage::default(),
            ended: 0,
        }
    }

    /// A new window with the same slices.
    pub fn again(&self) -> Self {
        Self::new(self.length)
    }

    /// Total length of its slices.
    pub fn takes(&self, workload: &Workload) -> Nanos {
        let SliceLength { discarded, counted } = self.length;
        let length = Nanos::from_millis(workload.window.length_ms().unwrap_or(0));
        Nanos((discarded + counted).0 * length.0.div_ceil(counted.0).max(1))
    }

    /// True before its first slice.
    pub fn is_new(&self) -> bool {
        self.slices.is_empty()
    }

    /// True if the next slice is the last: the window is then long enough, and at least as many calls have ended in it as are in
    /// flight (with fewer, most calls would be cut by an edge). Timeouts end all calls, so a window always ends.
    fn ends(&self, workload: &Workload) -> bool {
        let length = Nanos::from_millis(workload.window.length_ms().unwrap_or(0));
        let counted = Nanos(self.length.counted.0 * (self.slices.len() as u64 + 1));
        let is_enough = self.ended >= u64::from(workload.in_flight);
        counted >= length && is_enough
            || counted >= length + Nanos::from_millis(workload.timeout_ms)
    }

    fn add(&mut self, slice: Span, first: &Edge, last: &Edge, machine: &MachineUsage) {
        match self.slices.is_empty() {
            true => self.machine = machine.clone(),
            false => self.machine.add(machine),
        }
        self.slices.push(slice);
        self.read = self.read + (last.at - first.at);
        self.cpu.own += last.cpu.own.saturating_sub(first.cpu.own);
        self.cpu.counterpart += last.cpu.counterpart.saturating_sub(first.cpu.counterpart);
        self.ended += last.ended - first.ended;
    }

    /// A process's usage within the slices. CPU time was read at their edges; the other counters, read at the window's start and
    /// end, are scaled down from `own`, the own time between those two readings.
    fn usage(&self, cpu_ns: u64, (first, last): (&Counters, &Counters), own: Nanos) -> ServerUsage {
        let whole = last.since(first);
        let (cpu, part) = (whole.cpu_user_ns + whole.cpu_system_ns, self.read.0 as f64);
        let scale = |of: u64, by: f64| (of as f64 * by).round() as u64;
        let by_cpu = cpu_ns as f64 / cpu.max(1) as f64;
        let by_time = (part / own.0.max(1) as f64).min(1.0);
        let user = scale(whole.cpu_user_ns, by_cpu);
        ServerUsage {
            interval_ns: self.read.0,
            cpu_user_ns: user,
            cpu_system_ns: cpu_ns.saturating_sub(user),
            compiler_cpu_ns: scale(whole.compiler_cpu_ns, by_time),
            throttled_ns: whole.throttled_ns.map(|ns| scale(ns, by_time)),
            switches_voluntary: scale(whole.switches_voluntary, by_time),
            switches_involuntary: scale(whole.switches_involuntary, by_time),
            busiest_thread_ns: scale(whole.busiest_thread_ns, by_time),
            ..whole
        }
    }

    fn slicing(&self) -> Slicing {
        Slicing {
            slices: u32::try_from(self.slices.len()).unwrap_or(u32::MAX),
            counted_ns: self.length.counted.0,
            discarded_ns: self.length.discarded.0,
            ended: clock::wall(),
        }
    }
}

impl LoadedServer<'_> {
    /// Starts the load, waits until the server is back at its usual rate, and freezes it with its calls in flight. No-op if it
    /// has joined before.
    pub fn join_round(&mut self, workload: &Workload) -> Result<(), StepError> {
        if self.own_time.is_none() {
            self.wake()?;
            self.load()?.set_arrivals(Arrivals::Closed)?;
            settle_by_slices(self, workload, self.context.now())?;
            self.own_time = Some(Nanos(0));
            self.end_turn(self.context.now())?;
        }
        Ok(())
    }

    /// Runs one slice of the window. Returns the finished window after the last slice.
    pub fn take_turn(
        &mut self,
        window: &mut SlicedWindow,
        workload: &Workload,
    ) -> Result<Option<Window>, StepError> {
        let is_last = window.ends(workload);
        let begin = self.context.now();
        // The client's own time must resume before the server runs: replies would otherwise arrive before they were sent.
        self.load()?.enter()?;
        self.thaw()?;
        if window.begun.is_none() {
            let counters = self.counters()?;
            let own = self.own_time.unwrap_or_default() + (self.context.now() - begin);
            window.begun = Some(Begun { at: clock::wall(), counters, own });
        }
        let start = self.context.now() + window.length.discarded;
        let slice = Span { start, end: start + window.length.counted };
        self.load()?.measure_part(slice, is_last)?;
        self.context.interrupt().wait_until(slice.start)?;
        let first = self.edge()?;
        self.context.interrupt().wait_until(slice.end)?;
        let last = self.edge()?;
        let machine = self.running.machine().usage(&first.machine, &last.machine)?;
        window.add(slice, &first, &last, &machine);
        let ended = is_last.then(|| self.end_window(window, begin)).transpose()?;
        self.alive("during a trial")?;
        self.end_turn(begin)?;
        Ok(ended)
    }

    fn edge(&mut self) -> Result<Edge, StepError> {
        let machine = self.running.machine().sample()?;
        let ended = self.load()?.progress()?.ended;
        let at = self.context.now();
        let cpu =
            CpuOfBoth { own: self.sample_cpu()?.cpu_ns, counterpart: self.counterpart_cpu()? };
        Ok(Edge { at, cpu, machine, ended })
    }

    fn counters(&mut self) -> Result<CountersOfBoth, StepError> {
        let (own, counterpart) = (self.running.sample()?, self.sample_counterpart()?);
        Ok(CountersOfBoth { own, counterpart })
    }

    /// Waits for the window's last calls, with the load still on.
    fn end_window(
        &mut self,
        window: &SlicedWindow,
        turn_began: Nanos,
    ) -> Result<Window, StepError> {
        let counters = self.counters()?;
        let own = self.own_time.unwrap_or_default() + (self.context.now() - turn_began);
        let mut measurement = self.load()?.finish()?;
        let unmeasured = std::mem::take(&mut measurement.unmeasured);
        let [runtime, counterpart_runtime] = self.runtimes(&window.slices)?;
        let begun = window.begun.as_ref();
        let usage = |cpu_ns, of: fn(&CountersOfBoth) -> &Option<Counters>| {
            let begun = begun?;
            let ends = of(&begun.counters).as_ref().zip(of(&counters).as_ref())?;
            Some(window.usage(cpu_ns, ends, own - begun.own))
        };
        let (cpu, called) = (window.cpu, usage(window.cpu.counterpart, |both| &both.counterpart));
        let usage = usage(cpu.own, |both| &both.own).map(|usage| self.with_rests(usage));
        let slicing = Some(window.slicing());
        let measured = measurement.into_measured(usage, window.machine.clone());
        let measured = Measured { runtime, counterpart_runtime, slicing, ..measured };
        let measured = self.with_counterpart(measured, called.as_ref());
        self.level = measured.ok_per_server_cpu_s().map(|calls| calls / 1e9);
        let started = begun.map_or_else(clock::wall, |begun| begun.at);
        Ok(Window { started, measured, unmeasured, cut: false })
    }

    /// Freezes it, with its calls in flight, after a turn that began at `begin`.
    fn end_turn(&mut self, begin: Nanos) -> Result<(), StepError> {
        self.freeze()?;
        self.load()?.leave()?;
        let own = self.own_time.unwrap_or_default();
        self.own_time = Some(own + (self.context.now() - begin));
        Ok(())
    }

    /// Ends the load that stays in flight across rounds, if there is one.
    pub fn leave_rounds(&mut self) -> Result<(), StepError> {
        if self.own_time.take().is_some() {
            self.load()?.enter()?;
            self.thaw()?;
            let unmeasured = self.load()?.pause()?;
            if self.subject.is_proven() {
                self.judge_unmeasured(unmeasured, "outside of windows")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_connections_discard_more_of_a_slice() {
        let lengths = |freezer, connections, of_builds| {
            let length = SliceLength::of(freezer, connections, of_builds);
            [length.discarded.0 / 1_000_000, length.counted.0 / 1_000_000]
        };
        assert_eq!(lengths(Freezer::Cgroup, 50, false), [49, 100]);
        assert_eq!(lengths(Freezer::Cgroup, 1000, false), [200, 100]);
        assert_eq!(lengths(Freezer::Cgroup, 10_000, false), [200, 100]);
        assert_eq!(lengths(Freezer::Cgroup, 1000, true), [10, 40]);
        assert_eq!(lengths(Freezer::Slow, 50, false), [100, 400]);
        assert_eq!(lengths(Freezer::Slow, 1000, false), [200, 400]);
    }
}
