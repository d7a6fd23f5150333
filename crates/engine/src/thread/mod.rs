//! Load threads: each a worker on real sockets, with commands and reports.

mod usage;

use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use rpcbench_record::{ConnectionLife, Outcomes, Tls, Unmeasured};
use rpcbench_stats::Histogram;
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};

use crate::counted::Part;
use crate::driver::{Driver, EpollDriver, Sources, TlsDriver, Waker};
use crate::log::CallLog;
use crate::payload::Payload;
use crate::plan::LoadPlan;
use crate::protocol::{Connection, ProtocolVisitor};
use crate::renewal::Renewed;
use crate::tally::WindowTally;
use crate::worker::{Start, Thread, Worker};
use rpcbench_clock::{self as clock, Nanos, OwnClock, Span};

pub(crate) use usage::ThreadUsage;
use usage::{Reading, WindowUsage};

/// Minimum time between two reports of a thread that is connecting.
const REPORT_EVERY: Nanos = Nanos::from_millis(50);

/// A command to a load thread.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Calls come due from now on.
    Start(Start),
    Sample(Sender<ThreadSample>),
    Measure(Span),
    /// Measures a part of a window that has several.
    MeasurePart(Part),
    /// Does nothing until [`Command::Enter`].
    Leave,
    Enter(OwnClock),
    /// Moves the end of the measured span.
    EndAt(Nanos),
    Drain,
    Close,
}

/// A report of a load thread.
#[derive(Debug)]
pub(crate) enum Report {
    /// Every connection is open, or the deadline has passed.
    Connected { open: usize, problem: Option<String>, tls: Option<Tls> },
    /// The thread has left its turn, at this instant by its own clock.
    Left(Nanos),
    /// All calls of the load, or of a window in parts, have ended.
    Drained(Box<Drained>),
    /// The thread can't continue.
    Broken(io::Error),
}

/// What a load thread counted since it was last drained.
#[derive(Debug)]
pub(crate) struct Drained {
    /// The measured span, if there was one.
    pub measured: Option<ThreadMeasured>,
    /// Calls outside measured spans, since the thread began.
    pub outside: Unmeasured,
}

#[derive(Debug)]
pub(crate) struct ThreadMeasured {
    /// After a cut, it may end a little later than on other threads.
    pub span: Span,
    /// Time in `span` that does not count.
    pub gaps: Nanos,
    pub tally: WindowTally,
    pub usage: ThreadUsage,
}

/// A load thread at one instant.
#[derive(Debug)]
pub(crate) struct ThreadSample {
    pub outstanding: u64,
    pub cpu: Nanos,
    /// Response times of `ok` calls, and all outcomes, measured so far.
    pub measured: (Histogram, Outcomes),
}

/// Counters that other threads may read during a load, on a separate cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub ended: AtomicU64,
    pub failed: AtomicU64,
    /// Open connections, until all are open.
    pub open: AtomicU64,
    /// True once every call of the last load has ended.
    pub drained: AtomicBool,
}

/// What the threads of a session send.
struct Sent<C: Connection> {
    templates: Arc<C::Templates>,
    renewed: Option<Renewed<C::Templates>>,
}

impl<C: Connection> Clone for Sent<C> {
    fn clone(&self) -> Self {
        Self { templates: Arc::clone(&self.templates), renewed: self.renewed.clone() }
    }
}

/// A load thread that is not running yet.
struct LoadThread<C: Connection> {
    plan: Arc<LoadPlan>,
    payload: Arc<dyn Payload>,
    sent: Sent<C>,
    number: u32,
    waker: Waker,
    log: Option<CallLog>,
    commands: Receiver<Command>,
    reports: Sender<Report>,
    counters: Arc<Counters>,
    connect_deadline: Nanos,
}

/// The owner's end of a load thread.
pub(crate) struct Handle {
    pub commands: Sender<Command>,
    pub reports: Receiver<Report>,
    pub counters: Arc<Counters>,
    pub waker: Waker,
    pub thread: Option<JoinHandle<()>>,
}

/// The load threads of a session, before its protocol is chosen.
pub(crate) struct Threads<'a> {
    pub plan: &'a LoadPlan,
    pub payload: &'a Arc<dyn Payload>,
    pub log: Option<&'a CallLog>,
    pub connect_deadline: Nanos,
}

