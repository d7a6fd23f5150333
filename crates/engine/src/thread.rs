//! A load thread: a worker on real sockets, and what it is told and tells.

use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use rpcbench_record::{ConnectionLife, Outcomes};
use rpcbench_stats::Histogram;
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};

use crate::clock::{self, Nanos};
use crate::driver::{Driver, EpollDriver, Sources, Waker};
use crate::log::CallLog;
use crate::payload::Payload;
use crate::plan::LoadPlan;
use crate::protocol::{Connection, ForProtocol, dispatch};
use crate::span::Span;
use crate::tally::Tally;
use crate::worker::{Start, Worker};

/// How often a thread that connects tells how far it is, at most.
const TELL: Nanos = Nanos::from_millis(50);

/// What a load thread is told.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Calls come due from now on.
    Start(Start),
    /// Tell how it stands.
    Sample(Sender<ThreadSample>),
    Measure(Span),
    /// The measured span ends then.
    Cut(Nanos),
    Drain,
    Close,
}

/// What a load thread tells.
#[derive(Debug)]
pub(crate) enum Report {
    /// Every connection is open, or the deadline has come.
    Connected { open: usize, problem: Option<String> },
    /// No call is left.
    Drained(Box<Drained>),
    /// It can't go on.
    Broken(io::Error),
}

/// What a load thread counted since it was last drained.
#[derive(Debug)]
pub(crate) struct Drained {
    /// Of the measured span, where there was one.
    pub measured: Option<ThreadMeasured>,
    /// Calls outside measured spans, since the thread began.
    pub outside: Outcomes,
    pub outside_examples: Vec<String>,
}

/// What came of a measured span on one thread.
#[derive(Debug)]
pub(crate) struct ThreadMeasured {
    /// Where it was cut, it may end a little later than on other threads.
    pub span: Span,
    pub tally: Tally,
    pub usage: ThreadUsage,
}

/// How a load thread stands.
#[derive(Debug)]
pub(crate) struct ThreadSample {
    pub outstanding: u64,
    pub cpu: Nanos,
    /// Response times of the `ok` calls that are measured so far, and the outcomes of all of them.
    pub measured: Option<(Histogram, Outcomes)>,
}

/// What a load thread used over the measured span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadUsage {
    pub cpu: Nanos,
    /// The part of it that was spent waiting.
    pub awake: Nanos,
    /// Ready to run, and without a CPU. `None` where the kernel does not tell.
    pub run_delay: Option<Nanos>,
}

/// A load thread's counters at one point in time.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Nanos,
    cpu: Nanos,
    awake: Nanos,
    run_delay: Option<Nanos>,
}

impl Reading {
    /// `awake`: see [`Driver::awake`].
    fn now(awake: Nanos) -> Self {
        // "cpu-ns run-delay-ns timeslices"
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
        let run_delay = schedstat.and_then(|text| text.split(' ').nth(1)?.parse().ok().map(Nanos));
        Self { at: clock::now(), cpu: clock::thread_cpu(), awake, run_delay }
    }

    /// What was used since an earlier reading, for a span of `length`: a thread that gets no CPU reads
    /// late at both ends, so its shares count, not its sums.
    fn since(self, earlier: Self, length: Nanos) -> ThreadUsage {
        let share = length.0 as f64 / (self.at - earlier.at).0.max(1) as f64;
        let scale = |now: Nanos, then| Nanos(((now - then).0 as f64 * share) as u64);
        ThreadUsage {
            cpu: scale(self.cpu, earlier.cpu),
            awake: scale(self.awake, earlier.awake),
            run_delay: self.run_delay.zip(earlier.run_delay).map(|(now, then)| scale(now, then)),
        }
    }
}

/// Counters that other threads may look at while a load runs. A cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub ended: AtomicU64,
    pub failed: AtomicU64,
    /// Connections that are open, until all are.
    pub open: AtomicU64,
    /// No call is left of the last load.
    pub drained: AtomicBool,
}

