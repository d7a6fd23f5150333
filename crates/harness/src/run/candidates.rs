//! Builds the servers of entries, for their placement.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rpcbench_record::{Failure, Toolchain};

use super::interrupt::{Interrupt, StopNow};
use crate::build::Built;
use crate::manifest::{Entry, Server};
use crate::placement::ServerBuilder;

/// An entry that can run, or the reason why not.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The entry.
    pub entry: Entry,
    /// The toolchains found for it.
    pub toolchains: Vec<Toolchain>,
    /// The state of its build.
    pub build: BuildState,
}

/// The state of a build.
#[derive(Clone, Debug)]
pub enum BuildState {
    /// Ready to run.
    Built(Built),
    /// It can't be built on this machine.
    Skipped {
        /// What is missing and what to install, one line.
        reason: String,
    },
    /// The build failed.
    Failed(Failure),
}

/// Progress of the build of one server.
#[derive(Debug)]
pub enum BuildEvent<'a> {
    /// Its build begins.
    Building(&'a Server),
    /// Its build continues; sent several times a second.
    Waiting(&'a Server),
    /// Its build is over.
    Done(&'a Server, &'a BuildState),
}

/// Which servers to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Building {
    /// Those that changed since their last build.
    Changed,
    /// None: changed ones are failures.
    Never,
}

/// Builds servers.
pub struct Builder<'a> {
    /// How the placement builds a server.
    pub builds: &'a dyn ServerBuilder,
    /// Which servers to build.
    pub building: Building,
    /// Ends the current build.
    pub interrupt: &'a Interrupt,
}

impl Builder<'_> {
    /// Builds the server of every entry, each once.
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
        let mut began = false;
        let mut keep_waiting = |server: &Server| {
            let event =
                if began { BuildEvent::Waiting(server) } else { BuildEvent::Building(server) };
            began = true;
            watch(&event);
            self.interrupt.check().is_ok()
        };
        self.builds.build(server, self.building == Building::Changed, &mut keep_waiting)
    }
}
