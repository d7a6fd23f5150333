//! A load on a server over its whole life: connected once, warmed, measured any number of times.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rpcbench_record::{ClientUsage, Law, Outcomes};

use crate::clock::{self, Nanos};
use crate::driver::Waker;
use crate::payload::Payload;
use crate::plan::{LoadPlan, PlanError};
use crate::recorder::{Span, Tally};
use crate::thread::{Command, Counters, Drained, LoadThread, Report, ThreadUsage};

/// Why a load can't be put on a server, or can't go on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The plan contradicts itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Not every connection could be opened in time.
    #[error("{open} of {wanted} connections to {address} opened within {seconds} s{}", problem.as_ref().map(|p| format!("; the first that did not: {p}")).unwrap_or_default())]
    Connect {
        /// Where to.
        address: SocketAddr,
        /// Connections that are open.
        open: usize,
        /// Connections planned.
        wanted: u32,
        /// Time they had.
        seconds: f64,
        /// What the first one that failed says.
        problem: Option<String>,
    },
    /// The kernel refused something that a load thread needs.
    #[error("load thread can't go on: {0}")]
    Thread(#[from] io::Error),
    /// There is nothing to end or to wait for.
    #[error("no load is on, or nothing of it is measured: start it and measure a span first")]
    NotLoading,
    /// A load thread is gone.
    #[error("a load thread ended unexpectedly; please report this")]
    Lost,
}

/// Calls since the session was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Calls that ended, whatever their outcome.
    pub ended: u64,
    /// Those of them that did not end `ok`.
    pub failed: u64,
}

/// Calls that were not measured: warm-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmeasured {
    /// By outcome, since the session was opened.
    pub outcomes: Outcomes,
    /// One example of each kind of error.
    pub examples: Vec<String>,
}

/// What came of a measured span.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The span.
    pub span: Span,
    /// The calls that came due in it.
    pub tally: Tally,
    /// What the load threads used over it.
    pub client: ClientUsage,
    /// The calls before it.
    pub unmeasured: Unmeasured,
}

struct Handle {
    commands: Sender<Command>,
    reports: Receiver<Report>,
    counters: Arc<Counters>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

/// Load threads connected to a server.
pub struct Session {
    threads: Vec<Handle>,
    /// Between a start and its end.
    loading: bool,
    span: Option<Span>,
}

impl Session {
    /// Starts the load threads and opens every connection.
    ///
    /// # Errors
    /// When the plan contradicts itself, or connections can't be opened in time.
    pub fn open(plan: &LoadPlan, payload: &Arc<dyn Payload>) -> Result<Self, SessionError> {
        plan.validate()?;
        let Law::Closed = plan.law;
        let shared = Arc::new(plan.clone());
        let deadline = clock::now() + plan.connect_timeout;
        let mut session = Self { threads: Vec::new(), loading: false, span: None };
        for thread in 0..plan.threads {
            session.threads.push(spawn(&shared, payload, thread, deadline)?);
        }
        session.await_connections(plan)?;
        Ok(session)
    }

    fn await_connections(&self, plan: &LoadPlan) -> Result<(), SessionError> {
        let (mut open, mut problem) = (0, None);
        for thread in &self.threads {
            match thread.reports.recv().map_err(|_| SessionError::Lost)? {
                Report::Connected { open: more, problem: theirs } => {
                    open += more;
                    problem = problem.or(theirs);
                }
                Report::Broken(error) => return Err(error.into()),
                Report::Drained(_) => return Err(SessionError::Lost),
            }
        }
        if open == plan.connections as usize {
            return Ok(());
        }
        let seconds = plan.connect_timeout.as_secs_f64();
        let (address, wanted) = (plan.address, plan.connections);
        Err(SessionError::Connect { address, open, wanted, seconds, problem })
    }

    fn tell(&self, command: Command) {
        for thread in &self.threads {
            // A thread that is gone shows when its report is awaited.
            let _ = thread.commands.send(command);
            thread.waker.wake();
        }
    }

    /// Calls come due from now on. Does nothing while they do: until [`Self::finish`] or [`Self::pause`].
    pub fn start(&mut self) {
        if !self.loading {
            self.loading = true;
            self.tell(Command::Start);
        }
    }

