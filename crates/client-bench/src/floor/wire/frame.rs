//! Frames of HTTP/2. RFC 9113, sections 4.1 and 6.

use crate::floor::FloorError;
use crate::floor::peer::Peer;

/// Bytes before the payload.
pub(in crate::floor) const HEADER: usize = 9;
/// Where the stream identifier is.
pub(in crate::floor) const STREAM: usize = 5;

pub(in crate::floor) const DATA: u8 = 0;
pub(in crate::floor) const HEADERS: u8 = 1;
pub(in crate::floor) const SETTINGS: u8 = 4;
pub(in crate::floor) const WINDOW_UPDATE: u8 = 8;

/// Flags.
pub(in crate::floor) const END_STREAM: u8 = 1;
pub(in crate::floor) const ACK: u8 = 1;
pub(in crate::floor) const END_HEADERS: u8 = 4;

pub(in crate::floor) struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// Appends a frame.
pub(in crate::floor) fn put(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    out.extend_from_slice(&length);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

pub(in crate::floor) fn read(peer: &mut Peer) -> Result<Frame, FloorError> {
    let [l1, l2, l3, kind, flags, s1, s2, s3, s4] = peer.read_array::<HEADER>()?;
    let payload = peer.read(u32::from_be_bytes([0, l1, l2, l3]) as usize)?;
    Ok(Frame { kind, flags, stream: u32::from_be_bytes([s1, s2, s3, s4]), payload })
}
