//! Complete gRPC calls as steps of a script.

use std::collections::BTreeMap;

use super::wire::{ScriptError, Wire, unexpected};
use crate::echo::frame;
use crate::http2::{Frame, FrameType, flag, hpack};

/// A complete request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The stream's number.
    pub stream: u32,
    /// The header block including CONTINUATION, without padding and priority.
    pub block: Vec<u8>,
    /// The body: the message with its five-byte prefix.
    pub body: Vec<u8>,
}

impl Request {
    /// The request's message, without its prefix.
    pub fn message(&self) -> &[u8] {
        self.body.get(5..).unwrap_or_default()
    }

    /// The message of the right reply to a request of the contract whose field 1 is its only field.
    pub fn echo(&self) -> Vec<u8> {
        let mut message = self.message().to_vec();
        if let Some(tag @ 0x0a) = message.first_mut() {
            *tag = 0x12;
        }
        message
    }

    /// The frames of an ok reply with this message.
    pub fn reply(&self, message: &[u8]) -> [Frame; 3] {
        [
            Frame::headers(self.stream, hpack::response_headers()),
            Frame::data(self.stream, frame(message)),
            Frame::headers(self.stream, hpack::trailers(0)).end_stream(),
        ]
    }

    /// The frames of a right reply.
    pub fn right_reply(&self) -> [Frame; 3] {
        self.reply(&self.echo())
    }
}

/// A partially received request.
struct Partial {
    request: Request,
    has_block: bool,
    has_end: bool,
}

impl Partial {
    fn new(stream: u32) -> Self {
        let request = Request { stream, block: Vec::new(), body: Vec::new() };
        Self { request, has_block: false, has_end: false }
    }

    /// Takes the stream's next frame. False if it is out of place.
    fn take(&mut self, frame: &Frame) -> bool {
        let Some(content) = frame.content() else { return false };
        match frame.kind {
            FrameType::Headers | FrameType::Continuation if !self.has_block => {
                self.has_block = frame.has(flag::END_HEADERS);
                self.request.block.extend(content);
            }
            FrameType::Data if self.has_block && !self.has_end => self.request.body.extend(content),
            _ => return false,
        }
        self.has_end |= frame.kind != FrameType::Continuation && frame.has(flag::END_STREAM);
        true
    }
}

/// Requests in flight, whose frames may be interleaved.
#[derive(Default)]
pub struct Requests {
    partial: BTreeMap<u32, Partial>,
}

impl Requests {
    /// Takes a frame and returns the request that it completes, if any. Ignores frames of the connection and WINDOW_UPDATE, and
    /// forgets requests that are reset.
    pub fn take(&mut self, frame: Frame) -> Result<Option<Request>, ScriptError> {
        let stream = frame.stream;
        if stream == 0 || frame.kind == FrameType::WindowUpdate {
            return Ok(None);
        }
        if frame.kind == FrameType::RstStream {
            self.partial.remove(&stream);
            return Ok(None);
        }
        let partial = self.partial.entry(stream).or_insert_with(|| Partial::new(stream));
        if !partial.take(&frame) {
            return Err(unexpected(&format!("the rest of the request on stream {stream}"), frame));
        }
        if !partial.has_block || !partial.has_end {
            return Ok(None);
        }
        Ok(self.partial.remove(&stream).map(|whole| whole.request))
    }
}

impl Wire {
    /// Takes frames until another request is complete. `None` if the client closes before that.
    pub fn next_request(
        &mut self,
        requests: &mut Requests,
    ) -> Result<Option<Request>, ScriptError> {
        while let Some(frame) = self.receive_or_end()? {
            if let Some(request) = requests.take(frame)? {
                return Ok(Some(request));
            }
        }
        Ok(None)
    }
}
