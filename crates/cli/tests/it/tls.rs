//! Loads over TLS: who is believed, what was agreed on, and what goes wrong in words.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use crate::any_url::{Seen, answer};
use crate::bench::rpcbench;
use crate::program::{Ended, Program};

/// A server with TLS, and the file of the authority that issued its certificate.
struct Secure {
    address: SocketAddr,
    authority: PathBuf,
    folder: TempDir,
}

impl Secure {
    /// Serves each connection by `serve`; offers `alpn`.
    fn start(
        alpn: &str,
        serve: impl Fn(ServerConnection, TcpStream) + Send + Clone + 'static,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Authority of a test");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned(), "api.test".to_owned()];
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let path = folder.path().join("authority.pem");
        fs::write(&path, authority.pem()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for socket in listener.incoming() {
                let session = ServerConnection::new(Arc::clone(&config)).unwrap();
                let (serve, socket) = (serve.clone(), socket.unwrap());
                thread::spawn(move || serve(session, socket));
            }
        });
        Self { address, authority: path, folder }
    }

    /// Answers requests of HTTP/1.1.
    fn http() -> Self {
        let seen = Seen::default();
        Self::start("http/1.1", move |session, socket| {
            answer(StreamOwned::new(session, socket), &seen);
        })
    }

    /// Passes bytes on to a server without TLS.
    fn in_front_of(upstream: SocketAddr) -> Self {
        Self::start("h2", move |session, socket| relay(session, socket, upstream))
    }

    fn load(&self, words: &str) -> Ended {
        let words = words.replace("CA", self.authority.to_str().unwrap());
        let words: Vec<&str> = ["load"].into_iter().chain(words.split(' ')).collect();
        Program::start(rpcbench(&words).current_dir(self.folder.path())).finish()
    }
}

/// Passes bytes on both ways until one side ends.
fn relay(session: ServerConnection, socket: TcpStream, upstream: SocketAddr) {
    let session = Arc::new(Mutex::new(session));
    let upstream = TcpStream::connect(upstream).unwrap();
    let back = {
        let (session, mut from, mut to) =
            (Arc::clone(&session), upstream.try_clone().unwrap(), socket.try_clone().unwrap());
        move || {
            let mut bytes = vec![0; 16 << 10];
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
                session.writer().write_all(&bytes[..read])?;
                while session.wants_write() {
                    session.write_tls(&mut to)?;
                }
            }
            std::io::Result::Ok(())
        }
    };
    thread::spawn(back);
    let (mut from, mut to, mut upstream) = (socket.try_clone().unwrap(), socket, upstream);
    let mut records = vec![0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut records) {
        let mut plain = Vec::new();
        let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rest = &records[..read];
        while !rest.is_empty() {
            session.read_tls(&mut rest).unwrap();
            let Ok(state) = session.process_new_packets() else { return };
            let begin = plain.len();
            plain.resize(begin + state.plaintext_bytes_to_read(), 0);
            session.reader().read_exact(&mut plain[begin..]).unwrap();
        }
        while session.wants_write() {
            let Ok(_) = session.write_tls(&mut to) else { return };
        }
        drop(session);
        let Ok(()) = upstream.write_all(&plain) else { return };
    }
}

#[test]
fn url_is_loaded_over_tls_and_the_summary_says_what_was_agreed_on() {
    let server = Secure::http();
    let url = format!("https://{}/a", server.address);
    let ended = server.load(&format!("{url} --cacert CA -c 3 -z 200ms")).expect_ok_or_late();
    ended.shows(&[
        "TLS 1.3, TLS13_AES_256_GCM_SHA384, X25519, ALPN http/1.1; verified by ",
        "authority.pem; 3 full handshakes",
    ]);
    let ended =
        server.load(&format!("{url} -k --tls-version 1.2 -c 1 -z 200ms")).expect_ok_or_late();
    ended.shows(&["TLS 1.2, ", "verified by nothing; 1 full handshake"]);
    let named = server.load(&format!("{url} --cacert CA --servername api.test -c 1 -z 100ms"));
    named.expect_ok_or_late();
}

#[test]
fn short_connections_are_loaded_over_tls() {
    let server = Secure::http();
    let words =
        format!("https://{}/ --cacert CA -c 2 -z 300ms --connection-life short", server.address);
    let ended = server.load(&format!("{words} --format json")).expect_ok_or_late();
    assert_eq!(ended.json()["transport"], 0, "{:#}", ended.json());
}

#[test]
fn service_of_the_contract_is_loaded_over_tls() {
    let honest = rpcbench_testkit::Server::start("honest".parse().unwrap()).unwrap();
    let server = Secure::in_front_of(honest.address());
    let words = format!("{} --tls --cacert CA -c 2 -m 3 -z 300ms", server.address);
    server.load(&words).expect_ok_or_late().shows(&["ALPN h2; verified by "]);
}

#[test]
fn server_that_cannot_be_believed_or_speaks_no_tls_ends_the_load_in_words() {
    let server = Secure::http();
    let url = format!("https://{}/", server.address);
    server.load(&format!("{url} --cacert CA --servername other.test")).expect(2).complains(&[
        "TLS: the server's certificate is not for 'other.test', but for 127.0.0.1, api.test",
    ]);
    server
        .load(&format!("{} --tls --cacert CA", server.address))
        .expect(2)
        .complains(&["TLS: the server speaks none of the offered protocols (ALPN)"]);
    server.load(&server.address.to_string()).expect(2).complains(&["give --tls"]);
    let plain = rpcbench_testkit::Server::start("honest".parse().unwrap()).unwrap();
    server.load(&format!("{} --tls --cacert CA", plain.address())).expect(2).complains(&["TLS: "]);
}