impl ProtocolVisitor for Threads<'_> {
    type Output = io::Result<Vec<Handle>>;

    /// Starts the threads.
    fn visit<C: Connection + Send + 'static>(self) -> Self::Output {
        let plan = Arc::new(self.plan.clone());
        let authority = plan.server.authority.clone();
        let renewed = self.payload.renewal().map(|renewal| {
            let authority = authority.clone();
            renewal.subscribe(&**self.payload, move |payload| C::templates(payload, &authority))
        });
        let templates = match &renewed {
            Some(renewed) => renewed.current(),
            None => Arc::new(C::templates(&**self.payload, &authority)),
        };
        let sent = Sent::<C> { templates, renewed };
        (0..plan.threads).map(|number| self.spawn::<C>(&plan, &sent, number)).collect()
    }
}

impl Threads<'_> {
    fn spawn<C: Connection + 'static>(
        &self,
        plan: &Arc<LoadPlan>,
        sent: &Sent<C>,
        number: u32,
    ) -> io::Result<Handle> {
        let waker = Waker::new()?;
        let (commands, receiver) = channel();
        let (sender, reports) = channel();
        let counters = Arc::new(Counters::default());
        let load = LoadThread::<C> {
            plan: Arc::clone(plan),
            payload: Arc::clone(self.payload),
            sent: sent.clone(),
            number,
            log: self.log.cloned(),
            waker: waker.clone(),
            commands: receiver,
            reports: sender,
            counters: Arc::clone(&counters),
            connect_deadline: self.connect_deadline,
        };
        let name = format!("rpcbench-load-{number}");
        let thread = std::thread::Builder::new().name(name).spawn(move || load.run())?;
        Ok(Handle { commands, reports, counters, waker, thread: Some(thread) })
    }
}

impl<C: Connection> LoadThread<C> {
    /// Runs until it gets [`Command::Close`].
    fn run(self) {
        let reports = self.reports.clone();
        if let Err(error) = self.work() {
            // The owner may be gone.
            let _ = reports.send(Report::Broken(error));
        }
    }

    fn work(self) -> io::Result<()> {
        let Self { plan, payload, sent, number, waker, log, .. } = self;
        if !plan.cpus.is_empty() {
            let mut set = CpuSet::new();
            set.set(plan.cpus[number as usize % plan.cpus.len()] as usize);
            sched_setaffinity(None, &set)?;
        }
        // Calls come due between clock ticks, so the kernel must not batch wake-ups.
        set_current_timer_slack(NonZeroU64::new(1))?;
        let sources = match plan.connection_life {
            ConnectionLife::Long => Sources::any(),
            ConnectionLife::Calls(_) => Sources::spread(&plan.server.address, number),
        };
        let connections = plan.shares(number).len();
        let sockets = EpollDriver::new(connections, waker, sources)?;
        let driver = TlsDriver::new(sockets, plan.server.tls.as_ref(), connections);
        let mut running = Running {
            worker: Worker::<C, _>::new(
                plan,
                payload,
                sent.templates,
                Thread { number, driver, log },
            )
            .renewed_by(sent.renewed),
            commands: self.commands,
            reports: self.reports,
            counters: self.counters,
        };
        if running.connect(self.connect_deadline)? { running.serve() } else { Ok(()) }
    }
}

/// The current counters of a load thread.
fn reading<C: Connection, D: Driver>(worker: &Worker<C, D>) -> Reading {
    Reading::now(worker.awake(), worker.records())
}

/// A running load thread.
struct Running<C: Connection, D> {
    worker: Worker<C, D>,
    commands: Receiver<Command>,
    reports: Sender<Report>,
    counters: Arc<Counters>,
}

