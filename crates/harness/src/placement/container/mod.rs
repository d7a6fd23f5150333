//! Servers and clients in containers on this machine. The command `docker` or `podman` builds images, and starts and removes
//! containers.
//!
//! The command is used only for what happens once in a server's life. While servers are measured, counters are read and processes
//! frozen in the container's cgroup, by the same code as in `native`.

mod context;
mod engine;
mod examine;
mod facts;
mod image;
mod leftovers;
mod run;
mod server;
mod trial;

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rpcbench_record::{Isolation, Machines, TlsMode, Toolchain, units};
use rustix::process::Pid;

use super::local_placement::LocalPlacement;
use super::native::Native;
use super::{OpenSite, Placement, PlacementError, Running, Site, SiteOptions};
use crate::build::ServerBuilder;
use crate::build_env::BuildEnv;
use crate::host::control_socket::ControlSocket;
use crate::host::guard::Guard;
use crate::host::isolation::{Adopted, Owner};
use crate::interrupt::Interrupt;
use crate::manifest::Entry;
use engine::Engine;
pub(super) use examine::examine;
use image::Image;
pub(super) use image::ImageBuilder;
use leftovers::{guard, sweep};
use server::{Container, Process, StartedContainer};

/// The commands of engines.
pub(super) const DOCKER: &str = "docker";
pub(super) const PODMAN: &str = "podman";

/// The folder of a client's socket in its container. On this machine the folder is next to the logs, where a daemon sees it at
/// the same path even if this process is in a container.
const CONTROL: &str = "/control";

/// The remedy for an engine that does not enforce limits.
const ROOTLESS: &str = "a rootless engine needs cgroup v2 with the controllers cpuset and memory delegated to its user, so use one \
                        that runs as root";

/// The engine with that command, as a site.
pub(super) struct Engines(pub(super) &'static str);

impl Site for Engines {
    fn builder<'a>(
        &'a self,
        env: &'a BuildEnv,
        interrupt: &'a Interrupt,
    ) -> Result<Box<dyn ServerBuilder + 'a>, PlacementError> {
        Ok(Box::new(ImageBuilder::open(Engine::new(self.0, interrupt), env)?))
    }

    fn open(&self, options: SiteOptions) -> Result<Box<dyn OpenSite>, PlacementError> {
        Ok(Box::new(Rc::new(Containers::open(self.0, options)?)))
    }
}

/// An engine, open for servers.
#[derive(Debug)]
pub(super) struct Containers {
    /// Divides the machine between servers and client.
    machine: Rc<Native>,
    engine: Engine,
    version: Toolchain,
    owner: Owner,
    notices: Vec<String>,
    /// `None` if it can't be started; then the next run cleans up.
    guard: Option<Guard>,
    /// True if a container could not be removed.
    is_any_left: Arc<AtomicBool>,
}

impl Drop for Containers {
    fn drop(&mut self) {
        if self.is_any_left.load(Ordering::Relaxed)
            && let Some(guard) = self.guard.take()
        {
            guard.release();
        }
    }
}

impl Containers {
    pub(super) fn open(command: &str, options: SiteOptions) -> Result<Self, PlacementError> {
        let engine = Engine::new(command, &options.interrupt);
        let version = engine.version()?;
        let owner = Owner::this_process().map_err(|error| PlacementError(error.to_string()))?;
        let removed = sweep(&engine, owner)?;
        let machine = Rc::new(Native::open(options)?);
        let mut notices = machine.notices().to_vec();
        notices.extend(
            removed
                .iter()
                .map(|name| format!("removed container {name}, left by a run that was killed")),
        );
        let guard = guard(&engine, owner).ok();
        Ok(Self { machine, engine, version, owner, notices, guard, is_any_left: Arc::default() })
    }
}

impl OpenSite for Rc<Containers> {
    fn place(&self, entry: &Entry) -> Box<dyn Placement> {
        Box::new(ContainerPlacement::new(self, entry, LocalPlacement::measured))
    }

    fn place_counterpart(&self, entry: &Entry) -> Result<Box<dyn Placement>, PlacementError> {
        Ok(Box::new(ContainerPlacement::new(self, entry, LocalPlacement::counterpart)))
    }

    fn machines(&self) -> Machines {
        Machines { engine: Some(self.version.clone()), ..self.machine.machines() }
    }

    fn client_cpus(&self) -> &[u32] {
        self.machine.client_cpus()
    }

    fn notices(&self) -> &[String] {
        &self.notices
    }
}

struct ContainerPlacement {
    site: Rc<Containers>,
    /// Uses paths inside the container.
    place: LocalPlacement,
    /// Name of the image, which changes with the sources.
    image: Result<String, PlacementError>,
}