/// A load thread before it runs.
struct LoadThread {
    plan: Arc<LoadPlan>,
    payload: Arc<dyn Payload>,
    number: u32,
    waker: Waker,
    log: Option<CallLog>,
    commands: Receiver<Command>,
    reports: Sender<Report>,
    counters: Arc<Counters>,
    cpu: Option<u32>,
    connect_deadline: Nanos,
}

/// What the owner of a load thread has of it.
pub(crate) struct Handle {
    pub commands: Sender<Command>,
    pub reports: Receiver<Report>,
    pub counters: Arc<Counters>,
    pub waker: Waker,
    pub thread: Option<JoinHandle<()>>,
}

/// Which load thread, and by when it is connected.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub thread: u32,
    pub deadline: Nanos,
}

/// Starts a load thread.
pub(crate) fn spawn(
    plan: &Arc<LoadPlan>,
    payload: &Arc<dyn Payload>,
    place: Place,
    log: Option<CallLog>,
) -> io::Result<Handle> {
    let Place { thread, deadline } = place;
    let waker = Waker::new()?;
    let (commands, receiver) = channel();
    let (sender, reports) = channel();
    let counters = Arc::new(Counters::default());
    let load = LoadThread {
        plan: Arc::clone(plan),
        payload: Arc::clone(payload),
        number: thread,
        log,
        waker: waker.clone(),
        commands: receiver,
        reports: sender,
        counters: Arc::clone(&counters),
        cpu: plan.cpus.get(thread as usize % plan.cpus.len().max(1)).copied(),
        connect_deadline: deadline,
    };
    let name = format!("rpcbench-load-{thread}");
    let thread = std::thread::Builder::new().name(name).spawn(move || load.run())?;
    Ok(Handle { commands, reports, counters, waker, thread: Some(thread) })
}

impl LoadThread {
    /// Runs until told to close.
    fn run(self) {
        let reports = self.reports.clone();
        if let Err(error) = self.work() {
            // The owner may be gone already; then there is nobody to tell.
            let _ = reports.send(Report::Broken(error));
        }
    }

    fn work(self) -> io::Result<()> {
        if let Some(cpu) = self.cpu {
            let mut set = CpuSet::new();
            set.set(cpu as usize);
            sched_setaffinity(None, &set)?;
        }
        // Calls come due between clock ticks: the kernel is not to gather wake-ups.
        set_current_timer_slack(NonZeroU64::new(1))?;
        let connections = self.plan.shares(self.number).len();
        let waker = self.waker.clone();
        let sources = match self.plan.connection_life {
            ConnectionLife::Long => Sources::any(),
            ConnectionLife::Calls(_) => Sources::spread(&self.plan.address, self.number),
        };
        let driver = EpollDriver::new(connections, waker, sources)?;
        dispatch(self.plan.protocol, Loading { thread: self, driver })
    }
}

/// A load thread with its driver, before it is known how calls travel.
struct Loading {
    thread: LoadThread,
    driver: EpollDriver,
}

impl ForProtocol for Loading {
    type Output = io::Result<()>;

    fn with<C: Connection>(self) -> io::Result<()> {
        let LoadThread { plan, payload, number, log, commands, reports, counters, .. } =
            self.thread;
        let connect_deadline = self.thread.connect_deadline;
        let mut running = Running {
            worker: Worker::<C, _>::new(plan, payload, number, self.driver, log),
            commands,
            reports,
            counters,
        };
        if running.connect(connect_deadline)? { running.serve() } else { Ok(()) }
    }
}

/// A load thread that runs.
struct Running<C: Connection, D> {
    worker: Worker<C, D>,
    commands: Receiver<Command>,
    reports: Sender<Report>,
    counters: Arc<Counters>,
}

