//! This machine: its CPUs, processes and cgroups, and what the kernel counts about them.
//!
//! Shared by the placements that run servers on this machine. The run loop does not use it.

mod channels;
pub mod control_socket;
pub mod cpus;
pub mod fingerprint;
pub mod freezes;
pub(crate) mod guard;
mod holders;
pub mod isolation;
pub(crate) mod marked;
pub mod meter;
pub(crate) mod orphans;
pub(crate) mod port;
pub(crate) mod presence;
pub mod process;
pub mod readings;
pub mod runtime_log;
mod unix_peers;
