//! Servers that break TLS, or bend it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::pki_types::CertificateDer;
use rustls::{ConnectionTrafficSecrets, ProtocolVersion, ServerConfig, StreamOwned};

use super::tls::{
    Issued, Peer, driver, issue, issue_by, open, serve, server_config, settings, take_over,
};
use super::tls_refusals::refused;
use super::{receive, wait};
use crate::driver::Driver;
use crate::tls::{Cryptography, TlsSettings, TlsVersion};

/// A handshake record with this content.
fn record(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[22, 3, 3], &length[..], content].concat()
}

/// A server that sends these bytes over and over until the client is gone.
fn repeat(bytes: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        while socket.write_all(&bytes).is_ok() {}
    });
    address
}

#[test]
fn bytes_without_end_are_refused_in_the_handshake() {
    // A ticket of 16 MiB, and nothing at all.
    let ticket = record(&[&[4, 0xff, 0xff, 0xff][..], &[0; 16_000]].concat());
    for (bytes, expected) in [
        (ticket, "TLS: the server sends a handshake message of more than 64 KiB"),
        (record(&[]), "TLS: the server breaks the protocol: invalid empty payload"),
        (vec![21, 3, 3, 0, 2, 2, 80], "TLS: the server sent alert InternalError"),
    ] {
        let mut driver = driver(settings(&issue(|_| {})));
        let error = open(&mut driver, repeat(bytes)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn chain_of_a_mebibyte_is_refused() {
    let issued = issue(|_| {});
    let one = issued.chain[0].clone();
    let chain: Vec<CertificateDer<'static>> = vec![one.clone(); (1 << 20) / one.len()];
    assert_eq!(
        refused(server_config(&Issued { chain, ..issued.copy() }), settings(&issued)),
        "TLS: the server sends a handshake message of more than 64 KiB"
    );
}

#[test]
fn server_without_a_common_suite_is_named() {
    let issued = issue(|_| {});
    let cipher_suites = vec![cipher_suite::TLS13_CHACHA20_POLY1305_SHA256];
    let provider = CryptoProvider { cipher_suites, ..default_provider() };
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(issued.chain.clone(), issued.key.clone_key())
        .unwrap();
    let pinned = TlsSettings { cryptography: Cryptography::Aes128, ..settings(&issued) };
    assert_eq!(
        refused(config, pinned),
        "TLS: the server finds no common cipher suite, or wants a client certificate: alert HandshakeFailure"
    );
}

#[test]
fn alert_in_the_middle_of_a_stream_is_named() {
    for requests in [0, 2] {
        alert_is_named(requests);
    }
}

/// An alert after this many requests is named.
fn alert_is_named(requests: usize) {
    let issued = issue(|_| {});
    let (address, server) = serve(server_config(&issued), move |mut peer| {
        peer.read_exact(&mut vec![0; requests]).unwrap();
        peer.write_all(b"first").unwrap();
        // A record that is not sealed with this session's keys.
        let forged = [&[23, 3, 3, 0, 32][..], &[7; 32]].concat();
        peer.conn.read_tls(&mut &forged[..]).unwrap();
        peer.conn.process_new_packets().unwrap_err();
        while peer.conn.wants_write() {
            peer.conn.write_tls(&mut peer.sock).unwrap();
        }
        let _ = peer.sock.read(&mut [0; 1]);
    });
    let mut driver = driver(settings(&issued));
    open(&mut driver, address).unwrap();
    take_over(&mut driver, requests);
    assert_eq!(receive(&mut driver, 0, 5), b"first");
    assert_eq!(failure(&mut driver), "TLS: the server sent alert BadRecordMac");
    driver.close(0);
    server.join().unwrap();
}

#[test]
fn failed_session_sends_an_alert_with_the_reason() {
    let (issued, stranger) = (issue(|_| {}), issue_by("Another Authority", |_| {}));
    for (trusted, requests, alert) in
        [(&issued, 0, "BadRecordMac"), (&issued, 2, "BadRecordMac"), (&stranger, 0, "UnknownCA")]
    {
        let (address, server) = serve(server_config(&issued), move |mut peer| {
            let handshake = peer.conn.complete_io(&mut peer.sock).map(|_| ());
            let forged = [&[23, 3, 3, 0, 32][..], &[7; 32]].concat();
            let told = handshake.and_then(|()| {
                peer.read_exact(&mut vec![0; requests])?;
                peer.sock.write_all(&forged)?;
                peer.read(&mut [0; 1]).map(|_| ())
            });
            told.unwrap_err().to_string()
        });
        let mut driver = driver(settings(trusted));
        if open(&mut driver, address).is_ok() {
            take_over(&mut driver, requests);
            failure(&mut driver);
        }
        driver.close(0);
        let told = server.join().unwrap();
        assert_eq!(told, format!("received fatal alert: {alert}"));
    }
}

/// Reads until reading fails.
fn failure(driver: &mut impl Driver) -> String {
    loop {
        match driver.receive(0) {
            Ok(received) => assert!(!received.bytes.is_empty(), "the stream ended"),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => drop(wait(driver)),
            Err(error) => return error.to_string(),
        }
    }
}

/// A TLS 1.3 ticket: its lifetime, its age, its nonce, the ticket, no extensions.
const TICKET: [u8; 22] = [4, 0, 0, 18, 0, 0, 1, 0, 1, 2, 3, 4, 1, 0, 0, 4, 1, 2, 3, 4, 0, 0];

#[test]
fn request_is_sealed_while_half_of_a_ticket_has_come() {
    let issued = issue(|_| {});
    let (address, server) = serve(Forger::config(&issued), |peer| {
        let mut forger = Forger::of(peer);
        let (first, second) = TICKET.split_at(9);
        forger.send(&[(23, b"x"), (22, first)]).unwrap();
        assert!(forger.socket.read(&mut [0; 100]).unwrap() > 0);
        forger.send(&[(22, second), (23, b"y")]).unwrap();
        forger.socket
    });
    let mut driver = driver(settings(&issued));
    open(&mut driver, address).unwrap();
    assert_eq!(receive(&mut driver, 0, 1), b"x");
    // The second request, which rustls also seals.
    take_over(&mut driver, 1);
    driver.send(0, b"ask").unwrap();
    assert_eq!(receive(&mut driver, 0, 1), b"y");
    server.join().unwrap();
}

#[test]
fn bytes_without_end_are_refused_after_the_handshake() {
    let ticket = [&[4, 0xff, 0xff, 0xff][..], &[0; 16_000]].concat();
    let renegotiate = vec![0, 0, 0, 0];
    for (version, kind, content, expected) in [
        (TlsVersion::V1_3, 22, ticket, "sends a handshake message of more than 64 KiB"),
        (TlsVersion::V1_3, 23, Vec::new(), "breaks the protocol: too many empty fragments"),
        (TlsVersion::V1_2, 23, Vec::new(), "breaks the protocol: too many empty fragments"),
        (TlsVersion::V1_2, 22, renegotiate, "breaks the protocol: too many renegotiation requests"),
    ] {
        let issued = issue(|_| {});
        let (address, server) = serve(Forger::config(&issued), move |peer| {
            let mut forger = Forger::of(peer);
            while forger.send(&[(kind, &content)]).is_ok() {}
        });
        let mut driver = driver(TlsSettings { version, ..settings(&issued) });
        // The records may arrive with the end of the handshake.
        let said = match open(&mut driver, address) {
            Ok(()) => failure(&mut driver),
            Err(error) => error.to_string(),
        };
        assert_eq!(said, format!("TLS: the server {expected}"));
        assert!(driver.send(0, b"late").is_err());
        driver.close(0);
        server.join().unwrap();
    }
}

/// A server's keys after its handshake, for sealing records that no server sends.
struct Forger {
    socket: TcpStream,
    is_13: bool,
    key: LessSafeKey,
    iv: [u8; NONCE_LEN],
    sequence: u64,
}

impl Forger {
    /// A server that gives out its keys.
    fn config(issued: &Issued) -> ServerConfig {
        let mut config = server_config(issued);
        config.enable_secret_extraction = true;
        config
    }

    fn of(peer: Peer) -> Self {
        let StreamOwned { mut conn, sock: mut socket } = peer;
        conn.complete_io(&mut socket).unwrap();
        let is_13 = conn.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        let (sequence, secrets) = conn.dangerous_extract_secrets().unwrap().tx;
        let ConnectionTrafficSecrets::Aes256Gcm { key, iv } = secrets else {
            panic!("another suite")
        };
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.as_ref()).unwrap());
        Self { socket, is_13, key, iv: iv.as_ref().try_into().unwrap(), sequence }
    }

    /// Sends records of these types and contents in one write.
    fn send(&mut self, records: &[(u8, &[u8])]) -> io::Result<()> {
        let sealed = records.iter().map(|(kind, content)| self.seal(*kind, content));
        let sealed = sealed.collect::<Vec<_>>().concat();
        self.socket.write_all(&sealed)
    }

    fn seal(&mut self, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut nonce = self.iv;
        let number = self.sequence.to_be_bytes();
        nonce[4..].iter_mut().zip(number).for_each(|(byte, number)| *byte ^= number);
        self.sequence += 1;
        let (explicit, outer, mut sealed) = match self.is_13 {
            true => (&[][..], 23, [content, &[kind]].concat()),
            false => (&nonce[4..], kind, content.to_vec()),
        };
        let head = |length: usize| {
            let length = u16::try_from(length).unwrap().to_be_bytes();
            [&[outer, 3, 3], &length[..]].concat()
        };
        let header = head(explicit.len() + sealed.len() + AES_256_GCM.tag_len());
        let aad = match self.is_13 {
            true => header.clone(),
            false => [&number[..], &head(content.len())].concat(),
        };
        let unique = Nonce::assume_unique_for_key(nonce);
        self.key.seal_in_place_append_tag(unique, Aad::from(aad), &mut sealed).unwrap();
        [&header[..], explicit, &sealed].concat()
    }
}
