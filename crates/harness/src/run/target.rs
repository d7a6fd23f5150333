//! A server under test that runs, with the load that is put on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rpcbench_contract::cases::{self, CallError, Caller, CheckReport};
use rpcbench_contract::{Corpus, Method, Profile, Shape};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{CallLog, Client, Payload, Session, SessionError, Span};
use rpcbench_record::{Failure, Isolation, Protocol, RuntimeStatistics, Workload, units};

use super::context::Context;
use super::environment::Environment;
use super::interrupt::{Interrupt, StopNow};
use super::observer::Event;
use super::serve::Served;
use super::subject::{Admission, Subject};
use crate::host::counters::{Counters, CpuReading};
use crate::placement::{PlacementError, Running};

/// Log lines that explain a failure.
const LOG_TAIL: usize = 12;
/// How long one of the calls that ask for readiness may take, and the pause between two.
const READY_CALL: Duration = Duration::from_millis(1000);
const READY_PAUSE: Nanos = Nanos::from_millis(10);
/// How long a call of the conformance check may take.
const CHECK_CALL: Duration = Duration::from_secs(5);
/// How long a server that broke its connections may take to be seen ended.
const DEATH: Duration = Duration::from_millis(300);

/// Why a step came to nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The server is at fault, and is out.
    Server(Failure),
    /// The run is to stop now.
    Stop(StopNow),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Server(failure)
    }
}

impl From<StopNow> for Trouble {
    fn from(stop: StopNow) -> Self {
        Self::Stop(stop)
    }
}

impl From<PlacementError> for Trouble {
    fn from(error: PlacementError) -> Self {
        Self::Server(error.into())
    }
}

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::GivenUp => StopNow.into(),
            error => describe(error).into(),
        }
    }
}

/// A started server, and the load that is put on it. Dropping it ends what its placement started.
pub(super) struct Target {
    server: Box<dyn Running>,
    /// How calls travel to it.
    protocol: Protocol,
    /// What its protocol offers to the contract.
    profile: &'static Profile,
    /// Opened by [`Target::connect`].
    session: Option<Session>,
    /// Calls outside of windows that failed at a rate that was only tried.
    pub tolerated_errors: u64,
}

impl Target {
    /// Starts the server, and waits until it gives a right answer if that is asked of it.
    pub fn start(environment: &Environment, subject: &Subject<'_>) -> Result<Self, Trouble> {
        let protocol = subject.protocol;
        let mut target = Self {
            server: subject.placement.start()?,
            protocol,
            profile: Profile::of(protocol),
            session: None,
            tolerated_errors: 0,
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
    ) -> Result<(), Trouble> {
        let deadline = clock::now() + Nanos::from(ready_timeout);
        let hello = Corpus::generate(&Shape::Text(16), environment.seed, self.profile.encoding);
        let mut client = self.client(READY_CALL);
        loop {
            self.alive("before it was ready")?;
            let answer = client.call(hello.method(), hello.request(0));
            let problem = match answer {
                Ok(reply) => match hello.verify(0, None, &reply) {
                    Ok(()) => return Ok(()),
                    Err(mismatch) => mismatch.to_string(),
                },
                Err(error) => error.to_string(),
            };
            if clock::now() >= deadline {
                let limit = units::length(ready_timeout);
                let reason = format!("not ready within {limit}; the last call said: {problem}");
                return Err(self.explain(reason).into());
            }
            environment.interrupt.wait_until(clock::now() + READY_PAUSE)?;
        }
    }

    fn client(&self, timeout: Duration) -> Client {
        Client::new(self.protocol, self.server.endpoint().address.clone(), timeout)
    }

    /// What whoever loads it needs to know.
    pub fn served(&self) -> Served<'_> {
        let (endpoint, pid) = (self.server.endpoint(), self.server.pid());
        Served { endpoint, pid, isolation: self.server.isolation() }
    }

    /// The conformance cases.
    pub fn check(&mut self, environment: &Environment) -> Result<CheckReport, Trouble> {
        let client = self.client(CHECK_CALL);
        let mut caller = Stoppable { client, interrupt: &environment.interrupt };
        let report = cases::check(&mut caller, self.profile, environment.seed);
        environment.interrupt.check()?;
        self.alive("during the conformance check")?;
        // Its messages are larger than those of most loads.
        self.server.forget_peak()?;
        Ok(report)
    }

