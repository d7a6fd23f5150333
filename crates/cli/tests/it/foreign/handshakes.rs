//! Handshakes that fail with OpenSSL and Go as servers: a load gives the reason, in the same words for both.

use std::fs;
use std::net::TcpStream;
use std::process::Command;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustix::process::Signal;
use tempfile::TempDir;

use super::peer;
use crate::bench::rpcbench;
use crate::program::Program;
use crate::serve::port;
use crate::tls::{NAMES, authority};

/// Options of `openssl s_server`, and those of the program in `tls_go` with the same effect.
type Options = (&'static str, &'static str);

const PLAIN: Options = ("", "");
const CLIENTS: Options =
    ("-Verify 1 -CAfile authority.pem -verify_return_error", "-clients authority.pem");
const CLIENTS_12: Options = (
    "-Verify 1 -CAfile authority.pem -verify_return_error -tls1_2",
    "-clients authority.pem -version 1.2",
);
const ONLY_13: Options = ("-tls1_3", "-version 1.3");
/// A suite that is no longer offered.
const CBC: Options = ("-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA", "-version 1.2 -cbc");
const ALPN_FOO: Options = ("-alpn foo", "-alpn foo");

const STRANGER: &str = "--cert stranger.pem --key key.pem";
const EXPIRED: &str = "--cert expired.pem --key key.pem";

/// A server's certificate and options, those of the load, and what it says.
const FAILURES: [(&str, Options, &str, &str); 17] = [
    ("expired", PLAIN, "", "the server's certificate expired on 2020-01-31"),
    ("early", PLAIN, "", "the server's certificate is not valid before 2999-01-31"),
    (
        "cert",
        PLAIN,
        "--servername other.test",
        "the server's certificate is not for 'other.test', but for 127.0.0.1, api.test",
    ),
    ("stranger", PLAIN, "", "the server's certificate has an issuer that is not trusted"),
    (
        "self-signed",
        PLAIN,
        "--cacert self-signed.pem",
        "the server's certificate is marked as an authority's (CA:TRUE), as self-signed ones often are",
    ),
    (
        "cert",
        PLAIN,
        "--cacert namesake.pem",
        "the server's certificate has an issuer that is not trusted: a trusted authority of the same name has another key",
    ),
    ("cert", CLIENTS, "", "the server requires a client certificate; give --cert and --key"),
    (
        "cert",
        CLIENTS_12,
        "",
        "the server finds no common cipher suite, or wants a client certificate",
    ),
    ("cert", CLIENTS, STRANGER, "the server does not accept the client certificate: alert "),
    ("cert", CLIENTS_12, STRANGER, "the server does not accept the client certificate: alert "),
    (
        "cert",
        CLIENTS,
        EXPIRED,
        "the server does not accept the client certificate: alert CertificateExpired",
    ),
    (
        "cert",
        CLIENTS_12,
        EXPIRED,
        "the server does not accept the client certificate: alert CertificateExpired",
    ),
    ("cert", ONLY_13, "--tls-version 1.2", "the server speaks none of the offered versions of TLS"),
    ("cert", CBC, "", "the server finds no common cipher suite"),
    ("cert", ALPN_FOO, "", "the server speaks none of the offered protocols (ALPN)"),
    ("cert", PLAIN, "--http 2", "the server does not choose a protocol (ALPN)"),
    ("cert", CBC, "--tls-version 1.3", "the server speaks none of the offered versions of TLS"),
];

/// A folder of certificates with one key.
fn certificates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, pem: String| fs::write(folder.path().join(name), pem).unwrap();
    let key = KeyPair::generate().unwrap();
    let (known, unknown) = (authority("Authority of a test"), authority("Another authority"));
    let issue = |file: &str, issuer: &CertifiedIssuer<'_, KeyPair>, from: i32, until: i32| {
        let mut params = CertificateParams::new(NAMES.map(str::to_owned)).unwrap();
        params.not_before = date_time_ymd(from, 1, 31);
        params.not_after = date_time_ymd(until, 1, 31);
        write(file, params.signed_by(&key, issuer).unwrap().pem());
    };
    issue("cert.pem", &known, 2000, 3000);
    issue("expired.pem", &known, 2000, 2020);
    issue("early.pem", &known, 2999, 3000);
    issue("stranger.pem", &unknown, 2000, 3000);
    // As `openssl req -x509` makes them.
    let mut own = CertificateParams::new(NAMES.map(str::to_owned)).unwrap();
    own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    write("self-signed.pem", own.self_signed(&key).unwrap().pem());
    write("authority.pem", known.pem());
    write("namesake.pem", authority("Authority of a test").pem());
    write("key.pem", key.serialize_pem());
    folder
}

