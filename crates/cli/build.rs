//! Passes the commit and the profile of the build to the binary: both are in every record.

use std::env;
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
    println!("cargo::rustc-env=RPCBENCH_PROFILE={}", profile());
    if let Some(commit) = commit() {
        println!("cargo::rustc-env=RPCBENCH_COMMIT={commit}");
    }
}

/// The profile's folder in the target directory, `debug` for `dev` and `test`: Cargo's `PROFILE` has the one it inherits from.
#[expect(clippy::disallowed_methods, reason = "Cargo passes the folder in the environment")]
fn profile() -> String {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    // <profile>/build/<package>/out
    let folder = Path::new(&out).ancestors().nth(3).and_then(Path::file_name);
    folder.expect("a folder of the profile").to_string_lossy().into_owned()
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
