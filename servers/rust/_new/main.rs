//! The contract's service on LIBRARY.
//!
//! `server current-thread` or `server multi-thread`; address and number of CPUs come from the environment.

use std::process::ExitCode;

use service::Failure;
use tokio::net::TcpListener;

fn main() -> ExitCode {
    service::run("rust-LIBRARY", serve)
}

/// Serves on the listener until SIGTERM, when `service::terminated` resolves.
async fn serve(_listener: TcpListener) -> Result<(), Failure> {
    Err("not written yet: main.rs must answer the four calls of contract/README.md here".into())
}
