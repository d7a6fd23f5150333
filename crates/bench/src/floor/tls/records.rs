//! Data records, sealed and opened in place. Any other record ends the load.

use anyhow::{anyhow, bail, ensure};
use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce,
    UnboundKey,
};
use rustls::{ConnectionTrafficSecrets, ExtractedSecrets};

/// Bytes of a record's header: type, version, length.
const HEADER: usize = 5;
const TAG: usize = 16;
/// Type of data records, and outer type of all sealed records.
const DATA: u8 = 23;
/// Maximum plaintext of a record.
const MAX_PLAINTEXT: usize = 16 << 10;

/// Both directions of a connection.
pub(in crate::floor) struct Records {
    sent: Keys,
    received: Keys,
    sealed: Vec<u8>,
    /// The start of an incomplete record.
    partial: Vec<u8>,
}

struct Keys {
    key: LessSafeKey,
    iv: [u8; NONCE_LEN],
    sequence: u64,
}

impl Records {
    pub fn new(secrets: ExtractedSecrets) -> anyhow::Result<Self> {
        let ExtractedSecrets { tx, rx } = secrets;
        let (sent, received) = (Keys::new(tx)?, Keys::new(rx)?);
        Ok(Self { sent, received, sealed: Vec::new(), partial: Vec::new() })
    }

    pub fn seal(&mut self, plaintext: &[u8]) -> anyhow::Result<&[u8]> {
        let Self { sent, sealed, .. } = self;
        sealed.clear();
        for part in plaintext.chunks(MAX_PLAINTEXT) {
            let header = header(part.len() + 1 + TAG);
            sealed.extend_from_slice(&header);
            let begin = sealed.len();
            sealed.extend_from_slice(part);
            sealed.push(DATA);
            let nonce = sent.nonce();
            let content = &mut sealed[begin..];
            let tag = sent.key.seal_in_place_separate_tag(nonce, Aad::from(header), content);
            sealed.extend_from_slice(
                tag.map_err(|_| anyhow!("a record could not be sealed"))?.as_ref(),
            );
        }
        Ok(sealed)
    }

    /// Opens whole records, and returns the number of data bytes in them.
    pub fn open(&mut self, bytes: &mut [u8]) -> anyhow::Result<u64> {
        if self.partial.is_empty() {
            let (data, used) = self.received.open(bytes)?;
            self.partial.extend_from_slice(&bytes[used..]);
            return Ok(data);
        }
        self.partial.extend_from_slice(bytes);
        let (data, used) = self.received.open(&mut self.partial)?;
        self.partial.drain(..used);
        Ok(data)
    }
}

impl Keys {
    fn new((sequence, secrets): (u64, ConnectionTrafficSecrets)) -> anyhow::Result<Self> {
        let (algorithm, key, iv): (&Algorithm, _, _) = match &secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (&AES_128_GCM, key, iv),
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (&AES_256_GCM, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (&CHACHA20_POLY1305, key, iv),
            _ => bail!("an unknown cipher suite"),
        };
        let key = UnboundKey::new(algorithm, key.as_ref()).map_err(|_| anyhow!("a wrong key"))?;
        Ok(Self { key: LessSafeKey::new(key), iv: iv.as_ref().try_into()?, sequence })
    }

    /// RFC 8446, section 5.3.
    fn nonce(&mut self) -> Nonce {
        let mut nonce = self.iv;
        let number = self.sequence.to_be_bytes();
        for (byte, number) in nonce[NONCE_LEN - number.len()..].iter_mut().zip(number) {
            *byte ^= number;
        }
        self.sequence += 1;
        Nonce::assume_unique_for_key(nonce)
    }

    /// Bytes of data in the whole records, and the length of these records.
    fn open(&mut self, bytes: &mut [u8]) -> anyhow::Result<(u64, usize)> {
        let (mut data, mut used) = (0, 0);
        while let Some((head, rest)) = bytes[used..].split_first_chunk_mut::<HEADER>() {
            let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
            let Some(record) = rest.get_mut(..length) else { break };
            let nonce = self.nonce();
            let opened = self.key.open_in_place(nonce, Aad::from(*head), record);
            let opened = opened.map_err(|_| anyhow!("a record that can't be opened"))?;
            let Some((&kind, content)) = opened.split_last() else { bail!("an empty record") };
            ensure!(kind == DATA, "a record of type {kind}, which is not data");
            data += content.len() as u64;
            used += HEADER + length;
        }
        Ok((data, used))
    }
}

fn header(length: usize) -> [u8; HEADER] {
    let [high, low] = (length as u16).to_be_bytes();
    [DATA, 3, 3, high, low]
}
