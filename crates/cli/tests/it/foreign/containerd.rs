//! containerd over its Unix socket, called by a schema of this repository. Its metrics count calls.

use std::fs;
use std::process::Command;

use super::loads::{all_ok, handled, load};
use super::{file, peer};
use crate::program::Program;
use crate::serve::port;

#[test]
#[ignore = "needs scripts/peers.sh"]
fn containerd_counts_the_calls_over_its_unix_socket() {
    let (folder, port) = (tempfile::tempdir().unwrap(), port());
    let at = folder.path().to_str().unwrap();
    let configuration = include_str!("containerd.toml").replace("@folder@", at);
    let configuration = configuration.replace("@port@", &port.to_string());
    let written = folder.path().join("containerd.toml");
    fs::write(&written, configuration).unwrap();
    let mut command = Command::new(peer("debian/usr/bin/containerd"));
    let mut server = Program::start(command.arg("--config").arg(written));
    server.await_line("containerd successfully booted");

    let (address, proto) = (format!("unix:{at}/socket"), file("containerd.proto"));
    let call = [address.as_str(), "--proto", &proto, "--call", "Version/Version"];
    let made = all_ok(&[&call[..], &["--expect", "$.version exists"]].concat());
    assert_eq!(handled((port, "/v1/metrics"), "Version", "OK"), made);
    load(&[&call[..], &["--once"]].concat()).expect(0).shows(&["\"version\": \"1."]);
}
