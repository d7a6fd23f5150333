//! The machines that a run was made on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machines of a run, by role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machines {
    /// That of the client, which makes the load.
    pub client: Machine,
    /// That of the servers.
    pub server: ServerMachine,
}

/// The machine of the servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerMachine {
    /// The client's.
    SameAsClient,
    /// Nobody knows: a server at an address.
    Unknown,
    /// One of their own.
    Own(Box<Machine>),
}

/// Client and servers on one machine.
impl From<Machine> for Machines {
    fn from(machine: Machine) -> Self {
        Self { client: machine, server: ServerMachine::SameAsClient }
    }
}

/// The fingerprint of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// `uname -r`.
    pub kernel: String,
    /// `PRETTY_NAME` of os-release.
    pub os: String,
    /// The processors.
    pub cpu: Cpu,
    /// Bytes.
    pub memory_bytes: u64,
    /// `v2`, `v1`, or `none` where no cgroup can be made.
    pub cgroup: String,
    /// A hypervisor's name, where the kernel shows one.
    pub virtualization: Option<String>,
    /// Current clock source of the kernel: `tsc`, `kvm-clock`, ...
    pub clock_source: Option<String>,
    /// Transparent huge pages setting, as the kernel brackets it.
    pub huge_pages: Option<String>,
    /// Open-file limit of the client.
    pub open_files: u64,
}

/// The processors of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Model name as the kernel gives it.
    pub model: String,
    /// Logical CPUs that this process may use.
    pub logical: u32,
    /// Physical cores among them.
    pub cores: u32,
    /// Frequency governor, where there is one.
    pub governor: Option<String>,
    /// Whether turbo is allowed, where the kernel tells.
    pub turbo: Option<bool>,
}

/// A compiler or runtime as found on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Toolchain {
    /// `go`, `java`, ...
    pub name: String,
    /// As it prints itself.
    pub version: String,
}

impl fmt::Display for Toolchain {
    /// `go 1.26.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.name, self.version))
    }
}