impl ContainerPlacement {
    /// `place`: creates the placement of an entry, with paths as in its image.
    fn new(
        site: &Rc<Containers>,
        entry: &Entry,
        place: fn(&Rc<Native>, Entry) -> LocalPlacement,
    ) -> Self {
        let image = Image::of(&entry.server);
        let inside = Entry { server: image.server.clone().into(), ..entry.clone() };
        Self {
            site: Rc::clone(site),
            place: place(&site.machine, inside),
            image: image.name().map_err(|error| PlacementError(error.to_string())),
        }
    }

    /// The first process and the group of a container that was just started. Fails if its limits are not in force.
    fn adopt(
        &self,
        container: &Container,
        log: &Path,
    ) -> Result<(Process, Adopted), PlacementError> {
        let format = "{{.Id}} {{.State.Pid}}";
        let state = container.engine.run(&["inspect", "--format", format, &container.name])?;
        let (id, pid) = state.split_once(' ').unwrap_or_default();
        let limit = self.place.options().limits.memory_bytes;
        let pid = pid.parse().ok().and_then(Pid::from_raw);
        let Some(process) = pid.map(Process::open).transpose()?.flatten() else {
            return Err(container.early_end(limit, log)?);
        };
        match self.group(&process, id) {
            Err(_) if process.has_ended(Duration::ZERO)? => Err(container.early_end(limit, log)?),
            group => Ok((process, group?)),
        }
    }

    fn group(&self, process: &Process, id: &str) -> Result<Adopted, PlacementError> {
        let group = Adopted::of(process.pid, id).map_err(|error| {
            PlacementError(format!(
                "the cgroup of its container can't be used: {error}; {ROOTLESS}; rpcbench and its engine must run on the \
                 same machine, in its process namespace"
            ))
        })?;
        self.verify(&group)?;
        Ok(group)
    }

    /// Fails if the limits are not in force. Engines only warn when they ignore limits, as rootless ones do on cgroup v1, and on
    /// v2 without delegated controllers.
    fn verify(&self, group: &Adopted) -> Result<(), PlacementError> {
        /// The kernel rounds limits down to pages.
        const PAGE: u64 = 64 << 10;
        let mut wanted = self.place.cpus.clone();
        wanted.sort_unstable();
        let cpus = group.limits.cpus == wanted;
        let memory_bytes = self.place.options().limits.memory_bytes;
        let memory = memory_bytes.is_none_or(|bytes| {
            group.limits.memory_bytes.is_some_and(|limit| limit.abs_diff(bytes) < PAGE)
        });
        if cpus && memory {
            return Ok(());
        }
        let size = |bytes: Option<u64>| bytes.map_or("no limit".to_owned(), units::bytes);
        Err(PlacementError(format!(
            "the engine ignored the limits: CPUs {wanted:?} and {} of memory were asked for, and {:?} and {} are in \
             force; {ROOTLESS}",
            size(memory_bytes),
            group.limits.cpus,
            size(group.limits.memory_bytes),
        )))
    }
}

impl Placement for ContainerPlacement {
    fn isolation(&self) -> Isolation {
        self.place.describe(None)
    }

    fn has_room(&self) -> bool {
        self.site.machine.has_room()
    }

    fn start(&self, process: u32, tls: TlsMode) -> Result<Box<dyn Running>, PlacementError> {
        let Self { site, place, image } = self;
        let (image, entry, options) = (image.clone()?, &place.entry, place.options());
        let log = options.log_file(entry, process, "log");
        let name = site.owner.name(&entry.name()).replace(['@', '#'], "_");
        let socket = || ControlSocket::create(&options.logs, Some(Path::new(CONTROL)));
        let provisions = place.provide(process, tls, socket)?;
        let arguments = self.arguments(&name, &image, &provisions);
        let is_any_left = Arc::clone(&site.is_any_left);
        let container =
            Container { engine: site.engine.clone(), name, removed: false, is_any_left };
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        container.engine.run(&words)?;
        let (process, group) = self.adopt(&container, &log)?;
        let id = container.engine.run(&["inspect", "--format", "{{.Image}}", &container.name])?;
        let isolation = Isolation {
            mode: group.mode,
            details: BTreeMap::from([("image".to_owned(), id)]),
            ..place.describe(options.limits.memory_bytes)
        };
        let (limit, stop_timeout) = (isolation.memory_bytes, entry.server.stop_timeout);
        let started = StartedContainer { container, group, process, limit, log, stop_timeout };
        Ok(Box::new(provisions.running(started, isolation)?))
    }
}
