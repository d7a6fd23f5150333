//! nginx and OpenSSL as servers with TLS. What the engine agrees on with them, and why it fails, is what `curl` and
//! `openssl s_client` say.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use rustix::process::Signal;
use tempfile::TempDir;

use super::nginx::Nginx;
use crate::bench::look;
use crate::program::Program;
use crate::serve::port;
use crate::tls::issued;

/// `listen` of nginx, our version of HTTP, what ALPN chooses.
const HTTP: [(&str, &str, &str); 2] = [(" ssl", "1.1", "http/1.1"), (" ssl http2", "2", "h2")];

/// A version of TLS, in our words, as an option of OpenSSL and in its words; and the suite in IANA's and OpenSSL's.
const TLS: [(&str, &str, &str, &str, &str); 2] = [
    ("1.3", "-tls1_3", "TLSv1.3", "TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
    (
        "1.2",
        "-tls1_2",
        "TLSv1.2",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-ECDSA-AES256-GCM-SHA384",
    ),
];

/// What a program prints, on either stream.
fn printed(program: &str, words: &str) -> String {
    let mut command = Command::new(program);
    let output = command.args(words.split_whitespace()).stdin(Stdio::null()).output().unwrap();
    let streams = [output.stdout, output.stderr];
    streams.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
}

#[track_caller]
fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "no '{part}' in:\n{text}");
}

fn nginx(files: &Path, listen: &str, verify: &str) -> Nginx {
    let conf = include_str!("tls.conf")
        .replace("@files@", files.to_str().unwrap())
        .replace("@verify@", verify);
    Nginx::with(&conf, listen, 1000)
}

#[test]
#[ignore = "needs nginx, curl and openssl"]
fn nginx_agrees_with_the_engine_as_with_curl_and_openssl() {
    let files = issued();
    let authority = files.path().join("authority.pem").display().to_string();
    for (listen, http, alpn) in HTTP {
        let nginx = nginx(files.path(), listen, "off");
        let at = format!("127.0.0.1:{}", nginx.port);
        for (tls, option, version, iana, suite) in TLS {
            let load = look(&format!(
                "load https://{at}/ --cacert {authority} --http {http} --tls-version {tls} -c 3 -n 300"
            ));
            load.expect_ok_or_late()
                .shows(&[&format!("TLS {tls}, {iana}, "), &format!("ALPN {alpn}")]);
            let curl = printed(
                "curl",
                &format!(
                    "-sv --cacert {authority} --http{http} --tlsv{tls} --tls-max {tls} https://{at}/"
                ),
            );
            contains(&curl, &format!("SSL connection using {version} / {suite}"));
            let openssl =
                format!("s_client -connect {at} -CAfile {authority} -alpn {alpn} {option}");
            let openssl = printed("openssl", &openssl);
            contains(&openssl, &format!("{version}, Cipher is {suite}"));
            contains(&openssl, &format!("ALPN protocol: {alpn}"));
        }
        nginx.stop();
    }
}

#[test]
#[ignore = "needs nginx, curl and openssl"]
fn nginx_answers_clients_with_a_certificate_only() {
    let files = issued();
    let file = |name: &str| files.path().join(name).display().to_string();
    let [authority, cert, key] = ["authority.pem", "cert.pem", "key.pem"].map(file);
    for (listen, http, _) in HTTP {
        let nginx = nginx(files.path(), listen, "on");
        let url = format!("https://127.0.0.1:{}/", nginx.port);
        let words = format!("load {url} --cacert {authority} --http {http} -c 2 -n 100");
        look(&format!("{words} --cert {cert} --key {key}")).expect_ok_or_late();
        // nginx says so in HTTP.
        let refused = look(&words).expect(1);
        refused.complains(&["No required SSL certificate was sent"]);
        let curl = printed("curl", &format!("-s --cacert {authority} {url}"));
        contains(&curl, "No required SSL certificate was sent");
        nginx.stop();
    }
}

/// `openssl s_server` on a free port.
fn openssl(files: &TempDir, words: &str) -> (Program, String) {
    let port = port();
    let words = format!("s_server -accept {port} -cert cert.pem -key key.pem -www {words}");
    let mut command = Command::new("openssl");
    let server = Program::start(command.args(words.split_whitespace()).current_dir(files.path()));
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        thread::yield_now();
    }
    (server, format!("https://127.0.0.1:{port}/"))
}

#[test]
#[ignore = "needs nginx, curl and openssl"]
fn refusals_of_openssl_are_those_that_curl_gets() {
    let files = issued();
    let authority = files.path().join("authority.pem").display().to_string();
    for (server, load, ours, curl, theirs) in [
        (
            "-Verify 1 -CAfile authority.pem -verify_return_error",
            "",
            "TLS: the server requires a client certificate; give --cert and --key",
            "",
            "certificate required",
        ),
        (
            "-tls1_2",
            "--tls-version 1.3",
            "TLS: the server speaks none of the offered versions of TLS",
            "--tlsv1.3",
            "protocol version",
        ),
        (
            "-tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256",
            "",
            "TLS: the server finds no common cipher suite, or wants a client certificate: alert HandshakeFailure",
            "",
            "handshake failure",
        ),
    ] {
        let (program, url) = openssl(&files, server);
        let words = format!("load {url} --cacert {authority} -c 1 -n 1 {load}");
        // Over TLS 1.3, a server refuses the client's certificate after the handshake: then calls fail.
        let ended = look(&words);
        assert_ne!(ended.code, Some(0));
        contains(&(ended.out + &ended.err), ours);
        // OpenSSL's own default has CCM, so curl offers what the engine does.
        let ciphers = "--tls13-ciphers TLS_AES_128_GCM_SHA256";
        contains(
            &printed("curl", &format!("-sSv --cacert {authority} {ciphers} {curl} {url}")),
            theirs,
        );
        program.signal(Signal::TERM);
    }
}
