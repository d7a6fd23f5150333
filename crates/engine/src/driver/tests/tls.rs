//! TLS on real sockets, with rustls as the peer.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{pattern, receive, soon, wait};
use crate::driver::tls::MAX_HANDSHAKES;
use crate::driver::{Driver, EpollDriver, Sources, TlsDriver, Waker};
use crate::tls::{TlsClient, TlsSettings, TlsVersion, Trust};
use rpcbench_clock::Nanos;

/// An authority, and the certificate and key it issued for a server.
pub(super) struct Issued {
    pub authority: CertificateDer<'static>,
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

impl Issued {
    pub fn copy(&self) -> Self {
        let Self { authority, chain, key } = self;
        Self { authority: authority.clone(), chain: chain.clone(), key: key.clone_key() }
    }
}

/// A certificate for `localhost`, changed by `change`.
pub(super) fn issue(change: impl FnOnce(&mut CertificateParams)) -> Issued {
    issue_by("Test Authority", change)
}

/// Like [`issue`], by an authority with this name.
pub(super) fn issue_by(authority: &str, change: impl FnOnce(&mut CertificateParams)) -> Issued {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, authority);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    Issued {
        authority: authority.der().clone(),
        chain: vec![certificate.der().clone()],
        key: PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
    }
}

pub(super) fn server_config(issued: &Issued) -> ServerConfig {
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(issued.chain.clone(), issued.key.clone_key())
        .unwrap()
}

pub(super) fn settings(issued: &Issued) -> TlsSettings {
    let trust = Trust::Authorities(vec![issued.authority.clone()]);
    TlsSettings::new("localhost", trust, "a test's authority")
}

pub(super) fn driver(settings: TlsSettings) -> TlsDriver<EpollDriver> {
    let client = TlsClient::new(settings).unwrap();
    let sockets = EpollDriver::new(16, Waker::new().unwrap(), Sources::any()).unwrap();
    TlsDriver::new(sockets, Some(&client), 16)
}

pub(super) type Peer = StreamOwned<ServerConnection, TcpStream>;

/// A server for one connection.
pub(super) fn serve<T: Send + 'static>(
    config: ServerConfig,
    answer: impl FnOnce(Peer) -> T + Send + 'static,
) -> (std::net::SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let session = ServerConnection::new(Arc::new(config)).unwrap();
        answer(StreamOwned::new(session, socket))
    });
    (address, server)
}

/// Waits until the connection is open, or returns why it is not.
pub(super) fn open(driver: &mut impl Driver, address: std::net::SocketAddr) -> io::Result<()> {
    driver.connect(0, &address.into())?;
    while !wait(driver).iter().any(|event| event.writable) {}
    driver.connected(0)
}

pub(super) fn send_all(driver: &mut impl Driver, mut bytes: &[u8]) {
    let mut ready = Vec::new();
    while !bytes.is_empty() {
        match driver.send(0, bytes) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "{error}");
                driver.wait(soon(), &mut ready).unwrap();
            }
        }
    }
}

/// Makes requests; from the second on, the session seals and opens its records without rustls.
pub(super) fn take_over(driver: &mut impl Driver, requests: usize) {
    for _ in 0..requests {
        send_all(driver, b"?");
    }
}

/// Passes bytes on one at a time, so that records arrive torn at every byte.
struct Trickle(TcpStream);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Trickle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(1)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn bytes_pass_both_ways() {
    let issued = issue(|_| {});
    let (address, server) = serve(server_config(&issued), |mut peer| {
        let mut request = [0; 7];
        peer.read_exact(&mut request).unwrap();
        peer.write_all(b"and back").unwrap();
        peer.conn.send_close_notify();
        peer.flush().unwrap();
        request
    });
    let mut driver = driver(settings(&issued));
    open(&mut driver, address).unwrap();
    send_all(&mut driver, b"forward");
    assert_eq!(receive(&mut driver, 0, usize::MAX), b"and back");
    assert_eq!(&server.join().unwrap(), b"forward");
}

#[test]
fn megabytes_pass_both_ways_in_partial_writes() {
    let issued = issue(|_| {});
    let all = pattern(8 << 20);
    let theirs = all.clone();
    let (address, server) = serve(server_config(&issued), move |mut peer| {
        let mut bytes = vec![0; theirs.len()];
        peer.read_exact(&mut bytes).unwrap();
        assert!(bytes == theirs, "other bytes came than were sent");
        peer.write_all(&theirs).unwrap();
        peer
    });
    let mut driver = driver(settings(&issued));
    open(&mut driver, address).unwrap();
    send_all(&mut driver, &all);
    assert!(receive(&mut driver, 0, all.len()) == all, "other bytes came than were sent");
    server.join().unwrap();
}

