//! Tells the binary which commit it is built from: it is in every record.

use std::process::Command;

fn main() {
    for path in ["../../.git/HEAD", "../../.git/index"] {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=RPCBENCH_COMMIT={commit}");
    }
}

/// The commit, `-dirty` behind it where tracked files had changed; nothing outside git.
fn commit() -> Option<String> {
    let arguments = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success()).then(|| text.trim().to_owned())
}
