//! Builds the servers of entries, for their placement.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rpcbench_record::{Failure, Toolchain};

use super::Built;
use crate::host::orphans::Adoption;
use crate::interrupt::{Interrupt, StopNow};
use crate::manifest::{Entry, Server};

/// An entry, and whether it can run.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The entry.
    pub entry: Entry,
    /// The toolchains found for it.
    pub toolchains: Vec<Toolchain>,
    /// The state of its build.
    pub build: BuildState,
    /// The server that a client calls. `None` for the reference server, and for servers.
    pub counterpart: Option<Box<Self>>,
}

impl Candidate {
    fn of(entry: &Entry, states: &States) -> Self {
        let (toolchains, build) = states[&entry.server.build_folder].clone();
        let counterpart = entry.counterpart.as_ref();
        let counterpart = counterpart.map(|server| Box::new(Self::of(server, states)));
        Self { entry: entry.clone(), toolchains, build, counterpart }
    }

    /// True if the entry can run, and so can the server that it calls.
    pub fn is_built(&self) -> bool {
        matches!(self.build, BuildState::Built(_))
            && self.counterpart.as_ref().is_none_or(|server| server.is_built())
    }
}

/// The state of a build.
#[derive(Clone, Debug)]
pub enum BuildState {
    /// Ready to run.
    Built(Built),
    /// It can't be built on this machine.
    Skipped {
        /// The missing tool and how to install it, one line.
        reason: String,
    },
    /// The build failed.
    Failed(Failure),
}

/// Builds servers for their placement. Called from several threads.
pub trait ServerBuilder: Sync {
    /// The toolchains of this machine that `server` needs, and the state of its build. A changed server is built if `may_build`
    /// is true.
    fn build(
        &self,
        server: &Server,
        may_build: bool,
        watch: &mut BuildWatch<'_>,
    ) -> (Vec<Toolchain>, BuildState);
}

/// Called when a build starts, and several times a second while it runs, with the server whose build folder has the log.
/// Returning false stops the build.
pub type BuildWatch<'a> = dyn FnMut(&Server) -> bool + 'a;

/// Progress of the build of one server.
#[derive(Debug)]
pub enum BuildEvent<'a> {
    /// A build started.
    Building(&'a Server),
    /// A build is still running; sent several times a second.
    Waiting(&'a Server),
    /// A build finished.
    Done(&'a Server, &'a BuildState),
}

/// Which servers to build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Building {
    /// Servers that changed since their last build.
    #[default]
    Changed,
    /// None. A changed server counts as failed.
    Never,
}

/// Builds the servers of entries.
pub struct Builder<'a> {
    /// Builds servers for the placement.
    pub builds: &'a dyn ServerBuilder,
    /// Which servers to build.
    pub building: Building,
    /// Maximum builds at the same time.
    pub jobs: usize,
    /// Stops the current builds.
    pub interrupt: &'a Interrupt,
}

/// Called with the progress of builds, from several threads.
pub type BuildObserver<'a> = dyn FnMut(&BuildEvent<'_>) + Send + 'a;

/// Toolchains and state of the build, by build folder.
type States = BTreeMap<PathBuf, (Vec<Toolchain>, BuildState)>;

impl Builder<'_> {
    /// Builds each server or client once, including the servers that clients call. Languages are built concurrently, those with
    /// slow builds first. The servers of a language are built in turn, since they share caches that only one build at a time may
    /// write.
    pub fn candidates(
        &self,
        entries: &[Entry],
        observer: &mut BuildObserver<'_>,
    ) -> Result<Vec<Candidate>, StopNow> {
        let languages = by_language(entries);
        let jobs = self.jobs.clamp(1, languages.len().max(1));
        let (queue, observer) = (Mutex::new(languages.into_iter()), Mutex::new(observer));
        let states = Mutex::new(States::new());
        // Commands that print versions run at the same time as builds.
        let adoption = Adoption::begin();
        let work = || {
            while let Some(servers) = next(&queue) {
                for server in servers {
                    if self.interrupt.check().is_err() {
                        return;
                    }
                    let state = self.candidate(server, &observer);
                    lock(&states).insert(server.build_folder.clone(), state);
                }
            }
        };
        thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(work))));
        drop(adoption);
        self.interrupt.check()?;
        let states = lock(&states);
        Ok(entries.iter().map(|entry| Candidate::of(entry, &states)).collect())
    }

    fn candidate(
        &self,
        server: &Server,
        observer: &Mutex<&mut BuildObserver<'_>>,
    ) -> (Vec<Toolchain>, BuildState) {
        let mut began = false;
        let mut keep_waiting = |server: &Server| {
            let event =
                if began { BuildEvent::Waiting(server) } else { BuildEvent::Building(server) };
            began = true;
            lock(observer)(&event);
            self.interrupt.check().is_ok()
        };
        let may_build = self.building == Building::Changed;
        let (toolchains, state) = self.builds.build(server, may_build, &mut keep_waiting);
        if self.interrupt.check().is_ok() {
            lock(observer)(&BuildEvent::Done(server, &state));
        }
        (toolchains, state)
    }
}

/// The servers of the entries without duplicates, grouped by the language whose toolchains they use, that of their first
/// manifest: Java and Kotlin are one group.
fn by_language(entries: &[Entry]) -> Vec<Vec<&Server>> {
    let mut languages: Vec<(&Path, Vec<&Server>)> = Vec::new();
    for server in entries.iter().flat_map(Entry::sides) {
        let language = server.manifests.first().map_or(Path::new(""), PathBuf::as_path);
        match languages.iter_mut().find(|(known, _)| *known == language) {
            None => languages.push((language, vec![server])),
            Some((_, servers)) => {
                if servers.iter().all(|known| known.build_folder != server.build_folder) {
                    servers.push(server);
                }
            }
        }
    }
    let mut languages = Vec::from_iter(languages.into_iter().map(|(_, servers)| servers));
    languages.sort_by_key(|servers| !servers.iter().any(|server| server.build.slow));
    languages
}

fn next<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    lock(queue).next()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
