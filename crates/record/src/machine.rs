//! The machines that a run was made on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machines of a run, by role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machines {
    /// The machine of the client, which makes the load.
    pub client: Machine,
    /// The machine of the servers.
    pub server: ServerMachine,
    /// The program that ran the servers for their placement. `None`: rpcbench itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Toolchain>,
}

/// The machine of the servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerMachine {
    /// The client's machine.
    SameAsClient,
    /// Unknown: a server at an address.
    Unknown,
    /// Another machine.
    Own(Box<Machine>),
}

/// Client and servers on one machine.
impl From<Machine> for Machines {
    fn from(machine: Machine) -> Self {
        Self { client: machine, server: ServerMachine::SameAsClient, engine: None }
    }
}

/// A machine's hardware and kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// `uname -r`.
    pub kernel: String,
    /// `PRETTY_NAME` of os-release.
    pub os: String,
    /// The processors.
    pub cpu: Cpu,
    /// Bytes.
    pub memory_bytes: u64,
    /// `v2`, `v1`, or `none` if no cgroup can be created.
    pub cgroup: String,
    /// The hypervisor, if the kernel reports one.
    pub virtualization: Option<String>,
    /// The kernel's clock source: `tsc`, `kvm-clock`, ...
    pub clock_source: Option<String>,
    /// The setting of transparent huge pages.
    pub huge_pages: Option<String>,
    /// Open-file limit of the client.
    pub open_files: u64,
}

/// The processors of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Model name from the kernel.
    pub model: String,
    /// Logical CPUs that this process may use.
    pub logical: u32,
    /// Physical cores among them.
    pub cores: u32,
    /// Frequency governor, if there is one.
    pub governor: Option<String>,
    /// True if turbo is enabled. `None` if the kernel does not report it.
    pub turbo: Option<bool>,
}

/// A compiler or runtime on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Toolchain {
    /// `go`, `java`, ...
    pub name: String,
    /// The version it reports.
    pub version: String,
}

impl fmt::Display for Toolchain {
    /// `go 1.26.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.name, self.version))
    }
}
