//! `rpcbench-floor`: loads the testkit's null servers and parses nothing.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use rpcbench_client_bench::floor::Floor;
use rpcbench_client_bench::lineup::Load;
use rpcbench_client_bench::protocol::Protocol;
use rpcbench_contract::Shape;

/// The least that a client must do: writes and reads the bytes of calls, parses nothing
#[derive(Parser)]
#[command(name = "rpcbench-floor", version)]
struct Arguments {
    /// Where the null server listens: IP:PORT
    address: SocketAddr,
    /// How calls travel
    #[arg(long, default_value = "grpc")]
    protocol: Protocol,
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Calls in flight on each connection
    #[arg(short = 'm', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    in_flight: u32,
    /// How long, seconds
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    duration: u64,
    /// What a call carries: text:N
    #[arg(long, default_value = "text:100")]
    shape: Shape,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "rpcbench-floor: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { address, protocol, connections, in_flight, duration, .. } = *arguments;
    let load = Load { connections, in_flight };
    let mut floor = Floor::open(address, protocol, load, &arguments.shape)?;
    let calls = floor.run(Duration::from_secs(duration))?;
    writeln!(io::stdout(), r#"{{"calls":{calls},"ok":{calls}}}"#)?;
    Ok(())
}
