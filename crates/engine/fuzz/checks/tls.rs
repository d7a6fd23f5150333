//! A peer's bytes through the handshake and the records of TLS.

use std::io::Write;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::Steps;
use crate::tls::{Cryptography, Session, TlsClient, TlsSettings, TlsVersion, Trust};

/// Most bytes that a session may hold of messages in parts: 64 KiB of a handshake message with the headers of its records, and
/// what came with its end.
const MAX_HELD: usize = 256 * 1024;

/// Lets a peer handshake and seal, changes and cuts its bytes, and opens them.
///
/// # Panics
/// If bytes come out that the peer did not seal, or the session holds more than its bound.
pub fn tls(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let version = if steps.choice() & 1 == 0 { TlsVersion::V1_3 } else { TlsVersion::V1_2 };
    let mut wire = Wire::new(version);
    while let Some(step) = steps.byte() {
        match step {
            0 => wire.seal(&[steps.choice(); 40]),
            1 => wire.update_keys(),
            2 => wire.close(),
            3 => wire.flip(steps.choice(), steps.choice()),
            4 => wire.insert(steps.choice(), &mut steps),
            5 => wire.lose(steps.choice()),
            6 => wire.answer(),
            _ => {
                if !wire.deliver(usize::from(step) << (step & 3)) {
                    break;
                }
            }
        }
    }
    // After a failure too.
    wire.answer();
    let _ = wire.session.close();
    assert!(wire.sealed.starts_with(&wire.opened), "other bytes came out than were sealed");
}

/// A session, its peer, and what is on the way between them.
struct Wire {
    session: Session,
    peer: ServerConnection,
    has_ended: bool,
    /// Bytes from the peer that the session has not seen.
    bytes: Vec<u8>,
    sealed: Vec<u8>,
    opened: Vec<u8>,
}

impl Wire {
    fn new(version: TlsVersion) -> Self {
        let client = TlsClient::new(TlsSettings {
            server_name: "localhost".to_owned(),
            trust: Trust::Anyone,
            identity: None,
            version,
            cryptography: Cryptography::Any,
            alpn: Vec::new(),
            resume: true,
            log_keys: false,
            verified_by: String::new(),
        });
        let mut session = Session::new(&client.unwrap().with_tickets_for(1)).unwrap();
        let mut opened = Vec::new();
        session.open(&mut [], &mut opened).unwrap();
        let peer = ServerConnection::new(config()).unwrap();
        Self { session, peer, has_ended: false, bytes: Vec::new(), sealed: Vec::new(), opened }
    }

    /// The peer reads what the session has written, and answers.
    fn exchange(&mut self) {
        let Self { session, peer, bytes, has_ended, .. } = self;
        // A server that failed, or closed, reads no more.
        let reads = !*has_ended;
        let _ = session.flush(|mut records| match reads {
            true => peer.read_tls(&mut records),
            false => Ok(records.len()),
        });
        // The session may have written an alert, or answered bytes that the peer did not write.
        *has_ended = *has_ended || peer.process_new_packets().is_err();
        while peer.wants_write() {
            peer.write_tls(bytes).unwrap();
        }
    }

    fn seal(&mut self, plaintext: &[u8]) {
        if !self.peer.is_handshaking() {
            self.peer.writer().write_all(plaintext).unwrap();
            self.sealed.extend_from_slice(plaintext);
        }
    }

    fn close(&mut self) {
        self.peer.send_close_notify();
        self.has_ended = true;
    }

    fn update_keys(&mut self) {
        // Only TLS 1.3 has it, and only after the handshake.
        let _ = self.peer.refresh_traffic_keys();
    }

    fn flip(&mut self, at: u8, mask: u8) {
        if let Some(byte) = self.bytes.get_mut(usize::from(at)) {
            *byte ^= mask;
        }
    }

    fn insert(&mut self, at: u8, steps: &mut Steps<'_>) {
        let at = usize::from(at).min(self.bytes.len());
        let count = usize::from(steps.choice());
        self.bytes.splice(at..at, steps.bytes(count).iter().copied());
    }

    fn lose(&mut self, count: u8) {
        self.bytes.drain(..usize::from(count).min(self.bytes.len()));
    }

    /// The session seals something in turn.
    fn answer(&mut self) {
        if self.session.is_open {
            // Its keys may be used up, or the session closed.
            let _ = self.session.seal(b"answer");
        }
    }

    /// The session opens the next bytes. False if it fails, after which the connection ends.
    fn deliver(&mut self, count: usize) -> bool {
        self.exchange();
        let mut next: Vec<u8> = self.bytes.drain(..count.min(self.bytes.len())).collect();
        let opened = self.session.open(&mut next, &mut self.opened);
        assert!(self.session.held() <= MAX_HELD, "{} bytes held", self.session.held());
        opened.is_ok()
    }
}

fn config() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_slice(include_bytes!("../peer/certificate.der"));
    let key = PrivatePkcs8KeyDer::from(&include_bytes!("../peer/key.der")[..]);
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key));
    Arc::new(config.unwrap())
}
