//! Records of loads of other services: listed by target, and titled with it.

use std::fs;
use std::path::Path;

use crate::bench::{Machine, repository, rpcbench};
use crate::grpc_peer::{Reply, serve};
use crate::program::{Ended, Program};

fn program(arguments: &[&str]) -> Ended {
    Program::start(&mut rpcbench(arguments)).finish()
}

/// A load of a method of the contract, recorded in a folder.
fn record(address: &str, method: &str, folder: &Path) {
    let proto = repository().join("contract/echo.proto");
    let arguments = [
        "load",
        address,
        "--proto",
        proto.to_str().unwrap(),
        "--call",
        method,
        "-n",
        "100",
        "-c",
        "1",
        "--warmup",
        "none",
        "--quiet",
        "--out",
        folder.to_str().unwrap(),
    ];
    program(&arguments).expect_ok_or_late();
}

#[test]
fn loads_of_a_target_are_kept_apart_from_those_of_another() {
    let _machine = Machine::shared();
    let address = serve(|_| Reply::message(false, b"")).to_string();
    let work = tempfile::tempdir().unwrap();
    let folder = |name: &str| work.path().join(name);
    for (method, name) in [("Echo/Text", "a"), ("Echo/Dto", "b"), ("Echo/Text", "c")] {
        record(&address, method, &folder(name));
    }
    let results = work.path().to_str().unwrap();
    let listed = program(&["history", results]).expect(0).out;
    assert!(listed.contains("3 loads of 2 targets"), "{listed}");
    let text = format!("{address} rpcbench.v1.Echo/Text");
    let (before, after) = listed.split_once(&text).expect("the target");
    // Two rows, below a title and a head.
    let rows = |part: &str| part.lines().filter(|line| line.contains("closed loop")).count();
    assert_eq!((rows(before) + rows(after), rows(after) >= 2), (3, true), "{listed}");
    let one = program(&["history", results, "rpcbench.v1.Echo/Dto"]).expect(0).out;
    assert!(one.contains("1 load of 1 target") && !one.contains("Echo/Text"), "{one}");
    let json = program(&["history", results, "--format", "json"]).expect(0).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let entries = json["points"].as_array().unwrap().iter().filter(|it| it["entry"] == *text);
    assert_eq!(entries.count(), 2, "{json}");
    for name in ["a", "c"] {
        let page = fs::read_to_string(folder(name).join("report.html")).unwrap();
        assert!(page.contains(&format!("<title>rpcbench: {text}</title>")));
    }
    let compare = |old: &str, new: &str| {
        let [old, new] = [old, new].map(|name| folder(name).to_str().unwrap().to_owned());
        program(&["compare", &old, &new])
    };
    let same = compare("a", "c").expect(0).out;
    for part in [&text, "ok calls/s", "p99.9", "so a change may be chance"] {
        assert!(same.contains(part), "{same}");
    }
    let refused = compare("a", "b").expect(2).err;
    assert!(
        refused.contains("the loads make different calls, which are never compared"),
        "{refused}"
    );
}
