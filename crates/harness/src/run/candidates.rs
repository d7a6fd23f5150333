//! Finds the toolchains of entries, and builds their servers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rpcbench_record::{Failure, PlacementKind, Toolchain};

use super::interrupt::{Interrupt, StopNow};
use crate::build::{self, Built};
use crate::build_env::BuildEnv;
use crate::manifest::{Entry, Server};
use crate::placement::container::{Image, ImageBuilder};
use crate::toolchain::{Probe, probe_all};

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
#[derive(Clone, Copy, Debug)]
pub struct Builder<'a> {
    /// Where the servers will run: as processes, or from images.
    pub placement: PlacementKind,
    /// Which servers to build.
    pub building: Building,
    /// The environment of builds and of version commands.
    pub env: &'a BuildEnv,
    /// Ends the current build.
    pub interrupt: &'a Interrupt,
}

impl Builder<'_> {
    /// Looks for the toolchains of every entry, and builds each server once.
    ///
    /// # Errors
    /// If the run stops now.
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
        if self.placement == PlacementKind::Docker {
            return (Vec::new(), self.image(server, watch));
        }
        let probes = probe_all(server, self.env);
        let missing: Vec<String> = probes.iter().filter_map(Probe::remedy).collect();
        if !missing.is_empty() {
            return (found(probes), BuildState::Skipped { reason: missing.join("; ") });
        }
        let toolchains = found(probes);
        let current = build::is_current(server, &toolchains).unwrap_or(false);
        if !current && self.building == Building::Never {
            let reason = "not built since it changed; let the run build it".to_owned();
            return (toolchains, BuildState::Failed(Failure { reason, log_tail: Vec::new() }));
        }
        if !current {
            watch(&BuildEvent::Building(server));
        }
        let mut keep_waiting = || {
            watch(&BuildEvent::Waiting(server));
            self.interrupt.check().is_ok()
        };
        let state = match build::build(server, &toolchains, self.env, &mut keep_waiting) {
            Ok(built) => BuildState::Built(built),
            Err(error) => BuildState::Failed(error.into()),
        };
        (toolchains, state)
    }
}

impl Builder<'_> {
    /// Its toolchains are in the image.
    fn image(&self, server: &Server, watch: &mut dyn FnMut(&BuildEvent<'_>)) -> BuildState {
        let image = Image::of(server);
        let mut building = false;
        let mut keep_waiting = |server: &Server| {
            let event =
                if building { BuildEvent::Waiting(server) } else { BuildEvent::Building(server) };
            building = true;
            watch(&event);
            self.interrupt.check().is_ok()
        };
        let may_build = self.building == Building::Changed;
        ImageBuilder::new(self.env).state(&image, may_build, &mut keep_waiting)
    }
}

fn found(probes: Vec<Probe>) -> Vec<Toolchain> {
    let toolchain = |probe| match probe {
        Probe::Found(toolchain) => Some(toolchain),
        Probe::Missing(_) => None,
    };
    probes.into_iter().filter_map(toolchain).collect()
}