    /// Opens the connections of `workload`, in place of those that are open; measured calls go into `log`.
    pub fn connect(
        &mut self,
        context: &Context<'_>,
        workload: &Workload,
        shape: &Shape,
        log: Option<&CallLog>,
    ) -> Result<(), Trouble> {
        let environment = context.environment;
        self.session = None;
        let payload: Arc<dyn Payload> =
            Arc::new(Corpus::generate(shape, environment.seed, self.profile.encoding));
        let plan = environment.load(workload, self.protocol, self.server.endpoint());
        let (connecting, interrupt) =
            (Arc::new(AtomicBool::new(true)), environment.interrupt.clone());
        let still = Arc::clone(&connecting);
        // Until all connections are open there is no window that Ctrl-C could end.
        let given_up = move || {
            interrupt.check().is_err() || still.load(Ordering::Relaxed) && interrupt.ends_window()
        };
        let wanted = plan.connections;
        let mut tell = |open| context.observer.event(&Event::Connecting { open, wanted });
        let opened = Session::open_with(&plan, &payload, log, given_up, &mut tell);
        connecting.store(false, Ordering::Relaxed);
        match opened {
            Ok(session) => self.session = Some(session),
            Err(SessionError::GivenUp) => return Err(StopNow.into()),
            Err(error) => return Err(self.blame(error.to_string()).into()),
        }
        Ok(())
    }

    /// The load on it.
    pub fn session(&mut self) -> Result<&mut Session, Failure> {
        self.session.as_mut().ok_or_else(|| failure("no load was opened on it"))
    }

    /// How it is kept apart.
    pub fn isolation(&self) -> Isolation {
        self.server.isolation()
    }

    /// Its counters. `None` where nobody can see them.
    pub fn sample(&mut self) -> Result<Option<Counters>, Failure> {
        Ok(self.server.sample()?)
    }

    /// What its runtime tells of itself over a window that is over.
    pub fn runtime(&mut self, window: Span) -> Result<Option<RuntimeStatistics>, Failure> {
        Ok(self.server.runtime(window)?)
    }

    /// Its CPU time. `None` where nobody can see it.
    pub fn sample_cpu(&mut self) -> Result<Option<CpuReading>, Failure> {
        Ok(self.server.sample_cpu()?)
    }

    /// Stops it from running until it is woken.
    pub fn freeze(&mut self) -> Result<(), Failure> {
        Ok(self.server.freeze()?)
    }

    /// Lets it run again.
    pub fn wake(&mut self) -> Result<(), Failure> {
        self.server.wake()?;
        self.alive("between its trials")
    }

    /// A failure if it has ended.
    pub fn alive(&mut self, when: &str) -> Result<(), Failure> {
        match self.server.ended(Duration::ZERO)? {
            None => Ok(()),
            Some(how) => Err(self.explain(format!("{how} {when}"))),
        }
    }

    /// A failure with the server's last words.
    pub fn explain(&self, reason: impl Into<String>) -> Failure {
        Failure { reason: reason.into(), log_tail: self.server.log_tail(LOG_TAIL) }
    }

    /// A failure for `reason`, or for the server's end if that is what is behind it.
    pub fn blame(&mut self, reason: impl Into<String>) -> Failure {
        match self.server.ended(DEATH) {
            Ok(Some(how)) => self.explain(format!("{how} under load")),
            Ok(None) | Err(_) => self.explain(reason),
        }
    }

    /// Closes its connections and ends it. A server that has to be killed is no failure of a trial.
    pub fn stop(self) -> Result<(), Failure> {
        let Self { server, session, .. } = self;
        drop(session);
        Ok(server.stop()?)
    }
}

/// A client whose calls all go unanswered, at once, when the run is to stop now.
struct Stoppable<'a> {
    client: Client,
    interrupt: &'a Interrupt,
}

impl Caller for Stoppable<'_> {
    fn call(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        match self.interrupt.check() {
            Ok(()) => self.client.call(method, body),
            Err(StopNow) => Err(CallError::Timeout),
        }
    }

    fn call_last(&mut self, method: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        match self.interrupt.check() {
            Ok(()) => self.client.call_last(method, body),
            Err(StopNow) => Err(CallError::Timeout),
        }
    }
}

/// A failure of the harness's own means.
pub(super) fn describe(error: impl std::fmt::Display) -> Failure {
    failure(error.to_string())
}

/// A failure that no log explains.
pub(super) fn failure(reason: impl Into<String>) -> Failure {
    Failure { reason: reason.into(), log_tail: Vec::new() }
}
