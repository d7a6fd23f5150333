//! What a connection holds in memory, for tests of its bounds.

use super::Connection;
use crate::protocol::http2::Http2Application;

/// What a peer could drive up.
#[derive(Debug)]
pub(crate) struct Footprint {
    /// Calls without an end.
    pub calls: u32,
    /// Requests of which part is held back.
    pub held_back: usize,
    /// Room taken for a frame that is not whole, bytes.
    pub frame: usize,
    /// Room taken for a header block that is not whole, bytes.
    pub block: usize,
    /// Size of the table of header fields, by the standard's measure, bytes.
    pub table: usize,
    /// Room taken for reading header fields and for what is remembered of them, bytes.
    pub heads: usize,
    /// Bytes of messages that are not whole.
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
