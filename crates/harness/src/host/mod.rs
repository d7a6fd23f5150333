//! This machine: its CPUs, the processes and cgroups on it, and what the kernel counts about them.
//!
//! Placements whose servers run on this machine share it. No other module knows it.

pub mod counters;
pub mod cpus;
pub mod fingerprint;
pub mod isolation;
pub mod presence;
pub mod process;
pub(crate) mod reference;
pub mod runtime_log;
