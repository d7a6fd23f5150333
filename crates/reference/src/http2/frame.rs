//! HTTP/2 frames (RFC 9113, section 4.1).

use super::head::Head;
use super::kind::FrameType;

/// Bits of a frame's flags.
pub mod flag {
    /// SETTINGS and PING: acknowledges.
    pub const ACK: u8 = 0x1;
    /// HEADERS and DATA: the last frame of the stream.
    pub const END_STREAM: u8 = 0x1;
    /// HEADERS and CONTINUATION: the end of the header block.
    pub const END_HEADERS: u8 = 0x4;
    /// HEADERS and DATA: has a pad length and padding.
    pub const PADDED: u8 = 0x8;
    /// HEADERS: has five bytes of priority.
    pub const PRIORITY: u8 = 0x20;
}

/// Identifiers of settings.
pub mod setting {
    /// Maximum bytes of the header table used by the peer's encoder.
    pub const HEADER_TABLE_SIZE: u16 = 1;
    /// True if pushes are allowed.
    pub const ENABLE_PUSH: u16 = 2;
    /// Maximum streams that the peer may have open.
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    /// Body bytes that may be sent on a new stream.
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    /// Longest frame payload accepted, bytes.
    pub const MAX_FRAME_SIZE: u16 = 5;
}

/// A frame that owns or borrows its payload. Fields may have any value, including invalid ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<P = Vec<u8>> {
    /// The type.
    pub kind: FrameType,
    /// The flags, see [`flag`].
    pub flags: u8,
    /// The stream's number, 31 bits; 0 is the connection.
    pub stream: u32,
    /// Everything after the nine-byte header.
    pub payload: P,
}

/// A frame that borrows its payload.
pub type FrameRef<'a> = Frame<&'a [u8]>;

impl Frame {
    /// A frame of any kind.
    pub fn new(kind: FrameType, flags: u8, stream: u32, payload: impl Into<Vec<u8>>) -> Self {
        Self { kind, flags, stream, payload: payload.into() }
    }

    /// SETTINGS with these identifiers and values; see [`setting`].
    pub fn settings(values: &[(u16, u32)]) -> Self {
        let encode =
            |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        Self::new(FrameType::Settings, 0, 0, values.iter().flat_map(encode).collect::<Vec<u8>>())
    }

    /// The acknowledgement of SETTINGS.
    pub fn settings_ack() -> Self {
        Self::new(FrameType::Settings, flag::ACK, 0, [])
    }

    /// HEADERS with a whole header block, not the last frame of the stream.
    pub fn headers(stream: u32, block: impl Into<Vec<u8>>) -> Self {
        Self::new(FrameType::Headers, flag::END_HEADERS, stream, block)
    }

    /// CONTINUATION with the end of a header block.
    pub fn continuation(stream: u32, block: impl Into<Vec<u8>>) -> Self {
        Self::new(FrameType::Continuation, flag::END_HEADERS, stream, block)
    }

    /// DATA, not the last frame of the stream.
    pub fn data(stream: u32, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(FrameType::Data, 0, stream, bytes)
    }

    /// RST_STREAM with an error code.
    pub fn rst_stream(stream: u32, code: u32) -> Self {
        Self::new(FrameType::RstStream, 0, stream, code.to_be_bytes())
    }

    /// PING.
    pub fn ping(content: [u8; 8]) -> Self {
        Self::new(FrameType::Ping, 0, 0, content)
    }

    /// The acknowledgement of PING.
    pub fn pong(content: [u8; 8]) -> Self {
        Self::new(FrameType::Ping, flag::ACK, 0, content)
    }

    /// GOAWAY. Streams above `last_stream` were not processed.
    pub fn goaway(last_stream: u32, code: u32) -> Self {
        Self::new(FrameType::GoAway, 0, 0, [last_stream.to_be_bytes(), code.to_be_bytes()].concat())
    }

    /// WINDOW_UPDATE for a stream. Stream 0 is the connection.
    pub fn window_update(stream: u32, bytes: u32) -> Self {
        Self::new(FrameType::WindowUpdate, 0, stream, bytes.to_be_bytes())
    }

    /// PUSH_PROMISE on `stream` for `promised`.
    pub fn push_promise(stream: u32, promised: u32, block: &[u8]) -> Self {
        let payload = [&promised.to_be_bytes()[..], block].concat();
        Self::new(FrameType::PushPromise, flag::END_HEADERS, stream, payload)
    }

    /// Marks the frame as the last one of its stream (HEADERS and DATA).
    pub fn end_stream(mut self) -> Self {
        self.flags |= flag::END_STREAM;
        self
    }

    /// Clears END_HEADERS, so that the header block continues.
    pub fn unfinished(mut self) -> Self {
        self.flags &= !flag::END_HEADERS;
        self
    }

