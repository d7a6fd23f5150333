//! What CONTRIBUTING says about adding a server, followed with the repository's own templates.

use std::fs;
use std::path::Path;

use crate::bench::{copy, rpcbench};
use crate::program::{Ended, Program};

/// Languages with a template.
const LANGUAGES: [&str; 6] = ["cpp", "go", "java", "node", "python", "rust"];

/// Every template builds, and what is still to be written is said by the check.
#[test]
#[expect(clippy::print_stderr, reason = "a part that is skipped says so")]
fn a_new_server_builds_and_its_check_says_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for part in ["servers", "suites", "contract"] {
        copy(&repository.join(part), &root.path().join(part));
    }
    let run = |words: &str| -> Ended {
        let mut command = rpcbench(&["--root", root.path().to_str().unwrap()]);
        Program::start(command.args(words.split(' ')).current_dir(root.path())).finish()
    };
    let listed = run("list servers").expect(0).out;
    for language in LANGUAGES {
        let laid_out = run(&format!("new server {language} mine")).expect(0);
        laid_out.shows(&["rpcbench check"]);
        // C++ takes its libraries from the distribution.
        assert_eq!(laid_out.out.contains("build --lock"), language != "cpp", "{}", laid_out.out);
        // Whether the language's own servers can run here.
        let there = listed.lines().any(|line| {
            line.trim_start().starts_with(&format!("{language}-")) && line.contains("can run here")
        });
        if !there {
            eprintln!("SKIPPED: a new server in {language}, whose toolchain is not here");
            continue;
        }
        let ended = run(&format!("check {language}-mine")).expect(1);
        ended.shows(&["FAILED: exited with code 1 before it was ready"]);
        ended.complains(&[" building; log: ", "not written yet: "]);
        let log = root.path().join(format!("build/servers/{language}-mine/build.log"));
        assert!(fs::exists(log).unwrap());
    }
}
