//! Benchmarks rpcbench's own client against other load generators and the least that a client must do.
//!
//! `plan` says what is compared and in which order, `command` how each client is told, `process` runs them,
//! `parse` reads what they say, `summary` makes figures of it, `render` a table. `floor` is a client of its
//! own, behind the binary `rpcbench-floor`.

pub mod command;
pub mod floor;
pub mod machine;
pub mod parse;
pub mod plan;
pub mod process;
pub mod render;
pub mod summary;
