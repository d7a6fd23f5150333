//! Compiles `contract/echo.proto` into Rust types and a descriptor set. Works without `protoc`.

use std::error::Error;
use std::path::Path;

use prost::Message as _;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract");
const PROTO: &str = "echo.proto";

#[expect(clippy::disallowed_methods, reason = "cargo passes the output folder in this variable")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}/{PROTO}");
    let descriptors = protox::compile([PROTO], [FOLDER])?;
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; build with cargo")?;
    std::fs::write(Path::new(&out).join("echo.binpb"), descriptors.encode_to_vec())?;
    // Ordered maps make the same message the same bytes every time.
    prost_build::Config::new().btree_map(["."]).out_dir(out).compile_fds(descriptors)?;
    Ok(())
}
