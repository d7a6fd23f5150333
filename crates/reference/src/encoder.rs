//! Replies as frames with precomputed header blocks.

use crate::http2::flag::{END_HEADERS, END_STREAM};
use crate::http2::{FrameType, Head};
use crate::rewrite::REPLY_TAG;

/// `:status: 200` of the static table.
const STATUS_200: u8 = 0x88;
const CONTENT_TYPE: &[u8] = b"\x0f\x10\x10application/grpc";
const CONTENT_TYPE_INSERTED: &[u8] = b"\x5f\x10application/grpc";
const GRPC_STATUS: &[u8] = b"\x00\x0bgrpc-status";
const GRPC_STATUS_0: &[u8] = b"\x00\x0bgrpc-status\x010";
const GRPC_STATUS_0_INSERTED: &[u8] = b"\x40\x0bgrpc-status\x010";
/// The newest entry of the dynamic table, and the one before it.
const NEWEST: u8 = 0x80 | 62;
const SECOND: u8 = 0x80 | 63;
const TABLE_SIZE_0: u8 = 0x20;
/// The default table size of the peer's decoder.
const DEFAULT_TABLE: u32 = 4096;

/// The state of the peer's decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Table {
    #[default]
    Empty,
    /// content-type is the newest entry.
    ContentType,
    /// grpc-status is the newest entry, content-type the one before it.
    Both,
    /// The table must stay empty, but the peer does not know this yet.
    Closing,
    Closed,
}

#[derive(Debug, Default)]
pub(crate) struct Encoder {
    table: Table,
}

impl Encoder {
    /// Follows the peer's SETTINGS_HEADER_TABLE_SIZE. Does not use a table smaller than the default.
    pub(crate) fn limit_table(&mut self, bytes: u32) {
        if bytes < DEFAULT_TABLE && self.table != Table::Closed {
            self.table = Table::Closing;
        }
    }

    /// A complete ok reply: `message` with its first byte changed to the reply's tag.
    pub(crate) fn ok(&mut self, out: &mut Vec<u8>, stream: u32, message: &[u8]) {
        self.headers(out, stream);
        let length = message.len() + 5;
        Head { length, kind: FrameType::Data, flags: 0, stream }.put(out);
        let [b1, b2, b3, b4] = (message.len() as u32).to_be_bytes();
        if let Some((_, rest)) = message.split_first() {
            out.extend_from_slice(&[0, b1, b2, b3, b4, REPLY_TAG]);
            out.extend_from_slice(rest);
        } else {
            out.extend_from_slice(&[0; 5]);
        }
        self.trailers(out, stream);
    }

    pub(crate) fn headers(&mut self, out: &mut Vec<u8>, stream: u32) {
        match self.table {
            Table::Both => block(out, stream, END_HEADERS, &[&[STATUS_200, SECOND]]),
            Table::ContentType => block(out, stream, END_HEADERS, &[&[STATUS_200, NEWEST]]),
            Table::Empty => {
                block(out, stream, END_HEADERS, &[&[STATUS_200], CONTENT_TYPE_INSERTED]);
                self.table = Table::ContentType;
            }
            Table::Closing => {
                block(out, stream, END_HEADERS, &[&[TABLE_SIZE_0, STATUS_200], CONTENT_TYPE]);
                self.table = Table::Closed;
            }
            Table::Closed => block(out, stream, END_HEADERS, &[&[STATUS_200], CONTENT_TYPE]),
        }
    }

    /// The frame that ends an ok reply.
    pub(crate) fn trailers(&mut self, out: &mut Vec<u8>, stream: u32) {
        let flags = END_HEADERS | END_STREAM;
        match self.table {
            Table::Both => block(out, stream, flags, &[&[NEWEST]]),
            Table::ContentType => {
                block(out, stream, flags, &[GRPC_STATUS_0_INSERTED]);
                self.table = Table::Both;
            }
            Table::Closing => {
                block(out, stream, flags, &[&[TABLE_SIZE_0], GRPC_STATUS_0]);
                self.table = Table::Closed;
            }
            Table::Empty | Table::Closed => block(out, stream, flags, &[GRPC_STATUS_0]),
        }
    }

    /// A reply with an error status, in one frame.
    pub(crate) fn error(&mut self, out: &mut Vec<u8>, stream: u32, code: u32) {
        let code = code.to_string();
        let update: &[u8] = if self.table == Table::Closing { &[TABLE_SIZE_0] } else { &[] };
        let parts = [
            update,
            &[STATUS_200],
            CONTENT_TYPE,
            GRPC_STATUS,
            &[code.len() as u8],
            code.as_bytes(),
        ];
        block(out, stream, END_HEADERS | END_STREAM, &parts);
        if self.table == Table::Closing {
            self.table = Table::Closed;
        }
    }
}

fn block(out: &mut Vec<u8>, stream: u32, flags: u8, parts: &[&[u8]]) {
    let length = parts.iter().map(|part| part.len()).sum();
    Head { length, kind: FrameType::Headers, flags, stream }.put(out);
    for part in parts {
        out.extend_from_slice(part);
    }
}
