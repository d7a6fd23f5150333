//! The floor: a client that writes and reads the bytes of calls but parses nothing.
//!
//! It makes the same system calls as the engine's epoll driver: one read and one write per connection and turn. Requests are
//! prepared bytes, in which only the call's number is patched. Replies are counted by their bytes, so the server's replies
//! must all have one size, as those of the testkit's null servers do. The floor decodes, compares and times nothing; no real
//! client can be cheaper.
//!
//! With TLS, rustls does the handshake, and records are sealed and opened in place: the plain floor plus cryptography. With
//! [`Arguments::short`], each call has its own connection, and rustls does all of TLS.

mod events;
mod load;
mod opening;
mod peer;
mod replies;
mod requests;
mod short;
#[cfg(test)]
mod tests;
mod tls;
mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use rpcbench_contract::Shape;
use rpcbench_record::Protocol;

use load::{Floor, Load};
use short::{Calls, Short};

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
    /// Speak TLS 1.3 with a server at localhost whose certificate an authority in this file (PEM) has issued
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// A connection for each call, over json or thrift
    #[arg(long, requires = "cacert")]
    short: bool,
    /// With --short: a full handshake for each connection
    #[arg(long, requires = "short")]
    no_resumption: bool,
}

/// Runs the load, and returns the number of calls as JSON.
pub fn run(arguments: &Arguments) -> anyhow::Result<String> {
    let Arguments { address, protocol, connections, in_flight, .. } = *arguments;
    let length = Duration::from_secs(arguments.duration);
    let tls = arguments.cacert.as_deref().map(|file| tls::config(file, !arguments.no_resumption));
    let tls = tls.transpose()?.map(Arc::new);
    if arguments.short {
        let config = tls.context("--short needs --cacert")?;
        let mut short = Short::new(address, config, protocol, &arguments.shape)?;
        let Calls { calls, resumed } = short.run(connections, length)?;
        return Ok(format!("{{\"calls\":{calls},\"ok\":{calls},\"resumed\":{resumed}}}\n"));
    }
    let load = Load { connections, in_flight };
    let mut floor = Floor::open(address, tls.as_ref(), protocol, load, &arguments.shape)?;
    let calls = floor.run(length)?;
    Ok(format!("{{\"calls\":{calls},\"ok\":{calls}}}\n"))
}
