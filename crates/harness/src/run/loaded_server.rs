//! A running server under test, with the load on it.

use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::cases::{self, CallError, Caller, CheckReport};
use rpcbench_contract::{Corpus, Method, Profile, Shape};
use rpcbench_record::{Failure, Isolation, Protocol, Workload, units};

use super::context::{Context, Environment};
use super::interrupt::{Interrupt, StopNow};
use super::observer::Event;
use super::serve::Served;
use super::subject::{Admission, Subject};
use super::warm::errors;
use crate::load::{CallOptions, LoadError, LoadRequest, LoadSession, Unmeasured};
use crate::placement::{CpuReading, PlacementError, Running};

/// Log lines that explain a failure.
const LOG_TAIL: usize = 12;
/// Time limit of a readiness call, and the pause between two.
const READY_CALL: Duration = Duration::from_millis(1000);
const READY_PAUSE: Nanos = Nanos::from_millis(10);
/// Time limit of a call of the conformance check.
const CHECK_CALL: Duration = Duration::from_secs(5);
/// Share of a CPU up to which a server stays awake while others are measured; one that uses more is frozen. Two dozen such
/// servers take no more from the measured one than the machine reference does.
const IDLE_SHARE: f64 = 0.001;
/// Time at rest before that is judged: what a runtime does right after a load is soon over.
const IDLE_JUDGED: Nanos = Nanos::from_millis(10_000);
/// Pause between two looks at who serves its port, in lengths of a look, and between spot checks, in theirs: with two dozen
/// servers, each takes some percent of the time between windows, and none of that within.
const LOOK_PAUSE: u64 = 300;
/// How long to wait for the end of a server that broke its connections.
const DEATH: Duration = Duration::from_millis(300);

#[derive(Debug)]
pub(super) enum StepError {
    /// The server is at fault, and is out.
    Server(Failure),
    /// The run stops now.
    Stop(StopNow),
}

impl From<Failure> for StepError {
    fn from(failure: Failure) -> Self {
        Self::Server(failure)
    }
}

impl From<StopNow> for StepError {
    fn from(stop: StopNow) -> Self {
        Self::Stop(stop)
    }
}

impl From<PlacementError> for StepError {
    fn from(error: PlacementError) -> Self {
        Self::Server(error.into())
    }
}

impl From<LoadError> for StepError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Stopped => StopNow.into(),
            LoadError::Failed(reason) => failure(reason).into(),
        }
    }
}

/// A started server, and the load on it. Dropping it ends what its placement started.
pub(super) struct LoadedServer {
    pub server: Box<dyn Running>,
    protocol: Protocol,
    /// What calls before the load carry.
    call_options: CallOptions,
    /// What its protocol offers to the contract.
    profile: &'static Profile,
    /// Opened by [`LoadedServer::connect`].
    load: Option<Box<dyn LoadSession>>,
    /// Calls outside of windows that failed at a rate that a search tried.
    pub tolerated_errors: u64,
    /// Calls per CPU-second in its latest load. `None` before the first.
    pub level: Option<f64>,
    /// Whether its warm-up ended steady, and how much longer it could have been.
    pub is_steady: bool,
    pub warm_up_left: Nanos,
    /// End and length of the last look at who serves its port, and of the last spot checks.
    looked: Option<(Nanos, Nanos)>,
    spot_checked: Option<(Nanos, Nanos)>,
    /// When its rest began, and the CPU time that it had used by then.
    at_rest: Option<(Nanos, u64)>,
    /// Its time at rest and awake, and the CPU time used in it.
    idle: (Nanos, u64),
}

impl LoadedServer {
    /// A server that was started. One that must prove itself is awaited until it answers correctly.
    pub fn start(
        environment: &Environment,
        subject: &Subject<'_>,
        call_options: CallOptions,
        server: Result<Box<dyn Running>, PlacementError>,
    ) -> Result<Self, StepError> {
        let protocol = subject.protocol;
        let mut server = server?;
        server.pin_to_server_cpus()?;
        let mut target = Self {
            server,
            protocol,
            call_options,
            profile: Profile::of(protocol),
            load: None,
            tolerated_errors: 0,
            level: None,
            is_steady: true,
            warm_up_left: Nanos(0),
            looked: None,
            spot_checked: None,
            at_rest: None,
            idle: (Nanos(0), 0),
        };
        if let Admission::Proven { ready_timeout } = subject.admission {
            target.await_ready(environment, ready_timeout)?;
        }
        Ok(target)
    }

