//! The peer's settings, RFC 9113, section 6.5.2.

use super::frame;
use crate::protocol::Broken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerSettings {
    /// Size of the peer's header table for our requests, bytes.
    pub header_table_size: usize,
    /// Maximum open streams.
    pub max_concurrent: u32,
    /// Initial window of a stream, bytes.
    pub initial_window: i64,
    /// Largest payload that the peer accepts, bytes.
    pub max_payload: usize,
}

impl Default for PeerSettings {
    fn default() -> Self {
        Self {
            header_table_size: 4096,
            max_concurrent: u32::MAX,
            initial_window: 65_535,
            max_payload: frame::MAX_PAYLOAD,
        }
    }
}

impl PeerSettings {
    /// Applies the payload of a SETTINGS frame. Returns the lowest header table size in it: a higher one later in the frame
    /// does not restore evicted entries.
    pub fn apply(&mut self, payload: &[u8]) -> Result<usize, Broken> {
        let (settings, []) = payload.as_chunks::<6>() else {
            return Err(Broken::Http2("SETTINGS whose length is not a multiple of six"));
        };
        let mut least_table = usize::MAX;
        for [id_high, id_low, value @ ..] in settings {
            let value = u32::from_be_bytes(*value);
            match u16::from_be_bytes([*id_high, *id_low]) {
                0x1 => {
                    self.header_table_size = value as usize;
                    least_table = least_table.min(self.header_table_size);
                }
                0x3 => self.max_concurrent = value,
                0x4 if value > 0x7fff_ffff => {
                    return Err(Broken::Http2("SETTINGS_INITIAL_WINDOW_SIZE past 2^31-1"));
                }
                0x4 => self.initial_window = i64::from(value),
                0x5 if !(16_384..=16_777_215).contains(&value) => {
                    return Err(Broken::Http2("SETTINGS_MAX_FRAME_SIZE out of range"));
                }
                0x5 => self.max_payload = value as usize,
                _ => {}
            }
        }
        Ok(least_table.min(self.header_table_size))
    }
}
