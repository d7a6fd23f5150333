//! The manifests in this repository.

use std::path::Path;

use rpcbench_harness::build::read_lock;
use rpcbench_harness::manifest::{Catalog, MatrixCell, Selection};

fn catalog() -> Catalog {
    Catalog::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

#[test]
fn all_manifests_are_valid() {
    assert!(catalog().broken().is_empty(), "{:?}", catalog().broken());
    for entry in catalog().entries() {
        let command = entry.command().join(" ");
        assert!(!command.contains("{build}") && !command.contains("{args}"), "{command}");
        assert!(!entry.server.toolchains.is_empty(), "{}: no toolchain", entry.name());
    }
}

/// What is shown of a library is what is locked: there is one answer for each.
#[test]
fn every_lock_file_tells_one_version_of_each_library() {
    for server in catalog().servers() {
        if !server.lock.starts_with(&server.build_folder) {
            let (versions, _) = read_lock(server).unwrap();
            assert_eq!(versions.len(), server.versions.len(), "{}", server.name);
        }
    }
}

/// Nobody waits for all of them.
#[test]
fn at_most_twelve_run_by_default_and_one_of_each_language_and_protocol() {
    let chosen = catalog().select(&Selection::default()).unwrap();
    let mut kinds: Vec<_> =
        chosen.iter().map(|entry| (&entry.server.language, entry.protocol)).collect();
    assert!(kinds.len() <= 12, "{kinds:?}");
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), chosen.len(), "{kinds:?}");
}

#[test]
fn whatever_is_missing_has_a_reason() {
    let matrix = catalog().matrix();
    for row in &matrix.rows {
        assert!(!row.cells.contains(&MatrixCell::Missing(None)), "{row:?}");
    }
}