    /// Calls so far; the threads publish them once a turn.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.threads.iter().fold(Progress::default(), |sum, thread| Progress {
            ended: sum.ended + thread.counters.ended.load(Ordering::Relaxed),
            failed: sum.failed + thread.counters.failed.load(Ordering::Relaxed),
        })
    }

    /// Measures the calls that come due in `span`, which lies ahead, while the load goes on; it ends
    /// with the span. Does nothing without a load, or if a span of it is measured already.
    pub fn measure(&mut self, span: Span) {
        if self.loading && self.span.is_none() {
            self.span = Some(span);
            self.tell(Command::Measure(span));
        }
    }

    /// Waits for the span's end and its last calls.
    ///
    /// # Errors
    /// When no span is measured, or a load thread is gone.
    pub fn finish(&mut self) -> Result<Measurement, SessionError> {
        let span = self.span.ok_or(SessionError::NotLoading)?;
        let mut tally = Tally::new(span.end - span.start);
        let mut client = ClientUsage { run_delay_ns: Some(0), ..ClientUsage::default() };
        let mut unmeasured = Unmeasured::default();
        for drained in self.drained()? {
            let (theirs, usage) = drained.measured.as_ref().ok_or(SessionError::Lost)?;
            tally.merge(theirs);
            add_usage(&mut client, *usage);
            unmeasured.add(&drained);
        }
        Ok(Measurement { span, tally, client, unmeasured })
    }

    /// Ends the load: no more calls come due, and those in flight are awaited. A span that is
    /// measured is given up.
    ///
    /// # Errors
    /// When there is no load, or a load thread is gone.
    pub fn pause(&mut self) -> Result<Unmeasured, SessionError> {
        if !self.loading {
            return Err(SessionError::NotLoading);
        }
        self.tell(Command::Drain);
        let mut unmeasured = Unmeasured::default();
        for drained in self.drained()? {
            unmeasured.add(&drained);
        }
        Ok(unmeasured)
    }

    fn drained(&mut self) -> Result<Vec<Drained>, SessionError> {
        (self.loading, self.span) = (false, None);
        self.threads
            .iter()
            .map(|thread| match thread.reports.recv() {
                Ok(Report::Drained(drained)) => Ok(*drained),
                Ok(Report::Broken(error)) => Err(error.into()),
                Ok(Report::Connected { .. }) | Err(_) => Err(SessionError::Lost),
            })
            .collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.tell(Command::Close);
        for thread in &mut self.threads {
            if let Some(thread) = thread.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

impl Unmeasured {
    fn add(&mut self, drained: &Drained) {
        self.outcomes.add(&drained.outside);
        for example in &drained.outside_examples {
            if !self.examples.contains(example) {
                self.examples.push(example.clone());
            }
        }
    }
}

fn add_usage(client: &mut ClientUsage, usage: ThreadUsage) {
    client.threads += 1;
    client.cpu_ns += usage.cpu.0;
    client.run_delay_ns = client.run_delay_ns.zip(usage.run_delay).map(|(sum, n)| sum + n.0);
    let busy = usage.cpu + usage.run_delay.unwrap_or_default();
    client.busiest_ns = client.busiest_ns.max(busy.0);
}

fn spawn(
    plan: &Arc<LoadPlan>,
    payload: &Arc<dyn Payload>,
    thread: u32,
    connect_deadline: Nanos,
) -> Result<Handle, SessionError> {
    let waker = Waker::new()?;
    let (commands, receiver) = channel();
    let (sender, reports) = channel();
    let counters = Arc::new(Counters::default());
    let load = LoadThread {
        plan: Arc::clone(plan),
        payload: Arc::clone(payload),
        number: thread,
        waker: waker.clone(),
        commands: receiver,
        reports: sender,
        counters: Arc::clone(&counters),
        cpu: plan.cpus.get(thread as usize % plan.cpus.len().max(1)).copied(),
        connect_deadline,
    };
    let name = format!("rpcbench-load-{thread}");
    let thread = std::thread::Builder::new().name(name).spawn(move || load.run())?;
    Ok(Handle { commands, reports, counters, waker, thread: Some(thread) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_thread_counts_with_its_run_delay() {
        let usage = |cpu, delay| ThreadUsage { cpu: Nanos(cpu), run_delay: Some(Nanos(delay)) };
        let mut client = ClientUsage { run_delay_ns: Some(0), ..ClientUsage::default() };
        add_usage(&mut client, usage(300, 10));
        add_usage(&mut client, usage(100, 500));
        let all = (client.threads, client.cpu_ns, client.run_delay_ns, client.busiest_ns);
        assert_eq!(all, (2, 400, Some(510), 600));
        add_usage(&mut client, ThreadUsage { cpu: Nanos(700), run_delay: None });
        assert_eq!((client.run_delay_ns, client.busiest_ns), (None, 700));
    }
}