/// A server with this certificate, and its port. Of its options, PORT is replaced.
fn server(
    files: &TempDir,
    mut command: Command,
    options: &str,
    certificate: &str,
) -> (Program, u16) {
    let port = port();
    let options = options.replace("PORT", &port.to_string());
    command.args(options.split_whitespace()).current_dir(files.path());
    command.args(["-cert", &format!("{certificate}.pem"), "-key", "key.pem"]);
    let program = Program::start(&mut command);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        thread::yield_now();
    }
    (program, port)
}

fn openssl(files: &TempDir, certificate: &str, options: &str) -> (Program, u16) {
    let options = format!("s_server -www -accept PORT {options}");
    server(files, Command::new("openssl"), &options, certificate)
}

fn go(files: &TempDir, certificate: &str, options: &str) -> (Program, u16) {
    let options = format!("-listen 127.0.0.1:PORT {options}");
    server(files, Command::new(peer("tls-go")), &options, certificate)
}

fn servers(files: &TempDir, certificate: &str, options: Options) -> [(Program, u16); 2] {
    [openssl(files, certificate, options.0), go(files, certificate, options.1)]
}

/// What a load of one call complains about.
fn load(files: &TempDir, words: &str) -> String {
    let words = format!("load {words} -c 1 -n 1 --warmup none");
    let mut command = rpcbench(&words.split_whitespace().collect::<Vec<_>>());
    let ended = Program::start(command.current_dir(files.path())).finish();
    assert_ne!(ended.code, Some(0), "{words}");
    ended.out + &ended.err
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn reasons_are_the_same_for_openssl_and_go() {
    let files = certificates();
    for (certificate, options, words, reason) in FAILURES {
        for (server, port) in servers(&files, certificate, options) {
            let trust = if words.contains("--cacert") { "" } else { "--cacert authority.pem" };
            let words = format!("https://127.0.0.1:{port}/ {trust} {words}");
            let said = load(&files, &words);
            assert!(said.contains(&format!("TLS: {reason}")), "{options:?} {words}: {said}");
            server.signal(Signal::KILL);
        }
    }
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn plain_load_of_a_server_with_tls_names_the_option() {
    let files = certificates();
    for (server, port) in servers(&files, "cert", PLAIN) {
        let said = load(&files, &format!("127.0.0.1:{port}"));
        assert!(said.contains("it speaks TLS; give --tls, or a URL with grpcs://"), "{said}");
        let said = load(&files, &format!("http://127.0.0.1:{port}/"));
        assert!(said.contains("it speaks TLS; write https:// in place of http://"), "{said}");
        server.signal(Signal::KILL);
    }
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn handshake_with_a_stopped_server_is_given_up() {
    let files = certificates();
    for (server, port) in servers(&files, "cert", PLAIN) {
        server.signal(Signal::STOP);
        let said = load(&files, &format!("https://127.0.0.1:{port}/ -k --connect-timeout 300ms"));
        assert!(said.contains("TLS: the handshake did not end in time"), "{said}");
        server.signal(Signal::KILL);
    }
}

#[test]
#[ignore = "needs scripts/peers.sh"]
fn logged_keys_are_those_of_the_server() {
    let files = certificates();
    for version in ["1.2", "1.3"] {
        let (server, port) = go(&files, "cert", &format!("-version {version} -keys server.keys"));
        let url = format!("https://127.0.0.1:{port}/");
        let words = ["load", &url, "--cacert", "authority.pem", "--once"];
        let mut command = rpcbench(&words);
        command.current_dir(files.path()).env("SSLKEYLOGFILE", "client.keys");
        Program::start(&mut command).finish().expect(0);
        let [own, theirs] = ["client.keys", "server.keys"]
            .map(|name| fs::read_to_string(files.path().join(name)).unwrap());
        // Go logs no secrets of exporters.
        let mut own = own.lines().filter(|line| !line.starts_with("EXPORTER_")).peekable();
        assert!(own.peek().is_some());
        own.for_each(|line| assert!(theirs.contains(line), "{line} is not in:\n{theirs}"));
        fs::remove_file(files.path().join("client.keys")).unwrap();
        server.signal(Signal::KILL);
    }
}
