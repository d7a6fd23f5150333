//! Apache's Thrift library for Python: its client calls every Thrift server, and the engine calls its server.

use std::process::Command;

use rpcbench_record::Protocol;

use super::{peer, servers};
use crate::bench::{look, repository};
use crate::program::Program;

/// Each transport of Thrift with each of its protocols.
const THRIFT: [Protocol; 4] = [
    Protocol::Thrift,
    Protocol::ThriftCompact,
    Protocol::ThriftBuffered,
    Protocol::ThriftBufferedCompact,
];

/// thrift_peer.py with these arguments.
fn library(words: &str) -> Program {
    let script = repository().join("crates/cli/tests/it/foreign/thrift_peer.py");
    let mut command = Command::new(peer("venv").join("bin/python"));
    command.arg(script).args(words.split(' ')).env("PYTHONPATH", peer("thrift"));
    Program::start(&mut command)
}

#[test]
#[ignore = "needs the built servers"]
fn apache_client_gets_the_right_reply_from_every_thrift_server() {
    servers::each(
        |entry| THRIFT.contains(&entry.protocol),
        |entry, address| {
            let words = format!("call {} {}", entry.protocol, address.port());
            let ended = library(&words).finish().expect(0);
            assert_eq!(ended.out, "10 right replies\n", "{}: {}", entry.name(), ended.err);
        },
    );
}

#[test]
#[ignore = "needs Apache's Thrift library for Python"]
fn engine_gets_the_right_reply_from_apaches_thrift_server() {
    for protocol in THRIFT {
        let mut server = library(&format!("serve {protocol}"));
        let line = server.await_line("listens on ");
        let address = line.trim_start_matches("listens on ");
        for shape in ["text:100", "record", "dto", "tree"] {
            let words = "-c 4 -n 400 --warmup none --format json";
            let load = format!("load {address} --protocol {protocol} --shape {shape} {words}");
            let ended = look(&load).expect_ok_or_late().json();
            assert_eq!((&ended["calls"], &ended["ok"]), (&400.into(), &400.into()), "{ended:#}");
        }
    }
}
