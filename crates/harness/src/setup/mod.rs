//! Turns the request of a command into servers, a client and a record that are ready to start.
//!
//! A request is data. [`Setup`] turns it into [`PreparedServers`] or a [`PreparedRun`]. This is the only place that puts together
//! entries, plan, builds, the servers' site, the load generator and the record, both for servers that rpcbench starts and for a
//! server that the user runs.

mod address;
mod entries;
mod folders;
mod inspect;
mod load;
mod offers;
mod run;
mod servers;
mod time;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use rpcbench_clock as clock;
use rpcbench_engine::{CallLog, ConnectionOptions};
use rpcbench_record::{
    Header, LaterSecrets, Machines, Plan, Role, Run, StoreError, Tool, Trial, Writer,
};

use crate::build::{BuildEvent, BuildState, Builder, Building, Candidate};
use crate::build_env::BuildEnv;
use crate::calls::{CallPayload, Renewer};
use crate::config::ConfigError;
use crate::interrupt::{Interrupt, StopNow};
use crate::load::room::{self, NoRoom};
use crate::load::{ClientPrograms, InProcess, LoadGenerator};
use crate::manifest::{Entry, TreeError};
use crate::placement::{PlacementError, Site, SiteOptions};
use crate::reach::{self, ReachError};
use crate::run::{Ending, Environment, Observer, ResumeError, Runner, SliceLength, Subject};
use crate::toolchain;

pub use address::Address;
pub use inspect::OneCall;
pub use load::LoadRequest;
pub use run::RunRequest;
pub use servers::ServeRequest;

/// Why a request can't start, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The request, a suite or a manifest.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The place where servers run.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The client's connections.
    #[error(transparent)]
    Room(#[from] NoRoom),
    /// The server to load.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// The run to resume.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The record.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Ctrl-C.
    #[error(transparent)]
    Stopped(#[from] StopNow),
    /// Anything else.
    #[error("{0}")]
    Refused(String),
}

impl From<TreeError> for SetupError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Config(error) => Self::Config(error),
            TreeError::Stopped(stop) => Self::Stopped(stop),
        }
    }
}

/// Events while a request is prepared.
#[derive(Debug)]
pub enum SetupEvent<'a> {
    /// A notice for the user, one line.
    Notice(String),
    /// A warning about the request, one line.
    Warning(String),
    /// Number of servers to build, including those that are up to date.
    Building(usize),
    /// Progress of a build.
    Build(&'a BuildEvent<'a>),
    /// All builds are finished.
    Built,
}

/// Watches the preparation of a request.
pub trait SetupObserver: Send {
    /// Receives an event. Events about builds come from several threads.
    fn event(&mut self, event: &SetupEvent<'_>);
}

/// Prepares one request.
pub struct Setup<'a> {
    /// This program.
    pub tool: Tool,
    /// The command's arguments, for the record.
    pub arguments: Vec<String>,
    /// The folder with `servers/` and `suites/`. Empty for a load, which needs neither.
    pub root: PathBuf,
    /// Environment of every server: `PATH` and the like.
    pub base_env: BTreeMap<String, String>,
    /// Environment of builds.
    pub build_env: BuildEnv,
    /// Raised by Ctrl-C.
    pub interrupt: Interrupt,
    /// Receives every measured call of a load, and of a run whose plan logs them.
    pub call_log: Option<CallLog>,
    /// See [`Environment::slices`].
    pub slices: Vec<SliceLength>,
    /// The calls of a load that don't use a shape of the contract.
    pub calls: Option<Arc<CallPayload>>,
    /// Warnings about the request so far, for the record.
    pub warnings: Vec<String>,
    /// Watches the preparation.
    pub observer: &'a mut dyn SetupObserver,
}

/// Servers that are built and ready to start, and their client.
pub struct PreparedServers {
    /// The servers, in the requested order.
    pub subjects: Vec<Subject<'static>>,
    /// The client.
    pub environment: Environment,
    /// CPUs of the client's load threads. Empty: any.
    pub client_cpus: Vec<u32>,
}

/// A run that is ready to start or to continue.
pub struct PreparedRun {
    servers: PreparedServers,
    run: Run,
    writer: Option<Writer>,
    /// The address of a server that the user runs.
    existing: Option<ConnectionOptions>,
    /// Renews the token of its calls.
    renewer: Option<Renewer>,
    /// The folder of the record. `None`: no record.
    pub folder: Option<PathBuf>,
}

/// A finished run.
pub struct FinishedRun {
    /// The run, even if it was interrupted.
    pub run: Run,
    /// How the run ended.
    pub ending: Result<Ending, StoreError>,
    /// Why no call was answered, if known: the server speaks another protocol.
    pub hint: Option<String>,
    /// A problem other than failed calls.
    pub remark: Option<String>,
    /// The folder of the record. `None`: no record.
    pub folder: Option<PathBuf>,
}

