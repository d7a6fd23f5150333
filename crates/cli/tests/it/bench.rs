//! A separate root for each test, with the testkit's servers, and the binary run on it.

use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rpcbench_record::{Measured, Run, Trial};
use rpcbench_testkit::Server;
use serde_json::Value;
use tempfile::TempDir;

use crate::kernel::{groups_of, processes_in};
use crate::program::{Ended, Program};
use crate::testkit;

/// What every server of the testkit is called, before its behaviour.
const SERVER: &str = "testkit-liar@";

/// A claim on the machine, so that tests that compare figures have its few CPUs to themselves. Locks on files, since tests run in
/// several processes.
pub struct Machine(#[expect(dead_code, reason = "holds the lock")] File);

impl Machine {
    /// Runs next to other tests.
    pub fn shared() -> Self {
        Self::claim(File::lock_shared)
    }

    /// Runs while no other test of this program does.
    fn alone() -> Self {
        Self::claim(File::lock)
    }

    fn claim(lock: fn(&File) -> io::Result<()>) -> Self {
        let file = |name| File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).unwrap();
        // Held while waiting, so that later tests don't overtake one that waits to be alone.
        let queue = file("machine.queue");
        queue.lock().unwrap();
        let machine = file("machine");
        lock(&machine).unwrap();
        Self(machine)
    }
}

/// A server of the testkit within the test, which `rpcbench load` loads; a test has one at a time.
pub struct Target {
    server: Server,
    _machine: Machine,
}

impl Target {
    /// For tests that may run next to others.
    pub fn new(behaviour: &str) -> Self {
        let machine = Machine::shared();
        let server = Server::start(behaviour.parse().unwrap()).unwrap();
        Self { server, _machine: machine }
    }
}

impl Deref for Target {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// A root and a folder for results, gone when dropped.
pub struct Bench {
    folder: TempDir,
    _machine: Machine,
}

/// The binary, with no environment that changes what it does.
pub fn rpcbench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rpcbench"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// The binary run on the testkit's root as it stands in the sources, for what builds and starts nothing.
pub fn look(words: &str) -> Ended {
    let root = testkit::folder().join("root");
    let mut arguments = vec!["--root", root.to_str().unwrap()];
    arguments.extend(words.split_whitespace());
    Program::start(&mut rpcbench(&arguments)).finish()
}

impl Bench {
    /// For tests that may run next to others.
    pub fn new() -> Self {
        Self::on(Machine::shared())
    }

    /// For what compares figures.
    pub fn alone() -> Self {
        Self::on(Machine::alone())
    }

    fn on(machine: Machine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let kit = testkit::folder();
        for part in ["servers", "suites"] {
            copy(&kit.join("root").join(part), &at("root").join(part));
        }
        link_inputs(&kit, folder.path());
        fs::create_dir(at("work")).unwrap();
        Self { folder, _machine: machine }
    }

    /// Adds a variant of the testkit's server, with these arguments.
    pub fn variant(self, name: &str, arguments: &str) -> Self {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let manifest = self.root().join("servers/testkit/liar/server.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let more = format!("\n[variants.{name}]\nnote = \"of a test\"\nargs = {words:?}\n");
        fs::write(manifest, text + &more).unwrap();
        self
    }

    /// Replaces a part of a file of the root, which must be there.
    pub fn edit(self, file: &str, part: &str, by: &str) -> Self {
        let path = self.root().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(part), "no '{part}' in {file}");
        fs::write(path, text.replacen(part, by, 1)).unwrap();
        self
    }

    /// Commits the root to a new repository.
    pub fn commit(self) -> Self {
        let root = self.root();
        git(&root, "init --quiet");
        git(&root, "add .");
        git(&root, "-c user.name=a -c user.email=a@example.com commit --quiet -m servers");
        let revisions = root.join("build/revisions");
        fs::create_dir_all(&revisions).unwrap();
        link_inputs(self.folder.path(), &root.join("build"));
        link_inputs(self.folder.path(), &revisions);
        self
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// Folders with certificates of runs.
    pub fn certificates(&self) -> Vec<String> {
        let logs = fs::read_dir(self.root().join("build/logs")).unwrap();
        let names = logs.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("tls-")).collect()
    }

