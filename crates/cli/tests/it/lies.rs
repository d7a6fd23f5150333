//! Servers that do not do the work are caught by `check` and by a run.

use rpcbench_record::{IsolationMode, Readiness};
use rpcbench_testkit::skip;
use serde_json::Value;

use crate::bench::Bench;
use crate::kernel::{has_cgroups, isolation_mode};

/// Cheats that never give the one right answer that makes a server ready.
const NEVER_READY: usize = 3;
/// Each cheat, those that are never ready first, and what gives it away.
const CHEATS: [(&str, &str); 9] = [
    ("byte-echo", "the reply is the request, byte for byte"),
    ("always-internal", "status 13"),
    ("error-in-reply", "the reply is not a valid rpcbench.v1.TextReply: "),
    ("swap", "text/truncated: a Text request cut to 1 of 102 bytes was answered with OK"),
    ("canned", "text/filled: echo: expected "),
    ("wrong-once", "text/many-requests: 1 of 1250 replies were wrong"),
    ("skim", "tree/twice: echo.name occurs twice in the reply"),
    ("memo-by-beginning", "text/many-requests: "),
    (
        "ok-on-truncated",
        "text/truncated: a Text request cut to 1 of 102 bytes was answered with OK",
    ),
];

/// The same over JSON.
const JSON_CHEATS: [(&str, &str); 9] = [
    ("byte-echo", "the reply is the request, byte for byte"),
    ("always-internal", "status 500"),
    ("error-in-reply", "echo: expected "),
    ("swap", "json/truncated: a Text request cut to 1 of 111 bytes was answered with OK"),
    ("canned", "text/filled: echo: expected "),
    ("wrong-once", "text/many-requests: 1 of 1250 replies were wrong"),
    ("skim", "json/escapes: "),
    ("memo-by-beginning", "text/many-requests: "),
    (
        "ok-on-truncated",
        "json/truncated: a Text request cut to 1 of 111 bytes was answered with OK",
    ),
];

/// The same over Thrift.
const THRIFT_CHEATS: [(&str, &str); 9] = [
    ("byte-echo", "the reply is the request, byte for byte"),
    ("always-internal", "status 6"),
    ("error-in-reply", "the reply is not a valid TextReply: "),
    ("swap", "struct/twice: "),
    ("canned", "text/filled: echo: expected "),
    ("wrong-once", "text/many-requests: 1 of 1250 replies were wrong"),
    ("skim", "struct/twice: "),
    ("memo-by-beginning", "text/many-requests: "),
    ("ok-on-truncated", "struct/truncated: "),
];

#[test]
fn honest_server_passes_check() {
    let ended = Bench::new().run("check @honest").expect(0);
    assert!(ended.out.starts_with("testkit-liar@honest "), "{}", ended.out);
    ended.shows(&["passed: ", " cases"]);
}

/// A check sends nothing twice; the run compares what unseen requests cost.
#[test]
fn server_that_remembers_all_but_the_nonce_is_suspect() {
    if !has_cgroups() {
        return;
    }
    let bench = Bench::alone();
    bench.run("check @memo-nonce").expect(0).shows(&["passed: ", " cases"]);
    let servers = "@honest @memo-nonce testkit-json@honest testkit-json@memo-nonce";
    bench.run(&format!("run {servers} --shape tree --warmup 1s --duration 500ms --rounds 1"));
    let cells = bench.cells();
    for name in ["testkit-liar", "testkit-json"] {
        let [honest, cheat] =
            ["honest", "memo-nonce"].map(|it| cells.entry(&format!("{name}@{it}")));
        assert_ne!(honest["verdict"], "suspect", "{honest:#}");
        assert_eq!(cheat["verdict"], "suspect", "{cheat:#}");
        let reason = cheat["reason"].as_str().unwrap();
        assert!(reason.contains("it remembers replies"), "{reason}");
    }
}

#[test]
fn check_tells_cheats_from_honest_servers() {
    tells_cheats("testkit-liar", CHEATS);
}

#[test]
fn check_tells_cheats_from_honest_servers_over_json() {
    tells_cheats("testkit-json", JSON_CHEATS);
}

#[test]
fn check_tells_cheats_from_honest_servers_over_thrift() {
    tells_cheats("testkit-thrift", THRIFT_CHEATS);
}

/// Asserts that `check` passes the server's honest variant, and each cheat shows its evidence.
fn tells_cheats(server: &str, cheats: [(&str, &str); 9]) {
    let names = cheats.map(|(name, _)| format!("{server}@{name}"));
    let words = format!("check {server}@honest {}", names.join(" "));
    let ended = Bench::new().run(&words).expect(1);
    for (name, evidence) in cheats {
        let head = format!("{server}@{name} ");
        let mut lines = ended.out.lines().skip_while(|line| !line.starts_with(&head)).peekable();
        assert!(lines.peek().is_some_and(|line| line.contains(" FAILED: ")), "{}", ended.out);
        let first = lines.next();
        let shown: Vec<&str> =
            first.into_iter().chain(lines.take_while(|line| line.starts_with("    "))).collect();
        assert!(shown.iter().any(|line| line.contains(evidence)), "{name}: {shown:#?}");
        assert!(shown.iter().all(|line| line.chars().count() < 400), "{shown:#?}");
    }
    assert_eq!(ended.out.matches("passed: ").count(), 1, "{}", ended.out);
}

