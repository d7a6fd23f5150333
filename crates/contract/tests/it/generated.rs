//! The code in `generated/` of this crate and of the testkit is what `contract/echo.proto` becomes.
//!
//! It is committed so that a build of rpcbench needs no compiler of protobuf.

use std::fs;
use std::path::Path;

use prost::Message as _;
use tempfile::TempDir;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A file in `crates/`, and its content.
type Generated = (&'static str, Vec<u8>);

fn generated() -> [Generated; 3] {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract");
    let types = protox::compile(["echo.proto"], [folder]).unwrap();
    let code = |mut config: prost_build::Config| {
        let out = TempDir::new().unwrap();
        config.out_dir(out.path()).compile_fds(types.clone()).unwrap();
        fs::read(out.path().join("rpcbench.v1.rs")).unwrap()
    };
    [
        ("contract/generated/echo.binpb", types.encode_to_vec()),
        ("contract/generated/echo.rs", code(read_from_json())),
        // On its own, so that a mistake in the contract's crate can't hide itself in the testkit's servers.
        ("testkit/generated/echo.rs", code(prost_build::Config::new())),
    ]
}

/// Replies in JSON are read into the same types. `TreeNode` has a oneof, which serde can't read.
fn read_from_json() -> prost_build::Config {
    let mut config = prost_build::Config::new();
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
    config.btree_map(["."]);
    config
}

#[test]
fn generated_code_is_current() {
    for (path, content) in generated() {
        let committed = fs::read(Path::new(CRATES).join(path)).unwrap();
        assert!(
            committed == content,
            "crates/{path} is out of date: cargo test -p rpcbench-contract --test it generated::derive -- --ignored"
        );
    }
}

#[test]
#[ignore = "writes generated code"]
fn derive_the_code() {
    for (path, content) in generated() {
        fs::write(Path::new(CRATES).join(path), content).unwrap();
    }
}
