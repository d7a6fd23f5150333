//! One HTTP/2 connection as a state machine: bytes in, bytes out.

mod answer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::attend::{Close, Session};
use crate::encoder::Encoder;
use crate::fault::{FaultInjector, Faults};
use crate::http2::flag::{ACK, END_HEADERS, END_STREAM, PADDED};
use crate::http2::{
    DEFAULT_MAX_PAYLOAD, DEFAULT_WINDOW, Frame, FrameRef, FrameType, Head, MAX_WINDOW, PREFACE,
    setting,
};
use crate::rewrite::Protobuf;

const MAX_BODY: usize = (4 << 20) + 5;
/// The stream window is larger than the largest body, so that streams need no window updates.
const STREAM_WINDOW: u32 = 8 << 20;
const WINDOW_REFILL: u32 = 1 << 29;
const MAX_STREAMS: u32 = 16_384;

const RESOURCE_EXHAUSTED: u32 = 8;
const NO_ERROR: u32 = 0;
const REFUSED_STREAM: u32 = 7;

/// A connection error with its HTTP/2 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fatal {
    Protocol = 1,
    FlowControl = 3,
    FrameSize = 6,
}

/// A connection. Request headers are not decoded, so calls of any method are answered.
#[derive(Debug)]
pub struct Grpc {
    rewrite: Protobuf,
    injector: FaultInjector,
    /// How to close the connection after this turn's output.
    closing: Option<Close>,
    /// The last stream to answer after GOAWAY.
    last_answered: Option<u32>,
    /// [Late](crate::Fault::Late) replies by stream.
    late: BTreeMap<u32, Vec<u8>>,
    /// Calls answered and not yet taken by the owner.
    pub(crate) calls: u64,
    greeted: bool,
    last_stream: u32,
    /// Incomplete requests, in the order of their streams.
    open: VecDeque<Open>,
    /// The stream whose header block continues in the next frame, and whether its request ends there.
    in_block: Option<(u32, bool)>,
    encoder: Encoder,
    send_window: i64,
    initial_window: i64,
    /// Replies blocked by the peer's windows.
    blocked: VecDeque<Blocked>,
    received: u32,
}

#[derive(Debug)]
struct Open {
    stream: u32,
    body: Vec<u8>,
    granted: i64,
}

#[derive(Debug)]
struct Blocked {
    stream: u32,
    data: Vec<u8>,
    sent: usize,
    granted: i64,
}

impl Grpc {
    /// Makes calls go wrong.
    pub(crate) fn with_faults(self, faults: Option<Arc<Faults>>) -> Self {
        Self { injector: FaultInjector::new(faults), ..self }
    }

    /// A new connection that makes replies with `rewrite`.
    pub fn new(rewrite: Protobuf) -> Self {
        Self {
            rewrite,
            injector: FaultInjector::default(),
            closing: None,
            last_answered: None,
            late: BTreeMap::new(),
            calls: 0,
            greeted: false,
            last_stream: 0,
            open: VecDeque::new(),
            in_block: None,
            encoder: Encoder::default(),
            send_window: i64::from(DEFAULT_WINDOW),
            initial_window: i64::from(DEFAULT_WINDOW),
            blocked: VecDeque::new(),
            received: 0,
        }
    }
}

