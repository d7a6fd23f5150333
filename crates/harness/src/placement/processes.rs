//! Builds servers that run as processes, with the toolchains of this machine.

use rpcbench_record::{Failure, Toolchain};

use crate::build::{self, BuildState, BuildWatch, ServerBuilder};
use crate::build_env::BuildEnv;
use crate::interrupt::Interrupt;
use crate::manifest::Server;
use crate::toolchain::{Probe, Versions};

pub(super) struct ProcessBuilder<'a> {
    pub(super) env: &'a BuildEnv,
    pub(super) interrupt: &'a Interrupt,
}

impl ServerBuilder for ProcessBuilder<'_> {
    fn build(
        &self,
        server: &Server,
        may_build: bool,
        watch: &mut BuildWatch<'_>,
    ) -> (Vec<Toolchain>, BuildState) {
        if server.build.container_only {
            let reason = Server::CONTAINER_ONLY.to_owned();
            return (Vec::new(), BuildState::Skipped { reason });
        }
        let probes = Versions::ask([server], self.env, self.interrupt).of(server);
        let missing: Vec<String> = probes.iter().filter_map(Probe::remedy).collect();
        let toolchains: Vec<Toolchain> = probes.iter().filter_map(Probe::found).cloned().collect();
        if !missing.is_empty() {
            return (toolchains, BuildState::Skipped { reason: missing.join("; ") });
        }
        let current = build::is_current(server, &toolchains).unwrap_or(false);
        if !current && !may_build {
            let reason = "not built since it changed; let the run build it".to_owned();
            return (toolchains, BuildState::Failed(Failure { reason, log_tail: Vec::new() }));
        }
        if !current {
            watch(server);
        }
        let state = match build::build(server, &toolchains, self.env, &mut || watch(server)) {
            Ok(built) => BuildState::Built(built),
            Err(error) => BuildState::Failed(error.into()),
        };
        (toolchains, state)
    }
}
