//! Builds, and when they are up to date.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rpcbench_harness::build::{BuildError, Built, is_current};
use rpcbench_harness::build::{BuildEvent, BuildState, Builder, Building};
use rpcbench_harness::build_env::BuildEnv;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::manifest::{Catalog, Selection, Server};
use rpcbench_harness::placement;
use rpcbench_record::{PlacementKind, Toolchain};
use rpcbench_testkit::wait_until;

use crate::support;

const LANGUAGE: &str = r#"
name = "Shell"
[build]
command = ["sh", "../build.sh", "{build}"]
inputs = ["../build.sh", "../shared"]
[runtime]
warmup_min = "1s"
warmup_max = "2s"
compiler_threads = []
"#;

const SERVER: &str = r#"
library = "sh"
protocols = ["grpc"]
lock = "lock"
[versions]
grpc = 'grpc (\S+)'
http = '(?m)^http\n(\S+)'
[run]
command = ["{build}/server"]
"#;

const BUILD: &str = r#"
echo building; echo again >> "$RPCBENCH_BUILD_DIR/runs"
test "$1" = "$RPCBENCH_BUILD_DIR" || exit 9
test -f "$RPCBENCH_CONTRACT/echo.proto" || exit 8
cp main.sh "$RPCBENCH_BUILD_DIR/server"
"#;

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        project.write("servers/_defaults.toml", "ready_timeout = \"1s\"\nstop_timeout = \"1s\"\n");
        project.write("servers/sh/_language.toml", LANGUAGE);
        project.write("servers/sh/build.sh", BUILD);
        project.write("servers/sh/shared/echo.sh", "");
        project.write("servers/sh/one/server.toml", SERVER);
        project.write("servers/sh/one/main.sh", "exit 0\n");
        project.write("servers/sh/one/lock", "grpc 1.2.3\nhttp\n4.5\n");
        project.write("contract/echo.proto", "");
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn server(&self) -> Arc<Server> {
        let catalog = Catalog::load(self.folder.path()).unwrap();
        let mut servers = catalog.servers().iter();
        Arc::clone(servers.find(|server| server.name == "sh-one").unwrap())
    }

    fn rebuilds(&self, tools: &[Toolchain]) -> bool {
        let server = self.server();
        let current = is_current(&server, tools).unwrap();
        let built = build(&server, tools).unwrap();
        assert_eq!(built.rebuilt, !current);
        assert!(is_current(&server, tools).unwrap());
        built.rebuilt
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.path("build/servers/sh-one/runs")).unwrap().lines().count()
    }

    fn failure(&self) -> String {
        let error = build(&self.server(), &[]).unwrap_err().to_string();
        error
            .replace(&format!("{}/", self.path("").display().to_string().trim_end_matches('/')), "")
    }
}

fn build(server: &Server, tools: &[Toolchain]) -> Result<Built, Box<BuildError>> {
    build_in(&[("PATH", "/usr/local/bin:/usr/bin:/bin")], server, tools)
}

fn build_in(
    env: &[(&str, &str)],
    server: &Server,
    tools: &[Toolchain],
) -> Result<Built, Box<BuildError>> {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    rpcbench_harness::build::build(server, tools, &BuildEnv::new(env), &mut || true)
        .map_err(Box::new)
}

fn tool(version: &str) -> [Toolchain; 1] {
    [Toolchain { name: "sh".to_owned(), version: version.to_owned() }]
}

#[test]
fn build_runs_once() {
    let project = Project::new();
    let built = build(&project.server(), &tool("1")).unwrap();
    assert!(built.rebuilt);
    assert_eq!(built.versions["grpc"], "1.2.3");
    assert_eq!(built.versions["http"], "4.5");
    assert_eq!(built.lock_hash, blake3::hash(b"grpc 1.2.3\nhttp\n4.5\n").to_hex().to_string());
    assert_eq!(fs::read_to_string(&built.log).unwrap(), "building\n");
    let again = build(&project.server(), &tool("1")).unwrap();
    assert!(!again.rebuilt);
    assert_eq!(again.versions, built.versions);
    assert_eq!(project.runs(), 1);
}