impl<C: Connection, D: Driver> Running<C, D> {
    /// Opens the connections. False if the session was closed.
    fn connect(&mut self, deadline: Nanos) -> io::Result<bool> {
        self.worker.connect_all(deadline);
        let mut reported = self.worker.now();
        while !self.worker.is_connected() && self.worker.now() < deadline {
            self.worker.turn()?;
            // Counting visits every connection.
            if self.worker.now() >= reported + REPORT_EVERY {
                reported = self.worker.now();
                self.counters.open.store(self.worker.connect_problem().0 as u64, Ordering::Relaxed);
            }
            // Before the first report, the only possible command is to close.
            if !matches!(self.commands.try_recv(), Err(TryRecvError::Empty)) {
                return Ok(false);
            }
        }
        let (open, problem) = self.worker.connect_problem();
        self.send_report(Report::Connected { open, problem, tls: self.worker.tls().cloned() });
        Ok(true)
    }

    fn serve(&mut self) -> io::Result<()> {
        let mut window_usage = WindowUsage::new(None);
        let mut drained = true;
        let mut is_away = false;
        loop {
            loop {
                let command = match is_away {
                    true => self.commands.recv().map_err(|_| TryRecvError::Disconnected),
                    false => self.commands.try_recv(),
                };
                match command {
                    Ok(Command::Start(start)) => {
                        self.worker.start(start);
                        window_usage = WindowUsage::new(start.span);
                        drained = false;
                    }
                    Ok(Command::Measure(span)) => {
                        self.worker.measure(span);
                        window_usage = WindowUsage::new(Some(span));
                    }
                    Ok(Command::MeasurePart(part)) => {
                        self.worker.measure_part(part);
                        window_usage.add(part.span);
                    }
                    Ok(Command::Leave) => {
                        is_away = true;
                        // A frozen server sends nothing after the end of a part, so no turn has read the counters since.
                        window_usage.take_due(self.worker.now(), || reading(&self.worker));
                        self.send_report(Report::Left(self.worker.now()));
                    }
                    Ok(Command::Enter(clock)) => {
                        is_away = false;
                        self.worker.set_clock(clock);
                    }
                    Ok(Command::EndAt(end)) => window_usage.end_at(self.worker.end_at(end)),
                    Ok(Command::Sample(samples)) => self.send_sample(&samples),
                    Ok(Command::Drain) => self.worker.drain(),
                    Ok(Command::Close) | Err(TryRecvError::Disconnected) => return Ok(()),
                    Err(TryRecvError::Empty) => break,
                }
            }
            window_usage.take_due(self.worker.turned_at(), || reading(&self.worker));
            if self.worker.take_window_over() {
                self.tell_drained(std::mem::replace(&mut window_usage, WindowUsage::new(None)));
            }
            if self.worker.is_drained() && !drained {
                drained = true;
                if let Some(counted) = self.worker.take_counted() {
                    window_usage.end_at(Some(counted));
                    window_usage.end_now(reading(&self.worker));
                }
                self.tell_drained(std::mem::replace(&mut window_usage, WindowUsage::new(None)));
            }
            self.worker.turn()?;
            self.publish();
        }
    }

    fn tell_drained(&mut self, window_usage: WindowUsage) {
        let calls_allowed = self.worker.calls_allowed();
        let recorder = &mut self.worker.calls().recorder;
        let measured =
            recorder.take().zip(window_usage.whole()).map(|(mut tally, (span, gaps))| {
                tally.connections.calls_allowed = calls_allowed;
                ThreadMeasured { span, gaps, tally, usage: window_usage.usage() }
            });
        self.counters.drained.store(true, Ordering::Relaxed);
        let outside = recorder.outside().clone();
        self.send_report(Report::Drained(Box::new(Drained { measured, outside })));
    }

    fn send_sample(&mut self, samples: &Sender<ThreadSample>) {
        let calls = self.worker.calls();
        let measured = calls.recorder.so_far();
        let (outstanding, cpu) = (calls.outstanding, clock::thread_cpu());
        // The session may be gone.
        let _ = samples.send(ThreadSample { outstanding, cpu, measured });
    }

    fn send_report(&self, report: Report) {
        // The owner may be gone; the next command shows it.
        let _ = self.reports.send(report);
    }

    fn publish(&mut self) {
        let calls = self.worker.calls();
        let (ended, failed) = (calls.ended, calls.failed);
        self.counters.ended.store(ended, Ordering::Relaxed);
        self.counters.failed.store(failed, Ordering::Relaxed);
    }
}
