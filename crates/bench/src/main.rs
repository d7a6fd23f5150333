//! `rpcbench-bench`: benchmarks rpcbench itself.
//!
//! - `client` compares what a call costs rpcbench's client with what it costs other load generators and the floor.
//! - `floor` is the least that a client must do.
//! - `resolution` makes runs of servers whose differences are known, and says how often the runs were right.

mod client;
mod floor;
mod resolution;
mod table;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// Benchmarks rpcbench itself
///
/// Exit code: 0 for success, 1 if a figure is void or a bar is missed, 2 if it could not run.
#[derive(Parser)]
#[command(name = "rpcbench-bench", version, max_term_width = 100)]
enum Arguments {
    Client(client::Arguments),
    Floor(floor::Arguments),
    Resolution(resolution::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse() {
        Arguments::Client(arguments) => client::run(&arguments),
        Arguments::Floor(arguments) => floor::run(&arguments),
        Arguments::Resolution(arguments) => resolution::run(&arguments),
    };
    let printed = done.and_then(|(output, is_met)| {
        io::stdout().write_all(output.as_bytes())?;
        Ok(is_met)
    });
    match printed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "rpcbench-bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
