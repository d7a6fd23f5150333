//! Manifests that are right, and what is said about those that are wrong.

mod layers;
mod refusals;
mod selection;

use std::fs;
use std::path::Path;

use rpcbench_harness::manifest::{Catalog, Selection};

const LANGUAGE: &str = r#"
name = "Java"
ready_timeout = "40s"

[[toolchain]]
name = "java"
command = ["java", "-version"]
version = 'version "(\d+)'
minimum = "25"
install = "a JDK"

[build]
command = ["sh", "../build.sh", "{build}"]
inputs = ["../build.sh"]

[runtime]
warmup_min = "2s"
warmup_max = "20s"
compiler_threads = ["C2 CompilerThre"]

[run.env]
SHARED = "language"
COMMON = "language"
"#;

const SERVER: &str = r#"
library = "grpc-java"
protocols = ["grpc"]
lock = "gradle.lockfile"

[versions]
grpc-java = 'io.grpc:grpc-netty:(\S+)='

[run]
command = ["java", "{args}", "-jar", "{build}/server.jar"]
[run.env]
SHARED = "server"

[variants.zgc]
note = "ZGC"
args = ["-XX:+UseZGC"]
env = { GC = "z" }

[variants.g1]
note = "G1"
"#;

const GO: &str = r#"
library = "grpc-go"
protocols = ["grpc"]
lock = "{build}/go.sum"
versions = {}
stop_timeout = "9s"
[run]
command = ["{build}/server", "{server}"]
"#;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let at = root.path();
    write(at, "servers/_defaults.toml", "ready_timeout = \"30s\"\nstop_timeout = \"5s\"\n");
    write(at, "servers/java/_language.toml", LANGUAGE);
    write(at, "servers/java/grpc/server.toml", SERVER);
    write(at, "servers/java/shared/Echo.java", "");
    write(at, "servers/go/_language.toml", &LANGUAGE.replace("Java", "Go"));
    write(at, "servers/go/grpc/server.toml", GO);
    root
}

fn load(root: &tempfile::TempDir) -> Catalog {
    Catalog::load(root.path()).unwrap()
}

fn named(patterns: &[&str]) -> Selection {
    Selection::named(patterns.iter().map(|text| (*text).to_owned()).collect())
}

/// The message about a catalogue in which `path` is replaced by `text`.
fn refusal(path: &str, text: &str) -> String {
    let root = root();
    write(root.path(), path, text);
    let message = match Catalog::load(root.path()) {
        Ok(catalog) => {
            let [broken] = catalog.broken() else { panic!("{:?}", catalog.broken()) };
            broken.error.to_string()
        }
        Err(error) => error.to_string(),
    };
    let top = root.path().canonicalize().unwrap();
    message.replace(&format!("{}/", top.display()), "")
}

fn server_refusal(from: &str, to: &str) -> String {
    assert!(SERVER.contains(from));
    refusal("servers/java/grpc/server.toml", &SERVER.replacen(from, to, 1))
}

fn language_refusal(from: &str, to: &str) -> String {
    assert!(LANGUAGE.contains(from));
    refusal("servers/java/_language.toml", &LANGUAGE.replacen(from, to, 1))
}