#[test]
fn any_change_causes_a_rebuild() {
    let project = Project::new();
    assert!(project.rebuilds(&tool("1")));
    let changes: [(&str, &str); 7] = [
        ("servers/sh/one/main.sh", "exit 1\n"),
        ("servers/sh/one/new.sh", ""),
        ("servers/sh/build.sh", &format!("{BUILD}\n")),
        ("servers/sh/shared/echo.sh", "x"),
        ("contract/echo.proto", "x"),
        ("contract/echo.thrift", "x"),
        ("servers/sh/_language.toml", &format!("{LANGUAGE}# more\n")),
    ];
    for (path, text) in changes {
        assert!(!project.rebuilds(&tool("1")), "before {path}");
        project.write(path, text);
        assert!(project.rebuilds(&tool("1")), "after {path}");
    }
    let script = project.path("servers/sh/one/main.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(project.rebuilds(&tool("1")));
    assert!(project.rebuilds(&tool("2")));
    assert!(!project.rebuilds(&tool("2")));
}

/// A build that leaves a process behind, which a command starts.
fn left_process_ends(starts: &str) {
    let project = Project::new();
    let leaves = format!(
        "{starts} setsid sh -c 'echo $$ >\"$0/left\"; exec sleep 600' \"$RPCBENCH_BUILD_DIR\" &
        until [ -s \"$RPCBENCH_BUILD_DIR/left\" ]; do sleep 0.01; done"
    );
    project.write("servers/sh/build.sh", &format!("{BUILD}\n{leaves}"));
    let server = project.server();
    build(&server, &[]).unwrap();
    let left = fs::read_to_string(server.build_folder.join("left")).unwrap();
    wait_until("its end", || !support::is_running(left.trim().parse().unwrap()));
}

#[test]
fn build_ends_what_it_started() {
    left_process_ends("");
}

#[test]
fn build_ends_what_it_started_without_an_environment() {
    left_process_ends("env -i");
}

#[test]
fn build_sees_variables_that_locate_tools_only() {
    let project = Project::new();
    project.write("servers/sh/build.sh", &format!("{BUILD}\nenv"));
    let env = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("GOPROXY", "https://proxy.example"),
        ("RUSTFLAGS", "-C target-cpu=native"),
        ("CXXFLAGS", "-march=native"),
    ];
    let built = build_in(&env, &project.server(), &[]).unwrap();
    let log = fs::read_to_string(&built.log).unwrap();
    assert!(log.contains("GOPROXY=https://proxy.example\n"), "{log}");
    assert!(log.contains("LC_ALL=C.UTF-8\n") && log.contains("RPCBENCH_CONTRACT="), "{log}");
    assert!(!log.contains("RUSTFLAGS") && !log.contains("native"), "{log}");
    assert_eq!(built.env, ["GOPROXY", "PATH"]);
}

#[test]
fn only_definitions_of_the_contract_are_inputs() {
    let project = Project::new();
    assert!(project.rebuilds(&[]));
    project.write("contract/README.md", "# More cases\n");
    project.write("servers/sh/README.md", "");
    project.write("servers/sh/other/server.toml", &SERVER.replace("\"sh\"", "\"other\""));
    assert!(!project.rebuilds(&[]));
    project.write("contract/echo.proto", "syntax = \"proto3\";\n");
    assert!(project.rebuilds(&[]));
}

#[test]
fn ignored_files_are_not_sources() {
    let project = Project::new();
    project.write("servers/sh/.gitignore", "__pycache__/\n");
    assert!(project.rebuilds(&[]));
    project.write("servers/sh/one/__pycache__/x.pyc", "x");
    assert!(!project.rebuilds(&[]));
}

#[test]
fn failed_build_is_shown_and_retried() {
    let project = Project::new();
    assert!(project.rebuilds(&[]));
    project.write("servers/sh/build.sh", "echo first; echo oh no >&2; exit 3");
    insta::assert_snapshot!(project.failure(), @r#"
    sh-one: 'sh ../build.sh build/servers/sh-one' failed (exit status: 3); full log: build/servers/sh-one/build.log; its last lines:
    first
    oh no
    "#);
    project.write("servers/sh/build.sh", BUILD);
    assert!(project.rebuilds(&[]), "a failure leaves no stamp");
}

#[test]
fn missing_builder_is_named() {
    let project = Project::new();
    project.write(
        "servers/sh/_language.toml",
        &LANGUAGE.replace("\"sh\", \"../build.sh\"", "\"no-such-tool\""),
    );
    insta::assert_snapshot!(project.failure(), @"sh-one: 'no-such-tool build/servers/sh-one' can't be started in servers/sh/one: No such file or directory (os error 2)");
}

#[test]
fn missing_lock_file_and_inputs_are_refused() {
    let project = Project::new();
    project.write("servers/sh/one/lock", "grpc 1.2.3\n");
    insta::assert_snapshot!(project.failure(), @r#"sh-one: '(?m)^http\n(\S+)' ('versions.http' in servers/sh/one/server.toml) matches nothing in servers/sh/one/lock"#);
    project.write("servers/sh/one/lock", "grpc 1.2.3\ngrpc 1.3.0\ngrpc 1.2.3\nhttp\n4.5\n");
    insta::assert_snapshot!(project.failure(), @r"sh-one: 'grpc (\S+)' ('versions.grpc' in servers/sh/one/server.toml) matches 1.2.3 and 1.3.0 in servers/sh/one/lock; write a pattern that matches the linked one only");
    fs::remove_file(project.path("servers/sh/one/lock")).unwrap();
    insta::assert_snapshot!(project.failure(), @"sh-one: the lock file servers/sh/one/lock does not exist; commit it, or name the right one as 'lock' in servers/sh/one/server.toml");
    fs::remove_dir_all(project.path("servers/sh/shared")).unwrap();
    insta::assert_snapshot!(project.failure(), @"sh-one: the build input servers/sh/one/../shared does not exist; correct 'build.inputs' in its manifest");
    let error = is_current(&project.server(), &[]).unwrap_err();
    assert!(error.to_string().contains("the build input"), "{error}");
}

/// Whoever opens a named pipe without a writer waits.
#[test]
fn pipes_in_place_of_sources_are_refused() {
    for name in ["servers/sh/one/lock", "servers/sh/one/source"] {
        let project = Project::new();
        let pipe = project.path(name);
        let _ = fs::remove_file(&pipe);
        support::make_fifo(&pipe);
        let refused = project.failure();
        assert!(refused.contains(name) && refused.contains("not a regular file"), "{refused}");
    }
}

#[test]
fn pipe_or_link_in_place_of_a_builds_files_is_replaced() {
    let project = Project::new();
    let [log, stamp, other] =
        ["build/servers/sh-one/build.log", "build/servers/sh-one/.rpcbench-stamp", "other"]
            .map(|name| project.path(name));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    support::make_fifo(&log);
    fs::write(&other, "mine").unwrap();
    let link = format!("{BUILD}\nln -sf {} {}", other.display(), stamp.display());
    project.write("servers/sh/build.sh", &link);
    assert!(project.rebuilds(&[]));
    assert_eq!(fs::read_to_string(other).unwrap(), "mine");
    assert!(!project.rebuilds(&[]), "the stamp is left");
}

#[test]
fn lock_file_that_leads_out_of_the_folder_is_refused() {
    let project = Project::new();
    let lock = project.path("servers/sh/one/lock");
    fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &lock).unwrap();
    insta::assert_snapshot!(project.failure(), @"sh-one: the lock file servers/sh/one/lock is a link to a file outside of the server's folder; replace it by the file");
}

#[test]
fn build_that_floods_its_log_is_ended() {
    let project = Project::new();
    project.write("servers/sh/build.sh", "exec yes");
    let refused = project.failure();
    let expected =
        "sh-one: 'sh ../build.sh build/servers/sh-one' wrote more than 256 MiB to its log;";
    assert!(refused.starts_with(expected), "{refused}");
}

#[test]
fn script_that_starts_the_server_and_a_links_target_are_sources() {
    let project = Project::new();
    let command = "command = [\"{server}/../run.sh\", \"{build}/server\"]";
    project.write(
        "servers/sh/one/server.toml",
        &SERVER.replace("command = [\"{build}/server\"]", command),
    );
    project.write("servers/sh/run.sh", "exec $1\n");
    project.write("elsewhere", "1");
    let link = project.path("servers/sh/one/linked");
    std::os::unix::fs::symlink(project.path("elsewhere"), link).unwrap();
    assert!(project.rebuilds(&[]));
    assert!(!project.rebuilds(&[]));
    project.write("servers/sh/run.sh", "exec nice $1\n");
    assert!(project.rebuilds(&[]));
    project.write("elsewhere", "2");
    assert!(project.rebuilds(&[]));
}

#[test]
fn build_may_write_its_lock_file() {
    let project = Project::new();
    project.write("servers/sh/one/server.toml", &SERVER.replace("\"lock\"", "\"{build}/lock\""));
    project.write("servers/sh/build.sh", &format!("{BUILD}\ncp lock $1/lock"));
    let built = build(&project.server(), &[]).unwrap();
    assert_eq!(built.versions["grpc"], "1.2.3");
    assert!(Path::new(&project.server().lock).starts_with(project.path("build")));
}

#[test]
fn stopped_build_ends_its_process_tree() {
    let project = Project::new();
    let script = "sleep 1000 & echo $! > $1/child; echo waiting > $1/begun; wait";
    project.write("servers/sh/build.sh", script);
    let server = project.server();
    let begun = project.path("build/servers/sh-one/begun");
    let env = BuildEnv::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let mut go_on = || !begun.exists();
    let stopped = rpcbench_harness::build::build(&server, &[], &env, &mut go_on).unwrap_err();
    let stopped = stopped.to_string();
    assert_eq!(stopped, "sh-one: the build was stopped before it finished");
    let child = fs::read_to_string(project.path("build/servers/sh-one/child")).unwrap();
    let child = child.trim().parse().unwrap();
    wait_until("the child's end", || !support::is_running(child));
    assert!(!is_current(&server, &[]).unwrap());
}

/// The first build of either language waits for that of the other, and a build fails if another of its language runs.
#[test]
fn languages_build_in_parallel_and_servers_of_one_in_turn() {
    let project = Project::new();
    for (language, meet) in [("sh", "echo > ../../meet"), ("bash", "cat ../../meet")] {
        let script = format!(
            "mkdir ../running || exit 7\ncase $PWD in */one) timeout 60 sh -c '{meet}' || exit 6 ;; esac\nrmdir ../running\n"
        );
        project.write(&format!("servers/{language}/_language.toml"), LANGUAGE);
        project.write(&format!("servers/{language}/build.sh"), &script);
        for server in ["one", "two"] {
            project.write(&format!("servers/{language}/{server}/server.toml"), SERVER);
            project.write(&format!("servers/{language}/{server}/lock"), "grpc 1.2.3\nhttp\n4.5\n");
        }
    }
    project.write("servers/bash/shared/echo.sh", "");
    support::make_fifo(&project.path("servers/meet"));
    let entries = Catalog::load(&project.path("")).unwrap().into_selected(&Selection::ALL).unwrap();
    let env = BuildEnv::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let site = placement::site(PlacementKind::Native).unwrap();
    let interrupt = Interrupt::default();
    let builds = site.builder(&env, &interrupt).unwrap();
    let builder =
        Builder { builds: &*builds, building: Building::Changed, jobs: 4, interrupt: &interrupt };
    let mut done = Vec::new();
    let mut observe = |event: &BuildEvent<'_>| {
        if let BuildEvent::Done(server, _) = event {
            done.push(server.name.clone());
        }
    };
    let candidates = builder.candidates(&entries, &mut observe).unwrap();
    for candidate in &candidates {
        assert!(matches!(candidate.build, BuildState::Built(_)), "{candidate:?}");
    }
    let names: Vec<_> = candidates.iter().map(|candidate| candidate.entry.name()).collect();
    assert_eq!(names, ["bash-one", "bash-two", "sh-one", "sh-two"]);
    done.sort();
    assert_eq!(done, names);
}
