//! A server under test that runs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rpcbench_contract::cases::{self, CallError, Caller, CheckReport};
use rpcbench_contract::{Corpus, Method, Profile, Shape};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_engine::{Client, Payload, Session, SessionError, profile};
use rpcbench_record::{Failure, Protocol, Workload, units};

use super::interrupt::{Interrupt, StopNow};
use super::lab::{Lab, failure};
use crate::counters::Meter;
use crate::isolation::{Group, GroupLimits};
use crate::manifest::{Address, Entry};
use crate::process::{Exit, ServerProcess, Spec};

/// Log lines that explain a failure.
const LOG_TAIL: usize = 12;
/// How long one of the calls that ask for readiness may take, and the pause between two.
const READY_CALL: Duration = Duration::from_millis(1000);
const READY_PAUSE: Nanos = Nanos::from_millis(10);
/// How long a call of the conformance check may take.
const CHECK_CALL: Duration = Duration::from_secs(5);
/// How long a server that broke its connections may take to be seen ended.
const DEATH: Duration = Duration::from_millis(300);

/// Why an act on a server came to nothing.
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

impl From<SessionError> for Trouble {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::GivenUp => StopNow.into(),
            error => describe(error).into(),
        }
    }
}

/// A started server, and the load that is put on it. Dropping it kills it.
pub(super) struct Guest {
    process: ServerProcess,
    /// How calls travel to it.
    pub protocol: Protocol,
    pub address: SocketAddr,
    /// What its protocol offers to the contract.
    profile: &'static Profile,
    pub meter: Meter,
    /// Opened by [`Guest::connect`].
    session: Option<Session>,
    /// Calls outside of windows that failed at a rate that was only tried.
    pub forgiven: u64,
    frozen: bool,
}

impl Guest {
    /// Starts the server of `entry`, and waits until it gives a right answer.
    pub fn start(lab: &Lab, entry: &Entry) -> Result<Self, Trouble> {
        let address = lab.free_address()?;
        let mut guest = Self::spawn(lab, entry, address)?;
        guest.await_ready(lab, entry)?;
        Ok(guest)
    }

    fn spawn(lab: &Lab, entry: &Entry, address: Address) -> Result<Self, Failure> {
        let limits =
            GroupLimits { cpus: lab.split.server.clone(), memory_bytes: lab.limits.memory_bytes };
        let group = lab.isolation.create(&entry.name(), limits).map_err(describe)?;
        let spec = Spec {
            command: entry.command(),
            env: entry.environment(&lab.base_env, address, &lab.limits),
            cwd: entry.server.build_folder.clone(),
            log: lab.logs.join(format!("{}.log", entry.name())),
            stop_timeout: entry.server.stop_timeout,
        };
        let process = ServerProcess::spawn(&spec, group).map_err(describe)?;
        Ok(Self {
            process,
            protocol: entry.protocol,
            address: SocketAddr::new(address.host, address.port),
            profile: profile(entry.protocol),
            meter: Meter::new(&entry.server.runtime.compiler_threads),
            session: None,
            forgiven: 0,
            frozen: false,
        })
    }

    fn await_ready(&mut self, lab: &Lab, entry: &Entry) -> Result<(), Trouble> {
        let deadline = clock::now() + Nanos::from(entry.server.ready_timeout);
        let hello = Corpus::generate(&Shape::Text(16), lab.seed, self.profile.encoding);
        let mut client = Client::new(self.protocol, self.address, READY_CALL);
        loop {
            self.alive("before it was ready")?;
            let answer = client.call(hello.method(), hello.request(0));
            let problem = match answer {
                Ok(reply) => match hello.verify(0, &reply) {
                    Ok(()) => return Ok(()),
                    Err(mismatch) => mismatch.to_string(),
                },
                Err(error) => error.to_string(),
            };
            if clock::now() >= deadline {
                let limit = units::length(entry.server.ready_timeout);
                let reason = format!("not ready within {limit}; the last call said: {problem}");
                return Err(self.explain(reason).into());
            }
            lab.interrupt.wait_until(clock::now() + READY_PAUSE)?;
        }
    }

    /// The conformance cases.
    pub fn check(&mut self, lab: &Lab) -> Result<CheckReport, Trouble> {
        let client = Client::new(self.protocol, self.address, CHECK_CALL);
        let mut caller = Stoppable { client, interrupt: &lab.interrupt };
        let report = cases::check(&mut caller, self.profile, lab.seed);
        lab.interrupt.check()?;
        self.alive("during the conformance check")?;
        Ok(report)
    }

    /// Opens the connections of `workload`.
    pub fn connect(
        &mut self,
        lab: &Lab,
        workload: &Workload,
        shape: &Shape,
    ) -> Result<(), Trouble> {
        let payload: Arc<dyn Payload> =
            Arc::new(Corpus::generate(shape, lab.seed, self.profile.encoding));
        let (plan, interrupt) =
            (lab.load(workload, (self.protocol, self.address)), lab.interrupt.clone());
        match Session::open_with(&plan, &payload, None, move || interrupt.check().is_err()) {
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

    pub fn group(&self) -> &Group {
        self.process.group()
    }

    /// Both halves of a reading.
    pub fn metered(&mut self) -> (&mut Meter, &Group) {
        (&mut self.meter, self.process.group())
    }

    /// Stops it from running until it is woken.
    pub fn freeze(&mut self) -> Result<(), Failure> {
        self.process.group().freeze().map_err(describe)?;
        self.frozen = true;
        Ok(())
    }

    /// Lets it run again.
    pub fn wake(&mut self) -> Result<(), Failure> {
        if self.frozen {
            self.process.group().thaw().map_err(describe)?;
            self.frozen = false;
        }
        self.alive("between its trials")
    }

    /// A failure if it has ended.
    pub fn alive(&mut self, when: &str) -> Result<(), Failure> {
        match self.process.try_wait() {
            Ok(None) => self.within_memory(),
            Ok(Some(exit)) => Err(self.explain(format!("{exit} {when}"))),
            Err(error) => Err(describe(error)),
        }
    }

    /// The kernel may have killed one of its workers only.
    fn within_memory(&mut self) -> Result<(), Failure> {
        let limit = self.process.group().memory_enforced();
        match (self.process.group().oom_kills().map_err(describe)?, limit) {
            (kills, Some(limit)) if kills > 0 => {
                Err(self.explain(Exit::OutOfMemory { limit }.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// A failure with the server's last words.
    pub fn explain(&self, reason: impl Into<String>) -> Failure {
        Failure { reason: reason.into(), log_tail: self.process.log_tail(LOG_TAIL) }
    }

    /// A failure for `reason`, or for the server's end if that is what is behind it.
    pub fn blame(&mut self, reason: impl Into<String>) -> Failure {
        match self.process.wait(DEATH) {
            Ok(Some(exit)) => self.explain(format!("{exit} under load")),
            Ok(None) | Err(_) => self.explain(reason),
        }
    }

    /// Ends it as its manifest promises. A server that has to be killed is no failure of a trial.
    pub fn stop(mut self) -> Result<(), Failure> {
        self.session = None;
        if self.frozen {
            self.process.group().thaw().map_err(describe)?;
        }
        self.process.stop().map(|_| ()).map_err(describe)
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
}

/// A failure of the harness's own means.
pub(super) fn describe(error: impl std::fmt::Display) -> Failure {
    failure(error.to_string())
}
