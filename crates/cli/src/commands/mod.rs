//! One file a command.

pub mod build;
mod calls_log;
pub mod check;
pub mod completions;
pub mod doctor;
pub mod list;
pub mod load;
pub mod report;
pub mod run;
mod shared;