    /// Adds this many zero bytes of padding (HEADERS and DATA).
    pub fn padded(mut self, padding: u8) -> Self {
        self.flags |= flag::PADDED;
        self.payload.insert(0, padding);
        self.payload.resize(self.payload.len() + usize::from(padding), 0);
        self
    }

    /// Adds the lowest priority to HEADERS. Call it before [`Frame::padded`].
    pub fn prioritised(mut self) -> Self {
        self.flags |= flag::PRIORITY;
        self.payload.splice(0..0, [0; 5]);
        self
    }
}

impl<'a> FrameRef<'a> {
    /// The frame at the start of `bytes`. `None` if it is incomplete.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = Head::split(bytes)?;
        Some(head.frame(rest.get(..head.length)?))
    }
}

impl<P: AsRef<[u8]>> Frame<P> {
    /// The frame's header.
    pub fn head(&self) -> Head {
        let Self { kind, flags, stream, .. } = *self;
        Head { length: self.payload.as_ref().len(), kind, flags, stream }
    }

    /// Bytes of the whole frame.
    #[inline]
    pub fn size(&self) -> usize {
        Head::SIZE + self.payload.as_ref().len()
    }

    /// True if a flag is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Appends the frame to `out`.
    pub fn put(&self, out: &mut Vec<u8>) {
        self.head().put(out);
        out.extend_from_slice(self.payload.as_ref());
    }

    /// The frame as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.size());
        self.put(&mut bytes);
        bytes
    }

    /// The payload of HEADERS or DATA without padding and priority. `None` if the padding is longer than the payload.
    pub fn content(&self) -> Option<&[u8]> {
        let mut content = self.payload.as_ref();
        if self.has(flag::PADDED) {
            let (padding, rest) = content.split_first()?;
            content = rest.get(..rest.len().checked_sub(usize::from(*padding))?)?;
        }
        if self.kind == FrameType::Headers && self.has(flag::PRIORITY) {
            content = content.get(5..)?;
        }
        Some(content)
    }

    /// The payload of WINDOW_UPDATE or RST_STREAM as a number. `None` unless it has four bytes.
    pub fn number(&self) -> Option<u32> {
        self.payload.as_ref().try_into().ok().map(u32::from_be_bytes)
    }

    /// The identifiers and values of SETTINGS; see [`setting`]. Ignores bytes after the last complete pair.
    pub fn setting_values(&self) -> impl Iterator<Item = (u16, u32)> {
        let (pairs, _) = self.payload.as_ref().as_chunks();
        pairs.iter().map(|&[i1, i2, v1, v2, v3, v4]| {
            (u16::from_be_bytes([i1, i2]), u32::from_be_bytes([v1, v2, v3, v4]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_has_nine_bytes_and_its_payload() {
        let frame = Frame::data(0x0102_0304, *b"abc").end_stream();
        assert_eq!(frame.encode(), b"\0\0\x03\x00\x01\x01\x02\x03\x04abc");
        let settings = Frame::settings(&[(setting::MAX_CONCURRENT_STREAMS, 1)]);
        assert_eq!(settings.encode(), b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x01");
    }

    #[test]
    fn incomplete_frame_is_not_read() {
        let bytes = [Frame::ping([7; 8]).encode(), b"next".to_vec()].concat();
        let frame = FrameRef::parse(&bytes).unwrap();
        assert_eq!((frame.kind, frame.payload), (FrameType::Ping, &[7; 8][..]));
        assert_eq!(bytes[frame.size()..], *b"next");
        for length in 0..frame.size() {
            assert_eq!(FrameRef::parse(&bytes[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn type_bytes_read_back_without_reserved_bit() {
        for byte in 0..=u8::MAX {
            let head = [1, 2, 3, byte, 5, 6, 7, 8, 9];
            assert_eq!(Head::from_bytes(head).to_bytes(), head);
        }
        let head = Head::from_bytes([0, 0, 1, 0, 0, 0x80, 0, 0, 3]);
        assert_eq!((head.length, head.stream), (1, 3));
    }

    #[test]
    fn values_read_back() {
        let values = [(setting::MAX_FRAME_SIZE, 1 << 20), (setting::ENABLE_PUSH, 0)];
        assert_eq!(Frame::settings(&values).setting_values().collect::<Vec<_>>(), values);
        assert_eq!(Frame::window_update(0, 77).number(), Some(77));
        assert_eq!(Frame::settings(&values).number(), None);
    }

    #[test]
    fn padding_and_priority_are_stripped() {
        let frame = Frame::headers(1, *b"block").prioritised().padded(7);
        assert_eq!(frame.payload.len(), 1 + 5 + 5 + 7);
        assert_eq!(frame.content(), Some(&b"block"[..]));
        assert_eq!(Frame::new(FrameType::Data, flag::PADDED, 1, *b"\x05abc").content(), None);
    }
}
