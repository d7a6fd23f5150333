//! Peers that this project did not write: clients that call every server that was built, an Apache server and one of grpc-go
//! that the engine calls, nginx between the engine and two servers, and libraries for tables that read what a load leaves. scripts/peers.sh installs them.

mod curl;
mod docker;
mod grpc_go;
mod grpcurl;
mod nginx;
mod requests;
mod servers;
mod tables;
mod thrift;
mod tls;

use std::path::{Path, PathBuf};

/// What scripts/peers.sh has made under this name.
fn peer(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_rpcbench"));
    let path = program.ancestors().nth(2).unwrap().join("peers").join(name);
    assert!(path.exists(), "there is no {}: run scripts/peers.sh", path.display());
    path
}
