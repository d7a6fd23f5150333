//! Frames, RFC 9113, section 4.1.
//!
//! ```text
//! +-----------------------------------------------+
//! |                 Length (24)                   |
//! +---------------+---------------+---------------+
//! |   Type (8)    |   Flags (8)   |
//! +-+-------------+---------------+-------------------------------+
//! |R|                 Stream Identifier (31)                      |
//! +=+=============================================================+
//! |                   Frame Requests (0...)                        |
//! ```

use crate::protocol::Broken;

/// Bytes of a frame header.
pub(crate) const HEADER: usize = 9;
/// Offset of the stream identifier in it.
pub(crate) const STREAM_OFFSET: usize = 5;
/// The largest payload that we accept: the protocol's minimum, which we never change.
pub(crate) const MAX_PAYLOAD: usize = 16_384;
/// What a client sends first: the connection preface.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 0x1;
pub(crate) const ACK: u8 = 0x1;
pub(crate) const END_HEADERS: u8 = 0x4;
pub(crate) const PADDED: u8 = 0x8;
pub(crate) const WITH_PRIORITY: u8 = 0x20;
/// Flags of a header block in one frame that ends its stream.
pub(crate) const LAST_HEADERS: u8 = END_HEADERS | END_STREAM;

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Length, kind and flags: see [`form`].
    pub form: u64,
    /// 0: the connection itself.
    pub stream: u32,
}

impl Head {
    /// Reads the first nine bytes of `bytes`, if there are that many.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let head: &[u8; HEADER] = bytes.first_chunk()?;
        // Two loads that share three bytes.
        let form = u64::from_be_bytes(*head.first_chunk()?) >> 24;
        let stream = u32::from_be_bytes(*head.last_chunk()?) & 0x7fff_ffff;
        Some(Self { form, stream })
    }

    /// Bytes of the payload.
    #[inline]
    pub fn length(self) -> usize {
        (self.form >> 16) as usize
    }

    #[inline]
    pub fn kind(self) -> u8 {
        (self.form >> 8) as u8
    }

    #[inline]
    pub fn flags(self) -> u8 {
        self.form as u8
    }

    #[inline]
    pub fn has(self, flag: u8) -> bool {
        self.flags() & flag != 0
    }
}

/// Length of the payload, kind and flags of a frame as one number, unique to the combination.
pub(crate) fn form(length: usize, kind: u8, flags: u8) -> u64 {
    (length as u64) << 16 | u64::from(kind) << 8 | u64::from(flags)
}

/// Refuses a frame that is too large, or a control frame of the wrong length or on the wrong stream.
#[inline]
pub(crate) fn check(head: Head) -> Result<(), Broken> {
    if head.length() > MAX_PAYLOAD {
        return Err(too_large(head));
    }
    if head.kind() <= HEADERS { Ok(()) } else { check_control(head) }
}

/// The error for a frame that is too large, or for the start of another protocol.
#[cold]
fn too_large(head: Head) -> Broken {
    let first = (head.length() as u32) << 8 | u32::from(head.kind());
    let text = first.to_be_bytes().iter().all(|byte| (b' '..=b'~').contains(byte));
    Broken::Http2(if text {
        "it answered in text, as HTTP/1 servers do; this port does not speak HTTP/2"
    } else {
        "frame larger than the 16384 bytes that were allowed"
    })
}

#[cold]
fn check_control(head: Head) -> Result<(), Broken> {
    let problem = match (head.kind(), head.length()) {
        (SETTINGS | PING | GOAWAY, _) if head.stream != 0 => {
            "SETTINGS, PING or GOAWAY on a stream and not on the connection"
        }
        (PING, length) if length != 8 => "PING that has not eight bytes",
        (RST_STREAM | WINDOW_UPDATE, length) if length != 4 => {
            "RST_STREAM or WINDOW_UPDATE that has not four bytes"
        }
        (SETTINGS, length) if head.has(ACK) && length != 0 => "SETTINGS and ACK in one frame",
        _ => return Ok(()),
    };
    Err(Broken::Http2(problem))
}

/// Appends a frame header.
pub(crate) fn put_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    out.extend_from_slice(&(length as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Sets the length in the frame header at `at`: the frame ends where `out` does.
pub(crate) fn set_length(out: &mut [u8], at: usize) {
    let length = (out.len() - at - HEADER) as u32;
    out[at..at + 3].copy_from_slice(&length.to_be_bytes()[1..]);
}

/// Appends a whole frame.
pub(crate) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    put_head(out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
}

/// The payload without padding and priority.
#[inline]
pub(crate) fn content(head: Head, payload: &[u8]) -> Result<&[u8], Broken> {
    if head.flags() & (PADDED | WITH_PRIORITY) == 0 {
        return Ok(payload);
    }
    unpadded(head, payload)
}

#[cold]
fn unpadded(head: Head, payload: &[u8]) -> Result<&[u8], Broken> {
    const TOO_MUCH: Broken = Broken::Http2("padding is longer than the frame");
    let (padding, mut rest) = if head.has(PADDED) {
        payload.split_first().map(|(n, rest)| (usize::from(*n), rest)).ok_or(TOO_MUCH)?
    } else {
        (0, payload)
    };
    if head.kind() == HEADERS && head.has(WITH_PRIORITY) {
        rest = rest.get(5..).ok_or(Broken::Http2("priority is cut short"))?;
    }
    let length = rest.len().checked_sub(padding).ok_or(TOO_MUCH)?;
    Ok(&rest[..length])
}

/// The first four bytes as a number.
pub(crate) fn word(payload: &[u8]) -> Result<u32, Broken> {
    let bytes = payload.first_chunk().ok_or(Broken::Http2("frame is cut short"))?;
    Ok(u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_that_speaks_http1_is_distinguished_from_one_with_large_frames() {
        let refused =
            |bytes: &[u8; HEADER]| check(Head::parse(bytes).unwrap()).unwrap_err().to_string();
        for text in [b"HTTP/1.1 ", b"<!DOCTYPE"] {
            assert_eq!(
                refused(text),
                "peer broke HTTP/2: it answered in text, as HTTP/1 servers do; this port does not speak HTTP/2"
            );
        }
        let large = refused(b"\x00\x40\x01\x00\x00\x00\x00\x00\x01");
        assert!(large.ends_with("larger than the 16384 bytes that were allowed"), "{large}");
    }
}
