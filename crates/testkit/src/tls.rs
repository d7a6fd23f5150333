//! TLS in front of a server.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rpcbench_record::{Protocol, Transport};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};

const READ: usize = 16 << 10;

/// What a server with TLS does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TlsFlaw {
    /// It chooses no protocol by ALPN.
    NoAlpn,
    /// It speaks TLS 1.3 only.
    OnlyTls13,
    /// It resumes no session.
    NoResumption,
}

/// How a null server's replies are cut into records of TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Records {
    /// Those that are ready together share records.
    #[default]
    Shared,
    /// A record for each.
    PerReply,
}

/// TLS of a null server.
#[derive(Clone, Debug)]
pub(crate) struct Secured {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) records: Records,
}

/// The configuration of a server with the certificate and key of these files, both in PEM.
///
/// # Errors
/// A file that can't be read or used.
pub fn tls_config(
    (certificate, key): (&Path, &Path),
    protocol: Protocol,
    flaw: Option<TlsFlaw>,
) -> io::Result<ServerConfig> {
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let key = PrivateKeyDer::from_pem_file(key).map_err(io::Error::other)?;
    let only_13: &[&SupportedProtocolVersion] = &[&TLS13];
    let versions = if flaw == Some(TlsFlaw::OnlyTls13) { only_13 } else { &[&TLS13, &TLS12] };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain.map_err(io::Error::other)?, key)
        .map_err(io::Error::other)?;
    let alpn = match protocol.spec().transport {
        Transport::Http2 => Some("h2"),
        Transport::Http1 => Some("http/1.1"),
        Transport::ThriftFramed | Transport::ThriftBuffered | Transport::Raw => None,
    };
    let alpn = alpn.filter(|_| flaw != Some(TlsFlaw::NoAlpn));
    config.alpn_protocols = alpn.into_iter().map(|name| name.as_bytes().to_vec()).collect();
    if flaw == Some(TlsFlaw::NoResumption) {
        config.session_storage = Arc::new(NoServerSessionStorage {});
    }
    Ok(config)
}

/// Accepts connections until the process ends, and passes what they carry within TLS to `server` and back.
pub fn relay_tls(listener: TcpListener, config: ServerConfig, server: SocketAddr) {
    let config = Arc::new(config);
    thread::spawn(move || {
        for client in listener.incoming() {
            // Either end may be gone. The other one then sees its connection closed.
            let _ = client.and_then(|client| relay(client, &config, server));
        }
    });
}

fn relay(client: TcpStream, config: &Arc<ServerConfig>, server: SocketAddr) -> io::Result<()> {
    let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    let session = Arc::new(Mutex::new(session));
    let server = TcpStream::connect(server)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (to_client, from_server) = (client.try_clone()?, server.try_clone()?);
    let of_server = Arc::clone(&session);
    thread::spawn(move || seal(&of_server, from_server, to_client));
    thread::spawn(move || open(&session, client, server));
    Ok(())
}

/// Passes the server's bytes on, in records.
fn seal(
    session: &Mutex<ServerConnection>,
    mut server: TcpStream,
    mut client: TcpStream,
) -> io::Result<()> {
    let mut bytes = vec![0; READ];
    loop {
        let read = server.read(&mut bytes)?;
        let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            0 => session.send_close_notify(),
            _ => session.writer().write_all(&bytes[..read])?,
        }
        write_records(&mut session, &mut client)?;
        if read == 0 {
            return client.shutdown(std::net::Shutdown::Write);
        }
    }
}

/// Passes the client's bytes on, without their records.
fn open(
    session: &Mutex<ServerConnection>,
    mut client: TcpStream,
    mut server: TcpStream,
) -> io::Result<()> {
    let mut records = vec![0; READ];
    loop {
        let read = client.read(&mut records)?;
        let mut rest = &records[..read];
        let mut plain = Vec::new();
        let mut session = session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_ended = read == 0;
        while !rest.is_empty() {
            session.read_tls(&mut rest)?;
            let processed = session.process_new_packets();
            // Also tells the client about a failure.
            write_records(&mut session, &mut client)?;
            let state = processed.map_err(io::Error::other)?;
            let begin = plain.len();
            plain.resize(begin + state.plaintext_bytes_to_read(), 0);
            session.reader().read_exact(&mut plain[begin..])?;
            has_ended |= state.peer_has_closed();
        }
        drop(session);
        server.write_all(&plain)?;
        if has_ended {
            return server.shutdown(std::net::Shutdown::Write);
        }
    }
}

fn write_records(session: &mut ServerConnection, client: &mut TcpStream) -> io::Result<()> {
    while session.wants_write() {
        session.write_tls(client)?;
    }
    Ok(())
}
