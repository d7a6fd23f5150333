//! HTTP/2 frames as they stand on the wire (RFC 9113, section 4.1).

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// Body bytes.
    Data,
    /// The start of a header block.
    Headers,
    /// A stream's priority.
    Priority,
    /// The end of one stream, at once.
    RstStream,
    /// Settings or their acknowledgement.
    Settings,
    /// A stream that the server starts.
    PushPromise,
    /// A question whether the peer is there, or its answer.
    Ping,
    /// The announced end of the connection.
    GoAway,
    /// Leave to send more body bytes.
    WindowUpdate,
    /// More of a header block.
    Continuation,
    /// Any other type byte.
    Unknown(u8),
}

impl FrameType {
    /// The type of a type byte.
    pub fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::Data,
            1 => Self::Headers,
            2 => Self::Priority,
            3 => Self::RstStream,
            4 => Self::Settings,
            5 => Self::PushPromise,
            6 => Self::Ping,
            7 => Self::GoAway,
            8 => Self::WindowUpdate,
            9 => Self::Continuation,
            other => Self::Unknown(other),
        }
    }

    /// The type byte.
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Headers => 1,
            Self::Priority => 2,
            Self::RstStream => 3,
            Self::Settings => 4,
            Self::PushPromise => 5,
            Self::Ping => 6,
            Self::GoAway => 7,
            Self::WindowUpdate => 8,
            Self::Continuation => 9,
            Self::Unknown(other) => other,
        }
    }
}

/// Bits of a frame's flags.
pub mod flag {
    /// SETTINGS and PING: this is the answer.
    pub const ACK: u8 = 0x1;
    /// HEADERS and DATA: nothing follows on this stream.
    pub const END_STREAM: u8 = 0x1;
    /// HEADERS and CONTINUATION: the header block is whole.
    pub const END_HEADERS: u8 = 0x4;
    /// HEADERS and DATA: a pad length and padding are there.
    pub const PADDED: u8 = 0x8;
    /// HEADERS: five bytes of priority are there.
    pub const PRIORITY: u8 = 0x20;
}

/// Identifiers of settings.
pub mod setting {
    /// Bytes of the header table that the peer's encoder may use.
    pub const HEADER_TABLE_SIZE: u16 = 1;
    /// Whether pushes are welcome.
    pub const ENABLE_PUSH: u16 = 2;
    /// Streams that the peer may have open.
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    /// Body bytes that may be sent on a new stream.
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    /// Bytes of the longest frame payload that is taken.
    pub const MAX_FRAME_SIZE: u16 = 5;
    /// Bytes of the largest header list that is taken.
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// One frame. Every field can be set to anything, also to what no peer should send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The type.
    pub kind: FrameType,
    /// The flags, see [`flag`].
    pub flags: u8,
    /// The stream's number, 31 bits; 0 is the connection.
    pub stream: u32,
    /// Everything after the nine bytes of the frame's header.
    pub payload: Vec<u8>,
}

impl Frame {
    /// A frame of any kind.
    pub fn new(kind: FrameType, flags: u8, stream: u32, payload: impl Into<Vec<u8>>) -> Self {
        Self { kind, flags, stream, payload: payload.into() }
    }

    /// SETTINGS with these identifiers and values, see [`setting`].
    pub fn settings(values: &[(u16, u32)]) -> Self {
        let encode =
            |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        Self::new(FrameType::Settings, 0, 0, values.iter().flat_map(encode).collect::<Vec<u8>>())
    }

    /// The answer to SETTINGS.
    pub fn settings_ack() -> Self {
        Self::new(FrameType::Settings, flag::ACK, 0, [])
    }

    /// HEADERS with a whole header block, after which more follows on the stream.
    pub fn headers(stream: u32, block: impl Into<Vec<u8>>) -> Self {
        Self::new(FrameType::Headers, flag::END_HEADERS, stream, block)
    }

    /// CONTINUATION with the end of a header block.
    pub fn continuation(stream: u32, block: impl Into<Vec<u8>>) -> Self {
        Self::new(FrameType::Continuation, flag::END_HEADERS, stream, block)
    }

    /// DATA, after which more follows on the stream.
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

    /// The answer to PING.
    pub fn pong(content: [u8; 8]) -> Self {
        Self::new(FrameType::Ping, flag::ACK, 0, content)
    }

    /// GOAWAY: streams above `last_stream` were not looked at.
    pub fn goaway(last_stream: u32, code: u32) -> Self {
        Self::new(FrameType::GoAway, 0, 0, [last_stream.to_be_bytes(), code.to_be_bytes()].concat())
    }

    /// WINDOW_UPDATE for a stream, or for the connection as stream 0.
    pub fn window_update(stream: u32, bytes: u32) -> Self {
        Self::new(FrameType::WindowUpdate, 0, stream, bytes.to_be_bytes())
    }

    /// PUSH_PROMISE on `stream` for `promised`.
    pub fn push_promise(stream: u32, promised: u32, block: &[u8]) -> Self {
        let payload = [&promised.to_be_bytes()[..], block].concat();
        Self::new(FrameType::PushPromise, flag::END_HEADERS, stream, payload)
    }

    /// The same frame as the last one of its stream (HEADERS and DATA).
    pub fn end_stream(mut self) -> Self {
        self.flags |= flag::END_STREAM;
        self
    }

    /// The same frame without the mark that its header block is whole.
    pub fn unfinished(mut self) -> Self {
        self.flags &= !flag::END_HEADERS;
        self
    }

    /// The same frame with this many zero bytes of padding (HEADERS and DATA).
    pub fn padded(mut self, padding: u8) -> Self {
        self.flags |= flag::PADDED;
        self.payload.insert(0, padding);
        self.payload.resize(self.payload.len() + usize::from(padding), 0);
        self
    }

    /// The same HEADERS frame with the lowest priority; call it before [`Frame::padded`].
    pub fn prioritised(mut self) -> Self {
        self.flags |= flag::PRIORITY;
        self.payload.splice(0..0, [0; 5]);
        self
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The frame as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let length = u32::try_from(self.payload.len()).unwrap_or(u32::MAX).to_be_bytes();
        let mut bytes = vec![length[1], length[2], length[3], self.kind.to_byte(), self.flags];
        bytes.extend(self.stream.to_be_bytes());
        bytes.extend(&self.payload);
        bytes
    }

    /// The payload of HEADERS or DATA without padding and priority. Nothing if the padding is longer than the payload.
    pub fn content(&self) -> Option<&[u8]> {
        let mut content = &self.payload[..];
        if self.has(flag::PADDED) {
            let (padding, rest) = content.split_first()?;
            content = rest.get(..rest.len().checked_sub(usize::from(*padding))?)?;
        }
        if self.kind == FrameType::Headers && self.has(flag::PRIORITY) {
            content = content.get(5..)?;
        }
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_nine_bytes_and_its_payload() {
        let frame = Frame::data(0x0102_0304, *b"abc").end_stream();
        assert_eq!(frame.encode(), b"\0\0\x03\x00\x01\x01\x02\x03\x04abc");
        let settings = Frame::settings(&[(setting::MAX_CONCURRENT_STREAMS, 1)]);
        assert_eq!(settings.encode(), b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x01");
    }

    #[test]
    fn padding_and_priority_come_off_again() {
        let frame = Frame::headers(1, *b"block").prioritised().padded(7);
        assert_eq!(frame.payload.len(), 1 + 5 + 5 + 7);
        assert_eq!(frame.content(), Some(&b"block"[..]));
        assert_eq!(Frame::new(FrameType::Data, flag::PADDED, 1, *b"\x05abc").content(), None);
    }
}
