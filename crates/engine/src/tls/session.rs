//! A TLS session without its socket: records in, plaintext out, and the reverse.
//!
//! rustls does the handshake, and seals and opens the records after it. It allocates for each record and copies it twice. So
//! under TLS 1.3, a connection that is used for more than one request seals and opens its records by [`Traffic`].

use std::io;
use std::ops::Range;
use std::sync::Arc;

use rpcbench_record::Tls;
use rustls::client::UnbufferedClientConnection;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, InsufficientSizeError,
    UnbufferedStatus,
};
use rustls::{Error, HandshakeKind, ProtocolVersion};

use super::traffic::Traffic;
use super::{TlsClient, TlsError};

/// Maximum plaintext sealed at once: the rest waits for the kernel to take these records first.
const MAX_SEALED: usize = 256 * 1024;
/// Maximum bytes that a record adds to its plaintext, header included, and maximum plaintext in one.
const RECORD: (usize, usize) = (64, 16 * 1024);

/// One connection's session.
pub(crate) struct Session {
    /// `None` once `traffic` has taken over.
    tls: Option<Box<UnbufferedClientConnection>>,
    pub(super) traffic: Option<Box<Traffic>>,
    /// True once a request was sealed.
    is_used: bool,
    /// The start of an incomplete record.
    partial: Vec<u8>,
    /// Room for records that the kernel has not taken. Kept, so that it need not be zeroed again.
    records: Vec<u8>,
    /// How many bytes of `records` are filled, and how many of those the kernel has taken.
    filled: usize,
    written: usize,
    /// Plaintext in `records` that was not yet reported as sent.
    sealed: usize,
    /// Why nothing more is opened or sealed.
    failed: Option<TlsError>,
    /// True once the peer has announced that it sends no more.
    pub peer_closed: bool,
    /// True once the peer can be written to.
    pub is_open: bool,
    /// Data records received since the count was last taken.
    pub received: u64,
}

impl Session {
    /// A new session: [`Self::open`] with no bytes makes its first record.
    ///
    /// # Errors
    /// If the configuration allows no session, such as without a common version.
    pub fn new(client: &TlsClient) -> Result<Self, TlsError> {
        let tls = UnbufferedClientConnection::new(Arc::clone(&client.config), client.name.clone())?;
        Ok(Self {
            tls: Some(Box::new(tls)),
            traffic: None,
            is_used: false,
            partial: Vec::new(),
            records: Vec::new(),
            filled: 0,
            written: 0,
            sealed: 0,
            failed: None,
            peer_closed: false,
            is_open: false,
            received: 0,
        })
    }

