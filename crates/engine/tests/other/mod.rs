//! A server in another process, with a separate memory and limit on open files.

use std::io::{self, BufRead, BufReader, Lines, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use rpcbench_testkit::{Server, raise_file_limit, relay_tls};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

/// The process; it ends with this. The test binary has an ignored test that calls [`serve`].
pub struct Other {
    process: Child,
    /// It writes there when it ends.
    _output: Lines<BufReader<ChildStdout>>,
    pub address: SocketAddr,
}

impl Other {
    /// Runs the ignored test `name` of this binary.
    pub fn start(name: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = output.find_map(|line| {
            let line = line.unwrap();
            line.split_once("listens on ").map(|(_, address)| address.parse().unwrap())
        });
        Self { process, _output: output, address: address.unwrap() }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

/// Serves until standard input ends.
pub fn serve(behaviour: &str) {
    raise_file_limit().unwrap();
    let server = Server::start(behaviour.parse().unwrap()).unwrap();
    announce(server.address());
}

/// The same over TLS, with a certificate that no client can verify.
pub fn serve_tls(behaviour: &str) {
    raise_file_limit().unwrap();
    let server = Server::start(behaviour.parse().unwrap()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    relay_tls(listener, self_signed(), server.address());
    announce(address);
}

fn announce(address: SocketAddr) {
    let mut output = io::stdout();
    writeln!(output, "listens on {address}").unwrap();
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn self_signed() -> ServerConfig {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}
