//! TLS 1.3 after the handshake: records are opened where they were received, without allocating. rustls derives keys and
//! stores tickets.

use std::mem;
use std::ops::Range;

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;
use rustls::{
    AlertDescription, Error, HandshakeType, InvalidMessage, PeerMisbehaved, SupportedCipherSuite,
};

use super::records::{self, ALERT, DATA, HANDSHAKE, HEADER, Keys, MAX_PLAINTEXT};

/// Maximum bytes of a handshake message, without its header.
const MAX_MESSAGE: usize = 0xffff;
/// Maximum number of empty records, of key updates without data between them, and of warnings: the same as in rustls.
const MAX_EMPTY: u8 = 32;
const MAX_UPDATES: u8 = 32;
const MAX_WARNINGS: u8 = 4;
/// Level of alerts that end a connection cleanly.
const WARNING: u8 = 1;
const FATAL: u8 = 2;
/// Contents of a key update.
const NO_ANSWER: u8 = 0;
const ANSWER: u8 = 1;

/// Both directions of an open connection.
pub(super) struct Traffic {
    kernel: KernelConnection<ClientConnectionData>,
    sent: Keys,
    received: Keys,
    /// Number of records that a key may seal.
    pub limit: u64,
    /// The peer has updated its keys, and wants ours updated before more data.
    owes_update: bool,
    /// The start of an incomplete handshake message.
    message: Vec<u8>,
    /// How many more of each are accepted.
    empty: u8,
    updates: u8,
    warnings: u8,
    /// True once the peer has announced that it sends no more.
    pub is_closed: bool,
    /// Data records received since the count was last taken.
    pub opened: u64,
}

impl Traffic {
    /// Takes over from rustls, which must have no record to send and no part of a received one.
    pub fn new(tls: UnbufferedClientConnection) -> Result<Self, Error> {
        let (secrets, kernel) = tls.dangerous_into_kernel_connection()?;
        let (sent, received) = Keys::pair(secrets)?;
        // The last record updates the key.
        let limit = match kernel.negotiated_cipher_suite() {
            SupportedCipherSuite::Tls13(suite) => suite.common.confidentiality_limit - 1,
            SupportedCipherSuite::Tls12(_) => return Err(Error::HandshakeNotComplete),
        };
        Ok(Self {
            kernel,
            sent,
            received,
            limit,
            owes_update: false,
            message: Vec::new(),
            empty: MAX_EMPTY,
            updates: MAX_UPDATES,
            warnings: MAX_WARNINGS,
            is_closed: false,
            opened: 0,
        })
    }

    /// Opens the whole records at the start of `bytes`, and joins their data in `data`, a range of `bytes` that is empty at
    /// first. Returns the length of these records.
    pub fn open(&mut self, bytes: &mut [u8], data: &mut Range<usize>) -> Result<usize, Error> {
        let mut used = 0;
        while let Some(length) = records::length(&bytes[used..])? {
            let (kind, length_opened) = self.received.open(&mut bytes[used..used + length])?;
            let start = used + HEADER;
            let content = start..start + length_opened;
            used += length;
            self.check(kind, &content)?;
            if kind != DATA {
                self.control(kind, &bytes[content])?;
            } else if !content.is_empty() {
                self.opened += 1;
                self.updates = MAX_UPDATES;
                append(bytes, data, content);
            }
            if self.is_closed {
                return Ok(bytes.len()); // What follows does not count.
            }
        }
        Ok(used)
    }

    /// Refuses endless empty records, and a record between the parts of a message.
    #[inline]
    fn check(&mut self, kind: u8, content: &Range<usize>) -> Result<(), PeerMisbehaved> {
        if kind != HANDSHAKE && !self.message.is_empty() {
            return Err(PeerMisbehaved::MessageInterleavedWithHandshakeMessage);
        }
        self.empty = match content.is_empty() {
            false => MAX_EMPTY,
            true => self.empty.checked_sub(1).ok_or(PeerMisbehaved::TooManyEmptyFragments)?,
        };
        Ok(())
    }

    /// Takes a record without data.
    #[cold]
    fn control(&mut self, kind: u8, content: &[u8]) -> Result<(), Error> {
        match (kind, content) {
            (HANDSHAKE, _) => self.messages(content),
            (ALERT, [level, description]) => self.alerted(*level, (*description).into()),
            (ALERT, _) => Err(InvalidMessage::MissingData("AlertMessagePayload").into()),
            (20, _) => Err(PeerMisbehaved::IllegalMiddleboxChangeCipherSpec.into()),
            _ => Err(InvalidMessage::InvalidContentType.into()),
        }
    }

