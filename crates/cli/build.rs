//! Tells the binary which commit it is built from: it is in every record.

use std::path::Path;
use std::process::Command;

fn main() {
    // In a worktree, `.git` is a file. Outside git, a path that does not exist would make every build start over.
    for name in ["HEAD", "index"] {
        let path = git(&["rev-parse", "--git-path", name]);
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=RPCBENCH_COMMIT={commit}");
    }
}

/// The commit, `-dirty` behind it where tracked files had changed; nothing outside git.
fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// What git prints. It must not touch the index, which this script watches.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
