//! Checks this machine for anything that distorts figures, and says how to fix it.

mod findings;
mod noise;

use std::sync::Arc;

use procfs::{CpuPressure, Current, CurrentSI, KernelStats, LoadAverage, Meminfo};
use rpcbench_record::{IsolationMode, Machine};

use crate::build_env::BuildEnv;
use crate::finding::Finding;
use crate::host::cpus::Topology;
use crate::host::fingerprint::fingerprint;
use crate::host::isolation::Isolation;
use crate::interrupt::Interrupt;
use crate::load::room::local_ports;
use crate::manifest::{Catalog, Server};
use crate::placement;
use crate::toolchain::{self, Probe, Versions};

pub use findings::examine;
pub use noise::{CpuNoise, noise};

/// The input of the checks.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The fingerprint.
    pub machine: Machine,
    /// The available CPUs.
    pub topology: Topology,
    /// The isolation of servers.
    pub isolation: IsolationMode,
    /// The reason for this mode, and other notes.
    pub isolation_notes: Vec<String>,
    /// Available memory, bytes. `None` if unknown.
    pub memory_available: Option<u64>,
    /// First and last local port.
    pub local_ports: Option<(u32, u32)>,
    /// Runnable tasks, mean over the last minute.
    pub load: Option<f64>,
    /// Share of the last 10 s in which some task waited for a CPU, 0..=1.
    pub cpu_pressure: Option<f64>,
    /// Share of CPU time since boot that a hypervisor took, 0..=1.
    pub steal: Option<f64>,
    /// Findings about placements other than native.
    pub placements: Vec<Finding>,
    /// The toolchains of each language.
    pub languages: Vec<Language>,
}

/// Toolchains for the servers of one language.
#[derive(Clone, Debug)]
pub struct Language {
    /// `Go`.
    pub title: String,
    /// `go`.
    pub name: String,
    /// The result for each toolchain.
    pub probes: Vec<Probe>,
    /// Toolchains past the end of their support, one line each.
    pub unsupported: Vec<String>,
}

impl Facts {
    /// Reads the facts of this machine. Takes as long as the toolchains take to print their versions.
    pub fn gather(
        topology: &Topology,
        isolation: &Isolation,
        catalog: &Catalog,
        env: &BuildEnv,
    ) -> Self {
        Self {
            machine: fingerprint(topology, isolation.mode()),
            topology: topology.clone(),
            isolation: isolation.mode(),
            isolation_notes: isolation.notes().to_vec(),
            memory_available: Meminfo::current().ok().and_then(|memory| memory.mem_available),
            local_ports: local_ports(),
            load: LoadAverage::current().ok().map(|load| f64::from(load.one)),
            cpu_pressure: CpuPressure::current().ok().map(|p| f64::from(p.some.avg10) / 100.0),
            steal: KernelStats::current().ok().and_then(|stats| steal_share(&stats.total)),
            placements: placement::examine(),
            languages: languages(catalog.servers().iter().map(Arc::as_ref), env),
        }
    }
}

fn steal_share(time: &procfs::CpuTime) -> Option<f64> {
    let stolen = time.steal?;
    let busy =
        time.user + time.nice + time.system + time.irq.unwrap_or(0) + time.softirq.unwrap_or(0);
    let wanted = busy + stolen;
    (wanted > 0).then(|| stolen as f64 / wanted as f64)
}

/// The toolchains of `servers` by language. Each is looked up once, all concurrently.
pub fn languages<'a>(
    servers: impl Iterator<Item = &'a Server> + Clone,
    env: &BuildEnv,
) -> Vec<Language> {
    let versions = Versions::ask(servers.clone(), env, &Interrupt::default());
    let mut found: Vec<Language> = Vec::new();
    for server in servers.filter(|server| !server.build.container_only) {
        let known = found.iter().position(|language| language.name == server.language);
        let at = known.unwrap_or_else(|| {
            found.push(Language {
                title: server.language_title.clone(),
                name: server.language.clone(),
                probes: Vec::new(),
                unsupported: Vec::new(),
            });
            found.len() - 1
        });
        let probes = &mut found[at].probes;
        for probe in versions.of(server) {
            match probes.iter_mut().find(|known| known.name() == probe.name()) {
                None => probes.push(probe),
                // It is too old for this server.
                Some(known) if probe.found().is_none() => *known = probe,
                Some(_) => {}
            }
        }
        let tools: Vec<_> = probes.iter().filter_map(Probe::found).cloned().collect();
        for line in toolchain::unsupported(server, &tools, toolchain::today()) {
            if !found[at].unsupported.contains(&line) {
                found[at].unsupported.push(line);
            }
        }
    }
    found
}
