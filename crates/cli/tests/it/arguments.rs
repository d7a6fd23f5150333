//! What is typed, or written in a manifest, and can't be: refused before anything runs, with what would be right.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use crate::bench::{Bench, look, rpcbench};
use crate::program::Program;

#[track_caller]
fn refused(words: &str, parts: &[&str]) {
    let ended = look(words).expect(2);
    ended.complains(parts);
    assert_eq!(ended.out, "");
}

#[test]
fn unknown_names_suggest_similar_ones() {
    for command in ["run", "check", "build"] {
        let meant = "no server matches 'testkit-lair' (did you mean 'testkit-liar'?); `rpcbench list servers` shows all";
        refused(&format!("{command} testkit-lair"), &[meant]);
    }
    refused("run testkit-liar@honset", &["did you mean 'testkit-liar@honest'"]);
    refused("run java-*", &["no server matches 'java-*'; `rpcbench list servers` shows all"]);
    refused("run testkit-liar[", &["'testkit-liar[' is not a pattern"]);
    let suite = "unknown suite 'quik' (did you mean 'quick'?); expected one of counted, fresh, latency, quick, slo, or a file such as mine.toml";
    refused("run testkit-liar@honest --suite quik", &[suite]);
}

#[test]
fn unknown_options_and_commands_suggest_one() {
    refused("chekc", &["unrecognized subcommand 'chekc'", "'check'"]);
    refused("run --round 3", &["unexpected argument '--round'", "'--rounds'"]);
    refused("list server", &["[possible values: servers, clients, suites]", "'servers'"]);
    refused("completions bsh", &["[possible values: bash,", "'bash'"]);
    refused("report x --format jsno", &["[possible values: table, markdown, json, csv]", "'json'"]);
}

#[test]
fn option_of_another_tool_gets_its_answer_and_no_similar_name() {
    let ended = look("load 127.0.0.1:1 --concurrency 5").expect(2);
    ended.complains(&["unexpected argument '--concurrency'", "-c is the number of connections"]);
    assert!(!ended.err.contains("--once"), "{}", ended.err);
}

#[test]
fn values_name_their_units() {
    refused("run --duration 10", &["'10' for '--duration <LENGTH>'", "such as 500ms, 10s or 2m"]);
    refused("run --duration 0s", &["must be at least 1ms"]);
    refused("run --memory lots", &["'lots' for '--memory <SIZE>'", "such as 512M, 512MiB or 2G"]);
    refused("run --warmup soon", &["until-steady", "none", "500ms"]);
    refused("run --rounds 0", &["must be more than zero"]);
    refused("run --connections=-1", &["'-1' for '--connections <N>'", "from 1 to"]);
    refused("run --shape huge", &["text:N", "record", "dto", "tree"]);
    refused("run --protocol soap", &["expected one of grpc, json"]);
    refused("load 127.0.0.1", &["the port is missing; write HOST:PORT"]);
    refused("load ftp://127.0.0.1:1", &["write a URL such as http://127.0.0.1:8080/path"]);
}

#[test]
fn options_that_contradict_are_refused() {
    let all = "run testkit-liar@honest";
    refused("run --resume results/x --rounds 3", &["--resume", "--rounds", "cannot be used with"]);
    refused(&format!("{all} -n 5 --sweep 10%..90%"), &["--calls 5 contradicts --sweep 10%..90%"]);
    refused(
        &format!("{all} --client-threads 5"),
        &["quick.toml:11: connections = 4 contradicts --client-threads 5"],
    );
    refused(
        &format!("{all} --warmup 1s --warmup-max 5s"),
        &["--warmup-max 5s contradicts --warmup 1s"],
    );
    refused(&format!("{all} --timeout 1s --grace 2s"), &["--timeout 1s contradicts --grace 2s"]);
}

#[test]
fn folder_without_servers_or_record_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().display().to_string();
    refused(&format!("list --root {nowhere}"), &[&nowhere, "no servers/ and suites/ in there"]);
    refused(&format!("report {nowhere}"), &[&nowhere, "no run record here"]);
    refused(&format!("run --resume {nowhere}"), &[&nowhere, "no run record here"]);
}

const SERVER: &str = "servers/testkit/liar/server.toml";

#[track_caller]
fn broken(file: &str, part: &str, by: &str, parts: &[&str]) {
    let bench = Bench::new().edit(file, part, by);
    for command in ["run @honest", "check @honest"] {
        bench.run(command).expect(2).complains(parts);
    }
    // Other servers are still listed.
    bench.run("list").expect(if file == SERVER { 0 } else { 2 }).complains(parts);
}

#[test]
fn manifest_with_a_wrong_type_names_file_key_and_remedy() {
    broken(
        SERVER,
        "protocols = [\"grpc\"]",
        "protocols = 5",
        &[SERVER, "protocols = 5: invalid type: integer 5, expected a list, such as"],
    );
    broken(
        "servers/_defaults.toml",
        "ready_timeout = \"5s\"",
        "ready_timeout = \"5\"",
        &["servers/_defaults.toml:1: ready_timeout = \"5\"", "such as 500ms, 10s or 2m"],
    );
}

