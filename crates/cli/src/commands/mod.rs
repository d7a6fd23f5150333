//! One file per command.

pub mod build;
mod calls_log;
pub mod check;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod history;
pub mod list;
pub mod load;
mod matrix;
pub mod new;
mod out_file;
pub mod report;
pub mod run;
pub mod serve;
mod shared;
mod suites;
