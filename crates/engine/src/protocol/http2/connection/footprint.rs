//! A connection's memory, for tests of its bounds.

use super::Connection;
use crate::protocol::http2::Http2Application;

/// What a peer could make grow.
#[derive(Debug)]
pub(crate) struct Footprint {
    pub calls: u32,
    /// Requests held back in part.
    pub held_back: usize,
    /// Memory held for an incomplete frame, bytes.
    pub frame: usize,
    /// Memory held for an incomplete header block, bytes.
    pub block: usize,
    /// Size of the dynamic table as HPACK counts it, bytes.
    pub table: usize,
    /// Memory held for decoding and remembering header fields, bytes.
    pub heads: usize,
    /// Bytes of incomplete messages.
    pub unfinished: usize,
}

impl<C: Http2Application> Connection<C> {
    pub fn footprint(&mut self) -> Footprint {
        let (table, heads) = self.heads.footprint();
        Footprint {
            calls: self.streams.open(),
            held_back: self.sender.held_back(),
            frame: self.partial.capacity(),
            block: self.block.as_ref().map_or(0, |open| open.bytes.capacity()),
            table,
            heads,
            unfinished: self.pieces.bytes(),
        }
    }
}
