//! A load on a server from connecting to closing: warmed once, measured any number of times.

mod error;
mod measurement;
mod window;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rpcbench_record::{Arrivals, Tls, Unmeasured};

use crate::file_limit;
use crate::log::CallLog;
use crate::pacing::window_seed;
use crate::payload::{Payload, check_targets};
use crate::plan::{LoadPlan, check_rate};
use crate::protocol::dispatch;
use crate::thread::{Command, Drained, Handle, Report, Threads};
use crate::worker::Start;
use rpcbench_clock::{self as clock, Nanos, OwnClock, Span};

pub use error::SessionError;
pub use measurement::{Measurement, Progress, Sample};

/// How often a wait for load threads checks whether to give up.
const GIVE_UP_CHECK: Duration = Duration::from_millis(50);

/// Load threads connected to a server.
///
/// A session has its own clock, which stands still while the session is out of its turn: see [`Session::leave`]. Times passed
/// to it, and those of a measured span, are by the machine's clock.
pub struct Session {
    threads: Vec<Handle>,
    arrivals: Arrivals,
    seed: u64,
    /// Windows measured so far.
    windows: u64,
    /// Calls that a closed loop keeps in flight.
    in_flight: u32,
    /// True while calls come due or are awaited.
    loading: bool,
    /// When the load began, and how many calls had ended by then.
    began: (Nanos, u64),
    /// See [`Self::cycle`].
    cycle: Option<Nanos>,
    /// By the session's own clock.
    span: Option<Span>,
    /// True if the load continues after the measured window.
    continues: bool,
    clock: OwnClock,
    /// When the session left its turn, by its own clock. `None` in its turn.
    left_at: Option<Nanos>,
    tls: Option<Tls>,
    given_up: Box<dyn Fn() -> bool + Send>,
}

impl Session {
    /// Starts the load threads and opens every connection.
    ///
    /// # Errors
    /// When the plan contradicts itself, or connections can't be opened in time.
    pub fn open(plan: &LoadPlan, payload: &Arc<dyn Payload>) -> Result<Self, SessionError> {
        Self::open_with(plan, payload, None, || false, &mut |_| {})
    }

    /// Like [`Self::open`]; logs every measured call to `log`, if given. Every wait for the server ends with
    /// [`SessionError::GivenUp`] soon after `given_up` returns true. `watch` gets the number of open connections several
    /// times a second until all are open.
    ///
    /// # Errors
    /// As [`Self::open`], and if `given_up` returns true.
    pub fn open_with(
        plan: &LoadPlan,
        payload: &Arc<dyn Payload>,
        log: Option<&CallLog>,
        given_up: impl Fn() -> bool + Send + 'static,
        watch: &mut dyn FnMut(u64),
    ) -> Result<Self, SessionError> {
        plan.validate()?;
        check_targets(&**payload, plan.server.protocol)?;
        let connect_deadline = clock::now() + plan.connect_timeout;
        let (arrivals, seed) = (plan.arrivals, plan.seed);
        file_limit::make_room(plan)?;
        let threads = Threads { plan, payload, log, connect_deadline };
        let mut session = Self {
            threads: dispatch(plan.server.protocol, threads)?,
            arrivals,
            seed,
            windows: 0,
            in_flight: plan.in_flight,
            loading: false,
            began: (Nanos(0), 0),
            cycle: None,
            span: None,
            continues: false,
            clock: OwnClock::default(),
            left_at: None,
            tls: None,
            given_up: Box::new(given_up),
        };
        session.await_connections(plan, watch)?;
        Ok(session)
    }

    fn await_connections(
        &mut self,
        plan: &LoadPlan,
        watch: &mut dyn FnMut(u64),
    ) -> Result<(), SessionError> {
        let opened = |thread: &Handle| thread.counters.open.load(Ordering::Relaxed);
        let (mut open, mut problem, mut agreed) = (0, None, None::<Tls>);
        for thread in &self.threads {
            let mut tell = || watch(self.threads.iter().map(opened).sum());
            let report = self.report_while(thread, &mut tell)?;
            let Report::Connected { open: more, problem: theirs, tls } = report else {
                return Err(SessionError::Lost);
            };
            agreed = match (agreed, tls) {
                (Some(mut all), Some(more)) => {
                    all.add(&more);
                    Some(all)
                }
                (all, more) => all.or(more),
            };
            open += more;
            problem = problem.or(theirs);
        }
        self.tls = agreed;
        if open == plan.connections as usize {
            return Ok(());
        }
        let seconds = plan.connect_timeout.as_secs_f64();
        let (address, wanted) = (plan.server.address.clone(), plan.connections);
        Err(SessionError::Connect { address, open, wanted, seconds, problem })
    }

