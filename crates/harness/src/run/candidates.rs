//! Which entries can run here: toolchains looked for, servers built.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rpcbench_record::{Failure, Toolchain};

use super::interrupt::{Interrupt, StopNow};
use crate::build::{self, BuildError, Built};
use crate::build_env::BuildEnv;
use crate::manifest::{Entry, Server};
use crate::toolchain::{Probe, probe_all};

/// An entry that can be run, or the reason why not.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The entry.
    pub entry: Entry,
    /// Its toolchains, as found.
    pub toolchains: Vec<Toolchain>,
    /// What became of its build.
    pub build: BuildState,
}

/// What became of a build.
#[derive(Clone, Debug)]
pub enum BuildState {
    /// Ready to run.
    Built(Built),
    /// It can't be built on this machine; what is missing and what to install.
    Skipped {
        /// One line.
        reason: String,
    },
    /// The build failed.
    Failed(Failure),
}

/// What happens to one server on the way.
#[derive(Debug)]
pub enum BuildEvent<'a> {
    /// Its build begins.
    Building(&'a Server),
    /// Its build goes on; told several times a second.
    Waiting(&'a Server),
    /// What came of it.
    Done(&'a Server, &'a BuildState),
}

/// Whether servers are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Building {
    /// Those that changed since their last build.
    Changed,
    /// None: those that are not built as they stand are failures.
    Never,
}

/// Builds servers.
#[derive(Clone, Copy, Debug)]
pub struct Builder<'a> {
    /// Which.
    pub building: Building,
    /// What builds, and questions for toolchains, see of the environment.
    pub env: &'a BuildEnv,
    /// Ends the build that is on.
    pub interrupt: &'a Interrupt,
}

impl Builder<'_> {
    /// Looks for the toolchains of every entry, and builds each server once.
    ///
    /// # Errors
    /// When the run is to stop now.
    pub fn candidates(
        &self,
        entries: &[Entry],
        watch: &mut dyn FnMut(&BuildEvent<'_>),
    ) -> Result<Vec<Candidate>, StopNow> {
        let mut done: BTreeMap<PathBuf, (Vec<Toolchain>, BuildState)> = BTreeMap::new();
        let mut candidates = Vec::new();
        for entry in entries {
            let server = &entry.server;
            let (toolchains, build) = match done.get(&server.build_folder) {
                Some(known) => known.clone(),
                None => {
                    self.interrupt.check()?;
                    let (toolchains, state) = self.candidate(server, watch);
                    self.interrupt.check()?;
                    watch(&BuildEvent::Done(server, &state));
                    done.insert(server.build_folder.clone(), (toolchains.clone(), state.clone()));
                    (toolchains, state)
                }
            };
            candidates.push(Candidate { entry: entry.clone(), toolchains, build });
        }
        Ok(candidates)
    }

    fn candidate(
        &self,
        server: &Server,
        watch: &mut dyn FnMut(&BuildEvent<'_>),
    ) -> (Vec<Toolchain>, BuildState) {
        let probes = probe_all(server, self.env);
        let missing: Vec<String> = probes.iter().filter_map(Probe::remedy).collect();
        if !missing.is_empty() {
            return (found(probes), BuildState::Skipped { reason: missing.join("; ") });
        }
        let toolchains = found(probes);
        let current = build::is_current(server, &toolchains).unwrap_or(false);
        if !current && self.building == Building::Never {
            let reason = "not built as it stands; leave --no-build away".to_owned();
            return (toolchains, BuildState::Failed(Failure { reason, log_tail: Vec::new() }));
        }
        if !current {
            watch(&BuildEvent::Building(server));
        }
        let mut go_on = || {
            watch(&BuildEvent::Waiting(server));
            self.interrupt.check().is_ok()
        };
        let state = match build::build(server, &toolchains, self.env, &mut go_on) {
            Ok(built) => BuildState::Built(built),
            Err(error) => BuildState::Failed(failure(&error)),
        };
        (toolchains, state)
    }
}

fn found(probes: Vec<Probe>) -> Vec<Toolchain> {
    probes
        .into_iter()
        .filter_map(|probe| match probe {
            Probe::Found(toolchain) => Some(toolchain),
            Probe::Missing(_) => None,
        })
        .collect()
}

/// The first line is the reason, the others are the log's.
fn failure(error: &BuildError) -> Failure {
    let text = error.to_string();
    let mut lines = text.lines().map(str::to_owned);
    let reason = lines.next().unwrap_or_default();
    Failure { reason, log_tail: lines.collect() }
}
