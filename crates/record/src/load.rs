//! One load on an address: what `rpcbench load --out` writes.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::plan::Workload;
use crate::protocol::Protocol;
use crate::run::Tool;
use crate::store::{StoreError, known_schema};
use crate::threshold::Threshold;
use crate::trial::{Measured, Outcomes};
use crate::upgrade;

/// A load: who made it, where, what was asked for, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRecord {
    /// See [`crate::SCHEMA`].
    pub schema: u32,
    /// The program.
    pub tool: Tool,
    /// Arguments as typed.
    pub arguments: Vec<String>,
    /// Wall-clock time at which the window began.
    pub started: Timestamp,
    /// The client's machine. Nothing keeps the server apart, so its `cgroup` is `none`.
    pub machine: Machine,
    /// Where the server listens, as typed.
    pub address: String,
    /// How the calls travelled.
    #[serde(default)]
    pub protocol: Protocol,
    /// What was asked for. Where the rate was a share of the capacity, its arrival process has the rate that came of it.
    pub workload: Workload,
    /// Seed of the payloads, and of random arrivals.
    pub seed: u64,
    /// The capacity that the arrival process's rate is a share of. `None` where it is none.
    pub capacity: Option<Capacity>,
    /// What must not be true of the window (`--fail-if`).
    pub fail_if: Vec<Threshold>,
    /// Calls before the window.
    pub warm_up: Outcomes,
    /// The window.
    pub measured: Measured,
}

/// What a server can do at most, found by a closed loop before the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Calls that ended `ok`, a second.
    pub calls_per_s: f64,
    /// Length of the closed loop's window, nanoseconds.
    pub window_ns: u64,
}

impl LoadRecord {
    /// Writes it as JSON, ending in a line feed.
    ///
    /// # Errors
    /// What `to` says.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut to, self)?;
        to.write_all(b"\n")
    }

    /// Reads what [`Self::write`] wrote.
    ///
    /// # Errors
    /// When the file can't be read, is of a newer schema, or is no record of a load.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        let io = |source| StoreError::Io { path: path.to_owned(), source };
        let parse = |source: serde_json::Error| StoreError::Parse {
            path: path.to_owned(),
            line: source.line(),
            source,
        };
        let text = fs::read_to_string(path).map_err(io)?;
        let mut value: serde_json::Value = serde_json::from_str(&text).map_err(parse)?;
        if let Some(schema) = known_schema(path, &value)? {
            upgrade::load(&mut value, schema);
        }
        serde_json::from_value(value).map_err(parse)
    }
}
