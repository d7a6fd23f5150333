//! Frame headers.

use super::frame::Frame;
use super::kind::FrameType;

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the payload, 24 bits.
    pub length: usize,
    /// The type.
    pub kind: FrameType,
    /// The flags, see [`flag`](super::flag).
    pub flags: u8,
    /// The stream's number, 31 bits; 0 is the connection.
    pub stream: u32,
}

impl Head {
    /// Bytes of a header.
    pub const SIZE: usize = 9;

    /// Reads a header and drops the reserved bit.
    #[inline]
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let [l1, l2, l3, kind, flags, s1, s2, s3, s4] = bytes;
        Self {
            length: u32::from_be_bytes([0, l1, l2, l3]) as usize,
            kind: FrameType::from_byte(kind),
            flags,
            stream: u32::from_be_bytes([s1, s2, s3, s4]) & 0x7fff_ffff,
        }
    }

    /// The header at the start of `bytes` and the rest. `None` if it is incomplete.
    #[inline]
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_first_chunk()?;
        Some((Self::from_bytes(*head), rest))
    }

    /// The header as bytes.
    #[inline]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let [_, l1, l2, l3] = (self.length as u32).to_be_bytes();
        let [s1, s2, s3, s4] = self.stream.to_be_bytes();
        [l1, l2, l3, self.kind.to_byte(), self.flags, s1, s2, s3, s4]
    }

    /// Appends the header to `out`.
    #[inline]
    pub fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    /// A frame with this header and `payload`. The payload's length replaces the header's.
    #[inline]
    pub fn frame<P>(self, payload: P) -> Frame<P> {
        Frame { kind: self.kind, flags: self.flags, stream: self.stream, payload }
    }
}