#[test]
fn manifest_with_an_unknown_key_suggests_one() {
    broken(
        SERVER,
        "library = ",
        "libary = ",
        &[SERVER, "unknown key 'libary' (did you mean 'library'?); allowed here: "],
    );
    broken(SERVER, "note = \"answers correctly\"", "notes = 5", &[SERVER, "unknown key 'notes'"]);
}

#[test]
fn suite_with_an_unknown_key_or_value_is_refused() {
    let suite = "suites/quick.toml";
    let refused = |part: &str, by: &str, parts: &[&str]| {
        Bench::new().edit(suite, part, by).run("run @honest").expect(2).complains(parts);
    };
    refused(
        "connections",
        "conections",
        &[suite, "unknown key 'conections' (did you mean 'connections'?); allowed here: "],
    );
    refused("\"10s\"", "\"x\"", &["quick.toml:", ": timeout = \"x\"", "such as 500ms, 10s or 2m"]);
}

#[test]
fn missing_toolchain_says_what_to_install_and_leaves_the_others() {
    let wanted = "minimum = \"1.95\"";
    let bench = Bench::new().edit("servers/testkit/_language.toml", wanted, "minimum = \"99.0\"");
    let ended = bench.run("run @honest").expect(2);
    ended.complains(&["testkit-liar", "skipped: ", "99.0", "https://rustup.rs/"]);
    ended.complains(&["none of these servers can run here"]);
    bench.run("list servers").expect(0).shows(&["can't run", "https://rustup.rs/"]);
    let ended = bench.run("doctor --missing").expect(0);
    let fields: Vec<&str> = ended.out.trim_end_matches('\n').split('\t').collect();
    let [language, tool, found, minimum, packages, install] = fields[..] else {
        panic!("{}", ended.out)
    };
    assert_eq!((language, tool, minimum, packages), ("Testkit", "cargo", "99.0", "-"));
    assert!(found.starts_with("1.") && install.contains("https://rustup.rs/"), "{}", ended.out);
}

#[test]
fn build_does_not_see_flags_of_the_users_environment() {
    let bench = Bench::new().edit("servers/testkit/build.sh", "set -eu\n", "set -eu\nenv\n");
    let mut command = bench.command("run @honest");
    command.env("RUSTFLAGS", "-C target-cpu=native").env("GOPROXY", "https://proxy.example");
    Program::start(&mut command).finish().expect(0);
    let log = bench.root().join("build/servers/testkit-liar/build.log");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("GOPROXY=https://proxy.example\n"), "{log}");
    assert!(!log.contains("RUSTFLAGS") && !log.contains("target-cpu"), "{log}");
    let names = &bench.record().preparations[0].build_env;
    assert!(names.iter().any(|name| name == "GOPROXY"), "{names:?}");
    assert!(names.iter().all(|name| name != "RUSTFLAGS"), "{names:?}");
}

#[test]
fn build_that_fails_shows_its_last_lines() {
    let bench = Bench::new().edit(
        "servers/testkit/build.sh",
        "set -eu\n",
        "set -eu\necho 'linker: no such thing' >&2\nexit 7\n",
    );
    let ended = bench.run("build").expect(2);
    ended.complains(&["testkit-liar", "failed: ", "exit status: 7", "linker: no such thing"]);
    bench.run("run @honest").expect(2).complains(&["linker: no such thing"]);
    let ended = bench.run("check @honest --no-build").expect(2);
    ended.shows(&["FAILED: not built since it changed; let the run build it"]);
}

#[test]
fn arguments_that_are_not_text_are_refused() {
    let name = OsStr::from_bytes(b"caf\xe9");
    for words in [&["run"][..], &["load"], &["report"], &["run", "--results"]] {
        let ended = Program::start(rpcbench(words).arg(name)).finish().expect(2);
        let said =
            format!("rpcbench: argument {}, \"caf\\xE9\", is not valid UTF-8", words.len() + 1);
        ended.complains(&[&said]);
    }
}

/// Opening a named pipe without a writer would block.
#[test]
fn pipe_in_the_place_of_a_file_is_refused() {
    let bench = Bench::new();
    let pipe = |path: &str| {
        let path = bench.work().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe("mine.toml");
    pipe("results/a/run.json");
    let refused = "not a regular file";
    bench.run("run @honest --suite mine.toml").expect(2).complains(&["mine.toml", refused]);
    bench.run("report results/a").expect(2).complains(&["run.json", refused]);
    bench.run("run --resume results/a").expect(2).complains(&["run.json", refused]);
    bench.run("history results").expect(2).complains(&["results/a is left out", refused]);
    bench.run("compare results/a results/a").expect(2).complains(&["run.json", refused]);
}
