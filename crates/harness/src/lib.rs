//! Finds, builds, starts, isolates, loads and measures servers under test.

pub mod build;
pub mod build_env;
pub mod calls;
mod config;
pub mod doctor;
mod error;
pub mod finding;
pub mod host;
pub mod interrupt;
pub mod load;
mod log;
pub mod manifest;
pub mod placement;
pub mod reach;
pub mod run;
pub mod scaffold;
pub mod search;
pub mod setup;
pub mod spec;
pub mod suite;
mod task;
pub mod toolchain;

pub use load::{EchoClient, EchoPayload};
pub use rpcbench_record::units;
