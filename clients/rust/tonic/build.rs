//! Generates the client from the contract with a proto compiler written in Rust, so protoc is not needed.

use std::{env, error::Error, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=RPCBENCH_CONTRACT");
    let contract = env::var_os("RPCBENCH_CONTRACT")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../contract"));
    let proto = contract.join("echo.proto");
    println!("cargo::rerun-if-changed={}", proto.display());
    let descriptors = protox::compile([&proto], [&contract])?;
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .codec_path("crate::codec::Codec")
        .compile_fds(descriptors)?;
    Ok(())
}
