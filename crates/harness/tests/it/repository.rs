//! The manifests in this repository.

use std::path::Path;

use rpcbench_harness::build::read_lock;
use rpcbench_harness::manifest::{Catalog, MatrixCell, Selection};
use rpcbench_harness::toolchain::unsupported;
use rpcbench_record::Toolchain;

/// Languages whose toolchains have no dates of the end of support, and why.
const NO_DATES: [(&str, &str); 4] = [
    ("cpp", "nothing but the program runs, and its libraries are the distribution's"),
    ("erlang", "a release has fixes until the third after it, which comes on no set day"),
    ("go", "a release has fixes until the next but one, which comes on no set day"),
    ("rust", "nothing but the program runs"),
];

fn catalog() -> Catalog {
    Catalog::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

#[test]
fn all_manifests_are_valid() {
    assert!(catalog().broken().is_empty(), "{:?}", catalog().broken());
    for entry in catalog().entries() {
        let command = entry.command().join(" ");
        assert!(!command.contains("{build}") && !command.contains("{args}"), "{command}");
        let has_none = entry.server.toolchains.is_empty();
        assert_eq!(has_none, entry.server.build.container_only, "{}", entry.name());
    }
}

/// What is shown of a library is what is locked: there is one answer for each.
#[test]
fn lock_files_have_one_version_of_each_library() {
    for server in catalog().servers() {
        if !server.lock.starts_with(&server.build_folder) {
            let (versions, _) = read_lock(server).unwrap();
            assert_eq!(versions.len(), server.versions.len(), "{}", server.name);
        }
    }
}

/// Also of the oldest release that servers are run on.
#[test]
fn every_runtime_has_end_of_support_dates() {
    for server in catalog().servers().iter().filter(|server| !server.build.container_only) {
        let dated = server.toolchains.iter().find(|tool| !tool.end_of_support.is_empty());
        let exempt = NO_DATES.iter().any(|(language, _)| *language == server.language);
        assert_eq!(dated.is_none(), exempt, "{}", server.name);
        let Some(runtime) = dated else { continue };
        let version = runtime.minimum.clone().unwrap();
        let oldest = Toolchain { name: runtime.name.clone(), version };
        let lines = unsupported(server, &[oldest], "2100-01-01".parse().unwrap());
        assert_eq!(lines.len(), 1, "{}: {runtime:?}", server.name);
    }
}

/// Not all of them, which would take too long.
#[test]
fn default_entries_are_twelve_and_one_per_language_and_protocol() {
    let chosen = catalog().select(&Selection::default()).unwrap();
    let mut kinds: Vec<_> =
        chosen.iter().map(|entry| (&entry.server.language, entry.protocol)).collect();
    assert!(kinds.len() <= 12, "{kinds:?}");
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), chosen.len(), "{kinds:?}");
}

/// gRPC against JSON in five languages, and the two that README.md counts with them.
#[test]
fn default_languages_match_the_readme() {
    let chosen = catalog().select(&Selection::default()).unwrap();
    let names: Vec<_> = chosen.iter().map(|entry| entry.base_name()).collect();
    let expected = [
        "dotnet-grpc@native-aot",
        "go-grpc",
        "go-net-http",
        "java-grpc@g1",
        "java-spring-boot@g1",
        "node-fastify",
        "node-grpc-js",
        "php-fpm:json",
        "python-fastapi",
        "python-grpcio@asyncio",
        "rust-axum@multi-thread",
        "rust-tonic@multi-thread",
    ];
    assert_eq!(names, expected);
}

#[test]
fn missing_servers_have_a_reason() {
    let matrix = catalog().matrix();
    for row in &matrix.rows {
        assert!(!row.cells.contains(&MatrixCell::Missing(None)), "{row:?}");
    }
}