#[test]
fn records_torn_at_every_byte_are_put_together() {
    for (version, parts) in [(TlsVersion::V1_2, 2), (TlsVersion::V1_3, 1), (TlsVersion::V1_3, 2)] {
        let issued = issue(|_| {});
        let (address, server) = serve(server_config(&issued), |mut peer| {
            peer.sock.set_nodelay(true).unwrap();
            let mut torn = Trickle(peer.sock.try_clone().unwrap());
            let mut stream = rustls::Stream::new(&mut peer.conn, &mut torn);
            let mut request = [0; 3];
            stream.read_exact(&mut request).unwrap();
            for _ in 0..3 {
                stream.write_all(b"torn").unwrap();
            }
            peer
        });
        let mut driver = driver(TlsSettings { version, ..settings(&issued) });
        open(&mut driver, address).unwrap();
        b"ask".chunks(4 - parts).for_each(|part| send_all(&mut driver, part));
        assert_eq!(receive(&mut driver, 0, 12), b"torntorntorn");
        server.join().unwrap();
    }
}

#[test]
fn data_that_comes_with_the_end_of_the_handshake_opens_the_session() {
    for version in [TlsVersion::V1_2, TlsVersion::V1_3] {
        let issued = issue(|_| {});
        let (address, server) = serve(server_config(&issued), |mut peer| {
            // This waits in the session until the handshake has ended, and leaves with its last record.
            peer.conn.writer().write_all(b"first").unwrap();
            while peer.conn.is_handshaking() || peer.conn.wants_write() {
                peer.conn.complete_io(&mut peer.sock).unwrap();
            }
            peer
        });
        let mut driver = driver(TlsSettings { version, ..settings(&issued) });
        open(&mut driver, address).unwrap();
        // It may have arrived with the event that opened the session.
        let with_it = driver.receive(0).map(|received| received.bytes.to_vec());
        assert_eq!(with_it.unwrap_or_else(|_| receive(&mut driver, 0, 5)), b"first");
        server.join().unwrap();
    }
}

#[test]
fn keys_updated_by_the_peer_are_followed() {
    let issued = issue(|_| {});
    let (address, server) = serve(server_config(&issued), |mut peer| {
        for _ in 0..3 {
            let mut request = [0; 4];
            peer.read_exact(&mut request).unwrap();
            peer.conn.refresh_traffic_keys().unwrap();
            peer.write_all(&request).unwrap();
        }
        peer
    });
    let mut driver = driver(settings(&issued));
    open(&mut driver, address).unwrap();
    for _ in 0..3 {
        send_all(&mut driver, b"ping");
        assert_eq!(receive(&mut driver, 0, 4), b"ping");
    }
    server.join().unwrap();
}

type Ending = fn(&mut Peer);

/// How a connection ends: with TLS's close_notify, without it, or in the middle of a record.
#[test]
fn truncated_stream_is_an_error_and_not_an_end() {
    let ends: [(Ending, Option<&str>); 3] = [
        (|peer| peer.conn.send_close_notify(), None),
        (|_| {}, Some("the peer closed the connection without TLS's close_notify")),
        (
            |peer| peer.sock.write_all(&[23, 3, 3, 0, 99, 1, 2]).unwrap(),
            Some("the peer closed the connection in the middle of a TLS record"),
        ),
    ];
    for ((end, expected), requests) in ends.into_iter().flat_map(|it| [(it, 1), (it, 2)]) {
        let issued = issue(|_| {});
        let (address, server) = serve(server_config(&issued), move |mut peer| {
            peer.read_exact(&mut vec![0; requests]).unwrap();
            end(&mut peer);
            peer.flush().unwrap();
        });
        let mut driver = driver(settings(&issued));
        open(&mut driver, address).unwrap();
        take_over(&mut driver, requests);
        server.join().unwrap();
        let ended = loop {
            match driver.receive(0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(&mut driver),
                Err(error) => break Some(error.to_string()),
                Ok(received) if received.bytes.is_empty() => break None,
                Ok(_) => panic!("nothing was sent"),
            };
        };
        assert_eq!(ended.as_deref(), expected);
    }
}

/// Writes all waiting records at once.
fn write_records(peer: &mut Peer) {
    let mut records = Vec::new();
    while peer.conn.wants_write() {
        peer.conn.write_tls(&mut records).unwrap();
    }
    peer.sock.write_all(&records).unwrap();
}

/// Sends close_notify in one write with the last data, then waits for the client's before it closes the socket. True if the
/// client's arrives.
fn say_last(peer: &mut Peer) -> bool {
    peer.conn.writer().write_all(b"last").unwrap();
    peer.conn.send_close_notify();
    write_records(peer);
    peer.read(&mut [0; 1]).is_ok_and(|length| length == 0)
}

