//! Generates the service from the contract with a proto compiler written in Rust, so protoc is not needed.

use std::{env, error::Error, fs, path::PathBuf};

use protox::prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=RPCBENCH_CONTRACT");
    let contract = env::var_os("RPCBENCH_CONTRACT")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../contract"));
    let proto = contract.join("echo.proto");
    println!("cargo::rerun-if-changed={}", proto.display());
    let descriptors = PathBuf::from(env::var("OUT_DIR")?).join("descriptors");
    fs::write(&descriptors, protox::compile([&proto], [&contract])?.encode_to_vec())?;
    connectrpc_build::Config::new()
        .descriptor_set(descriptors)
        .files(&["echo.proto"])
        .include_file("_connectrpc.rs")
        .compile()?;
    Ok(())
}
