//! The matrix in the documents is what the program prints, and the command lines of README and the guide work.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use rpcbench_testkit::{Server, relay_unix, wait_until};
use rustix::process::Signal;

use crate::bench::{Bench, copy, repository, rpcbench};
use crate::program::Program;
use crate::testkit;

/// Calls after which a load is on: more than the load before may have left in flight.
const LOADED: u64 = 10_000;

/// How a record's line of a trial begins.
const TRIAL: &str = "{\"trial\":";

fn page(name: &str) -> String {
    fs::read_to_string(repository().join(name)).expect(name)
}

#[test]
fn matrix_matches_the_manifests() {
    let why = "write it: cargo test -p rpcbench --test it derive_the_matrix -- --ignored";
    assert_eq!(page(MATRIX), with_matrix(), "{why}");
}

#[test]
#[ignore = "writes docs/servers.md"]
fn derive_the_matrix() {
    fs::write(repository().join(MATRIX), with_matrix()).expect(MATRIX);
}

const MATRIX: &str = "docs/servers.md";

/// The page of the matrix, with what `rpcbench list --matrix` prints.
fn with_matrix() -> String {
    let page = page(MATRIX);
    let (before, rest) = page.split_once("<!-- matrix -->\n").expect("a matrix");
    let (_, after) = rest.split_once("<!-- /matrix -->").expect("its end");
    let root = repository();
    let root = root.to_str().expect("a path in UTF-8");
    let mut command = rpcbench(&["--root", root, "list", "--matrix"]);
    let printed = Program::start(&mut command).finish().expect(0).out;
    format!("{before}<!-- matrix -->\n{printed}<!-- /matrix -->{after}")
}

#[test]
fn every_command_line_of_the_readme_works() {
    perform_lines("README.md", &BTreeSet::new());
}

#[test]
fn every_command_line_of_the_guide_works() {
    let readme = page("README.md");
    let of_readme = command_lines(&readme).into_iter().map(command).collect();
    perform_lines("docs/guide.md", &of_readme);
}

/// Performs the commands of a page that are not `done`, in a shell, as written but for the server's address and process id, and
/// the length of warm-ups. Long ones get Ctrl-C once they measure.
fn perform_lines(name: &str, done: &BTreeSet<&str>) {
    let place = Place::new();
    place.make_runs();
    let page = page(name);
    let lines = command_lines(&page);
    assert!(lines.len() > 10, "{name}: {lines:?}");
    let mut seen = done.clone();
    lines
        .into_iter()
        .filter(|line| seen.insert(command(line)) && !needs_more(line))
        .for_each(|line| place.perform(line));
}

/// True for loads of services that the testkit's server does not have, which `any_method`, `any_url` and `load_history` perform, and
/// for runs of clients that the root does not have.
fn needs_more(line: &str) -> bool {
    let loads = line.contains("rpcbench load");
    let others = ["--list", "--describe", "--call", "http://"];
    let names_clients = line.contains("--servers") && !line.contains("--clients 'go-*'");
    loads && others.iter().any(|it| line.contains(it)) || line.contains("shop.v1.") || names_clients
}

/// The line without its remark.
fn command(line: &str) -> &str {
    line.split(" #").next().unwrap_or_default().trim()
}