impl Session for Grpc {
    fn receive(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Close> {
        let used = self.take(input, output).map_err(|fatal| {
            Frame::goaway(MAX_WINDOW, fatal as u32).put(output);
            Close::Now
        })?;
        self.closing.take().map_or(Ok(used), Err)
    }

    fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

impl Grpc {
    /// Handles the complete frames in `input`, writes replies, and returns the length of the frames.
    pub(crate) fn take(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, Fatal> {
        let mut used = 0;
        if !self.greeted {
            let start = &input[..input.len().min(PREFACE.len())];
            if !PREFACE.starts_with(start) {
                return Err(Fatal::Protocol);
            }
            if start.len() < PREFACE.len() {
                return Ok(0);
            }
            used = PREFACE.len();
            self.greet(out);
        }
        while let Some(frame) = next_frame(&input[used..])? {
            used += frame.size();
            match self.request_in_two_frames(&frame, &input[used..])? {
                Some(data) => {
                    used += data.size();
                    self.count_received(data.payload.len(), out);
                    self.answer(frame.stream, data.payload, 0, out);
                }
                None => self.frame(&frame, out)?,
            }
        }
        Ok(used)
    }

    /// The usual request: HEADERS, and DATA with the whole body. Returns the DATA frame.
    #[inline]
    fn request_in_two_frames<'a>(
        &mut self,
        headers: &FrameRef<'_>,
        rest: &'a [u8],
    ) -> Result<Option<FrameRef<'a>>, Fatal> {
        if headers.kind != FrameType::Headers
            || headers.flags & (END_HEADERS | END_STREAM) != END_HEADERS
            || headers.stream <= self.last_stream
            || headers.stream.is_multiple_of(2)
            || self.in_block.is_some()
            || !self.has_room()
        {
            return Ok(None);
        }
        let data = next_frame(rest)?.filter(|next| {
            next.kind == FrameType::Data
                && next.stream == headers.stream
                && next.flags & (END_STREAM | PADDED) == END_STREAM
        });
        if data.is_some() {
            self.last_stream = headers.stream;
        }
        Ok(data)
    }

    fn greet(&mut self, out: &mut Vec<u8>) {
        self.greeted = true;
        let settings = [
            (setting::MAX_CONCURRENT_STREAMS, MAX_STREAMS),
            (setting::INITIAL_WINDOW_SIZE, STREAM_WINDOW),
        ];
        Frame::settings(&settings).put(out);
        Frame::window_update(0, MAX_WINDOW - DEFAULT_WINDOW).put(out);
    }

    fn frame(&mut self, frame: &FrameRef<'_>, out: &mut Vec<u8>) -> Result<(), Fatal> {
        if self.in_block.is_some() != (frame.kind == FrameType::Continuation) {
            return Err(Fatal::Protocol);
        }
        match frame.kind {
            FrameType::Data => self.data(frame, out),
            FrameType::Headers => self.headers(frame, out),
            FrameType::Continuation => self.continuation(frame, out),
            FrameType::Settings => self.settings(frame, out),
            FrameType::Ping => ping(frame, out),
            FrameType::WindowUpdate => self.window_update(frame, out),
            FrameType::RstStream => {
                self.open.retain(|open| open.stream != frame.stream);
                self.blocked.retain(|blocked| blocked.stream != frame.stream);
                self.send_late(frame.stream, out);
                Ok(())
            }
            FrameType::PushPromise => Err(Fatal::Protocol),
            _ => Ok(()),
        }
    }

    fn has_room(&self) -> bool {
        self.open.len() + self.blocked.len() < MAX_STREAMS as usize
    }

    fn headers(&mut self, frame: &FrameRef<'_>, out: &mut Vec<u8>) -> Result<(), Fatal> {
        let ends = frame.flags & END_STREAM != 0;
        if frame.stream > self.last_stream && !frame.stream.is_multiple_of(2) {
            self.last_stream = frame.stream;
            if self.has_room() {
                self.open.push_back(Open { stream: frame.stream, body: Vec::new(), granted: 0 });
            } else {
                Frame::rst_stream(frame.stream, REFUSED_STREAM).put(out);
            }
        } else if !ends || !self.open.iter().any(|open| open.stream == frame.stream) {
            return Err(Fatal::Protocol);
        }
        self.block_part(frame, ends, out)
    }

    fn continuation(&mut self, frame: &FrameRef<'_>, out: &mut Vec<u8>) -> Result<(), Fatal> {
        match self.in_block.take() {
            Some((stream, ends)) if stream == frame.stream => self.block_part(frame, ends, out),
            _ => Err(Fatal::Protocol),
        }
    }

    fn block_part(
        &mut self,
        frame: &FrameRef<'_>,
        ends: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Fatal> {
        if frame.flags & END_HEADERS == 0 {
            self.in_block = Some((frame.stream, ends));
        } else if ends {
            self.finish(frame.stream, out);
        }
        Ok(())
    }

    fn data(&mut self, frame: &FrameRef<'_>, out: &mut Vec<u8>) -> Result<(), Fatal> {
        if frame.stream > self.last_stream || frame.stream.is_multiple_of(2) {
            return Err(Fatal::Protocol);
        }
        self.count_received(frame.payload.len(), out);
        let data = frame.content().ok_or(Fatal::Protocol)?;
        let Some(index) = self.open.iter().position(|open| open.stream == frame.stream) else {
            return Ok(());
        };
        let open = &mut self.open[index];
        if frame.flags & END_STREAM != 0 && open.body.is_empty() {
            let granted = open.granted;
            self.open.remove(index);
            self.answer(frame.stream, data, granted, out);
        } else if open.body.len() + data.len() > MAX_BODY {
            self.open.remove(index);
            self.calls += 1;
            self.encoder.error(out, frame.stream, RESOURCE_EXHAUSTED);
            Frame::rst_stream(frame.stream, NO_ERROR).put(out);
        } else {
            open.body.extend_from_slice(data);
            if frame.flags & END_STREAM != 0 {
                self.finish(frame.stream, out);
            }
        }
        Ok(())
    }

    fn finish(&mut self, stream: u32, out: &mut Vec<u8>) {
        if let Some(index) = self.open.iter().position(|open| open.stream == stream)
            && let Some(open) = self.open.remove(index)
        {
            self.answer(stream, &open.body, open.granted, out);
        }
    }

    fn settings(&mut self, frame: &FrameRef<'_>, out: &mut Vec<u8>) -> Result<(), Fatal> {
        if frame.flags & ACK != 0 {
            return Ok(());
        }
        if !frame.payload.len().is_multiple_of(6) {
            return Err(Fatal::FrameSize);
        }
        for (id, value) in frame.setting_values() {
            match id {
                setting::HEADER_TABLE_SIZE => self.encoder.limit_table(value),
                setting::INITIAL_WINDOW_SIZE if value > MAX_WINDOW => {
                    return Err(Fatal::FlowControl);
                }
                setting::INITIAL_WINDOW_SIZE => self.initial_window = i64::from(value),
                _ => {}
            }
        }
        Frame::settings_ack().put(out);
        self.send_blocked(out);
        Ok(())
    }

    fn window_update(&mut self, frame: &FrameRef<'_>, out: &mut Vec<u8>) -> Result<(), Fatal> {
        let bytes = i64::from(frame.number().ok_or(Fatal::FrameSize)? & MAX_WINDOW);
        if frame.stream == 0 {
            self.send_window += bytes;
            if bytes == 0 {
                return Err(Fatal::Protocol);
            }
            if self.send_window > i64::from(MAX_WINDOW) {
                return Err(Fatal::FlowControl);
            }
        } else if let Some(open) = self.open.iter_mut().find(|open| open.stream == frame.stream) {
            open.granted += bytes;
        } else if let Some(blocked) =
            self.blocked.iter_mut().find(|blocked| blocked.stream == frame.stream)
        {
            blocked.granted += bytes;
        }
        if !self.blocked.is_empty() {
            self.send_blocked(out);
        }
        Ok(())
    }

    /// Refills the peer's connection window before it runs out.
    #[inline]
    fn count_received(&mut self, bytes: usize, out: &mut Vec<u8>) {
        self.received += bytes as u32;
        if self.received >= WINDOW_REFILL {
            Frame::window_update(0, self.received).put(out);
            self.received = 0;
        }
    }
}

/// The first frame of `input`. `None` if it is incomplete.
#[inline]
fn next_frame(input: &[u8]) -> Result<Option<FrameRef<'_>>, Fatal> {
    let Some((head, rest)) = Head::split(input) else { return Ok(None) };
    if head.length > DEFAULT_MAX_PAYLOAD {
        return Err(Fatal::FrameSize);
    }
    Ok(rest.get(..head.length).map(|payload| head.frame(payload)))
}

fn ping(frame: &FrameRef<'_>, out: &mut Vec<u8>) -> Result<(), Fatal> {
    let content = frame.payload.try_into().map_err(|_| Fatal::FrameSize)?;
    if !frame.has(ACK) {
        Frame::pong(content).put(out);
    }
    Ok(())
}
