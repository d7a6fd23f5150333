//! Generates the messages of `contract/echo.proto`, on its own so that a mistake in the contract crate cannot hide itself here.

use std::path::Path;

use prost::Message as _;

#[expect(clippy::disallowed_methods, reason = "cargo hands the folder to write to over this way")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=../../contract/echo.proto");
    let files = protox::compile(["echo.proto"], ["../../contract"])?;
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; build with cargo")?;
    std::fs::write(Path::new(&out).join("echo.binpb"), files.encode_to_vec())?;
    prost_build::Config::new().compile_fds(files)?;
    Ok(())
}