impl<C: Connection, D: Driver> Running<C, D> {
    /// Opens the connections; false if the session was closed meanwhile.
    fn connect(&mut self, deadline: Nanos) -> io::Result<bool> {
        self.worker.connect_all(deadline);
        let mut told = self.worker.now();
        while !self.worker.is_connected() && self.worker.now() < deadline {
            self.worker.turn()?;
            // To count them takes a look at each.
            if self.worker.now() >= told + TELL {
                told = self.worker.now();
                self.counters.open.store(self.worker.connect_problem().0 as u64, Ordering::Relaxed);
            }
            // Nothing else is told to a thread that has not reported yet.
            if !matches!(self.commands.try_recv(), Err(TryRecvError::Empty)) {
                return Ok(false);
            }
        }
        let (open, problem) = self.worker.connect_problem();
        self.tell(Report::Connected { open, problem: problem.map(str::to_owned) });
        Ok(true)
    }

    fn serve(&mut self) -> io::Result<()> {
        let mut span = None;
        let mut used = [None; 2];
        let mut drained = true;
        loop {
            loop {
                match self.commands.try_recv() {
                    Ok(Command::Start(start)) => {
                        self.worker.start(start);
                        (span, used) = (start.span, [None; 2]);
                        drained = false;
                    }
                    Ok(Command::Measure(measured)) => {
                        self.worker.measure(measured);
                        span = Some(measured);
                        used = [None; 2];
                    }
                    Ok(Command::Cut(end)) => span = self.worker.cut(end).or(span),
                    Ok(Command::Sample(samples)) => self.tell_sample(&samples),
                    Ok(Command::Drain) => self.worker.drain(),
                    Ok(Command::Close) | Err(TryRecvError::Disconnected) => return Ok(()),
                    Err(TryRecvError::Empty) => break,
                }
            }
            if let Some(span) = span {
                self.read_usage(span, &mut used);
            }
            if self.worker.is_drained() && !drained {
                drained = true;
                let counted = self.worker.take_counted();
                if counted.is_some() {
                    used[1] = Some(Reading::now(self.worker.awake()));
                }
                self.tell_drained(counted.or(span.take()), used);
                span = None;
            }
            self.worker.turn()?;
            self.publish();
        }
    }

    fn read_usage(&self, span: Span, used: &mut [Option<Reading>; 2]) {
        let now = self.worker.turned_at();
        for (edge, used) in [span.start, span.end].into_iter().zip(used) {
            if used.is_none() && now >= edge {
                *used = Some(Reading::now(self.worker.awake()));
            }
        }
    }

    fn tell_drained(&mut self, span: Option<Span>, used: [Option<Reading>; 2]) {
        let recorder = &mut self.worker.calls().recorder;
        let measured = recorder.take().zip(span).map(|(tally, span)| {
            let usage = match used {
                [Some(start), Some(end)] => end.since(start, span.end - span.start),
                _ => ThreadUsage::default(),
            };
            ThreadMeasured { span, tally, usage }
        });
        self.counters.drained.store(true, Ordering::Relaxed);
        let (outside, examples) = recorder.outside();
        let (outside, outside_examples) = (outside.clone(), examples.to_vec());
        self.tell(Report::Drained(Box::new(Drained { measured, outside, outside_examples })));
    }

    fn tell_sample(&mut self, samples: &Sender<ThreadSample>) {
        let calls = self.worker.calls();
        let so_far = calls.recorder.so_far();
        let measured = so_far.map(|tally| (tally.ok.clone(), tally.outcomes.clone()));
        let (outstanding, cpu) = (calls.outstanding, clock::thread_cpu());
        // Whoever asked may have given up.
        let _ = samples.send(ThreadSample { outstanding, cpu, measured });
    }

    fn tell(&self, report: Report) {
        // The owner may be gone; the next command read will show it.
        let _ = self.reports.send(report);
    }

    fn publish(&mut self) {
        let calls = self.worker.calls();
        let (ended, failed) = (calls.ended, calls.failed);
        self.counters.ended.store(ended, Ordering::Relaxed);
        self.counters.failed.store(failed, Ordering::Relaxed);
    }
}
