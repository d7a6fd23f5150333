//! Clients in containers, and servers that they call in others.

use std::fs;
use std::path::Path;
use std::process::Command;

use rpcbench_testkit::skip;
use rustix::process::Signal;

use crate::bench::{copy, repository};
use crate::foreign::docker::Docker;
use crate::testkit;

/// The client's folder.
const FOLDER: &str = "clients/go/net-http";

/// Its manifest, with a variant that is no client.
const MANIFEST: &str = r#"
library = "net/http"
protocols = ["json"]
lock = "go.mod"
versions = {}

[run]
command = ["{args}"]

[variants.client]
note = "the client"
args = ["{build}/client"]

[variants.exit-at-start]
note = "exits with code 7 at once"
args = ["{build}/server", "--behaviour", "exit-at-start:7"]
"#;

impl Docker {
    /// Adds a client, built with the toolchain of this machine. False, and a line, if that is missing.
    fn add_client(&self) -> bool {
        if Command::new("go").arg("version").output().is_err() {
            skip("Go is not installed");
            return false;
        }
        let root = self.bench.root();
        for part in ["clients/go", "contract", "servers/go"] {
            copy(&repository().join(part), &root.join(part));
        }
        self.bench.run("build --clients go-net-http").expect(0);
        let built = root.join("build/clients/go-net-http/client");
        let programs: [(&str, &Path); 2] = [("client", &built), ("server", testkit::program())];
        self.lay_out(FOLDER, &programs, "USER 65533");
        fs::write(root.join(FOLDER).join("client.toml"), MANIFEST).unwrap();
        true
    }
}

pub(super) fn check_and_measure(docker: &Docker) {
    if !docker.add_client() {
        return;
    }
    let checked = docker.run("check --clients go-net-http@client").expect(0);
    checked.shows(&["go-net-http@client", "passed: 26 cases"]);
    let words = "run --clients go-net-http --rounds 2 --warmup none --duration 500ms --memory 256M";
    docker.run(words).expect(1);
    let cells = docker.bench.cells();
    let failed = cells.entry("go-net-http@exit-at-start");
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("exited with code 7"), "{reason}");
    let client = cells.entry("go-net-http@client");
    assert!(client["ok"].as_u64() > Some(0) && client["ok"] == client["calls"], "{client:#}");
    let run = docker.bench.record();
    let ready = run.preparations.iter().find(|it| it.entry.ends_with("@client")).unwrap();
    assert_eq!(ready.isolation.memory_bytes, Some(256 << 20), "{:?}", ready.isolation);
    assert!(ready.isolation.details.contains_key("image"), "{:?}", ready.isolation);
}

pub(super) fn kill(docker: &Docker) {
    if !docker.add_client() {
        return;
    }
    docker.lay_out_server("json", "");
    let words = "run --clients go-net-http@client --servers testkit-json@honest --duration 1h -v";
    let mut program = docker.start(words);
    program.await_line("measuring, trial 1");
    assert_eq!(docker.containers(program.pid()).len(), 2);
    program.signal(Signal::KILL);
    docker.await_containers(program.finish().pid, 0);
    // The next run removes the folder of the client's socket.
    docker.run("check --clients go-net-http@client").expect(0);
    let logs = fs::read_dir(docker.bench.root().join("build/logs")).unwrap();
    let names = logs.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with("rpcbench-")).collect::<Vec<_>>(), [""; 0]);
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn client_is_checked_and_measured_next_to_one_that_exits() {
    check_and_measure(&Docker::new());
}

#[test]
#[ignore = "needs a container engine: scripts/peers.sh"]
fn killed_rpcbench_leaves_neither_client_nor_server() {
    kill(&Docker::new());
}
