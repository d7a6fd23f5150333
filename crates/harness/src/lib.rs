//! Servers under test: found, built, started, kept apart, measured from outside and stopped.

pub mod build;
pub mod build_env;
pub mod config;
pub mod counters;
pub mod cpus;
pub mod doctor;
pub mod isolation;
mod log;
pub mod machine;
pub mod manifest;
pub mod new_server;
pub mod placement;
pub mod presence;
pub mod process;
pub mod reach;
mod reference;
pub mod room;
pub mod run;
pub mod runtime_log;
pub mod search;
mod stamp;
pub mod suite;
mod task;
pub mod toolchain;

pub use rpcbench_record::units;