#[test]
fn close_notify_with_the_last_data_ends_the_stream_and_is_answered() {
    for (version, requests) in
        [(TlsVersion::V1_2, 1), (TlsVersion::V1_2, 2), (TlsVersion::V1_3, 1), (TlsVersion::V1_3, 2)]
    {
        let issued = issue(|_| {});
        let (address, server) = serve(server_config(&issued), move |mut peer| {
            peer.read_exact(&mut vec![0; requests]).unwrap();
            say_last(&mut peer)
        });
        let mut driver = driver(TlsSettings { version, ..settings(&issued) });
        open(&mut driver, address).unwrap();
        take_over(&mut driver, requests);
        assert_eq!(receive(&mut driver, 0, usize::MAX), b"last");
        driver.close(0);
        assert!(server.join().unwrap(), "{version:?}, {requests}: no close_notify");
    }
}

#[test]
fn close_notify_with_the_end_of_the_handshake_ends_the_stream() {
    let issued = issue(|_| {});
    let (address, server) = serve(server_config(&issued), |mut peer| {
        while peer.conn.is_handshaking() {
            peer.conn.read_tls(&mut peer.sock).unwrap();
            peer.conn.process_new_packets().unwrap();
            // The last handshake message waits for the data.
            if peer.conn.is_handshaking() {
                write_records(&mut peer);
            }
        }
        say_last(&mut peer)
    });
    // This handshake ends with a message from the server.
    let mut driver = driver(TlsSettings { version: TlsVersion::V1_2, ..settings(&issued) });
    open(&mut driver, address).unwrap();
    assert_eq!(driver.receive(0).unwrap().bytes, b"last");
    assert!(driver.receive(0).unwrap().bytes.is_empty());
    drop(driver);
    assert!(server.join().unwrap(), "no close_notify");
}

/// A server that accepts `connections`, one after another, and returns which of them resumed a session.
fn serve_each(
    config: ServerConfig,
    connections: usize,
) -> (std::net::SocketAddr, JoinHandle<Vec<bool>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = Arc::new(config);
    let accept = move || {
        let (socket, _) = listener.accept().unwrap();
        let session = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut peer = StreamOwned::new(session, socket);
        peer.write_all(b"!").unwrap();
        peer.conn.handshake_kind() == Some(rustls::HandshakeKind::Resumed)
    };
    (address, thread::spawn(move || (0..connections).map(|_| accept()).collect()))
}

fn handshakes(
    driver: &mut impl Driver,
    address: std::net::SocketAddr,
    server: JoinHandle<Vec<bool>>,
    connections: usize,
) -> Vec<bool> {
    for _ in 0..connections {
        open(driver, address).unwrap();
        assert_eq!(receive(driver, 0, 1), b"!");
        driver.close(0);
    }
    server.join().unwrap()
}

#[test]
fn tickets_of_earlier_connections_are_used_once_each() {
    let issued = issue(|_| {});
    let (address, server) = serve_each(server_config(&issued), 24);
    let mut driver = driver(settings(&issued));
    let resumed = handshakes(&mut driver, address, server, 24);
    assert_eq!(resumed, [vec![false], vec![true; 23]].concat());
}

#[test]
fn without_resumption_each_handshake_is_full() {
    let issued = issue(|_| {});
    let (address, server) = serve_each(server_config(&issued), 3);
    let mut driver = driver(TlsSettings { resume: false, ..settings(&issued) });
    assert_eq!(handshakes(&mut driver, address, server, 3), [false; 3]);
}

#[test]
fn wait_advances_few_handshakes_and_knows_their_times() {
    const CONNECTIONS: usize = 12;
    let issued = issue(|_| {});
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), server_config(&issued));
    let (address, config) = (listener.local_addr().unwrap(), Arc::new(config));
    let server = thread::spawn(move || {
        let accept = |_| {
            let (mut socket, _) = listener.accept().unwrap();
            let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
            session.complete_io(&mut socket).unwrap();
            (session, socket)
        };
        (0..CONNECTIONS).map(accept).collect::<Vec<_>>()
    });
    let mut driver = driver(settings(&issued));
    let begin = driver.now();
    for connection in 0..CONNECTIONS {
        driver.connect(connection, &address.into()).unwrap();
    }
    let mut open = BTreeSet::new();
    while open.len() < CONNECTIONS {
        let before = open.len();
        open.extend(wait(&mut driver).iter().map(|event| event.connection));
        let ended = open.len() - before;
        assert!(ended <= MAX_HANDSHAKES, "{open:?}, {before} before");
        assert!(ended == 0 || driver.handshaking() > Nanos(0), "it takes CPU time");
    }
    driver.wait(Nanos(0), &mut Vec::new()).unwrap();
    assert_eq!(driver.handshaking(), Nanos(0), "no handshake is left");
    server.join().unwrap();
    for connection in open {
        driver.connected(connection).unwrap();
        let handshake = driver.handshake(connection).unwrap();
        assert!(begin < handshake.begin && handshake.begin < handshake.end, "{handshake:?}");
    }
}