    fn await_ready(
        &mut self,
        environment: &Environment,
        ready_timeout: Duration,
    ) -> Result<(), StepError> {
        let deadline = environment.interrupt.now() + Nanos::from(ready_timeout);
        let hello = Corpus::generate(&Shape::Text(16), environment.seed, self.profile.encoding);
        let mut caller = self.caller(environment, READY_CALL);
        loop {
            self.alive("before it was ready")?;
            let problem = match caller.call(hello.method(), hello.request(0)) {
                Ok(reply) => match hello.verify(0, hello.request(0), &reply) {
                    // While the connection is open: another process may have accepted it.
                    Ok(()) => return Ok(self.serves_itself(&environment.interrupt, true)?),
                    Err(mismatch) => mismatch.to_string(),
                },
                Err(error) => error.to_string(),
            };
            if environment.interrupt.now() >= deadline {
                let limit = units::length(ready_timeout);
                let elsewhere = self.elsewhere();
                let reason =
                    format!("not ready within {limit}; the last call said: {problem}{elsewhere}");
                return Err(self.explain(reason).into());
            }
            environment.interrupt.wait_until(environment.interrupt.now() + READY_PAUSE)?;
        }
    }

    /// Where it listens in place of its address, as the end of a sentence.
    fn elsewhere(&self) -> String {
        let own = &self.server.endpoint().authority;
        let all: Vec<String> = self.server.listening().iter().map(ToString::to_string).collect();
        match all.is_empty() || all.contains(own) {
            true => String::new(),
            false => format!(
                "; it listens on {}, but must on {own} (RPCBENCH_HOST, RPCBENCH_PORT)",
                all.join(" and ")
            ),
        }
    }

    fn caller(&self, environment: &Environment, timeout: Duration) -> Box<dyn Caller> {
        let (endpoint, options) = (self.server.endpoint(), &self.call_options);
        environment.generator.caller(endpoint, self.protocol, options, timeout)
    }