#[test]
fn run_ranks_no_cheat() {
    let bench = Bench::new();
    let names = CHEATS.map(|(name, _)| format!("@{name}"));
    let ended = bench.run(&format!("run @honest {}", names.join(" "))).expect(1);
    ended.shows(&["testkit-liar@canned: failed: ", "conformance cases failed, the first: "]);
    let cells = bench.cells();
    for (at, (name, _)) in CHEATS.into_iter().enumerate() {
        let cases = "conformance cases failed, the first: ";
        cells.failed(name, if at < NEVER_READY { "not ready within 5s; " } else { cases });
        assert_eq!(cells.of(name)["trials_measured"], 0);
        assert!(cells.of(name)["place_best"].is_null());
    }
    cells.measured("honest");
}

/// Right for longer than the check lasts: only comparing every reply under load tells.
#[test]
fn late_wrong_answer_is_reported() {
    let bench = Bench::new()
        .variant("wrong-later", "--behaviour wrong-once:7000")
        .variant("fails-later", "--behaviour status-once:7000");
    bench.run("check @wrong-later @fails-later").expect(0);
    let ended = bench.run("run @wrong-later @fails-later --warmup none --duration 2s").expect(1);
    ended.shows(&["testkit-liar@wrong-later: failed: "]);
    assert!(bench.record().preparations.iter().all(|p| p.readiness == Readiness::Ready));
    let cells = bench.cells();
    cells.failed("wrong-later", "wrong answer");
    cells.failed("fails-later", "13");
}

/// Right in the check, whose calls are few at a time: only malformed and odd requests among those of a load tell.
#[test]
fn server_that_copies_only_under_load_fails() {
    let checked = Bench::new().run("check @swap-among testkit-json@swap-among").expect(0);
    assert_eq!(checked.out.matches("passed: ").count(), 2, "{}", checked.out);
    // Without a warm-up, the spot checks after its windows tell.
    for words in ["", " --warmup none"] {
        let bench = Bench::new();
        let servers = "@honest @swap-among testkit-json@honest testkit-json@swap-among";
        bench.run(&format!("run {servers}{words}")).expect(1);
        let cells = bench.cells();
        cells.measured("honest");
        cells.failed("swap-among", "in spot checks over the load's connections");
        let verdict = |name: &str| cells.entry(name)["verdict"].clone();
        assert_ne!(verdict("testkit-json@honest"), "failed");
        assert_eq!(verdict("testkit-json@swap-among"), "failed");
    }
}

