//! A peer that checks the connection's output against the rules.

use std::collections::{BTreeMap, VecDeque};
use std::marker::PhantomData;

use super::carries::{Carries, Fields};
use super::http2::{
    DEFAULT_MAX_PAYLOAD, DEFAULT_WINDOW, Frame, FrameRef, FrameType, MAX_WINDOW, PREFACE, flag,
    setting,
};
use super::ledger::REQUESTS;

/// The peer's initial header table, bytes.
const TABLE: usize = 4096;
/// A request sent in part.
struct Upload {
    body: Vec<u8>,
    sent: usize,
    window: i64,
}

pub(super) struct Peer<C> {
    carried: PhantomData<C>,
    decoder: loona_hpack::Decoder<'static>,
    request: Fields,
    /// The table size that we allow, the least one since the last header block, and the one that the
    /// connection announced.
    table: usize,
    least_table: usize,
    announced_table: usize,
    pub max_concurrent: usize,
    window: i64,
    initial_window: i64,
    max_payload: usize,
    uploads: BTreeMap<u32, Upload>,
    next_stream: u32,
    /// The request of each of the next streams.
    pub entries: VecDeque<u32>,
}

impl<C: Carries> Peer<C> {
    pub fn new() -> Self {
        let templates = C::templates();
        let literal = &templates.head(0).literal;
        Self {
            carried: PhantomData,
            decoder: loona_hpack::Decoder::new(),
            request: loona_hpack::Decoder::new().decode(literal).expect("our own headers"),
            table: TABLE,
            least_table: TABLE,
            announced_table: TABLE,
            max_concurrent: usize::MAX,
            window: DEFAULT_WINDOW.into(),
            initial_window: DEFAULT_WINDOW.into(),
            max_payload: DEFAULT_MAX_PAYLOAD,
            uploads: BTreeMap::new(),
            next_stream: 1,
            entries: VecDeque::new(),
        }
    }

    /// Notes a frame sent to the connection, which must follow it.
    pub fn say(&mut self, frame: &Frame) {
        match frame.kind {
            FrameType::Settings if !frame.has(flag::ACK) => {
                frame.setting_values().for_each(|(id, value)| self.set(id, value));
            }
            FrameType::WindowUpdate => {
                let increment = frame.number().unwrap_or(0) & MAX_WINDOW;
                self.open_window(frame.stream, increment.into());
            }
            _ => {}
        }
    }

    fn set(&mut self, id: u16, value: u32) {
        match id {
            setting::HEADER_TABLE_SIZE => {
                self.table = value as usize;
                self.least_table = self.least_table.min(self.table);
            }
            setting::MAX_CONCURRENT_STREAMS => self.max_concurrent = value as usize,
            setting::INITIAL_WINDOW_SIZE => {
                let change = i64::from(value) - self.initial_window;
                self.uploads.values_mut().for_each(|upload| upload.window += change);
                self.initial_window = i64::from(value);
            }
            setting::MAX_FRAME_SIZE => self.max_payload = value as usize,
            _ => {}
        }
    }

    fn open_window(&mut self, stream: u32, increment: i64) {
        if stream == 0 {
            self.window += increment;
        } else if let Some(upload) = self.uploads.get_mut(&stream) {
            upload.window += increment;
        }
    }

    /// The call on this stream has ended: no more of its request may follow.
    pub fn forget(&mut self, stream: u32) {
        self.uploads.remove(&stream);
    }

    /// Reads the connection's output, which must be whole frames.
    pub fn read(&mut self, out: &[u8]) {
        let mut rest = out.strip_prefix(PREFACE).unwrap_or(out);
        while let Some(frame) = FrameRef::parse(rest) {
            let head = frame.head();
            assert!(head.length <= self.max_payload, "{head:?}");
            match head.kind {
                FrameType::Headers => self.headers(&frame),
                FrameType::Data => self.data(&frame),
                FrameType::RstStream => assert!(head.stream < self.next_stream, "{head:?}"),
                FrameType::Settings | FrameType::Ping | FrameType::WindowUpdate => {
                    assert_eq!(head.stream, 0);
                }
                _ => panic!("a client has no reason to write {head:?}"),
            }
            rest = &rest[frame.size()..];
        }
        assert!(rest.is_empty(), "part of a frame was written");
    }

    fn headers(&mut self, frame: &FrameRef<'_>) {
        assert_eq!((frame.stream, frame.flags), (self.next_stream, flag::END_HEADERS));
        self.next_stream += 2;
        self.table_updates(frame.payload);
        let fields = self.decoder.decode(frame.payload).expect("a header block");
        let entry = self.entries.pop_front().expect("a call for each stream");
        let length = REQUESTS[entry as usize];
        let body = C::body(&vec![b'x'; length]);
        assert_eq!(fields, [&self.request[..], &C::own_fields(body.len())].concat());
        let window = self.initial_window;
        self.uploads.insert(frame.stream, Upload { body, sent: 0, window });
    }

    /// RFC 7541, section 4.2: a block begins with the lowest size set since the last one, if that is a reduction, and with the
    /// one in use from now on.
    fn table_updates(&mut self, block: &[u8]) {
        let (mut rest, mut least) = (block, self.announced_table);
        while let Some((size, tail)) = table_update(rest) {
            (rest, least, self.announced_table) = (tail, least.min(size), size);
        }
        assert!(least <= self.least_table, "{} was not announced: {block:x?}", self.least_table);
        assert!(self.announced_table <= self.table, "more table than allowed: {block:x?}");
        self.least_table = self.table;
    }

    fn data(&mut self, frame: &FrameRef<'_>) {
        let upload = self.uploads.get_mut(&frame.stream).expect("a stream that wants more");
        let piece = frame.payload;
        assert!(upload.body[upload.sent..].starts_with(piece));
        assert!(!piece.is_empty() || upload.body.is_empty());
        upload.sent += piece.len();
        upload.window -= piece.len() as i64;
        self.window -= piece.len() as i64;
        assert!(upload.window >= 0 && self.window >= 0, "a window was overrun: {:?}", frame.head());
        let whole = upload.sent == upload.body.len();
        assert_eq!(frame.has(flag::END_STREAM), whole);
        if whole {
            self.uploads.remove(&frame.stream);
        }
    }

    /// Bytes by which the connection's window and each stream's must grow for every request to be sent.
    pub fn missing(&self) -> Vec<(u32, i64)> {
        let left = |upload: &Upload| (upload.body.len() - upload.sent) as i64;
        let all: i64 = self.uploads.values().map(left).sum();
        let streams = self.uploads.iter().map(|(id, upload)| (*id, left(upload) - upload.window));
        streams.chain([(0, all - self.window)]).filter(|(_, bytes)| *bytes > 0).collect()
    }

    /// True if every request was sent.
    pub fn is_served(&self) -> bool {
        self.uploads.is_empty() && self.entries.is_empty()
    }
}

/// The update of the table's size that a block begins with, and the rest of the block.
fn table_update(block: &[u8]) -> Option<(usize, &[u8])> {
    let (first, mut rest) = block.split_first().filter(|(first, _)| **first & 0xe0 == 0x20)?;
    let mut size = usize::from(first & 0x1f);
    let mut shift = 0;
    let mut more = size == 0x1f;
    while more {
        let (byte, tail) = rest.split_first()?;
        size += usize::from(byte & 0x7f) << shift;
        (shift, more, rest) = (shift + 7, byte & 0x80 != 0, tail);
    }
    Some((size, rest))
}
