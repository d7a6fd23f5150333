//! The benchmarks in `scripts/bench`, which read what the binary exports.

use std::path::Path;
use std::process::Command;

#[test]
fn benchmark_scripts_pass_their_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tests = Command::new("python3")
        .args(["-W", "error", "-m", "unittest", "discover", "scripts/bench"])
        .current_dir(root)
        .env("RPCBENCH", env!("CARGO_BIN_EXE_rpcbench"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stderr));
}