    /// RFC 8446, section 6: any other alert is an error, at either level.
    fn alerted(&mut self, level: u8, description: AlertDescription) -> Result<(), Error> {
        match description {
            AlertDescription::CloseNotify => self.is_closed = true,
            AlertDescription::UserCanceled if level == WARNING => {
                let left = self.warnings.checked_sub(1);
                self.warnings = left.ok_or(PeerMisbehaved::TooManyWarningAlertsReceived)?;
            }
            other => return Err(Error::AlertReceived(other)),
        }
        Ok(())
    }

    /// Takes handshake messages, cut anywhere.
    fn messages(&mut self, content: &[u8]) -> Result<(), Error> {
        let mut bytes = mem::take(&mut self.message);
        bytes.extend_from_slice(content);
        let mut rest = &bytes[..];
        while let Some(([kind, length @ ..], tail)) = rest.split_first_chunk::<4>() {
            let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
            if length > MAX_MESSAGE {
                return Err(InvalidMessage::HandshakePayloadTooLarge.into());
            }
            let Some((message, tail)) = tail.split_at_checked(length) else { break };
            match HandshakeType::from(*kind) {
                HandshakeType::NewSessionTicket => {
                    self.kernel.handle_new_session_ticket(message)?
                }
                HandshakeType::KeyUpdate => self.follow_update(message, tail.is_empty())?,
                got_type => {
                    let expect_types =
                        vec![HandshakeType::NewSessionTicket, HandshakeType::KeyUpdate];
                    return Err(Error::InappropriateHandshakeMessage { expect_types, got_type });
                }
            }
            rest = tail;
        }
        let done = bytes.len() - rest.len();
        bytes.drain(..done);
        self.message = bytes;
        Ok(())
    }

    /// Switches to new keys for records received after this message, which must be the `last` of its record.
    fn follow_update(&mut self, message: &[u8], last: bool) -> Result<(), Error> {
        if !last {
            return Err(PeerMisbehaved::KeyEpochWithPendingFragment.into());
        }
        let left = self.updates.checked_sub(1);
        self.updates = left.ok_or(PeerMisbehaved::TooManyKeyUpdateRequests)?;
        match message {
            [NO_ANSWER] => {}
            [ANSWER] => self.owes_update = true,
            _ => return Err(InvalidMessage::InvalidKeyUpdate.into()),
        }
        self.received = Keys::new(self.kernel.update_rx_secret()?)?;
        Ok(())
    }

    /// Seals data at the start of `out`, which has room for it and for key updates; returns the length of the records.
    pub fn seal(&mut self, data: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let mut sealed = 0;
        if self.owes_update {
            sealed += self.update_keys(NO_ANSWER, out)?;
        }
        for part in data.chunks(MAX_PLAINTEXT) {
            if self.sent.sequence >= self.limit {
                sealed += self.update_keys(ANSWER, &mut out[sealed..])?;
            }
            sealed += self.sent.seal(DATA, part, &mut out[sealed..])?;
        }
        Ok(sealed)
    }

    #[cold]
    fn update_keys(&mut self, answer: u8, out: &mut [u8]) -> Result<usize, Error> {
        let message = [HandshakeType::KeyUpdate.into(), 0, 0, 1, answer];
        let sealed = self.sent.seal(HANDSHAKE, &message, out)?;
        self.sent = Keys::new(self.kernel.update_tx_secret()?)?;
        self.owes_update = false;
        Ok(sealed)
    }

    /// Seals a close_notify alert.
    pub fn close(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        self.sent.seal(ALERT, &[WARNING, AlertDescription::CloseNotify.into()], out)
    }

    /// Seals the alert that tells the peer about this error, if there is one.
    pub fn alert(&mut self, error: &Error, out: &mut [u8]) -> Result<usize, Error> {
        let description = match error {
            Error::InvalidMessage(InvalidMessage::InvalidKeyUpdate) => {
                AlertDescription::IllegalParameter
            }
            Error::InvalidMessage(_) => AlertDescription::DecodeError,
            Error::PeerSentOversizedRecord => AlertDescription::RecordOverflow,
            Error::DecryptError => AlertDescription::BadRecordMac,
            Error::PeerMisbehaved(_)
            | Error::InappropriateMessage { .. }
            | Error::InappropriateHandshakeMessage { .. } => AlertDescription::UnexpectedMessage,
            _ => return Ok(0),
        };
        self.sent.seal(ALERT, &[FATAL, description.into()], out)
    }

    /// Bytes in its buffers.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn held(&self) -> usize {
        self.message.len()
    }
}

/// Appends the `content` of a record to the data before it. Most reads have one record, which stays where it is.
#[inline]
fn append(bytes: &mut [u8], data: &mut Range<usize>, content: Range<usize>) {
    if Range::is_empty(data) {
        *data = content;
        return;
    }
    let length = content.len();
    bytes.copy_within(content, data.end);
    data.end += length;
}
