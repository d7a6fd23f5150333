//! The machines that a run was made on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machines of a run, by role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machines {
    /// Machine of the client, which generates the load.
    pub client: Machine,
    /// Machine of the servers.
    pub server: ServerMachine,
    /// The container engine that ran the servers, and its version. Absent if rpcbench ran them itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Toolchain>,
}

/// The machine of the servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerMachine {
    /// The client's machine.
    SameAsClient,
    /// Unknown, since only the server's address is known.
    Unknown,
    /// A separate machine.
    Own(Box<Machine>),
}

/// Client and servers on one machine.
impl From<Machine> for Machines {
    fn from(machine: Machine) -> Self {
        Self { client: machine, server: ServerMachine::SameAsClient, engine: None }
    }
}

/// Hardware and kernel of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Kernel release, as shown by `uname -r`.
    pub kernel: String,
    /// Name and version of the operating system: `PRETTY_NAME` of os-release.
    pub os: String,
    /// The processors.
    pub cpu: Cpu,
    /// Memory of the machine, bytes.
    pub memory_bytes: u64,
    /// Version of the cgroups that rpcbench can create: `v2`, `v1`, or `none` if it can create none.
    pub cgroup: String,
    /// The hypervisor. `null` if the kernel reports none.
    pub virtualization: Option<String>,
    /// The kernel's clock source, such as `tsc` or `kvm-clock`. `null` if unknown.
    pub clock_source: Option<String>,
    /// Setting of transparent huge pages, such as `madvise`. `null` if unknown.
    pub huge_pages: Option<String>,
    /// Maximum number of open files of the client.
    pub open_files: u64,
}

/// The processors of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Model name from the kernel.
    pub model: String,
    /// Number of logical CPUs that rpcbench may use.
    pub logical: u32,
    /// Number of physical cores that these CPUs belong to.
    pub cores: u32,
    /// Frequency governor. `null` if the kernel reports none.
    pub governor: Option<String>,
    /// True if turbo is enabled. `null` if the kernel does not report it.
    pub turbo: Option<bool>,
}

/// A compiler, runtime or container engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Toolchain {
    /// Name, such as `go` or `java`.
    pub name: String,
    /// Version that the program reports.
    pub version: String,
}

impl fmt::Display for Toolchain {
    /// `go 1.26.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.name, self.version))
    }
}
