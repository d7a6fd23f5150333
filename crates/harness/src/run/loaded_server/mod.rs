//! A running process of a subject, with the load on it.

mod error;
mod pair;
mod proof;
mod rest;

use std::sync::Arc;
use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_contract::{Corpus, Profile, Shape};
use rpcbench_record::{Failure, Outcomes, Role, Workload, units};

use super::context::Context;
use super::fault::ReadyTime;
use super::observer::Event;
use super::subject::{Admission, Subject};
use crate::interrupt::StopNow;
use crate::load::{CallOptions, LoadError, LoadRequest, LoadSession, Program, Requests};
use crate::placement::{CpuReading, PlacementError, Running};
use pair::failure_of_server;
use rest::{Freeze, Rest};

pub(super) use error::{StepError, failure};

/// Maximum log lines that a failure includes.
const LOG_TAIL: usize = 12;
/// Time limit of a readiness call, and the pause between two.
const READY_CALL: Duration = Duration::from_millis(1000);
const READY_PAUSE: Nanos = Nanos::from_millis(10);
/// Minimum pause between two checks of a kind, as a multiple of a check's length: with two dozen servers, each kind takes
/// a few percent of the time between windows, and no time in windows.
const CHECK_PAUSE: u64 = 300;
/// Time to wait for a server that broke its connections to exit.
const EXIT_WAIT: Duration = Duration::from_millis(300);

/// A started process of a subject, and the load on it. Dropping it ends what its placement started.
pub(super) struct LoadedServer<'a> {
    pub context: Context<'a>,
    pub subject: &'a Subject<'a>,
    pub running: Box<dyn Running>,
    /// Options of calls before the load.
    call_options: CallOptions,
    /// The client, once it has connected. `None` for a server.
    program: Option<Arc<Program>>,
    /// The server that a client calls. `None` if that is the reference server, or if this is a server itself.
    pub counterpart: Option<Box<Self>>,
    /// True once the first call of a load has been awaited.
    pub(super) is_called: bool,
    /// Opened by [`LoadedServer::connect`].
    load: Option<Box<dyn LoadSession>>,
    /// Calls outside of windows whose failures are not held against the server: those that [`super::fault`] excuses, and those
    /// at a rate that a search tried.
    pub tolerated: Outcomes,
    /// Calls per nanosecond of CPU time in its latest load. `None` if unknown.
    pub level: Option<f64>,
    /// True if its warm-up ended steady.
    pub is_steady: bool,
    /// Time left of its maximum warm-up.
    pub warm_up_left: Nanos,
    port_check: LastCheck,
    spot_check: LastCheck,
    /// When its rest began, and the CPU time used by then.
    at_rest: Option<(Nanos, u64)>,
    /// Time at rest and awake, and the CPU time used in it.
    idle: (Nanos, u64),
    /// Its own time so far, while it takes turns: see [`Self::join_round`].
    pub own_time: Option<Nanos>,
    /// The current rest, or the last one.
    rest: Option<Rest>,
    last_freeze: Freeze,
}

/// The purpose of a load's connections.
#[derive(Clone, Copy, Default)]
pub(super) struct Connecting {
    /// True if its measured calls are logged.
    pub logged: bool,
    /// True if it may be frozen between slices of its windows.
    pub takes_turns: bool,
}

/// End and length of the last check of a kind. `None` before the first.
#[derive(Clone, Copy, Default)]
struct LastCheck(Option<(Nanos, Nanos)>);

impl LastCheck {
    /// True if the next check takes little of the run's time.
    fn is_cheap(self, now: Nanos) -> bool {
        self.0.is_none_or(|(ended, took)| now - ended >= Nanos(took.0 * CHECK_PAUSE))
    }
}

