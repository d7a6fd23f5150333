//! The testkit's program, built once: cargo gives a test only its own package's programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::SystemTime;

/// The testkit's program, of the same profile as the program under test, in the same target folder.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| built().unwrap_or_else(build))
}

/// Folder of the testkit's sources.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit").canonicalize().unwrap()
}

fn target() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_rpcbench")).parent().unwrap()
}

/// The one that a test of the whole workspace has built, if no source is younger.
fn built() -> Option<PathBuf> {
    let program = target().join("rpcbench-testkit");
    let made = fs::metadata(&program).ok()?.modified().unwrap();
    let sources = ["src", "Cargo.toml", "generated", "../../contract", "../../Cargo.lock"];
    let youngest = sources.iter().map(|source| youngest(&folder().join(source))).max();
    (Some(made) > youngest).then_some(program)
}

fn youngest(path: &Path) -> SystemTime {
    let own = fs::metadata(path).unwrap().modified().unwrap();
    let below = fs::read_dir(path).into_iter().flatten();
    below.map(|item| youngest(&item.unwrap().path())).fold(own, SystemTime::max)
}

fn build() -> PathBuf {
    let profile = match target().file_name().unwrap().to_str() {
        Some("debug") => "dev",
        other => other.unwrap(),
    };
    let built = Command::new(env!("CARGO"))
        .args(["build", "--package", "rpcbench-testkit", "--bin", "rpcbench-testkit"])
        .args(["--locked", "--message-format", "json-render-diagnostics", "--profile", profile])
        .arg("--target-dir")
        .arg(target().parent().unwrap())
        .current_dir(folder())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(built.status.success(), "the testkit can't be built");
    let messages = String::from_utf8(built.stdout).unwrap();
    let mut values = messages.lines().map(|line| serde_json::from_str(line).unwrap());
    values
        .find_map(|message: serde_json::Value| Some(message["executable"].as_str()?.into()))
        .unwrap()
}