impl Setup<'_> {
    fn notice(&mut self, line: impl Into<String>) {
        self.observer.event(&SetupEvent::Notice(line.into()));
    }

    fn warn(&mut self, line: String) {
        self.observer.event(&SetupEvent::Warning(line.clone()));
        self.warnings.push(line);
    }

    /// The error of a failed step. After Ctrl-C, the step was stopped and did not fail.
    fn unless_stopped(&self, error: PlacementError) -> SetupError {
        self.interrupt.check().map_or_else(SetupError::from, |()| error.into())
    }

    /// Builds the servers of `entries` in the form that their site starts.
    fn build(
        &mut self,
        site: &dyn Site,
        entries: &[Entry],
        building: Building,
    ) -> Result<Vec<Candidate>, SetupError> {
        let sides = entries.iter().flat_map(Entry::sides);
        let folders: BTreeSet<_> = sides.map(|server| &server.build_folder).collect();
        self.observer.event(&SetupEvent::Building(folders.len()));
        let candidates = {
            let builds = site.builder(&self.build_env, &self.interrupt);
            let builds = &*builds.map_err(|error| self.unless_stopped(error))?;
            let jobs = site.capacity()?.cpus as usize;
            let builder = Builder { builds, building, jobs, interrupt: &self.interrupt };
            let observer = &mut *self.observer;
            builder.candidates(entries, &mut |event| observer.event(&SetupEvent::Build(event)))
        };
        self.observer.event(&SetupEvent::Built);
        let candidates = candidates?;
        let today = toolchain::today();
        let built = candidates.iter().filter(|it| matches!(it.build, BuildState::Built(_)));
        let ended: BTreeSet<String> = built
            .flat_map(|it| toolchain::unsupported(&it.entry.server, &it.toolchains, today))
            .collect();
        ended.into_iter().for_each(|line| self.notice(line));
        Ok(candidates)
    }

    /// Opens the servers' site and creates the client.
    fn open(
        &mut self,
        site: &dyn Site,
        candidates: &[Candidate],
        options: SiteOptions,
        seed: u64,
    ) -> Result<(Machines, PreparedServers), SetupError> {
        let base_env = self.base_env.clone();
        let logs = self.root.join("build/logs");
        let interrupt = self.interrupt.clone();
        let site = site.open(SiteOptions { base_env, logs, interrupt, ..options });
        let site = site.map_err(|error| self.unless_stopped(error))?;
        site.notices().iter().for_each(|line| self.notice(line));
        let client_cpus = site.client_cpus().to_vec();
        let role = candidates.first().map(|it| it.entry.server.role).unwrap_or_default();
        let generator = self.generator(role, client_cpus.clone());
        let subject = |it: &Candidate| -> Result<Subject<'static>, SetupError> {
            let own = Subject::new(it, site.place(&it.entry), Rc::clone(&generator));
            let Some(server) = &it.counterpart else { return Ok(own) };
            let place = site.place_counterpart(&server.entry)?;
            Ok(own.calling(Subject::new(server, place, Rc::clone(&generator))))
        };
        let (interrupt, slices) = (self.interrupt.clone(), self.slices.clone());
        let secrets = LaterSecrets::default();
        let environment = Environment { seed, interrupt, slices, secrets };
        let subjects = candidates.iter().map(subject).collect::<Result<_, _>>()?;
        Ok((site.machines(), PreparedServers { subjects, environment, client_cpus }))
    }

    /// The load generator for entries of a role.
    fn generator(&mut self, role: Role, cpus: Vec<u32>) -> Rc<dyn LoadGenerator> {
        let call_log = self.call_log.take();
        match role {
            Role::Server => Rc::new(InProcess { cpus, call_log, calls: self.calls.take() }),
            Role::Client => Rc::new(ClientPrograms { cpus, call_log }),
        }
    }

    /// Like [`Self::open`], with the options of a plan.
    fn open_for(
        &mut self,
        plan: &Plan,
        site: &dyn Site,
        candidates: &[Candidate],
    ) -> Result<(Machines, PreparedServers), SetupError> {
        let threads = plan.workloads.iter().map(|workload| workload.client_threads).max();
        let options = SiteOptions {
            limits: plan.limits,
            client_threads: threads.unwrap_or(1),
            runtime_statistics: plan.runtime_statistics,
            tls: plan.workloads.iter().any(|workload| workload.tls.is_on()),
            measures: true,
            ..SiteOptions::default()
        };
        self.open(site, candidates, options, plan.seed)
    }

    /// Begins a new run of a plan, recorded in `folder`.
    fn begin(
        mut self,
        plan: Plan,
        (site, candidates): (&dyn Site, &[Candidate]),
        folder: Option<PathBuf>,
    ) -> Result<PreparedRun, SetupError> {
        let plan = Plan { warnings: std::mem::take(&mut self.warnings), ..plan };
        let (machines, servers) = self.open_for(&plan, site, candidates)?;
        let header = Header::new(self.tool, self.arguments, clock::wall(), machines, plan);
        let writer = folder.as_ref().map(|folder| Writer::create(folder, &header)).transpose()?;
        let run = Run::new(header);
        Ok(PreparedRun { servers, run, writer, existing: None, renewer: None, folder })
    }
}

impl PreparedRun {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.run.header.plan
    }

    /// Executes the run.
    pub fn execute(self, observer: &dyn Observer) -> FinishedRun {
        let Self { servers, run, writer, existing, renewer, folder } = self;
        let PreparedServers { subjects, environment, .. } = servers;
        let runner = Runner::new(&environment, &subjects, writer, run, observer);
        let (run, ending) = runner.execute();
        let unanswered = existing.filter(|_| is_unanswered(&run));
        let hint = unanswered.and_then(|server| reach::explain_failed_calls(&server));
        let remark = renewer.and_then(|renewer| renewer.remark());
        FinishedRun { run, ending, hint, remark, folder }
    }
}

/// True if windows were measured but no call was answered correctly.
fn is_unanswered(run: &Run) -> bool {
    let mut measured = run.trials.iter().filter_map(Trial::measured).peekable();
    measured.peek().is_some() && measured.all(|window| window.outcomes.ok == 0)
}
