//! What CONTRIBUTING says about adding a server, followed with the repository's own templates.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::bench::{Machine, copy, repository, rpcbench};
use crate::program::{Ended, Program};

/// Languages with a template.
const LANGUAGES: [&str; 6] = ["cpp", "go", "java", "node", "python", "rust"];

/// A root with the repository's servers, whose builds take all of the machine's CPUs.
struct Root {
    folder: TempDir,
    _machine: Machine,
}

impl Root {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for part in ["servers", "suites", "contract"] {
            copy(&repository().join(part), &folder.path().join(part));
        }
        Self { folder, _machine: Machine::shared() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, words: &str) -> Ended {
        let mut command = rpcbench(&["--root", self.path().to_str().unwrap()]);
        Program::start(command.args(words.split(' ')).current_dir(self.path())).finish()
    }

    /// In a shell.
    fn shell(&self, text: &str) -> Ended {
        Program::start(Command::new("bash").args(["-e", "-c", text]).current_dir(self.path()))
            .finish()
    }
}

/// Whether a language's own servers can run here, of what `rpcbench list servers` says.
#[expect(clippy::print_stderr, reason = "a part that is skipped says so")]
fn can_run(listed: &str, language: &str) -> bool {
    let can = listed.lines().any(|line| {
        line.trim_start().starts_with(&format!("{language}-")) && line.contains("can run here")
    });
    if !can {
        eprintln!("SKIPPED: a new server in {language}, whose toolchain is not here");
    }
    can
}

/// Every template builds, and what is still to be written is said by the check.
#[test]
fn a_new_server_builds_and_its_check_says_what_to_do() {
    let root = Root::new();
    let listed = root.run("list servers").expect(0).out;
    for language in LANGUAGES {
        let laid_out = root.run(&format!("new server {language} mine")).expect(0);
        laid_out.shows(&["rpcbench check"]);
        // C++ takes its libraries from the distribution.
        assert_eq!(laid_out.out.contains("build --lock"), language != "cpp", "{}", laid_out.out);
        if !can_run(&listed, language) {
            continue;
        }
        let ended = root.run(&format!("check {language}-mine")).expect(1);
        ended.shows(&["FAILED: exited with code 1 before it was ready"]);
        ended.complains(&[" building; log: ", "not written yet: "]);
        let log = root.path().join(format!("build/servers/{language}-mine/build.log"));
        assert!(fs::exists(log).unwrap());
    }
}

/// The walk through a second Python server, block by block: commands are run, files written.
#[test]
fn the_server_that_contributing_writes_passes_the_check() {
    let root = Root::new();
    if !can_run(&root.run("list servers").expect(0).out, "python") {
        return;
    }
    fs::create_dir_all(root.path().join("target/release")).unwrap();
    symlink(env!("CARGO_BIN_EXE_rpcbench"), root.path().join("target/release/rpcbench")).unwrap();
    let page = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let walk = page.split("## Adding a server in a language that is there\n").nth(1).unwrap();
    let walk = walk.split("**6. ").next().unwrap();
    let folder = root.path().join("servers/python/grpclib");
    let mut checked = false;
    for block in walk.split("```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').unwrap();
        match kind {
            "sh" => assert_eq!(root.shell(text).code, Some(0), "{text}"),
            "toml" => fs::write(folder.join("server.toml"), text).unwrap(),
            "python" => fs::write(folder.join("server.py"), text).unwrap(),
            "console" => {
                let (command, shown) = text.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
                let shown = shown.split("$ ").next().unwrap();
                assert_eq!(root.shell(command).expect(0).out, shown, "{command}");
                checked = true;
            }
            other => panic!("a block of {other}"),
        }
    }
    assert!(checked, "{walk}");
}