/// Only its first process is honest: each one is checked.
#[test]
fn server_whose_second_process_cheats_fails() {
    let bench = [
        ("liar", "", r#""{args}""#),
        ("json", " --behaviour json", r#""--behaviour", "json", "{args}""#),
    ]
    .into_iter()
    .fold(Bench::new(), |bench, (server, protocol, arguments)| {
        let start = format!("exec {{build}}/server{protocol}");
        let turns = format!("mkdir {{build}}/started && {start}; {start} --behaviour skim");
        bench.edit(
            &format!("servers/testkit/{server}/server.toml"),
            &format!(r#"["{{build}}/server", {arguments}]"#),
            &format!(r#"["sh", "-c", "{turns}", "{{args}}"]"#),
        )
    });
    let servers = "@honest testkit-json@honest";
    bench.run(&format!("run {servers} --processes 2 --rounds 1 --warmup none")).expect(1);
    let record = bench.record();
    let cells = bench.cells();
    for entry in ["testkit-liar@honest", "testkit-json@honest"] {
        let own = record.preparations.iter().filter(|it| it.entry == entry);
        let checked: Vec<bool> = own.map(|it| it.check.failed.is_empty()).collect();
        assert_eq!(checked, [true, false], "{entry}");
        let reason = cells.entry(entry)["reason"].as_str().unwrap();
        assert!(reason.contains("conformance cases failed, the first: "), "{entry}: {reason}");
    }
}

/// What only looks at the first bytes of a request finds half of the odd ones usual.
#[test]
fn server_that_copies_requests_with_usual_beginnings_fails() {
    let servers = ["liar", "json", "thrift"].map(|of| format!("testkit-{of}@swap-usual"));
    let ended = Bench::new().run(&format!("check {}", servers.join(" "))).expect(1);
    assert_eq!(ended.out.matches(" FAILED: ").count(), 3, "{}", ended.out);
}

/// What a server uses outside of its cgroup is not measured, and looks cheap.
#[test]
fn server_outside_of_its_cgroup_fails() {
    if !has_cgroups() {
        return;
    }
    let bench = Bench::new().variant("leaves-later", "--behaviour leave-group:3s");
    let json = "testkit-json@leave-group testkit-json@proxy";
    let ended = bench.run(&format!("check @leave-group @proxy {json}")).expect(1);
    ended.shows(&[
        "FAILED: 127.0.0.1:",
        "(server), not by the server's own",
        "start the server in the foreground",
    ]);
    assert_eq!(ended.out.matches("FAILED: 127.0.0.1:").count(), 4, "{}", ended.out);
    bench
        .run("run @honest @leave-group @leaves-later @proxy --warmup none --duration 4s")
        .expect(1);
    let cells = bench.cells();
    for cheat in ["leave-group", "leaves-later", "proxy"] {
        cells.failed(cheat, "not by the server's own processes");
    }
    cells.measured("honest");
}

/// Each way of carrying the calls.
#[test]
fn server_that_passes_calls_out_of_its_cgroup_fails_over_any_channel() {
    if !has_cgroups() {
        return;
    }
    let cheats = [
        "proxy",
        "proxy-unix",
        "proxy-udp",
        "proxy-udp-unconnected",
        "proxy-pipe",
        "proxy-named-pipe",
        "proxy-terminal",
        "proxy-memory",
        "proxy-descriptor",
    ];
    let names = ["testkit-liar", "testkit-json"];
    let of = |variant: &str| names.map(|name| format!("{name}@{variant}"));
    let (honest, cheats) = (of("honest"), cheats.map(of));
    let bench = Bench::new();
    let servers = [honest.join(" "), cheats.as_flattened().join(" ")].join(" ");
    bench.run(&format!("run {servers} --duration 500ms")).expect(1);
    let cells = bench.cells();
    for cheat in cheats.as_flattened() {
        let cell = cells.entry(cheat);
        assert_eq!(cell["verdict"], "failed", "{cell:#}");
        let reason = cell["reason"].as_str().unwrap();
        assert!(reason.contains("not by the server's own processes"), "{reason}");
    }
    honest.iter().for_each(|name| assert_ne!(cells.entry(name)["verdict"], "failed", "{name}"));
}

/// Whether a cell is not ranked for one of these reasons. An honest server can have others: a busy machine disturbs its windows.
fn is_accused(cell: &Value, reasons: &[&str]) -> bool {
    let reason = cell["reason"].as_str().unwrap_or_default();
    reasons.iter().any(|it| reason.contains(it))
}

/// Between windows it is where it belongs.
#[test]
fn server_that_leaves_its_cgroup_within_windows_is_suspect() {
    if !has_cgroups() {
        return;
    }
    let bench = Bench::new();
    let servers =
        "testkit-liar@honest @leave-under-load testkit-json@honest testkit-json@leave-under-load";
    bench.run(&format!("run {servers} --warmup none --duration 500ms --rounds 4"));
    let cells = bench.cells();
    // It may be seen outside right after a window as well.
    let seen = ["it left the cgroup for a while", "not by the server's own processes"];
    for name in ["testkit-liar", "testkit-json"] {
        let [honest, cheat] =
            ["honest", "leave-under-load"].map(|it| cells.entry(&format!("{name}@{it}")));
        assert!(!is_accused(honest, &seen), "{honest:#}");
        assert!(is_accused(cheat, &seen) && cheat["place_best"].is_null(), "{cheat:#}");
    }
}

/// Fewer windows than show a trend, which on a busy machine may look like an unfinished warm-up.
#[test]
fn server_that_works_only_while_it_is_not_frozen_is_suspect() {
    if !has_cgroups() {
        return;
    }
    let bench = Bench::new();
    let servers = ["testkit-liar", "testkit-json"]
        .map(|it| format!("{it}@honest {it}@busy-unless-frozen"))
        .join(" ");
    bench.run(&format!("run {servers} --warmup until-steady --duration 300ms --rounds 3"));
    let cells = bench.cells();
    let seen = ["it behaves differently when it is measured"];
    for name in ["testkit-liar", "testkit-json"] {
        let [honest, cheat] =
            ["honest", "busy-unless-frozen"].map(|it| cells.entry(&format!("{name}@{it}")));
        assert!(!is_accused(honest, &seen), "{honest:#}");
        assert!(is_accused(cheat, &seen) && cheat["verdict"] == "suspect", "{cheat:#}");
    }
}

/// Version 1 has several hierarchies, of which each counts something else, and takes threads one by one.
#[test]
fn server_that_leaves_part_of_its_cgroup_fails() {
    if isolation_mode() != IsolationMode::CgroupV1 {
        return skip("no cgroup v1");
    }
    let ended = Bench::new().run("check @leave-partly").expect(1);
    ended.shows(&["FAILED: 127.0.0.1:", "(server), not by the server's own"]);
}
