//! Servers as they were built, each run by `rpcbench serve`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rpcbench_harness::manifest::{Catalog, Entry, Selection};
use rpcbench_testkit::skip;
use rustix::process::Signal;

use crate::bench::{repository, rpcbench};
use crate::program::Program;
use crate::serve::port;

/// A server that answers.
pub struct Served {
    program: Program,
    pub address: SocketAddr,
}

impl Served {
    /// `None`, with the reason on standard error, where it can't run here.
    pub fn start(name: &str) -> Option<Self> {
        let (root, port) = (repository(), port());
        let mut command = rpcbench(&["--root", root.to_str().unwrap(), "serve", name]);
        let command = command.args(["--no-build", "--port", &port.to_string()]);
        let mut program = Program::start(command);
        let line = program.await_either(&[" serves ", " skipped: "]);
        if line.contains(" skipped: ") {
            skip(line);
            program.finish().expect(2);
            return None;
        }
        Some(Self { program, address: SocketAddr::from(([127, 0, 0, 1], port)) })
    }

    pub fn stop(self) {
        self.program.signal(Signal::INT);
        self.program.finish().expect(0);
    }
}

/// Runs every server that is built in turn, in one variant, under each of its protocols that `is_selected` selects. Some must be able
/// to run.
pub fn each(is_selected: impl Fn(&Entry) -> bool, call: impl Fn(&Entry, SocketAddr)) {
    let mut servers = BTreeMap::new();
    for entry in built().into_iter().filter(is_selected) {
        let name = entry.without_variant();
        if entry.is_representative() || !servers.contains_key(&name) {
            servers.insert(name, entry);
        }
    }
    let mut called = 0;
    for entry in servers.values() {
        if let Some(served) = Served::start(&entry.name()) {
            call(entry, served.address);
            served.stop();
            called += 1;
        }
    }
    assert!(called > 0, "none of {:?} can run here", servers.keys());
}

/// The representative entries, and those that `RPCBENCH_TEST_SERVERS` names, with patterns as for `rpcbench check`.
#[expect(clippy::disallowed_methods, reason = "which servers were built is passed from outside")]
fn built() -> Vec<Entry> {
    let catalog = Catalog::load(&repository()).unwrap();
    assert!(catalog.broken().is_empty(), "{:?}", catalog.broken());
    let mut entries = catalog.select(&Selection::default()).unwrap();
    let named = std::env::var("RPCBENCH_TEST_SERVERS").unwrap_or_default();
    if !named.is_empty() {
        let patterns = named.split_whitespace().map(String::from).collect();
        entries.extend(catalog.select(&Selection::named(patterns)).unwrap());
    }
    entries
}