    /// Where the program runs, and where its `results/` is.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The command line `words`. `@honest` stands for the server `testkit-liar@honest`.
    pub fn command(&self, words: &str) -> Command {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(behaviour) => format!("{SERVER}{behaviour}"),
            None => word.to_owned(),
        };
        let mut command = rpcbench(&[]);
        command
            .arg("--root")
            .arg(self.root())
            .args(words.split_whitespace().map(word))
            .current_dir(self.work())
            .env("RPCBENCH_TESTKIT", testkit::program());
        command
    }

    /// The same, started by another program.
    pub fn command_by(&self, launcher: &[&str], words: &str) -> Command {
        let inner = self.command(words);
        let mut command = Command::new(launcher[0]);
        command.args(&launcher[1..]).arg(inner.get_program()).args(inner.get_args());
        command.current_dir(self.work());
        for (key, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command
    }

    pub fn start(&self, words: &str) -> Program {
        Program::start(&mut self.command(words))
    }

    /// Runs to the end. Nothing may be left behind.
    #[track_caller]
    pub fn run(&self, words: &str) -> Ended {
        let ended = self.start(words).finish();
        self.nothing_left(ended.pid);
        ended
    }

    /// No process of any server, no child of one, and no group.
    #[track_caller]
    pub fn nothing_left(&self, pid: u32) {
        let (processes, groups) = (self.processes(), groups_of(pid));
        assert!(processes.is_empty() && groups.is_empty(), "left: {processes:?}, {groups:#?}");
    }

    /// Servers and their children.
    pub fn processes(&self) -> Vec<i32> {
        processes_in(&self.root())
    }

    /// The folder of the one run that was made.
    #[track_caller]
    pub fn results(&self) -> PathBuf {
        let runs = fs::read_dir(self.work().join("results")).unwrap();
        let runs: Vec<PathBuf> = runs.map(|run| run.unwrap().path()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.into_iter().next().unwrap()
    }

    /// The record of the one run that was made.
    #[track_caller]
    pub fn record(&self) -> Run {
        rpcbench_record::read(&self.results()).unwrap()
    }

    /// The cells of the one run that was made, as `report --format json` has them.
    #[track_caller]
    pub fn cells(&self) -> Cells {
        let words = format!("report {} --format json", self.results().display());
        Cells(self.run(&words).expect(0).json())
    }
}

/// Cells of the first workload of a run.
pub struct Cells(Value);

impl Cells {
    #[track_caller]
    pub fn of(&self, behaviour: &str) -> &Value {
        self.entry(&format!("{SERVER}{behaviour}"))
    }

    #[track_caller]
    pub fn entry(&self, name: &str) -> &Value {
        let cells = self.0["workloads"][0]["cells"].as_array().unwrap();
        cells.iter().find(|cell| cell["entry"] == *name).unwrap_or_else(|| panic!("no {name}"))
    }

    #[track_caller]
    pub fn verdict(&self, behaviour: &str) -> &str {
        self.of(behaviour)["verdict"].as_str().unwrap()
    }

    /// Why it is not ranked.
    #[track_caller]
    pub fn reason(&self, behaviour: &str) -> &str {
        self.of(behaviour)["reason"].as_str().unwrap_or_else(|| panic!("{behaviour} is ranked"))
    }

    /// It failed for a reason with `part` in it, and has no rank.
    #[track_caller]
    pub fn failed(&self, behaviour: &str, part: &str) {
        assert_eq!(self.verdict(behaviour), "failed", "{behaviour}");
        assert!(self.of(behaviour)["place_best"].is_null(), "{behaviour}");
        let reason = self.reason(behaviour);
        assert!(reason.contains(part), "{behaviour}: no '{part}' in: {reason}");
    }

    /// Every call was answered right.
    #[track_caller]
    pub fn measured(&self, behaviour: &str) {
        let cell = self.of(behaviour);
        assert_ne!(cell["verdict"], "failed", "{cell:#}");
        assert!(cell["ok"].as_u64() > Some(0) && cell["ok"] == cell["calls"], "{cell:#}");
    }
}

/// The windows of one server that were measured to their end.
pub fn measured<'a>(run: &'a Run, behaviour: &str) -> Vec<&'a Measured> {
    let name = format!("{SERVER}{behaviour}");
    let trials = run.trials.iter().filter(|trial| trial.entry == name);
    trials.filter_map(Trial::measured).collect()
}

/// What the manifests of the testkit's servers name outside of their root, whose folder `to` is.
fn link_inputs(from: &Path, to: &Path) {
    for input in ["src", "Cargo.toml", "generated"] {
        symlink(from.join(input), to.join(input)).unwrap();
    }
}

fn git(root: &Path, words: &str) {
    let ended = Command::new("git").arg("-C").arg(root).args(words.split(' ')).output().unwrap();
    assert!(ended.status.success(), "{words}: {ended:?}");
}

/// Folder of the sources.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files behind links become files of their own.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for item in fs::read_dir(from).unwrap() {
        let path = item.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
