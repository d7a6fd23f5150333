//! Single records of TLS 1.3, sealed and opened in place. RFC 8446, section 5.

use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce,
    UnboundKey,
};
use rustls::{
    ConnectionTrafficSecrets, ContentType, Error, ExtractedSecrets, InvalidMessage, PeerMisbehaved,
};

/// Bytes of a record's header: type, version, length.
pub(super) const HEADER: usize = 5;
const TAG: usize = 16;
/// Maximum plaintext of a record.
pub(super) const MAX_PLAINTEXT: usize = 16 << 10;
/// Upper bound of the length in a header, exclusive. TLS 1.2 allows as much, and rustls for both.
const SEALED_END: usize = MAX_PLAINTEXT + 2048;

pub(super) const ALERT: u8 = 21;
pub(super) const HANDSHAKE: u8 = 22;
/// Type of records with data, and outer type of all sealed records.
pub(super) const DATA: u8 = 23;

/// The keys of one direction.
pub(super) struct Keys {
    key: LessSafeKey,
    iv: [u8; NONCE_LEN],
    /// Records so far.
    pub sequence: u64,
}

impl Keys {
    /// Keys for sending and for receiving.
    pub fn pair(ExtractedSecrets { tx, rx }: ExtractedSecrets) -> Result<(Self, Self), Error> {
        Ok((Self::new(tx)?, Self::new(rx)?))
    }

    pub fn new((sequence, secrets): (u64, ConnectionTrafficSecrets)) -> Result<Self, Error> {
        let (algorithm, key, iv): (&Algorithm, _, _) = match &secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => return Err(Error::General("an unknown cipher suite".to_owned())),
        };
        let key = UnboundKey::new(algorithm, key.as_ref()).map_err(|_| Error::EncryptError)?;
        let iv = iv.as_ref().try_into().map_err(|_| Error::EncryptError)?;
        Ok(Self { key: LessSafeKey::new(key), iv, sequence })
    }

    /// RFC 8446, section 5.3.
    #[inline]
    fn nonce(&mut self) -> Nonce {
        let mut nonce = self.iv;
        if let Some(end) = nonce.last_chunk_mut() {
            *end = (u64::from_be_bytes(*end) ^ self.sequence).to_be_bytes();
        }
        self.sequence += 1;
        Nonce::assume_unique_for_key(nonce)
    }

    /// Seals a record at the start of `out`, which has room for it, and returns its length.
    #[inline]
    pub fn seal(&mut self, kind: u8, content: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let end = HEADER + content.len() + 1;
        let [high, low] = ((content.len() + 1 + TAG) as u16).to_be_bytes();
        let header = [DATA, 3, 3, high, low];
        out[..HEADER].copy_from_slice(&header);
        out[HEADER..end - 1].copy_from_slice(content);
        out[end - 1] = kind;
        let (nonce, sealed) = (self.nonce(), &mut out[HEADER..end]);
        let tag = self.key.seal_in_place_separate_tag(nonce, Aad::from(header), sealed);
        out[end..end + TAG].copy_from_slice(tag.map_err(|_| Error::EncryptError)?.as_ref());
        Ok(end + TAG)
    }

    /// Opens a whole record; returns its type, and the length of its content, which follows the header.
    #[inline]
    pub fn open(&mut self, record: &mut [u8]) -> Result<(u8, usize), Error> {
        let Some((header, sealed)) = record.split_first_chunk_mut::<HEADER>() else {
            return Err(InvalidMessage::MessageTooShort.into());
        };
        if header[0] != DATA {
            let got_type = ContentType::from(header[0]);
            let expect_types = vec![ContentType::ApplicationData];
            return Err(Error::InappropriateMessage { expect_types, got_type });
        }
        let nonce = self.nonce();
        let opened = self.key.open_in_place(nonce, Aad::from(*header), sealed);
        let opened = opened.map_err(|_| Error::DecryptError)?;
        let whole = opened.len();
        let content = opened.iter().rposition(|byte| *byte != 0).unwrap_or(whole);
        if whole > MAX_PLAINTEXT + 1 || content > MAX_PLAINTEXT {
            return Err(Error::PeerSentOversizedRecord);
        }
        let kind = opened.get(content).ok_or(PeerMisbehaved::IllegalTlsInnerPlaintext)?;
        Ok((*kind, content))
    }
}

/// Length of the record at the start of `bytes`. `None` if it is incomplete.
///
/// # Errors
/// If `bytes` do not begin with a record.
#[inline]
pub(super) fn length(bytes: &[u8]) -> Result<Option<usize>, InvalidMessage> {
    let Some([kind, version, _, high, low]) = bytes.first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let sealed = usize::from(u16::from_be_bytes([*high, *low]));
    match (*kind, *version, sealed) {
        (..20 | 25.., _, _) => Err(InvalidMessage::InvalidContentType),
        (_, version, _) if version != 3 => Err(InvalidMessage::UnknownProtocolVersion),
        (20..DATA, _, 0) => Err(InvalidMessage::InvalidEmptyPayload),
        (_, _, SEALED_END..) => Err(InvalidMessage::MessageTooLarge),
        _ => Ok(Some(HEADER + sealed).filter(|length| *length <= bytes.len())),
    }
}
