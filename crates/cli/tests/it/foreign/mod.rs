//! Peers that this project did not write: clients that call every server that was built, services that the engine calls, nginx
//! between the engine and servers, and libraries for tables that read what a load leaves. scripts/peers.sh installs them.

mod connect_go;
mod containerd;
mod curl;
mod docker;
mod etcd;
mod grpc_go;
mod grpc_java;
mod grpc_python;
mod grpcurl;
mod handshakes;
mod loads;
mod nginx;
mod requests;
mod servers;
mod stopwatch;
mod tables;
mod thrift;
mod tls;

use std::path::{Path, PathBuf};

use crate::bench::repository;

/// What scripts/peers.sh has made under this name.
fn peer(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_rpcbench"));
    let path = program.ancestors().nth(2).unwrap().join("peers").join(name);
    assert!(path.exists(), "there is no {}: run scripts/peers.sh", path.display());
    path
}

/// A file in the folder of these tests.
fn file(name: &str) -> String {
    let path = repository().join("crates/cli/tests/it/foreign").join(name);
    path.into_os_string().into_string().unwrap()
}