/// Those between fences that run rpcbench.
fn command_lines(text: &str) -> Vec<&str> {
    let blocks = text.split("```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines);
    lines
        .filter(|line| line.trim_start_matches("target/release/").starts_with("rpcbench "))
        .collect()
}

/// A root with servers of the names in the pages, all of them the testkit's, and a server that runs already.
struct Place {
    bench: Bench,
    server: Server,
    socket: PathBuf,
}

impl Place {
    fn new() -> Self {
        let bench = Bench::new();
        let root = bench.root();
        lay_out(&root);
        let bench = bench.commit();
        let work = bench.work();
        let program = env!("CARGO_BIN_EXE_rpcbench");
        symlink(program, work.join("rpcbench")).unwrap();
        fs::create_dir_all(root.join("target/release")).unwrap();
        symlink(program, root.join("target/release/rpcbench")).unwrap();
        let server = Server::start("honest".parse().unwrap()).unwrap();
        let socket = work.join("app.sock");
        relay_unix(&socket, server.address()).unwrap();
        Self { bench, server, socket }
    }

    fn root(&self) -> PathBuf {
        self.bench.root()
    }

    /// The runs that the pages name.
    fn make_runs(&self) {
        let results = self.root().join("results");
        for names in [&["2026-03-01T12-00-00", "monday", "main"][..], &["tuesday", "branch"]] {
            self.start("rpcbench run --results made --warmup 100ms").finish().expect(0);
            let made = self.root().join("made");
            let run = fs::read_dir(&made).unwrap().next().unwrap().unwrap().path();
            names.iter().for_each(|name| copy(&run, &results.join(name)));
            fs::remove_dir_all(made).unwrap();
        }
    }

    fn start(&self, line: &str) -> Program {
        let line = line
            .replace("127.0.0.1:50051", &self.server.address().to_string())
            .replace("/run/app.sock", self.socket.to_str().unwrap())
            .replace("--pid 4242", &format!("--pid {}", process::id()));
        let mut shell = Command::new("bash");
        let script = format!("PATH={}:$PATH; exec {line}", self.bench.work().display());
        shell.args(["-c", &script]).current_dir(self.root());
        shell.env("RPCBENCH_TESTKIT", testkit::program());
        Program::start(&mut shell)
    }

    fn perform(&self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (words[1], words[2..].first()) {
            ("run", _) | ("compare", Some(&"--build")) => self.measure(line),
            ("load", _) => self.load(line),
            (command, _) => {
                let ended = self.start(line).finish();
                // 3: the short runs can't tell.
                let verdict = command == "doctor" || line.contains("--fail-if");
                let done = ended.code == Some(0) || verdict && matches!(ended.code, Some(1 | 3));
                let shown = !ended.out.is_empty() || line.contains("--html");
                assert!(done && shown, "{line}: {ended:#?}");
            }
        }
    }

    /// A run with short warm-ups, up to its first trial.
    fn measure(&self, line: &str) {
        let before = self.trials();
        let (given, short) = ("--warmup 30s", "--warmup 100ms");
        let mut program = self.start(&match line.contains(given) {
            true => line.replace(given, short),
            false => format!("{} {short}", command(line)),
        });
        wait_until("a trial", || self.trials() > before || program.has_ended());
        if !program.has_ended() {
            program.signal(Signal::INT);
        }
        let ended = program.finish();
        let done = matches!(ended.code, Some(0 | 2)) && !ended.out.is_empty();
        assert!(self.trials() > before && done, "{line}: {ended:#?}");
        self.bench.nothing_left(ended.pid);
    }

    /// Trials in all records.
    fn trials(&self) -> usize {
        let runs = fs::read_dir(self.root().join("results")).unwrap();
        let events = runs.map(|run| run.unwrap().path().join("events.jsonl"));
        let events = events.map(|file| fs::read_to_string(file).unwrap_or_default());
        events.map(|text| text.lines().filter(|line| line.starts_with(TRIAL)).count()).sum()
    }

    /// Runs a load up to its first calls, or to its end with `--out`.
    fn load(&self, line: &str) {
        let before = self.server.calls();
        let is_loaded = || self.server.calls() > before + LOADED;
        let mut program = self.start(line);
        wait_until("a load", || is_loaded() || program.has_ended());
        if !line.contains("--out") && !program.has_ended() {
            program.signal(Signal::INT);
        }
        let ended = program.finish();
        let done = match line.contains("--out") {
            true => ended.code == Some(0),
            false => matches!(ended.code, Some(0..=2)),
        };
        assert!(is_loaded() && done, "{line}: {ended:#?}");
    }
}

/// What the pages name: servers in two languages, suites, and a suite of the reader's own.
fn lay_out(root: &Path) {
    let servers = root.join("servers");
    for (language, name) in [("go", "Go"), ("java", "Java")] {
        let (kit, to) = (servers.join("testkit"), servers.join(language));
        fs::create_dir(&to).unwrap();
        fs::copy(kit.join("build.sh"), to.join("build.sh")).unwrap();
        let manifest = fs::read_to_string(kit.join("_language.toml")).unwrap();
        fs::write(to.join("_language.toml"), manifest.replace("Testkit", name)).unwrap();
    }
    server(&servers.join("go/grpc"), "grpc", "representative = true");
    server(&servers.join("go/net-http"), "json", "representative = true");
    let java = servers.join("java/grpc");
    server(&java, "grpc", "");
    let variants = "[variants.g1]\nnote = \"one\"\nrepresentative = true\n[variants.zgc]\nnote = \"another\"\n";
    let manifest = java.join("server.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(manifest, text + variants).unwrap();
    fs::remove_dir_all(servers.join("testkit")).unwrap();
    client(root);
    let suites = root.join("suites");
    for name in ["one-core.toml", "short-connections.toml"] {
        fs::copy(suites.join("fresh.toml"), suites.join(name)).unwrap();
    }
    fs::copy(suites.join("quick.toml"), root.join("mine.toml")).unwrap();
}

/// The project's client with Go's net/http, which needs Go alone, built by the script of the project.
fn client(root: &Path) {
    let (here, go) = (repository(), root.join("clients/go"));
    copy(&here.join("servers/go/service"), &root.join("servers/go/service"));
    ["driver", "messages", "net-http"]
        .iter()
        .for_each(|it| copy(&here.join("clients/go").join(it), &go.join(it)));
    let manifest = fs::read_to_string(here.join("clients/go/_language.toml")).unwrap();
    let script = here.join("servers/go/build.sh");
    let manifest = manifest.replace("../../../servers/go/build.sh", script.to_str().unwrap());
    fs::write(go.join("_language.toml"), manifest).unwrap();
}

/// A server of the testkit under another name; `mark` is a line of its manifest.
fn server(folder: &Path, protocol: &str, mark: &str) {
    let behaviour = if protocol == "json" { "json" } else { "honest" };
    let manifest = format!(
        "library = \"testkit\"\nprotocols = [\"{protocol}\"]\nlock = \"Cargo.lock\"\n{mark}\n\
         [versions]\nh2 = 'name = \"h2\"\\nversion = \"([^\"]+)\"'\n\
         [run]\ncommand = [\"{{build}}/server\", \"--behaviour\", \"{behaviour}\"]\n"
    );
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("server.toml"), manifest).unwrap();
    fs::copy(
        testkit::folder().join("root/servers/testkit/liar/Cargo.lock"),
        folder.join("Cargo.lock"),
    )
    .unwrap();
}
