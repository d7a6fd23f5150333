//! Servers in containers of the engine that the `docker` command finds. Their image has the testkit's program and its libraries,
//! and no base.

mod alone;
mod bad_days;
mod clients;
mod inside;
mod killed;
mod own_daemon;
mod podman;
mod tls;

use std::fs;
use std::path::Path;
use std::process::Command;

use rpcbench_testkit::wait_until;

use crate::bench::Bench;
use crate::program::{Ended, Program};
use crate::testkit;

/// A root whose servers have an image, which is removed in the end.
struct Docker {
    bench: Bench,
    label: String,
    /// Its command, and the placement of that name.
    engine: &'static str,
    /// Address of another engine than the user's.
    host: Option<String>,
}

impl Docker {
    fn new() -> Self {
        Self::of(Bench::new(), "", None)
    }

    /// With `steps` at the end of the Dockerfile.
    fn of(bench: Bench, steps: &str, host: Option<String>) -> Self {
        let label = format!("dev.rpcbench.test={}", bench.root().display());
        let docker = Self { bench, label, engine: "docker", host };
        docker.lay_out_server("liar", steps);
        docker
    }

    /// Gives a server of the testkit an image.
    fn lay_out_server(&self, name: &str, steps: &str) {
        let folder = format!("servers/testkit/{name}");
        self.lay_out(&folder, &[("server", testkit::program())], steps);
        // Its versions are in the lock file of the sources.
        let lock = testkit::folder().join("../../Cargo.lock");
        fs::copy(lock, self.bench.root().join(folder).join("Cargo.lock")).unwrap();
    }

    /// Gives what is in a folder an image with these programs in the build folder, and their libraries.
    fn lay_out(&self, folder: &str, programs: &[(&str, &Path)], steps: &str) {
        let to = self.bench.root().join(folder);
        let image = to.join("image");
        for (name, program) in programs {
            place(program, &image.join("server").join(name));
            let linked = Command::new("ldd").arg(program).output().unwrap();
            let linked = String::from_utf8(linked.stdout).unwrap();
            for library in linked.split_whitespace().filter(|word| word.starts_with('/')) {
                place(Path::new(library), &image.join(&library[1..]));
            }
        }
        let label = &self.label;
        let dockerfile = format!("FROM scratch\nCOPY {folder}/image /\nLABEL {label}\n{steps}\n");
        fs::write(to.join("Dockerfile"), dockerfile).unwrap();
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.bench.command(&format!("{words} --in {}", self.engine));
        command.envs(self.host.as_ref().map(|host| ("DOCKER_HOST", host)));
        command
    }

    fn start(&self, words: &str) -> Program {
        Program::start(&mut self.command(words))
    }

    /// Runs to the end, and leaves no container.
    #[track_caller]
    fn run(&self, words: &str) -> Ended {
        let ended = self.start(words).finish();
        let left = self.containers(ended.pid);
        assert!(left.is_empty(), "left: {left:?}");
        ended
    }

    /// What the engine's command prints.
    fn docker(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(self.engine);
        command.args(arguments).envs(self.host.as_ref().map(|host| ("DOCKER_HOST", host)));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    /// Names of the containers that the rpcbench of that process id has started.
    fn containers(&self, pid: u32) -> Vec<String> {
        let filter = "label=dev.rpcbench.owner";
        let names = self.docker(&["ps", "-a", "--filter", filter, "--format", "{{.Names}}"]);
        let is_own = |name: &&str| name.contains(&format!("-{pid}-"));
        names.lines().filter(is_own).map(str::to_owned).collect()
    }

    fn await_containers(&self, pid: u32, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        wait_until("containers", || {
            found = self.containers(pid);
            found.len() == count
        });
        found
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        let images =
            self.docker(&["image", "ls", "-q", "--filter", &format!("label={}", self.label)]);
        for image in images.lines() {
            self.docker(&["image", "rm", "-f", image]);
        }
    }
}

fn place(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}
