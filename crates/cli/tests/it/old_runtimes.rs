//! What is said of runtimes that have no fixes any more.

use std::fs;

use tempfile::TempDir;

use crate::bench::{copy, repository, rpcbench};
use crate::fakes::Fakes;
use crate::program::{Ended, Program};

const RUBY: &str = "case $1 in
    --version) echo 'ruby 3.1.7p261 (2025-03-26 revision 0a3704f218) [x86_64-linux-gnu]' ;;
    *) echo 9.9.9 ;;
esac";

/// The repository's manifests of one server in Node.js and one in Ruby, and programs that say that they are old.
struct Old {
    root: TempDir,
    programs: Fakes,
}

impl Old {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sources = repository();
        for folder in ["contract", "suites", "servers/node", "servers/ruby"] {
            copy(&sources.join(folder), &root.path().join(folder));
        }
        for other in ["express", "fastify", "grpc-js", "thrift"] {
            fs::remove_dir_all(root.path().join("servers/node").join(other)).unwrap();
        }
        fs::remove_dir_all(root.path().join("servers/ruby/grpc")).unwrap();
        for file in ["servers/_defaults.toml", "servers/debian.sh"] {
            fs::copy(sources.join(file), root.path().join(file)).unwrap();
        }
        let programs = Fakes::new();
        programs.script("node", "echo v18.20.4").script("npm", "echo 9.2.0");
        programs.script("ruby", RUBY).script("nginx", "echo nginx version: nginx/9.9.9 >&2");
        Self { root, programs }
    }

    fn run(&self, words: &str) -> Ended {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.programs.path().display());
        let mut command = rpcbench(&["--root", self.root.path().to_str().unwrap()]);
        Program::start(command.args(words.split(' ')).env("PATH", path)).finish()
    }
}

#[test]
fn doctor_names_the_end_of_support() {
    let said = Old::new().run("doctor");
    said.shows(&[
        "\
advice   toolchain-node       Node.js: its runtime is past its end of life
                              -> node 18.20.4 has had no fixes since 2025-04-30:
                                 install a newer release
",
        "\
advice   toolchain-ruby       Ruby: its runtime is past its end of life
                              -> ruby 3.1.7 has had no fixes since 2025-03-26:
                                 install a newer release
",
    ]);
}

#[test]
fn build_warns_of_old_runtimes() {
    let said = Old::new().run("build node-http").expect(0);
    let line = "rpcbench: node 18.20.4 has had no fixes since 2025-04-30: install a newer release";
    assert!(said.err.lines().any(|said| said == line), "{}", said.err);
}
