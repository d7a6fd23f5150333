//! TLS 1.3 records that sessions seal and open without rustls, with rustls as the peer, in memory.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

use super::records::{ALERT, DATA, HANDSHAKE, Keys};
use super::{Cryptography, Session, TlsClient, TlsSettings, TlsVersion, Trust};

/// A session that has taken over its records, and its peer.
struct Pair {
    session: Session,
    peer: ServerConnection,
}

fn server_config(cryptography: Cryptography) -> Arc<ServerConfig> {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(cryptography.provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key)
        .unwrap();
    config.enable_secret_extraction = true;
    Arc::new(config)
}

impl Pair {
    fn new(cryptography: Cryptography) -> Self {
        let client = TlsClient::new(TlsSettings {
            server_name: "localhost".to_owned(),
            trust: Trust::Anyone,
            identity: None,
            version: TlsVersion::V1_3,
            cryptography,
            alpn: Vec::new(),
            resume: true,
            log_keys: false,
            verified_by: String::new(),
        });
        let client = client.unwrap().with_tickets_for(1);
        let mut session = Session::new(&client).unwrap();
        session.open(&mut [], &mut Vec::new()).unwrap();
        let peer = ServerConnection::new(server_config(cryptography)).unwrap();
        let mut pair = Self { session, peer };
        while !pair.session.is_open {
            pair.forward();
            let mut answer = pair.answer();
            pair.session.open(&mut answer, &mut Vec::new()).unwrap();
        }
        for request in [b"first", b"other"] {
            assert!(!pair.session.opens_in_place());
            assert_eq!(pair.send(request), request);
        }
        assert!(pair.session.opens_in_place());
        pair
    }

    /// Lets the peer read what the session has written.
    fn forward(&mut self) {
        self.session.flush(|mut records| self.peer.read_tls(&mut records)).unwrap();
        self.peer.process_new_packets().unwrap();
    }

    /// The records that the peer has written.
    fn answer(&mut self) -> Vec<u8> {
        let mut records = Vec::new();
        while self.peer.wants_write() {
            self.peer.write_tls(&mut records).unwrap();
        }
        records
    }

    /// Sends bytes, and returns what the peer has opened.
    fn send(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.session.seal(bytes).unwrap();
        self.forward();
        let mut opened = vec![0; bytes.len()];
        self.peer.reader().read_exact(&mut opened).unwrap();
        opened
    }

    /// What the session opens from these records.
    fn open(&mut self, records: &mut [u8]) -> Result<Vec<u8>, String> {
        let mut data = 0..0;
        let opened = self.session.open_in_place(records, &mut data);
        opened.map(|()| records[data].to_vec()).map_err(|error| error.to_string())
    }

    /// The session, and its peer's keys for sealing and opening.
    fn into_keys(mut self) -> (Self, (Keys, Keys)) {
        let mut tickets = self.answer();
        assert_eq!(self.open(&mut tickets).unwrap(), b"");
        let other = ServerConnection::new(server_config(Cryptography::Any)).unwrap();
        let peer = std::mem::replace(&mut self.peer, other);
        (self, Keys::pair(peer.dangerous_extract_secrets().unwrap()).unwrap())
    }
}

