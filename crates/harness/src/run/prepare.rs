//! From an entry of the plan to a warm server.

use std::collections::BTreeMap;

use rpcbench_contract::Shape;
use rpcbench_record::{CheckResult, Failure, Preparation, Readiness, Toolchain, Workload};

use super::guest::{Guest, Trouble};
use super::interrupt::StopNow;
use super::lab::{Lab, failure};
use super::observer::Observer;
use super::scene::Scene;
use super::warm::warm;
use crate::build::Built;
use crate::manifest::Entry;

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

/// What a server is to be made ready for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub workload: &'a Workload,
    /// The trial for which its process is started.
    pub trial: u32,
}

/// Makes one server ready for one workload: started, checked, connected, warm.
///
/// The preparation says how far it got; there is a guest if it got all the way.
pub(super) fn prepare(
    lab: &Lab,
    candidate: &Candidate,
    asked: Asked<'_>,
    observer: &dyn Observer,
) -> Result<(Preparation, Option<Guest>), StopNow> {
    let mut preparation = blank(lab, candidate, asked);
    let ready = match &candidate.build {
        BuildState::Skipped { reason } => {
            preparation.readiness = Readiness::Skipped { reason: reason.clone() };
            return Ok((preparation, None));
        }
        BuildState::Failed(failure) => Err(failure.clone().into()),
        BuildState::Built(_) => {
            let scene = Scene { lab, entry: &candidate.entry, workload: asked.workload, observer };
            get_ready(&scene, &mut preparation)
        }
    };
    match ready {
        Ok(guest) => Ok((preparation, Some(guest))),
        Err(Trouble::Server(failure)) => {
            preparation.readiness = Readiness::Failed(failure);
            Ok((preparation, None))
        }
        Err(Trouble::Stop(stop)) => Err(stop),
    }
}

fn get_ready(scene: &Scene<'_>, preparation: &mut Preparation) -> Result<Guest, Trouble> {
    let Scene { lab, entry, workload, .. } = *scene;
    let shape: Shape =
        workload.shape.parse().map_err(|error| failure(format!("{}: {error}", workload.shape)))?;
    let mut guest = Guest::start(lab, entry)?;
    preparation.isolation = lab.describe(guest.group());
    let report = guest.check(lab)?;
    preparation.check = CheckResult {
        passed: report.passed,
        failed: report.failed.iter().map(ToString::to_string).collect(),
    };
    if let Some(first) = preparation.check.failed.first() {
        let failed = report.failed.len();
        let all = failed + report.passed as usize;
        let reason = format!("{failed} of {all} conformance cases failed, the first: {first}");
        return Err(guest.explain(reason).into());
    }
    guest.connect(lab, workload, &shape)?;
    preparation.warm = Some(warm(&mut guest, scene)?);
    Ok(guest)
}

/// What is known before anything is tried.
fn blank(lab: &Lab, candidate: &Candidate, asked: Asked<'_>) -> Preparation {
    let (versions, lock_hash, build, build_env) = match &candidate.build {
        BuildState::Built(built) => (
            built.versions.clone(),
            built.lock_hash.clone(),
            built.command.clone(),
            built.env.clone(),
        ),
        BuildState::Skipped { .. } | BuildState::Failed(_) => (
            BTreeMap::new(),
            String::new(),
            candidate.entry.server.build_command().join(" "),
            Vec::new(),
        ),
    };
    Preparation {
        entry: candidate.entry.name(),
        workload: asked.workload.name.clone(),
        trial: asked.trial,
        versions,
        lock_hash,
        toolchains: candidate.toolchains.clone(),
        build,
        build_env,
        command: candidate.entry.command(),
        env: candidate.entry.env(),
        isolation: lab.describe_planned(),
        check: CheckResult::default(),
        warm: None,
        readiness: Readiness::Ready,
    }
}
