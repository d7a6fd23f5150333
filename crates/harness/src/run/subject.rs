//! The subject of a measurement: an entry of the plan that may be started.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use rpcbench_record::{
    CheckResult, Counterpart, Failure, Preparation, Protocol, Readiness, Role, TlsMode, Toolchain,
    Workload,
};

use crate::build::{BuildState, Built, Candidate};
use crate::load::LoadGenerator;
use crate::manifest::Runtime;
use crate::placement::Placement;

/// An entry under test.
pub struct Subject<'a> {
    /// See [`rpcbench_record::PlannedServer::entry`].
    pub entry: String,
    /// Server or client.
    pub role: Role,
    /// Protocol of calls to the server, or from the client.
    pub protocol: Protocol,
    /// Why it can't be reached over TLS. `None` if it can.
    pub without_tls: Option<String>,
    /// Its sources and libraries.
    pub provenance: Provenance,
    /// Warm-up of its runtime.
    pub runtime: Runtime,
    /// Conditions for measuring it.
    pub admission: Admission,
    /// Its placement.
    pub placement: Box<dyn Placement + 'a>,
    /// Makes the load on a server, or has the client make it.
    pub generator: Rc<dyn LoadGenerator>,
    /// Whether it can be started.
    pub readiness: Readiness,
    /// The server that a client calls. `None` if that is the reference server, or if this is a server itself.
    pub counterpart: Option<Box<Self>>,
}

/// Conditions for measuring a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It must answer correctly in time, pass the conformance check, and answer every call outside of windows correctly.
    Proven {
        /// Maximum time from its start to the first correct answer.
        ready_timeout: Duration,
    },
    /// None: only the load calls it, and failed calls are part of the result.
    Unchecked,
}

/// Sources and libraries of a server. Empty if unknown.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// Its build. Without one, the build command alone.
    pub built: Built,
    /// Its compilers and runtimes.
    pub toolchains: Vec<Toolchain>,
    /// Its command line.
    pub command: Vec<String>,
    /// Its environment on top of the process contract.
    pub env: BTreeMap<String, String>,
}

impl<'a> Subject<'a> {
    /// The server or client of a candidate, with its placement. If the placement manages it, it must prove itself.
    pub fn new(
        candidate: &Candidate,
        placement: Box<dyn Placement + 'a>,
        generator: Rc<dyn LoadGenerator>,
    ) -> Self {
        let (entry, server) = (&candidate.entry, &candidate.entry.server);
        let mut provenance = Provenance {
            toolchains: candidate.toolchains.clone(),
            built: Built { command: server.build_command().join(" "), ..Built::default() },
            command: entry.command(),
            env: entry.env(),
        };
        let readiness = match &candidate.build {
            BuildState::Skipped { reason } => Readiness::Skipped { reason: reason.clone() },
            BuildState::Failed(failure) => Readiness::Failed(failure.clone()),
            BuildState::Built(built) => {
                provenance.built.clone_from(built);
                Readiness::Ready
            }
        };
        Self {
            entry: entry.name(),
            role: server.role,
            protocol: entry.protocol,
            without_tls: entry.without_tls(),
            provenance,
            runtime: server.runtime.clone(),
            admission: match placement.is_managed() {
                true => Admission::Proven { ready_timeout: server.ready_timeout },
                false => Admission::Unchecked,
            },
            placement,
            generator,
            readiness,
            counterpart: None,
        }
    }

    /// The same client with a server to call. It can only be started if that server can.
    pub fn calling(mut self, counterpart: Self) -> Self {
        let of_server = |reason: &str| format!("its server {}: {reason}", counterpart.entry);
        if self.readiness == Readiness::Ready {
            self.readiness = match &counterpart.readiness {
                Readiness::Ready => Readiness::Ready,
                Readiness::Skipped { reason } => Readiness::Skipped { reason: of_server(reason) },
                Readiness::Failed(Failure { reason, log_tail }) => Readiness::Failed(Failure {
                    reason: of_server(reason),
                    log_tail: log_tail.clone(),
                }),
            };
        }
        self.counterpart = Some(Box::new(counterpart));
        self
    }

    /// True if it must prove that it keeps the contract.
    pub(super) fn is_proven(&self) -> bool {
        matches!(self.admission, Admission::Proven { .. })
    }

    /// Whether it can be started with this TLS mode.
    pub(super) fn readiness_for(&self, tls: TlsMode) -> Readiness {
        match (&self.readiness, &self.without_tls) {
            (Readiness::Ready, Some(reason)) if tls.is_on() => {
                Readiness::Skipped { reason: reason.clone() }
            }
            (readiness, _) => readiness.clone(),
        }
    }

    /// Its description as the counterpart of a client.
    pub(super) fn as_counterpart(&self) -> Counterpart {
        let Provenance { built, command, .. } = self.provenance.clone();
        let Built { versions, source_hash, .. } = built;
        let server = self.entry.split('#').next().unwrap_or_default().to_owned();
        Counterpart { server, versions, source_hash, command }
    }

    /// The preparation before its first step.
    pub(super) fn preparation(&self, workload: &Workload, process: u32) -> Preparation {
        let Provenance { built, toolchains, command, env } = self.provenance.clone();
        let Built { versions, lock_hash, source_hash, .. } = built;
        Preparation {
            entry: self.entry.clone(),
            workload: workload.name.clone(),
            process,
            versions,
            lock_hash,
            source_hash,
            toolchains,
            build: built.command,
            build_env: built.env,
            command,
            env,
            counterpart: self.counterpart.as_deref().map(Self::as_counterpart),
            reply_checks: None,
            isolation: self.placement.isolation(),
            tls: None,
            check: CheckResult::default(),
            warm: None,
            unseen: Vec::new(),
            first_only_ns: 0,
            readiness: self.readiness_for(workload.tls),
        }
    }
}
