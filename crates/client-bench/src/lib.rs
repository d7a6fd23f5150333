//! Benchmarks rpcbench's own client against other load generators and the least that a client must do.
//!
//! `lineup` says what is compared, over which `protocol`, and in which order, `command` has each client's command
//! line, `process` runs them, `parse` reads their output, `summary` turns it into figures and `render` into a table.
//! `floor` is a client of its own, behind the binary `rpcbench-floor`.

pub mod command;
pub mod floor;
pub mod lineup;
pub mod machine;
pub mod parse;
pub mod process;
pub mod protocol;
pub mod render;
pub mod summary;
