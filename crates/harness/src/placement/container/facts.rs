//! Facts that container engines report about themselves.

use std::path::Path;

use rustix::fs::statvfs;
use serde::Deserialize;

use super::engine::Engine;

/// A `docker` command and its daemon, as `docker info` prints them in JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Docker {
    /// Empty if the daemon did not answer.
    pub server_version: String,
    /// `overlay2`.
    pub driver: String,
    /// `cgroupfs`, `systemd`; `none` if it can't use cgroups.
    pub cgroup_driver: String,
    /// `1`, `2`. Empty before 20.10, which supports only 1.
    pub cgroup_version: String,
    /// `name=rootless`.
    pub security_options: Option<Vec<String>>,
    /// True if the engine can limit memory.
    pub memory_limit: bool,
    /// True if the engine can restrict CPUs.
    #[serde(rename = "CPUSet")]
    pub cpu_set: bool,
    /// The folder with images.
    pub docker_root_dir: String,
    pub client_info: Option<Client>,
}

/// The command line client.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
pub(super) struct Client {
    /// Empty before 25.
    pub version: String,
    pub plugins: Option<Vec<Plugin>>,
}

/// A plugin of the command, which is installed separately.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Plugin {
    pub name: String,
}

impl Docker {
    pub(super) fn is_rootless(&self) -> bool {
        self.security_options.iter().flatten().any(|option| option == "name=rootless")
    }

    /// True if the engine maps users of containers to other users of the host. rpcbench may not be able to read their processes
    /// then.
    pub(super) fn remaps_users(&self) -> bool {
        self.security_options.iter().flatten().any(|option| option == "name=userns")
    }

    /// True if the command builds with BuildKit: since 23.0 with the plugin buildx, earlier without one.
    pub(super) fn has_buildkit(&self) -> bool {
        const PLUGIN_SINCE: u32 = 23;
        let client = self.client_info.as_ref();
        let plugins = client.and_then(|client| client.plugins.as_deref()).unwrap_or_default();
        let version = client.map(|client| &client.version).filter(|version| !version.is_empty());
        // A command that does not report its version has about the same as its daemon.
        let version = version.unwrap_or(&self.server_version);
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        plugins.iter().any(|plugin| plugin.name == "buildx")
            || major.is_some_and(|major| major < PLUGIN_SINCE)
    }
}

/// The result of looking for `docker`.
#[derive(Debug)]
pub(super) enum Found {
    /// No such command.
    Missing,
    /// The daemon does not answer: reason and remedy.
    Silent { reason: String, remedy: Option<&'static str> },
    /// The daemon answers.
    Answers { docker: Docker, bridges: Vec<String>, free_bytes: Option<u64> },
}

impl Found {
    pub(super) fn ask(engine: &Engine) -> Self {
        if engine.is_missing() {
            return Self::Missing;
        }
        let silent = |message: String| {
            let (reason, remedy) = parted(&message);
            Self::Silent { reason: reason.to_owned(), remedy }
        };
        let info = match engine.run(&["info", "--format", "{{json .}}"]) {
            Ok(info) => info,
            Err(error) => return silent(error.0),
        };
        let docker: Docker = match serde_json::from_str(&info) {
            Ok(docker) => docker,
            Err(error) => return silent(format!("`docker info` prints no JSON: {error}")),
        };
        let bridges =
            engine.run(&["network", "ls", "--filter", "driver=bridge", "--format", "{{.Name}}"]);
        let bridges = bridges.unwrap_or_default().lines().map(str::to_owned).collect();
        let free_bytes = free_bytes(&docker.docker_root_dir);
        Self::Answers { docker, bridges, free_bytes }
    }
}

/// Splits an engine's message into reason and remedy.
pub(super) fn parted(message: &str) -> (&str, Option<&'static str>) {
    let remedy = super::engine::remedy(message);
    let reason = remedy.and_then(|it| message.strip_suffix(it)?.strip_suffix("; "));
    (reason.unwrap_or(message), remedy)
}

/// Free bytes where images are stored. `None` if the folder is on another machine, or not accessible.
fn free_bytes(folder: &str) -> Option<u64> {
    let stat = statvfs(Path::new(folder)).ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}

/// A `podman` command, as `podman info` prints it in JSON.
#[derive(Debug, Deserialize)]
pub(super) struct Podman {
    pub host: PodmanHost,
    pub version: PodmanVersion,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PodmanHost {
    /// `v1`, `v2`.
    pub cgroup_version: String,
    /// `cgroupfs`, `systemd`.
    pub cgroup_manager: String,
    /// The controllers that it can use.
    #[serde(default)]
    pub cgroup_controllers: Vec<String>,
    pub security: PodmanSecurity,
}

#[derive(Debug, Deserialize)]
pub(super) struct PodmanSecurity {
    pub rootless: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct PodmanVersion {
    pub version: String,
}

impl Podman {
    /// `None` if podman is missing or prints nothing usable.
    pub(super) fn ask(engine: &Engine) -> Option<Self> {
        if engine.is_missing() {
            return None;
        }
        let info = engine.run(&["info", "--format", "json"]).ok()?;
        serde_json::from_str(&info).ok()
    }
}
