//! `rpcbench-bench`: benchmarks of rpcbench itself that have to be fast.
//!
//! `floor` is the cheapest possible client. `scripts/bench` compares rpcbench's client with it.

mod floor;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

/// Benchmarks rpcbench itself
///
/// Exit code: 0 for success, 2 if it could not run.
#[derive(Parser)]
#[command(name = "rpcbench-bench", version, max_term_width = 100)]
enum Arguments {
    Floor(floor::Arguments),
}

fn main() -> ExitCode {
    let Arguments::Floor(arguments) = Arguments::parse();
    let printed =
        floor::run(&arguments).and_then(|output| Ok(io::stdout().write_all(output.as_bytes())?));
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "rpcbench-bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
