//! What CONTRIBUTING says about adding a server, followed with the repository's own templates.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use rpcbench_testkit::skip;
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
        for part in ["clients", "contract", "servers", "suites"] {
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
fn can_run(listed: &str, language: &str) -> bool {
    // A long line is wrapped.
    let words = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    let start = format!(" {language}-");
    let mut after = words.split(&start).skip(1);
    let can = after.any(|rest| {
        let state = rest.find("can run here");
        state.is_some_and(|at| rest.find("can't run here").is_none_or(|not| at < not))
    });
    if !can {
        skip(format!("{language}, whose toolchain is not here"));
    }
    can
}

/// The same of clients.
#[test]
fn new_client_builds_and_its_check_says_what_to_do() {
    let root = Root::new();
    let listed = root.run("list servers").expect(0).out;
    for language in ["go", "python"] {
        root.run(&format!("new client {language} mine")).expect(0).shows(&[
            &format!("rpcbench build --lock --clients {language}-mine"),
            &format!("rpcbench check --clients {language}-mine"),
        ]);
        if !can_run(&listed, language) {
            continue;
        }
        let ended = root.run(&format!("check --clients {language}-mine")).expect(1);
        ended.shows(&["FAILED: "]);
        let all = format!("{}{}", ended.out, ended.err);
        assert!(all.contains("not written yet: "), "{all}");
    }
}

/// Every template builds, and what is still to be written is said by the check.
#[test]
fn new_server_builds_and_its_check_lists_what_to_do() {
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

/// The library must still be there after the steps, in their order, whose source comes from the page for Go.
#[test]
fn printed_steps_work_in_order() {
    let root = Root::new();
    if !can_run(&root.run("list servers").expect(0).out, "go") {
        return;
    }
    let printed = root.run("new server go chi").expect(0).out;
    let at = |step: &str| printed.find(step).unwrap_or_else(|| panic!("no '{step}' in {printed}"));
    assert!(at("1. add the library") < at("2. write the server"));
    assert!(at("2. write the server") < at("3. rpcbench build --lock go-chi"));
    assert!(at("3. rpcbench build --lock go-chi") < at("5. rpcbench check go-chi"));
    let folder = root.path().join("servers/go/chi");
    let mods = folder.join("go.mod");
    let with = fs::read_to_string(&mods).unwrap() + "require github.com/go-chi/chi/v5 v5.5.0\n";
    fs::write(&mods, with).unwrap();
    let page = fs::read_to_string(repository().join("docs/new-servers.md")).unwrap();
    fs::write(folder.join("main.go"), section(&page, "```go\n", "```")).unwrap();
    root.run("build --lock go-chi").expect(0);
    // The template's own pattern, for this library.
    let manifest = fs::read_to_string(folder.join("server.toml")).unwrap();
    let manifest = manifest
        .replace("{} # chi = ", "{ chi = ")
        .replace("example\\.org/chi", "github\\.com/go-chi/chi/v5");
    fs::write(folder.join("server.toml"), manifest.replace("v(\\S+)'", "v(\\S+)' }")).unwrap();
    root.run("check go-chi").expect(0).shows(&["passed: "]);
    assert!(fs::read_to_string(mods).unwrap().contains("require github.com/go-chi/chi/v5 v5.5.0"));
}

/// Of servers whose packages come from nowhere, so that the registry has no say.
#[test]
fn rewritten_lock_file_is_unchanged() {
    let root = Root::new();
    let listed = root.run("list servers").expect(0).out;
    for (language, library, lock) in [
        ("dotnet", "minimal", "packages.lock.json"),
        ("go", "net-http", "go.mod"),
        ("node", "http", "package-lock.json"),
    ] {
        if !can_run(&listed, language) {
            continue;
        }
        let lock = root.path().join("servers").join(language).join(library).join(lock);
        let before = fs::read_to_string(&lock).unwrap();
        // In Go it is the list of packages as well.
        if language != "go" {
            fs::remove_file(&lock).unwrap();
        }
        root.run(&format!("build --lock {language}-{library}")).expect(0);
        assert_eq!(fs::read_to_string(&lock).unwrap(), before, "{}", lock.display());
    }
}

#[test]
fn distribution_libraries_are_not_locked() {
    let root = Root::new();
    for server in ["php-fpm", "ruby-sinatra"] {
        let lock = root.path().canonicalize().unwrap().join("build/servers").join(server);
        let said = root.run(&format!("build --lock {server}")).expect(2).err;
        let why =
            "there is nothing to lock: its libraries are the system's, such as Debian packages";
        let how =
            format!("each build writes the versions it found to {}/packages.lock", lock.display());
        assert!(said.ends_with(&format!("{server}: {why}; {how}")), "{said}");
    }
}

/// Of a walk: its language, the new server's folder, and the file that the code is for.
struct Walk<'a> {
    language: &'a str,
    library: &'a str,
    source: &'a str,
}

impl Walk<'_> {
    /// Block by block: commands are run, files written. The check must say what the page shows.
    fn follow(&self, text: &str) {
        let root = Root::new();
        if !can_run(&root.run("list servers").expect(0).out, self.language) {
            return;
        }
        fs::create_dir_all(root.path().join("target/release")).unwrap();
        symlink(env!("CARGO_BIN_EXE_rpcbench"), root.path().join("target/release/rpcbench"))
            .unwrap();
        let folder = root.path().join("servers").join(self.language).join(self.library);
        let mut checked = false;
        for block in text.split("```").skip(1).step_by(2) {
            let (kind, text) = block.split_once('\n').unwrap();
            match kind {
                "sh" => assert_eq!(root.shell(text).code, Some(0), "{text}"),
                "toml" => fs::write(folder.join("server.toml"), text).unwrap(),
                "console" => {
                    show(&root, text);
                    checked = true;
                }
                code => {
                    assert_eq!(code, self.language);
                    fs::write(folder.join(self.source), text).unwrap();
                }
            }
        }
        assert!(checked, "{text}");
    }
}