/// Types and contents of records.
type Parts<'a> = &'a [(u8, &'a [u8])];

fn record(keys: &mut Keys, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut sealed = vec![0; content.len() + 64];
    let length = keys.seal(kind, content, &mut sealed).unwrap();
    sealed.truncate(length);
    sealed
}

/// The error for a record of an unknown type.
const NO_TLS: &str = "the server does not speak TLS on this port; use http:// instead of https://, grpc:// instead of grpcs://, or omit --tls";

#[test]
fn data_of_records_in_one_read_is_put_together() {
    for cryptography in [Cryptography::Any, Cryptography::Aes128] {
        let mut pair = Pair::new(cryptography);
        for part in [&b"one, "[..], b"two, ", b"three"] {
            pair.peer.writer().write_all(part).unwrap();
        }
        let mut records = pair.answer();
        assert_eq!(pair.open(&mut records).unwrap(), b"one, two, three");
        assert_eq!(std::mem::take(&mut pair.session.received), 3);
    }
}

#[test]
fn records_cut_anywhere_are_opened() {
    let mut pair = Pair::new(Cryptography::Any);
    for cut in 0..80 {
        pair.peer.writer().write_all(b"first").unwrap();
        pair.peer.writer().write_all(b"second").unwrap();
        let mut records = pair.answer();
        let cut = cut.min(records.len());
        let (begin, end) = records.split_at_mut(cut);
        let mut opened = pair.open(begin).unwrap();
        pair.session.open(end, &mut opened).unwrap();
        assert_eq!(opened, b"firstsecond", "cut at {cut}");
    }
}

#[test]
fn keys_are_updated_before_they_have_sealed_too_many_records() {
    let mut pair = Pair::new(Cryptography::Any);
    pair.session.traffic.as_mut().unwrap().limit = 4;
    for number in 0..40_u8 {
        assert_eq!(pair.send(&[number; 3]), [number; 3]);
        // The peer updates its keys too.
        pair.peer.writer().write_all(&[number; 5]).unwrap();
        let mut answer = pair.answer();
        assert_eq!(pair.open(&mut answer).unwrap(), [number; 5]);
    }
}

#[test]
fn updates_of_the_peers_keys_are_answered_before_the_next_data() {
    let mut pair = Pair::new(Cryptography::Any);
    for _ in 0..3 {
        pair.peer.refresh_traffic_keys().unwrap();
        pair.peer.writer().write_all(b"new").unwrap();
        let mut records = pair.answer();
        assert_eq!(pair.open(&mut records).unwrap(), b"new");
        assert_eq!(pair.send(b"answer"), b"answer");
    }
}

#[test]
fn updates_of_keys_without_data_are_refused_at_some_time() {
    let mut pair = Pair::new(Cryptography::Any);
    for _ in 0..33 {
        pair.peer.refresh_traffic_keys().unwrap();
    }
    let mut records = pair.answer();
    let error = pair.open(&mut records).unwrap_err();
    assert_eq!(error, "TLS: the server breaks the protocol: too many key update requests");
}

#[test]
fn data_after_the_end_does_not_count() {
    let (mut pair, (mut keys, _)) = Pair::new(Cryptography::Any).into_keys();
    let parts = [(DATA, &b"last"[..]), (ALERT, &[1, 0]), (DATA, b"late")];
    let mut records = parts.map(|(kind, content)| record(&mut keys, kind, content)).concat();
    assert_eq!(pair.open(&mut records).unwrap(), b"last");
    assert!(pair.session.peer_closed && pair.session.is_whole());
}

#[test]
fn records_that_no_server_sends_are_refused_with_an_alert() {
    const BROKEN: &str = "the server breaks the protocol: ";
    let large = vec![1; (16 << 10) + 1];
    let cases: [(Parts<'_>, &str, Option<u8>); 13] = [
        (&[(ALERT, &[2, 80])], "the server sent alert InternalError", None),
        (&[(ALERT, &[1, 80])], "the server sent alert InternalError", None),
        (&[(ALERT, &[1])], "missing data: alert message payload", Some(50)),
        (&[(ALERT, &[1, 90][..]); 5], "too many warning alerts received", Some(10)),
        (&[(20, &[1])], "illegal middlebox change cipher spec", Some(10)),
        (&[(99, &[1])], NO_TLS, Some(50)),
        (&[(0, &[0, 0])], "illegal tls inner plaintext", Some(10)),
        (&[(DATA, &large)], "peer sent excess record size", Some(22)),
        (&[(DATA, &[][..]); 33], "too many empty fragments", Some(10)),
        (&[(HANDSHAKE, &[24, 0, 0, 1, 2])], "invalid key update", Some(47)),
        (&[(HANDSHAKE, &[24, 0, 0, 1, 0, 4])], "key epoch with pending fragment", Some(10)),
        (
            &[(HANDSHAKE, &[4]), (DATA, b"x")],
            "message interleaved with handshake message",
            Some(10),
        ),
        (&[(HANDSHAKE, &[4, 1, 0, 0])], "a handshake message of more than 64 KiB", Some(50)),
    ];
    for (parts, expected, alert) in cases {
        let (mut pair, (mut sealing, mut opening)) = Pair::new(Cryptography::Any).into_keys();
        let seal = |(kind, content): &(u8, &[u8])| record(&mut sealing, *kind, content);
        let mut records = parts.iter().map(seal).collect::<Vec<_>>().concat();
        let error = pair.open(&mut records).unwrap_err();
        assert!(error.ends_with(expected), "{error}, and not {BROKEN}{expected}");
        let mut answer = Vec::new();
        let keep = |records: &[u8]| answer.write(records);
        pair.session.flush(keep).unwrap();
        let said = (!answer.is_empty()).then(|| (opening.open(&mut answer).unwrap(), answer[6]));
        assert_eq!(said, alert.map(|alert| ((ALERT, 2), alert)), "{expected}");
        assert!(pair.session.seal(b"late").is_err(), "{expected}");
    }
}

#[test]
fn records_outside_of_the_session_are_refused() {
    let cases: [(&[u8], &str); 6] = [
        (
            &[20, 3, 3, 0, 1, 1],
            "received unexpected message: got ChangeCipherSpec when expecting ApplicationData",
        ),
        (&[9, 3, 3, 0, 1, 1], NO_TLS),
        (&[23, 9, 3, 0, 1, 1], "the server breaks the protocol: unknown protocol version"),
        (&[22, 3, 3, 0, 0], "the server breaks the protocol: invalid empty payload"),
        (&[23, 3, 3, 0x48, 0], "the server breaks the protocol: message too large"),
        (&[23, 3, 3, 0, 1, 1], "cannot decrypt peer's message"),
    ];
    for (bytes, expected) in cases {
        let mut pair = Pair::new(Cryptography::Any);
        let error = pair.open(&mut bytes.to_vec()).unwrap_err();
        assert_eq!(error, format!("TLS: {expected}"));
    }
}