    /// What a user who loads it needs to know.
    pub fn served(&self) -> Served<'_> {
        let (endpoint, pid) = (self.server.endpoint(), self.server.pid());
        Served { endpoint, pid, isolation: self.server.isolation() }
    }

    /// Tries the conformance cases.
    pub fn check(&mut self, environment: &Environment) -> Result<CheckReport, StepError> {
        let caller = self.caller(environment, CHECK_CALL);
        let mut caller = Stoppable { caller, interrupt: &environment.interrupt };
        let report = cases::check(&mut caller, self.profile, environment.seed);
        environment.interrupt.check()?;
        self.serves_itself(&environment.interrupt, true)?;
        self.alive("during the conformance check")?;
        // Its messages are larger than those of most loads.
        self.server.reset_peak()?;
        Ok(report)
    }

    /// Opens the connections of `workload` in place of the open ones.
    pub fn connect(
        &mut self,
        context: &Context<'_>,
        workload: &Workload,
        logged: bool,
    ) -> Result<(), StepError> {
        let Context { environment, observer, .. } = context;
        self.load = None;
        let request = LoadRequest {
            endpoint: self.server.endpoint(),
            protocol: self.protocol,
            workload,
            seed: environment.seed,
            logged,
            spot_checks: context.is_proven(),
        };
        let wanted = workload.connections_under(self.protocol);
        let mut progress = |open| observer.event(&Event::Connecting { open, wanted });
        let opened = environment.generator.open(&request, &environment.interrupt, &mut progress);
        self.load = Some(opened.map_err(|error| match error {
            LoadError::Stopped => StopNow.into(),
            LoadError::Failed(reason) => StepError::Server(self.blame(reason)),
        })?);
        Ok(())
    }

    pub fn load(&mut self) -> Result<&mut dyn LoadSession, Failure> {
        match &mut self.load {
            Some(load) => Ok(load.as_mut()),
            None => Err(failure("no load was opened on it")),
        }
    }

    pub fn isolation(&self) -> Isolation {
        self.server.isolation()
    }

    /// Its CPU time. Zero if the placement can't see it.
    pub fn sample_cpu(&mut self) -> Result<CpuReading, Failure> {
        Ok(self.server.sample_cpu()?.unwrap_or_default())
    }

    /// Leaves it without load until it is woken, and freezes it if it is known to use CPU time all the same.
    pub fn rest(&mut self, now: Nanos) -> Result<(), Failure> {
        let (time, used) = self.idle;
        if time >= IDLE_JUDGED && used as f64 > time.0 as f64 * IDLE_SHARE {
            return Ok(self.server.freeze()?);
        }
        self.at_rest = Some((now, self.sample_cpu()?.cpu_ns));
        Ok(())
    }

    /// Ends a rest.
    pub fn wake(&mut self, now: Nanos) -> Result<(), Failure> {
        self.server.wake()?;
        if let Some((since, before)) = self.at_rest.take() {
            let used = self.sample_cpu()?.cpu_ns.saturating_sub(before);
            self.idle = (self.idle.0 + (now - since), self.idle.1 + used);
        }
        self.alive("between its trials")
    }

    /// A failure if it has ended.
    pub fn alive(&mut self, when: &str) -> Result<(), Failure> {
        match self.server.ended(Duration::ZERO)? {
            None => Ok(()),
            Some(how) => Err(self.explain(format!("{how} {when}"))),
        }
    }

    /// A failure if other processes than its own serve its port. Not `due`, it looks only if that takes little of the run's
    /// time.
    pub fn serves_itself(&mut self, interrupt: &Interrupt, due: bool) -> Result<(), Failure> {
        let begin = interrupt.now();
        if !due && is_recent(self.looked, begin) {
            return Ok(());
        }
        let others = self.server.served_by_others()?;
        let end = interrupt.now();
        self.looked = Some((end, end - begin));
        others.map_or(Ok(()), |others| Err(self.blame(others)))
    }

    /// A failure if calls with a known outcome, made over the load's own connections, end otherwise: a server could be honest
    /// in the conformance check only. Not `due`, it makes them only if that takes little of the run's time.
    pub fn spot_check(&mut self, interrupt: &Interrupt, due: bool) -> Result<(), StepError> {
        let begin = interrupt.now();
        if !due && is_recent(self.spot_checked, begin) {
            return Ok(());
        }
        let Unmeasured { outcomes, error_examples } = self.load()?.spot_check()?;
        let end = interrupt.now();
        self.spot_checked = Some((end, end - begin));
        if outcomes.errors() <= self.tolerated_errors {
            return Ok(());
        }
        let when = "outside of windows, in spot checks over the load's connections";
        Err(self.blame(errors(self.protocol, &outcomes, when, &error_examples)).into())
    }

    /// A failure with the last lines of the server's log.
    pub fn explain(&self, reason: impl Into<String>) -> Failure {
        Failure { reason: reason.into(), log_tail: self.server.log_tail(LOG_TAIL) }
    }

    /// A failure for `reason`, or for the server's end if that is the cause.
    pub fn blame(&mut self, reason: impl Into<String>) -> Failure {
        match self.server.ended(DEATH) {
            Ok(Some(how)) => self.explain(format!("{how} under load")),
            Ok(None) | Err(_) => self.explain(reason),
        }
    }

    /// Closes its connections and ends it. Having to kill it is no failure of a trial.
    pub fn stop(self) -> Result<(), Failure> {
        drop(self.load);
        Ok(self.server.stop()?)
    }
}

/// Calls fail at once when the run stops now.
struct Stoppable<'a> {
    caller: Box<dyn Caller>,
    interrupt: &'a Interrupt,
}

impl Caller for Stoppable<'_> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.interrupt.check().map_err(|StopNow| CallError::Timeout)?;
        self.caller.call(method, body)
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        self.interrupt.check().map_err(|StopNow| CallError::Timeout)?;
        self.caller.call_last(method, body)
    }
}

/// True if it is too early to repeat what ended and took this long.
fn is_recent(last: Option<(Nanos, Nanos)>, now: Nanos) -> bool {
    last.is_some_and(|(ended, took)| now - ended < Nanos(took.0 * LOOK_PAUSE))
}

/// A failure that no log explains.
pub(super) fn failure(reason: impl Into<String>) -> Failure {
    Failure { reason: reason.into(), log_tail: Vec::new() }
}
