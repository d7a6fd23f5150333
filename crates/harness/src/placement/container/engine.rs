//! The container engine, controlled by its command.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rpcbench_engine::file_limit;
use rpcbench_record::{Toolchain, units};
use rustix::process::{Resource, getrlimit};

use super::{DOCKER, PODMAN};
use crate::interrupt::Interrupt;
use crate::placement::PlacementError;
use crate::task::{Output, Task};

/// Time limit of a command; one that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit while the daemon is known to hang, since the servers of a run are stopped one after another.
const TIMEOUT_OF_HANGING: Duration = Duration::from_secs(5);

/// Time limits once the run stops. Servers are still removed; the guard removes the rest.
const TIMEOUT_OF_STOPPED: Duration = Duration::from_secs(2);
const TIMEOUT_OF_STOPPED_AND_HANGING: Duration = Duration::from_millis(100);

/// Maximum number of lines shown of an engine's message.
const LAST_LINES: usize = 5;

/// Parts of engines' messages, each with a remedy.
const REMEDIES: &[(&str, &str)] = &[
    (
        "permission denied while trying to connect",
        "run rpcbench as root, or add yourself to the group docker (sudo usermod -aG docker $USER) and log in again",
    ),
    (
        "Got permission denied",
        "run rpcbench as root, or add yourself to the group docker (sudo usermod -aG docker $USER) and log in again",
    ),
    (
        "annot connect to the Docker daemon",
        "start the daemon (sudo systemctl start docker), or point DOCKER_HOST at a running one",
    ),
    (
        "Is the docker daemon running",
        "start the daemon (sudo systemctl start docker), or point DOCKER_HOST at a running one",
    ),
    ("no space left on device", "free space, for example with `docker system prune`"),
    (
        "docker-init",
        "the engine has no init program; install tini (Debian) or docker-init where the daemon finds it",
    ),
    ("container-init binary not found", "podman has no init program; install catatonit"),
    (
        "cgroups in hybrid mode not supported",
        "let podman use runc: runtime = \"runc\" under [engine] in /etc/containers/containers.conf",
    ),
    (
        "no unqualified-search registries",
        "name the registry of base images in /etc/containers/registries.conf: unqualified-search-registries = [\"docker.io\"]",
    ),
];

/// A program with the commands of `docker`. It finds its daemon as configured by the user.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    program: String,
    /// True if the last command of this engine hung.
    hangs: Arc<AtomicBool>,
    /// Stops its commands.
    interrupt: Interrupt,
}

impl Engine {
    pub(super) fn new(program: &str, interrupt: &Interrupt) -> Self {
        let interrupt = interrupt.clone();
        Self { program: program.to_owned(), hangs: Arc::default(), interrupt }
    }

    /// True once the run must stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.interrupt.check().is_err()
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// Its name, without a path.
    pub(super) fn name(&self) -> &'static str {
        if self.is_podman() { PODMAN } else { DOCKER }
    }

    pub(super) fn is_podman(&self) -> bool {
        self.program.ends_with(PODMAN)
    }

    /// Values of `--ulimit` that give a container this process's limits.
    pub(super) fn own_limits(&self) -> Vec<String> {
        let files = file_limit::given();
        let limit = |files: Option<u64>| files.map_or("-1".to_owned(), |files| files.to_string());
        let mut limits = vec![format!("nofile={}:{}", limit(files.current), limit(files.maximum))];
        // Unless it runs with all rights, podman requests a higher limit on processes than it may. This is its own limit.
        if self.is_podman()
            && let Ok(most) = procfs::sys::kernel::pid_max()
        {
            let most = u64::try_from(most).unwrap_or(u64::MAX);
            let most = getrlimit(Resource::Nproc).maximum.map_or(most, |limit| limit.min(most));
            limits.push(format!("nproc={most}:{most}"));
        }
        limits
    }

    /// True if its command is not installed.
    pub(super) fn is_missing(&self) -> bool {
        let asked = Task::ask(Command::new(&self.program).arg("--version"));
        asked.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// The engine's name, and the version of its daemon.
    ///
    /// # Errors
    /// If the command is missing, or its daemon does not answer.
    pub(super) fn version(&self) -> Result<Toolchain, PlacementError> {
        if !self.is_podman() && self.run(&["--version"]).is_ok_and(|it| it.starts_with(PODMAN)) {
            let program = &self.program;
            return Err(PlacementError(format!("`{program}` is podman here; use --in podman")));
        }
        let version = self.run(&["version", "--format", "{{.Server.Version}}"])?;
        Ok(Toolchain { name: self.name().to_owned(), version })
    }

    /// Runs one of its commands and returns the output.
    ///
    /// # Errors
    /// If the command fails: its message, and what to do.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, PlacementError> {
        let output = self.ask(arguments)?;
        if output.success {
            Ok(output.out.trim().to_owned())
        } else {
            Err(self.refused(arguments, &output.err))
        }
    }

    /// The last lines of a container's standard output and standard error.
    pub(super) fn logs(&self, container: &str, lines: &str) -> Result<String, PlacementError> {
        let output = self.ask(&["logs", "--tail", lines, container])?;
        Ok(format!("{}\n{}", output.out.trim(), output.err.trim()))
    }

    fn ask(&self, arguments: &[&str]) -> Result<Output, PlacementError> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        let failed = |error: &io::Error| match error.kind() {
            io::ErrorKind::NotFound => {
                let page = match self.is_podman() {
                    true => "https://podman.io/docs/installation",
                    false => "https://docs.docker.com/engine/install/",
                };
                PlacementError(format!(
                    "{} is not installed, or not on PATH; install it ({page}), or run the servers as processes \
                     (--in native)",
                    self.program
                ))
            }
            _ => PlacementError(format!("{} can't be started: {error}", self.program)),
        };
        let running = Task::ask(&mut command).map_err(|error| failed(&error))?;
        let (hangs, was_stopped) = (self.hangs.load(Ordering::Relaxed), self.is_stopped());
        let limit = match (was_stopped, hangs) {
            (false, false) => TIMEOUT,
            (false, true) => TIMEOUT_OF_HANGING,
            (true, false) => TIMEOUT_OF_STOPPED,
            (true, true) => TIMEOUT_OF_STOPPED_AND_HANGING,
        };
        let output = running.output(limit, || was_stopped || !self.is_stopped())?;
        let (program, command) = (&self.program, arguments[0]);
        if output.is_none() && self.is_stopped() != was_stopped {
            return Err(PlacementError(format!("`{program} {command}` was stopped")));
        }
        self.hangs.store(output.is_none(), Ordering::Relaxed);
        output.ok_or_else(|| {
            PlacementError(format!(
                "`{program} {command}` did not end within {}; its daemon hangs, restart it (sudo systemctl restart docker)",
                units::length(limit)
            ))
        })
    }

    fn refused(&self, arguments: &[&str], message: &str) -> PlacementError {
        let command = format!("{} {}", self.program, arguments[0]);
        let lines: Vec<&str> = message.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = lines[lines.len().saturating_sub(LAST_LINES)..].join("; ");
        let remedy = remedy(message).map(|remedy| format!("; {remedy}")).unwrap_or_default();
        PlacementError(format!("`{command}` failed: {shown}{remedy}"))
    }
}