    /// The protocol that the server chose by ALPN.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.alpn_protocol()
    }

    /// True if the handshake resumed an earlier session.
    pub fn is_resumed(&self) -> bool {
        let kind = self.tls.as_ref().and_then(|tls| tls.handshake_kind());
        kind == Some(HandshakeKind::Resumed)
    }

    /// What the handshake agreed on, without a count of handshakes.
    pub fn agreed(&self, client: &TlsClient) -> Tls {
        let tls = self.tls.as_ref();
        let suite = tls.and_then(|tls| tls.negotiated_cipher_suite());
        let group = tls.and_then(|tls| tls.negotiated_key_exchange_group());
        let agreed = tls.and_then(|tls| tls.protocol_version());
        let alpn = self.alpn();
        Tls {
            version: agreed.map_or_else(String::new, version),
            // Those of TLS 1.3 have another prefix in rustls.
            suite: suite
                .map_or_else(String::new, |it| name(it.suite()).replacen("TLS13_", "TLS_", 1)),
            group: group.map(|it| name(it.name())),
            alpn: alpn.map(|it| String::from_utf8_lossy(it).into_owned()),
            verified_by: client.settings.verified_by.clone(),
            full_handshakes: 0,
            resumed_handshakes: 0,
        }
    }

    /// Opens received records in place, and appends their plaintext. Responses that they require wait in the session's output.
    ///
    /// # Errors
    /// If the peer breaks the protocol, can't be trusted, or sent an alert. Later calls return the same error.
    pub fn open(&mut self, received: &mut [u8], plaintext: &mut Vec<u8>) -> Result<(), TlsError> {
        self.usable()?;
        self.open_records(received, plaintext).inspect_err(|error| self.fail(error))
    }

    /// # Errors
    /// If the session has failed: why.
    #[inline]
    pub fn usable(&self) -> Result<(), TlsError> {
        match &self.failed {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }

    /// Leaves only the alert to send: nothing may be opened after a failure.
    #[cold]
    fn fail(&mut self, error: &TlsError) {
        self.failed = Some(error.clone());
        self.partial = Vec::new();
        if let (Some(traffic), TlsError::Session(error)) = (&mut self.traffic, error) {
            let out = free(&mut self.records, self.filled, RECORD.0);
            // The keys may be used up.
            self.filled += traffic.alert(error, out).unwrap_or_default();
        }
        let Some(tls) = &mut self.tls else { return };
        // Records waiting to be encoded come first.
        while tls.wants_write()
            && let Ok(ConnectionState::EncodeTlsData(data)) = tls.process_tls_records(&mut []).state
        {
            encode(data, &mut self.records, &mut self.filled);
        }
    }

    /// True if [`Self::open_in_place`] can open received records.
    #[inline]
    pub fn opens_in_place(&self) -> bool {
        self.traffic.is_some() && self.partial.is_empty()
    }

    /// Like [`Self::open`], but leaves the plaintext in `received`, and puts its range into `plaintext`.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_in_place(
        &mut self,
        received: &mut [u8],
        plaintext: &mut Range<usize>,
    ) -> Result<(), TlsError> {
        self.usable()?;
        let used = self.open_traffic(received, plaintext).inspect_err(|error| self.fail(error))?;
        self.partial.extend_from_slice(&received[used..]);
        Ok(())
    }

    #[inline]
    fn open_traffic(
        &mut self,
        records: &mut [u8],
        plaintext: &mut Range<usize>,
    ) -> Result<usize, TlsError> {
        let Some(traffic) = &mut self.traffic else { return Ok(0) };
        let used = traffic.open(records, plaintext);
        self.received += std::mem::take(&mut traffic.opened);
        self.peer_closed = traffic.is_closed;
        Ok(used?)
    }

    fn open_records(
        &mut self,
        received: &mut [u8],
        plaintext: &mut Vec<u8>,
    ) -> Result<(), TlsError> {
        if self.partial.is_empty() && self.traffic.is_none() {
            let used = self.advance(received, plaintext)?;
            self.partial.extend_from_slice(&received[used..]);
            return Ok(());
        }
        let mut records = std::mem::take(&mut self.partial);
        records.extend_from_slice(received);
        let used = if self.traffic.is_some() {
            let mut data = 0..0;
            let used = self.open_traffic(&mut records, &mut data);
            plaintext.extend_from_slice(&records[data]);
            used?
        } else {
            self.advance(&mut records, plaintext)?
        };
        records.drain(..used);
        self.partial = records;
        Ok(())
    }

    /// Handles whole records; returns their length in bytes.
    fn advance(&mut self, records: &mut [u8], plaintext: &mut Vec<u8>) -> Result<usize, TlsError> {
        let Some(tls) = &mut self.tls else { return Ok(0) };
        let mut used = 0;
        loop {
            let UnbufferedStatus { discard, state, .. } =
                tls.process_tls_records(&mut records[used..]);
            let (mut read, mut done) = (false, false);
            match state? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    read = true;
                    while let Some(record) = traffic.next_record() {
                        plaintext.extend_from_slice(record?.payload);
                        self.received += 1;
                    }
                }
                ConnectionState::EncodeTlsData(data) => {
                    encode(data, &mut self.records, &mut self.filled);
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::PeerClosed => self.peer_closed = true,
                ConnectionState::WriteTraffic(_) => {
                    self.is_open = true;
                    done = true;
                }
                // Blocked in the handshake, or closed.
                _ => done = true,
            }
            used += discard;
            // Until the session is open, the next step may open it.
            let is_all = self.is_open && used == records.len() && !tls.wants_write();
            if done || read && is_all {
                return Ok(used);
            }
        }
    }

    /// True if no record is incomplete, so the stream may end here.
    pub fn is_whole(&self) -> bool {
        self.partial.is_empty()
    }

    /// Bytes in its buffers.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn held(&self) -> usize {
        let message = self.traffic.as_ref().map_or(0, |traffic| traffic.held());
        self.partial.len() + message + self.filled
    }

    /// True if records wait to be sent.
    pub fn has_output(&self) -> bool {
        self.written < self.filled
    }

    /// Passes waiting records to the kernel by `send`. `WouldBlock` if it does not take all.
    #[inline]
    pub fn flush(&mut self, mut send: impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        while self.has_output() {
            self.written += send(&self.records[self.written..self.filled])?;
        }
        (self.filled, self.written) = (0, 0);
        Ok(())
    }

    /// Plaintext bytes that the kernel has taken, once no records wait; each byte is reported once.
    #[inline]
    pub fn take_sent(&mut self) -> usize {
        std::mem::take(&mut self.sealed)
    }

    /// Seals the start of `plaintext`, or all of it if it is short. Nothing may be waiting to be sent.
    ///
    /// # Errors
    /// If the session is not open, or its keys are used up.
    pub fn seal(&mut self, plaintext: &[u8]) -> io::Result<()> {
        let plaintext = &plaintext[..plaintext.len().min(MAX_SEALED)];
        let room = plaintext.len() + RECORD.0 * (1 + plaintext.len().div_ceil(RECORD.1));
        if self.traffic.is_some() {
            self.with_traffic(room, |traffic, out| traffic.seal(plaintext, out))?;
        } else {
            self.with_rustls(room, |traffic, out| traffic.encrypt(plaintext, out))?;
            self.take_over()?;
        }
        self.sealed = plaintext.len();
        Ok(())
    }

    /// Announces that no more will be sent, unless an alert did already.
    pub fn close(&mut self) -> io::Result<()> {
        if self.failed.is_some() {
            return Ok(());
        }
        if self.traffic.is_some() {
            return self.with_traffic(RECORD.0, Traffic::close);
        }
        self.with_rustls(RECORD.0, |traffic, out| traffic.queue_close_notify(out))
    }

    /// Takes over TLS 1.3 records from rustls, from the second request on: many connections have only one request, and taking
    /// over has to derive keys. As that request is being sealed, rustls has nothing more to send.
    fn take_over(&mut self) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.is_used, true);
        let is_ready = |tls: &mut Box<UnbufferedClientConnection>| {
            tls.protocol_version() == Some(ProtocolVersion::TLSv1_3) && !tls.wants_write()
        };
        // The start of a handshake message would be lost.
        if is_first || self.peer_closed || !self.partial.is_empty() {
            return Ok(());
        }
        if let Some(tls) = self.tls.take_if(is_ready) {
            let traffic = Traffic::new(*tls).map_err(TlsError::from)?;
            self.traffic = Some(Box::new(traffic));
        }
        Ok(())
    }

    fn with_traffic(
        &mut self,
        room: usize,
        write: impl FnOnce(&mut Traffic, &mut [u8]) -> Result<usize, Error>,
    ) -> io::Result<()> {
        self.usable()?;
        let Some(traffic) = &mut self.traffic else { return Ok(()) };
        let out = free(&mut self.records, self.filled, room);
        self.filled += write(traffic, out).map_err(TlsError::from)?;
        Ok(())
    }

    fn with_rustls(
        &mut self,
        room: usize,
        write: impl FnOnce(&mut Writer<'_>, &mut [u8]) -> Result<usize, EncryptError>,
    ) -> io::Result<()> {
        self.usable()?;
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let mut traffic = loop {
            // rustls remembers positions in the start of a handshake message, such as a ticket.
            let UnbufferedStatus { state, .. } = tls.process_tls_records(&mut self.partial);
            match state {
                Ok(ConnectionState::WriteTraffic(traffic)) => break traffic,
                // A key update goes first.
                Ok(ConnectionState::EncodeTlsData(data)) => {
                    encode(data, &mut self.records, &mut self.filled);
                }
                Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
                Ok(_) => return Err(io::Error::other("TLS: the session takes no data")),
                Err(error) => return Err(TlsError::from(error).into()),
            }
        };
        let out = free(&mut self.records, self.filled, room);
        let written = write(&mut traffic, out);
        self.filled += written.map_err(|error| io::Error::other(format!("TLS: {error}")))?;
        Ok(())
    }
}

/// IANA's name, or its number if rustls does not know it.
fn name(of: impl std::fmt::Debug) -> String {
    format!("{of:?}")
}

fn version(version: ProtocolVersion) -> String {
    match version {
        ProtocolVersion::TLSv1_2 => "TLS 1.2".to_owned(),
        ProtocolVersion::TLSv1_3 => "TLS 1.3".to_owned(),
        other => name(other),
    }
}

type Writer<'a> = rustls::unbuffered::WriteTraffic<'a, rustls::client::ClientConnectionData>;

/// Appends a handshake record.
fn encode(
    mut data: EncodeTlsData<'_, rustls::client::ClientConnectionData>,
    records: &mut Vec<u8>,
    filled: &mut usize,
) {
    let mut room = 0;
    loop {
        match data.encode(free(records, *filled, room)) {
            Ok(written) => return *filled += written,
            Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => {
                room = required_size;
            }
            Err(EncodeError::AlreadyEncoded) => return,
        }
    }
}

/// The bytes after the first `filled` ones, at least `room` of them.
fn free(records: &mut Vec<u8>, filled: usize, room: usize) -> &mut [u8] {
    if records.len() < filled + room {
        records.resize(filled + room, 0);
    }
    &mut records[filled..]
}
