//! The manifests in this repository.

use std::path::Path;

use rpcbench_harness::manifest::Catalog;

#[test]
fn all_manifests_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalog = Catalog::load(&root).unwrap();
    for entry in catalog.entries() {
        let command = entry.command().join(" ");
        assert!(!command.contains("{build}") && !command.contains("{args}"), "{command}");
        assert!(!entry.server.toolchains.is_empty(), "{}: no toolchain", entry.name());
    }
}