impl<'a> LoadedServer<'a> {
    /// Wraps a started process. If its subject must prove itself, waits until the process answers correctly, or until the
    /// client has introduced itself. Starts a client's server first.
    pub fn start(
        context: Context<'a>,
        (subject, process): (&'a Subject<'a>, u32),
        call_options: CallOptions,
        running: Result<Box<dyn Running>, PlacementError>,
    ) -> Result<Self, StepError> {
        let counterpart = subject.counterpart.as_deref();
        let counterpart =
            counterpart.map(|server| Self::start_counterpart(context, (server, process)));
        let counterpart = counterpart.transpose()?.map(Box::new);
        let mut running = running?;
        running.pin_to_server_cpus()?;
        let mut server = Self {
            context,
            subject,
            running,
            call_options,
            program: None,
            counterpart,
            is_called: false,
            load: None,
            tolerated: Outcomes::default(),
            level: None,
            is_steady: true,
            warm_up_left: Nanos(0),
            port_check: LastCheck::default(),
            spot_check: LastCheck::default(),
            at_rest: None,
            idle: (Nanos(0), 0),
            own_time: None,
            rest: None,
            last_freeze: Freeze::default(),
        };
        if let Admission::Proven { ready_timeout } = subject.admission {
            match subject.role {
                Role::Server => server.await_ready(ready_timeout)?,
                Role::Client => server.await_hello(ready_timeout)?,
            }
        }
        Ok(server)
    }

    fn await_ready(&mut self, limit: Duration) -> Result<(), StepError> {
        let context = self.context;
        let mut time = ReadyTime::begin(limit, &mut *self.running, context.now());
        let seed = context.environment.seed;
        let hello =
            Corpus::generate(&Shape::Text(16), seed, Profile::of(self.subject.protocol).encoding);
        let mut caller = self.caller(READY_CALL);
        loop {
            self.alive("before it was ready")?;
            let called = caller.call(hello.method(), hello.request(0));
            let is_answered = matches!(called, Ok(_) | Err(CallError::Status { .. }));
            let problem = match called {
                Ok(reply) => match hello.verify(0, hello.request(0), &reply) {
                    // Checked while the connection is open: another process may have accepted it.
                    Ok(()) => return Ok(self.check_port(true)?),
                    Err(mismatch) => mismatch.to_string(),
                },
                Err(error) => error.to_string(),
            };
            let now = context.now();
            if time.is_over(now) && (is_answered || !time.extend(&mut *self.running, now)) {
                let (limit, extension) = (units::length(limit), time.extension());
                let elsewhere = self.elsewhere();
                let reason = format!(
                    "not ready within {limit}; the last call failed: {problem}{elsewhere}{extension}"
                );
                return Err(self.explain(reason).into());
            }
            context.interrupt().wait_until(context.now() + READY_PAUSE)?;
        }
    }

    /// The addresses on which it listens instead of the given one, as the end of a sentence.
    fn elsewhere(&self) -> String {
        let own = &self.running.endpoint().authority;
        let all: Vec<String> = self.running.listening().iter().map(ToString::to_string).collect();
        match all.is_empty() || all.contains(own) {
            true => String::new(),
            false => format!(
                "; it listens on {}; expected {own} (RPCBENCH_HOST, RPCBENCH_PORT)",
                all.join(" and ")
            ),
        }
    }

    fn caller(&self, timeout: Duration) -> Box<dyn Caller> {
        let generator = &self.subject.generator;
        let (endpoint, options) = (self.running.endpoint(), &self.call_options);
        generator.caller(endpoint, self.subject.protocol, options, timeout)
    }

    /// Closes the open connections, and opens those of `workload`.
    pub fn connect(&mut self, workload: &Workload, how: Connecting) -> Result<(), StepError> {
        self.load = None;
        let requests = match self.subject.is_proven() {
            true => Requests::WithSpotChecks,
            false => Requests::Usual,
        };
        self.load = Some(self.open_load(workload, how, requests)?);
        Ok(())
    }

    /// Opens the connections of `workload`.
    pub fn open_load(
        &mut self,
        workload: &Workload,
        how: Connecting,
        requests: Requests,
    ) -> Result<Box<dyn LoadSession>, StepError> {
        let Context { environment, observer, .. } = self.context;
        let request = LoadRequest {
            endpoint: self.running.endpoint(),
            protocol: self.subject.protocol,
            workload,
            seed: environment.seed,
            logged: how.logged,
            takes_turns: how.takes_turns,
            requests,
            program: self.program.as_ref(),
            counterpart: self.counterpart.as_ref().map(|server| server.running.endpoint()),
        };
        let wanted = workload.connections_under(self.subject.protocol);
        let mut progress = |open| observer.event(&Event::Connecting { open, wanted });
        let opened = self.subject.generator.open(&request, &environment.interrupt, &mut progress);
        opened.map_err(|error| match error {
            LoadError::Stopped => StopNow.into(),
            LoadError::Failed(reason) => StepError::Server(self.blame(reason)),
        })
    }