/// The remedy for an engine's message.
pub(super) fn remedy(message: &str) -> Option<&'static str> {
    REMEDIES.iter().find(|(said, _)| message.contains(said)).map(|(_, remedy)| *remedy)
}

/// An engine whose command is a shell script.
#[cfg(test)]
pub(super) fn fake(script: &str) -> (tempfile::TempDir, Engine) {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docker");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let engine = Engine::new(&path.to_string_lossy(), &Interrupt::default());
    (folder, engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine_of(program: &str) -> Engine {
        Engine::new(program, &Interrupt::default())
    }

    #[test]
    fn interrupt_stops_a_command_and_shortens_later_ones() {
        let (folder, engine) = fake("touch \"$0.began\"; exec sleep 1000");
        let (began, interrupt) = (folder.path().join("docker.began"), engine.interrupt.clone());
        let raising = std::thread::spawn(move || {
            while !began.exists() {
                std::thread::yield_now();
            }
            interrupt.raise();
        });
        let error = |command| engine.run(&[command]).unwrap_err().to_string();
        assert!(error("inspect").ends_with("/docker inspect` was stopped"));
        raising.join().unwrap();
        assert!(error("rm").contains("did not end within 2s; its daemon hangs"));
        assert!(error("rm").contains("did not end within 100ms;"));
    }

    #[test]
    fn daemon_says_its_version() {
        let (_folder, engine) = fake("echo 20.10.24");
        assert_eq!(engine.version().unwrap().to_string(), "docker 20.10.24");
        assert!(!engine.is_podman() && engine_of("podman").is_podman());
    }

    #[test]
    fn podman_under_the_name_of_docker_is_named() {
        let (_folder, engine) = fake("echo podman version 4.3.1");
        let error = engine.version().unwrap_err().to_string();
        assert!(error.ends_with("/docker` is podman here; use --in podman"), "{error}");
    }

    #[test]
    fn failures_say_what_to_do() {
        let said = |message: &str| {
            let (_folder, engine) = fake(&format!("echo '{message}' >&2; exit 1"));
            engine.version().unwrap_err().to_string()
        };
        let daemon = said("Cannot connect to the Docker daemon at unix:///x.");
        assert!(daemon.contains("start the daemon"), "{daemon}");
        let rights =
            said("Got permission denied while trying to connect to the Docker daemon socket");
        assert!(rights.contains("group docker"), "{rights}");
        let full = said("write /x: no space left on device");
        assert!(full.contains("free space"), "{full}");
        let init = said("Error: container-init binary not found on the host: stat /x");
        assert!(init.ends_with("install catatonit"), "{init}");
        let hybrid =
            said("Error: OCI runtime error: crun: cgroups in hybrid mode not supported, drop all");
        assert!(hybrid.contains("runtime = \"runc\""), "{hybrid}");
        let short = said("no unqualified-search registries are defined in \"/x\"");
        assert!(short.ends_with("= [\"docker.io\"]"), "{short}");
        let unknown = said("odd");
        assert!(unknown.ends_with("failed: odd"), "{unknown}");
    }

    #[test]
    fn missing_command_is_named() {
        let error = engine_of("/nowhere/docker").version().unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/docker is not installed"), "{error}");
        let error = engine_of("/nowhere/podman").version().unwrap_err().to_string();
        assert!(error.contains("https://podman.io"), "{error}");
    }
}
