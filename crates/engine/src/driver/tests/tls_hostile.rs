//! Servers that break TLS, or bend it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::{ServerConfig, pki_types::CertificateDer};

use super::tls::{Issued, driver, issue, open, refused, serve, server_config, settings};
use super::wait;
use crate::driver::Driver;
use crate::tls::{Cryptography, TlsSettings};

/// A record of the handshake with this content.
fn record(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[22, 3, 3], &length[..], content].concat()
}

/// A server that sends these bytes again and again, until the client is gone.
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
        (record(&[]), "TLS: the server breaks the protocol: InvalidEmptyPayload"),
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
    let issued = issue(|_| {});
    let (address, server) = serve(server_config(&issued), |mut peer| {
        peer.write_all(b"first").unwrap();
        // A record that was not sealed with the keys of this session.
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
    let mut received = Vec::new();
    let error = loop {
        match driver.receive(0) {
            Ok(more) => received.extend_from_slice(more.bytes),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => drop(wait(&mut driver)),
            Err(error) => break error,
        }
    };
    assert_eq!(error.to_string(), "TLS: the server sent alert BadRecordMac");
    assert_eq!(received, b"first");
    driver.close(0);
    server.join().unwrap();
}