    pub fn load(&mut self) -> Result<&mut dyn LoadSession, Failure> {
        match &mut self.load {
            Some(load) => Ok(load.as_mut()),
            None => Err(failure("no load is open")),
        }
    }

    /// CPU time. Zero if the placement can't see it.
    pub fn sample_cpu(&mut self) -> Result<CpuReading, Failure> {
        Ok(self.running.sample_cpu()?.unwrap_or_default())
    }

    /// Fails if it or its counterpart has exited.
    pub fn alive(&mut self, when: &str) -> Result<(), Failure> {
        if let Some(server) = &mut self.counterpart {
            server.alive(when).map_err(|failure| failure_of_server(server.subject, failure))?;
        }
        match self.running.ended(Duration::ZERO)? {
            None => Ok(()),
            Some(how) => Err(self.explain(format!("{how} {when}{}", self.after_rest()))),
        }
    }

    /// Fails if processes other than its own serve its port. Skipped unless it is `due` or takes little of the run's time.
    pub fn check_port(&mut self, due: bool) -> Result<(), Failure> {
        let begin = self.context.now();
        if !due && !self.port_check.is_cheap(begin) {
            return Ok(());
        }
        let others = self.running.served_by_others()?;
        let end = self.context.now();
        self.port_check = LastCheck(Some((end, end - begin)));
        others.map_or(Ok(()), |others| Err(self.blame(others)))
    }

    /// Makes calls with a known outcome over the load's own connections, and fails if one ends otherwise: a server could be
    /// honest in the conformance check only. Skipped unless it is `due` or takes little of the run's time.
    pub fn spot_check(&mut self, due: bool) -> Result<(), StepError> {
        let begin = self.context.now();
        if !due && !self.spot_check.is_cheap(begin) {
            return Ok(());
        }
        let unmeasured = self.load()?.spot_check()?;
        let end = self.context.now();
        self.spot_check = LastCheck(Some((end, end - begin)));
        let when = "outside of windows, in spot checks over the load's connections";
        self.judge_unmeasured(unmeasured, when)
    }

    /// A failure with the last lines of the server's log.
    pub fn explain(&self, reason: impl Into<String>) -> Failure {
        Failure { reason: reason.into(), log_tail: self.running.log_tail(LOG_TAIL) }
    }

    /// Adds a client's exit or the last lines of its log to a failure. A server's failure is unchanged.
    pub fn explained(&mut self, failure: Failure) -> Failure {
        match self.program.is_some() && failure.log_tail.is_empty() {
            true => self.blame(failure.reason),
            false => failure,
        }
    }

    /// A failure for `reason`; or for the exit of the server or of its counterpart, if that is the cause.
    pub fn blame(&mut self, reason: impl Into<String>) -> Failure {
        if let Ok(Some(how)) = self.running.ended(EXIT_WAIT) {
            return self.explain(format!("{how} under load"));
        }
        match self.counterpart_end() {
            Some(failure) => failure,
            None => self.explain(reason),
        }
    }

    /// Closes its connections and stops it. Having to kill it is not a failure.
    pub fn stop(self) -> Result<(), Failure> {
        drop(self.load);
        // A client exits when its control socket closes.
        drop(self.program);
        self.running.stop()?;
        self.counterpart.map_or(Ok(()), |server| server.stop())
    }

    /// Stops it after its last trial. If it can't be stopped, that is reported, but does not change its trials.
    pub fn stop_for_good(self) {
        let (observer, entry) = (self.context.observer, self.subject.entry.clone());
        if let Err(failure) = self.stop() {
            observer.event(&Event::NotStopped { entry, failure: &failure });
        }
    }
}