    /// What connections agreed on for TLS when they were opened. `None` without TLS.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    fn report(&self, thread: &Handle) -> Result<Report, SessionError> {
        self.report_while(thread, &mut || {})
    }

    /// Like `report`, but calls `tick` several times a second while it waits.
    fn report_while(
        &self,
        thread: &Handle,
        tick: &mut dyn FnMut(),
    ) -> Result<Report, SessionError> {
        loop {
            match thread.reports.recv_timeout(GIVE_UP_CHECK) {
                Ok(Report::Broken(error)) => return Err(error.into()),
                Ok(report) => return Ok(report),
                Err(RecvTimeoutError::Timeout) if (self.given_up)() => {
                    return Err(SessionError::GivenUp);
                }
                Err(RecvTimeoutError::Timeout) => tick(),
                Err(RecvTimeoutError::Disconnected) => return Err(SessionError::Lost),
            }
        }
    }

    fn send_all(&self, command: &Command) {
        for thread in &self.threads {
            // If the thread is gone, waiting for its report shows it.
            let _ = thread.commands.send(command.clone());
            thread.waker.wake();
        }
    }

    /// Changes the arrival process from the next start on.
    ///
    /// # Errors
    /// If a load is running, or the arrival process has an unknown rate.
    pub fn change_arrivals(&mut self, arrivals: Arrivals) -> Result<(), SessionError> {
        if self.loading {
            return Err(SessionError::Loading);
        }
        check_rate(arrivals)?;
        self.arrivals = arrivals;
        Ok(())
    }

    /// Starts the load: calls come due until [`Self::finish`] or [`Self::pause`]. No-op if the load is already running.
    pub fn start(&mut self) {
        self.begin(None, None);
    }

    fn begin(&mut self, span: Option<Span>, calls: Option<u64>) {
        let span = span.map(|span| self.own(span));
        let (arrivals, seed) = (self.arrivals, self.window_seed());
        self.begin_with(Start::load(arrivals, seed, span, calls));
    }

    fn begin_with(&mut self, start: Start) {
        if !self.loading {
            self.loading = true;
            self.began = (self.clock.now(), self.progress().ended);
            self.continues = false;
            self.span = start.span;
            for thread in &self.threads {
                thread.counters.drained.store(false, Ordering::Relaxed);
            }
            self.send_all(&Command::Start(start));
        }
    }

    /// Makes each spot check of the payload once, in a closed loop over the open connections, and waits until all have ended.
    ///
    /// # Errors
    /// If a load is running, `given_up` returns true, or a load thread is gone.
    pub fn spot_check(&mut self) -> Result<Unmeasured, SessionError> {
        if self.loading {
            return Err(SessionError::Loading);
        }
        let cycle = self.cycle;
        self.begin_with(Start::SPOT_CHECKS);
        let unmeasured = self.unmeasured()?;
        self.cycle = cycle;
        Ok(unmeasured)
    }

    /// Mean time in which a closed loop answers as many calls as it keeps in flight, in the last load. `None` before the first
    /// load.
    pub fn cycle(&self) -> Option<Nanos> {
        self.cycle
    }

    /// The seed of the next window, or of the current one.
    fn window_seed(&self) -> u64 {
        window_seed(self.seed, self.windows)
    }

    /// Calls so far, as of each thread's last turn.
    pub fn progress(&self) -> Progress {
        self.threads.iter().fold(Progress::default(), |sum, thread| Progress {
            ended: sum.ended + thread.counters.ended.load(Ordering::Relaxed),
            failed: sum.failed + thread.counters.failed.load(Ordering::Relaxed),
        })
    }

    /// Samples the load. Each load thread has to copy its histogram of response times.
    ///
    /// # Errors
    /// If a load thread is gone.
    pub fn sample(&self) -> Result<Sample, SessionError> {
        let (sender, samples) = channel();
        self.send_all(&Command::Sample(sender));
        let mut sum = Sample { progress: self.progress(), ..Sample::default() };
        for _ in &self.threads {
            sum.add(&samples.recv().map_err(|_| SessionError::Lost)?);
        }
        Ok(sum)
    }

    fn own(&self, Span { start, end }: Span) -> Span {
        Span { start: self.clock.own(start), end: self.clock.own(end) }
    }

    fn real(&self, Span { start, end }: Span) -> Span {
        Span { start: self.clock.real(start), end: self.clock.real(end) }
    }

    /// Leaves the session's turn: calls stay in flight, its clock stands still, and it takes no CPU time until
    /// [`Self::enter`].
    ///
    /// # Errors
    /// If a load thread is gone.
    pub fn leave(&mut self) -> Result<(), SessionError> {
        if self.left_at.is_none() {
            self.send_all(&Command::Leave);
            let left = |thread| match self.report(thread)? {
                Report::Left(at) => Ok(at),
                _ => Err(SessionError::Lost),
            };
            let left: Vec<Nanos> = self.threads.iter().map(left).collect::<Result<_, _>>()?;
            self.left_at = left.into_iter().max();
        }
        Ok(())
    }

    /// Resumes the session's turn.
    pub fn enter(&mut self) {
        if let Some(left_at) = self.left_at.take() {
            self.clock = OwnClock::showing(left_at, clock::now());
            self.send_all(&Command::Enter(self.clock));
        }
    }

    /// Ends the load: no more calls come due, and those in flight are awaited. A measured span is discarded.
    ///
    /// # Errors
    /// If there is no load, `given_up` returns true, or a load thread is gone.
    pub fn pause(&mut self) -> Result<Unmeasured, SessionError> {
        if !self.loading {
            return Err(SessionError::NotLoading);
        }
        self.send_all(&Command::Drain);
        self.unmeasured()
    }

    /// Waits for the last calls.
    fn unmeasured(&mut self) -> Result<Unmeasured, SessionError> {
        let mut unmeasured = Unmeasured::default();
        for drained in self.drained()? {
            unmeasured.add(&drained.outside);
        }
        Ok(unmeasured)
    }

    fn drained(&mut self) -> Result<Vec<Drained>, SessionError> {
        (self.loading, self.span) = (false, None);
        let drained = |thread| match self.report(thread)? {
            Report::Drained(drained) => Ok(*drained),
            _ => Err(SessionError::Lost),
        };
        let drained = self.threads.iter().map(drained).collect();
        let (began, before) = self.began;
        let ended = self.progress().ended - before;
        self.cycle = (self.clock.now())
            .since(began)
            .saturating_mul(u64::from(self.in_flight))
            .checked_div(ended)
            .map(Nanos);
        drained
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.send_all(&Command::Close);
        for thread in &mut self.threads {
            if let Some(thread) = thread.thread.take() {
                let _ = thread.join();
            }
        }
    }
}
