//! etcd, called by a schema of this repository. Its metrics count calls.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::loads::{all_ok, handled, load, without_wait};
use super::{file, peer};
use crate::program::Program;
use crate::serve::port;
use crate::tls::issued;

/// Keys and values are bytes, base64 in JSON: `name`, `ann`.
const PUT: &str = r#"{"key": "bmFtZQ==", "value": "YW5u"}"#;
const RANGE: &str = r#"{"key": "bmFtZQ=="}"#;

struct Etcd {
    address: String,
    /// Where its metrics are, without TLS.
    metrics: u16,
    _program: Program,
    _folder: TempDir,
}

impl Etcd {
    /// With TLS, and only for clients with a certificate, if there is a folder of certificates.
    fn start(tls: Option<&Path>) -> Self {
        let (folder, port, metrics) = (tempfile::tempdir().unwrap(), port(), port());
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (clients, peers) = (format!("{scheme}://127.0.0.1:{port}"), "http://127.0.0.1:0");
        let mut command = Command::new(peer("debian/usr/bin/etcd"));
        if let Some(tls) = tls {
            // Its gateway would need a certificate, too.
            command.args(["--enable-grpc-gateway=false", "--client-cert-auth"]);
            command.arg("--cert-file").arg(tls.join("cert.pem"));
            command.arg("--key-file").arg(tls.join("key.pem"));
            command.arg("--trusted-ca-file").arg(tls.join("authority.pem"));
        }
        command.args(["--listen-metrics-urls", &format!("http://127.0.0.1:{metrics}")]);
        command.arg("--data-dir").arg(folder.path().join("data"));
        command.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
        command.args(["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]);
        command.args(["--initial-cluster", &format!("default={peers}")]);
        let program = Program::start(&mut command);
        Self { address: format!("127.0.0.1:{port}"), metrics, _program: program, _folder: folder }
    }

    /// Arguments of a call of a method, with its data.
    fn call<'a>(&'a self, proto: &'a str, method: &'a str, data: &'a str) -> Vec<&'a str> {
        let schema = ["--proto", proto, "--wait", "60s"];
        [&[self.address.as_str()], &schema[..], &["--call", method, "-d", data]].concat()
    }
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn etcd_counts_the_calls_that_were_made() {
    let (etcd, proto) = (Etcd::start(None), file("etcd.proto"));
    let has_name = "$.kvs[0].value == \"YW5u\"";
    for (method, data, expected) in [
        ("Put", PUT, &["--expect", "$.header.revision != 0"][..]),
        ("Range", RANGE, &["--expect", "$.count == 1", "--expect", has_name]),
    ] {
        let name = format!("KV/{method}");
        let made = all_ok(&[&etcd.call(&proto, &name, data)[..], expected].concat());
        assert_eq!(handled((etcd.metrics, "/metrics"), method, "OK"), made, "{method}");
    }
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn call_that_etcd_refuses_fails_with_its_status_and_words() {
    let (etcd, proto) = (Etcd::start(None), file("etcd.proto"));
    let without_key = etcd.call(&proto, "KV/Range", "{}");
    let counted = ["-n", "1000", "--warmup", "none", "--quiet"];
    let ended = load(&[&without_key[..], &counted].concat()).expect(1);
    ended.shows(&["status 3 INVALID_ARGUMENT  1,000 (100 %)", "etcdserver: key is not provided"]);
    let refused = || handled((etcd.metrics, "/metrics"), "Range", "InvalidArgument");
    let before = refused();
    let made = all_ok(&[&without_key[..], &["--ok", "INVALID_ARGUMENT"]].concat());
    assert_eq!(refused() - before, made);
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn etcd_takes_calls_only_from_clients_with_a_certificate() {
    let files = issued();
    let path = |name: &str| files.path().join(name).display().to_string();
    let [authority, cert, key] = ["authority.pem", "cert.pem", "key.pem"].map(path);
    let (etcd, proto) = (Etcd::start(Some(files.path())), file("etcd.proto"));
    let call = etcd.call(&proto, "KV/Range", RANGE);
    let tls = [&call[..], &["--tls", "--cacert", &authority]].concat();
    let made = all_ok(&[&tls[..], &["--cert", &cert, "--key", &key]].concat());
    assert_eq!(handled((etcd.metrics, "/metrics"), "Range", "OK"), made);
    // Go before 1.21 has the same alert for a certificate that is missing and one that is wrong.
    let refused = load(&[&without_wait(&tls)[..], &["-c", "1", "-n", "1"]].concat());
    assert_ne!(refused.code, Some(0));
    refused.complains(&["TLS: the server ", "client certificate"]);
}
