//! Compiles `contract/echo.proto` into Rust types and a descriptor set. Works without `protoc`.

use std::error::Error;
use std::path::Path;

use prost::Message as _;

/// From the package's folder, in which cargo runs this: a checkout can be moved.
const FOLDER: &str = "../../contract";
const PROTO: &str = "echo.proto";

#[expect(clippy::disallowed_methods, reason = "cargo passes the output folder in this variable")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}/{PROTO}");
    let descriptors = protox::compile([PROTO], [FOLDER])?;
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; build with cargo")?;
    std::fs::write(Path::new(&out).join("echo.binpb"), descriptors.encode_to_vec())?;
    let mut config = prost_build::Config::new();
    // Replies in JSON are read into the same types. `TreeNode` has a oneof, which serde can't read.
    for message in ["FlatRecord", "PropertyDto", "Branch", "Tag"] {
        config
            .type_attribute(message, "#[derive(serde::Deserialize)] #[serde(deny_unknown_fields)]");
    }
    for (field, read) in [
        ("FlatRecord.field5", "wide_list"),
        ("FlatRecord.field22", "wide"),
        ("Branch.id", "wide"),
        ("Branch.tags", "objects"),
    ] {
        let path = format!("crate::codec::json::plain::{read}");
        config.field_attribute(field, format!("#[serde(deserialize_with = \"{path}\")]"));
    }
    // Ordered maps make the same message the same bytes every time.
    config.btree_map(["."]).out_dir(out).compile_fds(descriptors)?;
    Ok(())
}
