//! The floor: a client that writes and reads the bytes of calls but parses nothing.
//!
//! It makes the same system calls as the engine's epoll driver: for each connection one read and one write per turn.
//! Requests are prepared bytes, in which only the call's number is patched. Replies are counted by their number of bytes, so
//! it needs a server whose replies all have one size, such as the testkit's null servers. It decodes, compares and times
//! nothing; no real client can be cheaper.

mod load;
mod opening;
mod peer;
mod replies;
mod requests;
#[cfg(test)]
mod tests;
mod wire;

use std::net::SocketAddr;
use std::time::Duration;

use rpcbench_contract::Shape;
use rpcbench_record::Protocol;

use load::{Floor, Load};

/// The cheapest possible client: writes and reads the bytes of calls, parses nothing
#[derive(clap::Args)]
pub struct Arguments {
    /// Address of the null server: IP:PORT
    address: SocketAddr,
    /// How calls travel: grpc, json or thrift
    #[arg(long, default_value = "grpc")]
    protocol: Protocol,
    /// Connections
    #[arg(short, long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Calls in flight on each connection
    #[arg(short = 'm', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    in_flight: u32,
    /// How long, seconds
    #[arg(short = 'z', long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    duration: u64,
    /// What a call carries: text:N
    #[arg(long, default_value = "text:100")]
    shape: Shape,
}

/// The number of calls as JSON.
pub fn run(arguments: &Arguments) -> anyhow::Result<String> {
    let Arguments { address, protocol, connections, in_flight, duration, .. } = *arguments;
    let load = Load { connections, in_flight };
    let mut floor = Floor::open(address, protocol, load, &arguments.shape)?;
    let calls = floor.run(Duration::from_secs(duration))?;
    Ok(format!("{{\"calls\":{calls},\"ok\":{calls}}}\n"))
}