/// The first command must print what stands below it.
fn show(root: &Root, text: &str) {
    let (command, shown) = text.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
    let shown = shown.split("$ ").next().unwrap();
    assert_eq!(root.shell(command).expect(0).out, shown, "{command}");
}

fn section<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    page.split(from).nth(1).unwrap().split(to).next().unwrap()
}

#[test]
fn server_of_contributing_passes_the_check() {
    let page = fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let walk = Walk { language: "python", library: "grpclib", source: "server.py" };
    walk.follow(section(&page, "## Adding a server in an existing language\n", "**6. "));
}

/// The page has the files of a server in this repository, so they are the same; the check runs if an engine has the base
/// image.
#[test]
fn server_of_any_language_page_passes_the_check() {
    let page = fs::read_to_string(repository().join("docs/any-language.md")).unwrap();
    let steps = section(&page, "## The steps\n", "\n## ");
    let root = Root::new();
    let written = ["_language.toml", "warp/server.toml", "warp/Dockerfile"]
        .map(|file| Path::new("servers/haskell").join(file));
    for file in &written {
        fs::remove_file(root.path().join(file)).unwrap();
    }
    fs::create_dir_all(root.path().join("target/release")).unwrap();
    symlink(env!("CARGO_BIN_EXE_rpcbench"), root.path().join("target/release/rpcbench")).unwrap();
    let image = "docker image inspect debian:trixie-slim || docker pull debian:trixie-slim";
    let image = Command::new("sh").args(["-c", image]).output();
    let can_check = image.is_ok_and(|output| output.status.success());
    if !can_check {
        skip("the check of haskell-warp; no container engine has its base image");
    }
    for block in steps.split("```").skip(1).step_by(2) {
        match block.split_once('\n').unwrap() {
            ("sh", text) => assert_eq!(root.shell(text).code, Some(0), "{text}"),
            (_, text) if can_check => show(&root, text),
            _ => {}
        }
    }
    for file in &written {
        let text = fs::read_to_string(root.path().join(file)).unwrap();
        let here = fs::read_to_string(repository().join(file)).unwrap();
        assert_eq!(text, here, "{}", file.display());
    }
}

/// Files are written under the names before them.
#[test]
fn client_of_the_clients_page_passes_the_check() {
    let page = fs::read_to_string(repository().join("clients/README.md")).unwrap();
    let root = Root::new();
    if !can_run(&root.run("list servers").expect(0).out, "go") {
        return;
    }
    let steps = section(&page, "## A second Go client\n", "\n**4. ");
    for pair in steps.split("```").collect::<Vec<_>>().chunks_exact(2) {
        let (kind, text) = pair[1].split_once('\n').unwrap();
        if kind == "sh" {
            root.run(text.trim().strip_prefix("rpcbench ").unwrap()).expect(0);
        } else {
            let file = pair[0].rsplit('`').find(|part| part.starts_with("clients/go/fasthttp/"));
            fs::write(root.path().join(file.unwrap()), text).unwrap();
        }
    }
    root.run("build --lock --clients go-fasthttp").expect(0);
    root.run("check --clients go-fasthttp").expect(0).shows(&["passed: 26 cases"]);
    let run = "run --clients go-fasthttp --warmup 100ms --duration 100ms --processes 1 --rounds 1";
    root.run(&format!("{run} --format csv")).expect(0).shows(&["\"text: the whole string; "]);
}

#[test]
fn servers_of_new_servers_page_pass_the_check() {
    let page = fs::read_to_string(repository().join("docs/new-servers.md")).unwrap();
    let go = Walk { language: "go", library: "chi", source: "main.go" };
    go.follow(section(&page, "## Go\n", "\n## "));
    let java = Walk { language: "java", library: "httpserver", source: "EchoServer.java" };
    java.follow(section(&page, "## Java\n", "\n## "));
}
