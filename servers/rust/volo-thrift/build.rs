//! Generates the service from the contract with the library's own compiler.

use std::{env, error::Error, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=RPCBENCH_CONTRACT");
    let contract = env::var_os("RPCBENCH_CONTRACT")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../contract"));
    let idl = contract.join("echo.thrift");
    println!("cargo::rerun-if-changed={}", idl.display());
    volo_build::Builder::thrift().add_service(idl).write()?;
    Ok(())
}
