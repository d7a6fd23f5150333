//! Input: bytes to frames, frames to events.

use rpcbench_record::printable;

use super::{BlockOwner, Connection, Expect, MAX_BLOCK, OpenBlock, Pings, State};
use crate::protocol::http2::application::{Exchange, Http2Application, Problem};
use crate::protocol::http2::frame::{self, Head};
use crate::protocol::http2::sender::MAX_WINDOW;
use crate::protocol::http2::{Field, code, error_name};
use crate::protocol::{Broken, End, Events};

/// Received bytes after which the connection's window is opened again.
pub(super) const WINDOW_REFILL: u32 = 64 << 20;
/// Maximum CONTINUATION frames of a header block: empty ones could arrive forever.
const MAX_PIECES: u32 = 1024;
/// Maximum PINGs and SETTINGS that are acknowledged between two flushes.
const MAX_ACKNOWLEDGED: u16 = 20_000;
/// Maximum refills of the connection's window between two flushes: one more would overrun the window.
const MAX_REFILLS: u16 = (MAX_WINDOW / WINDOW_REFILL) as u16;

impl<C: Http2Application> Connection<C> {
    /// Takes received bytes, cut anywhere.
    pub fn read(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        let mut rest = bytes;
        if !self.partial.is_empty() {
            rest = self.complete_partial(rest, out, events)?;
        }
        while let Some(head) = Head::parse(rest) {
            if let Some(length) = self.fast_path(head, rest, events) {
                rest = &rest[length..];
                continue;
            }
            frame::check(head)?;
            let Some(payload) = rest.get(frame::HEADER..frame::HEADER + head.length()) else {
                break;
            };
            self.frame(head, payload, out, events)?;
            rest = &rest[frame::HEADER + head.length()..];
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// Completes the frame that the previous bytes began, and returns the rest.
    #[cold]
    fn complete_partial<'a>(
        &mut self,
        bytes: &'a [u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<&'a [u8], Broken> {
        let mut partial = std::mem::take(&mut self.partial);
        let mut rest = fill(&mut partial, bytes, frame::HEADER);
        if let Some(head) = Head::parse(&partial) {
            frame::check(head)?;
            let length = frame::HEADER + head.length();
            rest = fill(&mut partial, rest, length);
            if partial.len() == length {
                self.frame(head, &partial[frame::HEADER..], out, events)?;
                partial.clear();
            }
        }
        self.partial = partial;
        Ok(rest)
    }

    #[inline]
    fn frame(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        if self.expect != Expect::Any {
            self.check_expected(head)?;
        }
        match head.kind() {
            frame::DATA => self.on_data(head, payload, out, events),
            frame::HEADERS => self.on_headers(head, payload, out, events),
            frame::CONTINUATION => self.on_continuation(head, payload, out, events),
            frame::RST_STREAM => self.on_rst_stream(head, payload, events),
            frame::SETTINGS => self.on_settings(head, payload, out),
            frame::PUSH_PROMISE => Err(Broken::Http2("PUSH_PROMISE, and push is disabled")),
            frame::PING => self.on_ping(head, payload, out),
            frame::GOAWAY => self.on_goaway(payload, events),
            frame::WINDOW_UPDATE => self.on_window_update(head, payload, out),
            frame::PRIORITY | 10.. => {
                self.idle_frame(head, "PRIORITY or unknown frames without end")
            }
        }
    }

    #[cold]
    fn idle_frame(&mut self, head: Head, problem: &'static str) -> Result<(), Broken> {
        self.flood.count(head.length(), self.streams.closed(), problem)
    }

    #[cold]
    fn check_expected(&self, head: Head) -> Result<(), Broken> {
        let problem = match self.expect {
            Expect::Settings if head.kind() != frame::SETTINGS || head.has(frame::ACK) => {
                "the first frame is not SETTINGS"
            }
            Expect::Continuation if head.kind() != frame::CONTINUATION => {
                "a header block was interrupted"
            }
            _ => return Ok(()),
        };
        Err(Broken::Http2(problem))
    }

    #[inline]
    fn on_data(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        self.received += head.length() as u32;
        if self.received >= WINDOW_REFILL {
            self.refill_window(out)?;
        }
        let data = frame::content(head, payload)?;
        let last = head.has(frame::END_STREAM);
        if data.is_empty() && !last {
            self.idle_frame(head, "empty DATA without end")?;
        }
        let Some(exchange) = self.streams.get_mut(head.stream) else {
            return self.after_the_end(head.stream, payload.len());
        };
        if exchange.is_decided() {
            self.surplus.count(head.stream, payload.len())?;
        }
        let taken = exchange.data(data, last, &mut self.pieces, events);
        if self.pieces.is_overdrawn() {
            return Err(Broken::Http2(
                "more of unfinished messages than is allowed at once; give fewer calls in flight",
            ));
        }
        if taken.is_ok() && last {
            self.end_of_data(head.stream, out, events);
        } else {
            self.or_abort(taken, head.stream, out, events);
        }
        Ok(())
    }

    fn end_of_data(&mut self, stream: u32, out: &mut Vec<u8>, events: &mut impl Events) {
        let Some(exchange) = self.streams.get_mut(stream) else { return };
        let call = *exchange.call();
        match exchange.end_of_data(&mut self.pieces, events) {
            Ok(end) => {
                self.close(stream, out);
                events.ended(&call, end);
            }
            Err(problem) => self.or_abort(Err(problem), stream, out, events),
        }
    }

    #[cold]
    fn refill_window(&mut self, out: &mut Vec<u8>) -> Result<(), Broken> {
        self.unread.refills += 1;
        if self.unread.refills > MAX_REFILLS {
            return Err(Broken::Http2("FLOW_CONTROL_ERROR: DATA past the connection's window"));
        }
        frame::put(out, frame::WINDOW_UPDATE, 0, 0, &self.received.to_be_bytes());
        self.received = 0;
        Ok(())
    }

    #[inline]
    fn on_headers(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        let block = frame::content(head, payload)?;
        let owner = BlockOwner { stream: head.stream, last: head.has(frame::END_STREAM) };
        if head.has(frame::END_HEADERS) {
            return self.header_block(owner, block, out, events);
        }
        if !self.streams.was_opened(head.stream) {
            return self.closed_stream(head.stream); // It may be opened before the block is complete.
        }
        self.block = Some(OpenBlock { owner, bytes: block.to_vec(), pieces: 0 });
        self.expect = Expect::Continuation;
        Ok(())
    }

    #[cold]
    fn on_continuation(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        let open = self.block.take().filter(|open| open.owner.stream == head.stream);
        let mut open = open.ok_or(Broken::Http2("CONTINUATION of no header block"))?;
        open.pieces += 1;
        if open.bytes.len() + payload.len() > MAX_BLOCK || open.pieces > MAX_PIECES {
            return Err(Broken::Http2("header block past 64 KiB or 1024 CONTINUATION frames"));
        }
        open.bytes.extend_from_slice(payload);
        if head.has(frame::END_HEADERS) {
            self.expect = Expect::Any;
            return self.header_block(open.owner, &open.bytes, out, events);
        }
        self.block = Some(open);
        Ok(())
    }

    #[inline]
    fn header_block(
        &mut self,
        BlockOwner { stream, last }: BlockOwner,
        block: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        // Decoded even for a closed stream, to keep the table in step.
        let see = |field: &Field<'_>| events.field(last, field.name, field.value);
        let head = self.heads.read(block, last, see)?;
        let Some(exchange) = self.streams.get_mut(stream) else {
            return self.after_the_end(stream, block.len());
        };
        if !last {
            let taken = exchange.headers(head);
            self.or_abort(taken, stream, out, events);
            return Ok(());
        }
        let (call, end) = (*exchange.call(), exchange.end(head, &mut self.pieces, events));
        self.close(stream, out);
        events.ended(&call, end);
        Ok(())
    }

    /// Closes a stream whose reply is complete. If the request is not, cancels it.
    #[inline]
    fn close(&mut self, stream: u32, out: &mut Vec<u8>) {
        if self.sender.holds_back(stream) {
            self.reset(stream, code::CANCEL, out);
        } else {
            self.finish(stream);
        }
    }

    #[inline]
    fn or_abort(
        &mut self,
        taken: Result<(), Problem>,
        stream: u32,
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) {
        if let Err(problem) = taken
            && let Some(call) = self.reset(stream, code::CANCEL, out)
        {
            events.ended(&call, End::Aborted { reason: problem.to_owned() });
        }
    }

    fn closed_stream(&self, stream: u32) -> Result<(), Broken> {
        if self.streams.was_opened(stream) {
            Ok(())
        } else {
            Err(Broken::Http2("frame on a stream that was never opened"))
        }
    }

    /// Handles HEADERS or DATA of `bytes` bytes on a stream that is not open. Neither may follow END_STREAM (RFC 9113, section
    /// 5.1): a peer that answers a call twice breaks the connection.
    #[cold]
    fn after_the_end(&mut self, stream: u32, bytes: usize) -> Result<(), Broken> {
        self.closed_stream(stream)?;
        if self.reset_streams.has(stream) {
            self.surplus.count(stream, frame::HEADER + bytes)
        } else {
            Err(Broken::Http2("HEADERS or DATA after END_STREAM"))
        }
    }

    fn on_rst_stream(
        &mut self,
        head: Head,
        payload: &[u8],
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        let code = frame::word(payload)?;
        let Some(call) = self.remove(head.stream) else {
            self.idle_frame(head, "RST_STREAM of closed streams without end")?;
            return self.closed_stream(head.stream);
        };
        self.sender.forget(head.stream);
        let end = match code {
            code::REFUSED_STREAM => self.refusals.refused(self.streams.closed()),
            code => End::Aborted { reason: format!("RST_STREAM {}", error_name(code)) },
        };
        events.ended(&call, end);
        Ok(())
    }

    fn on_ping(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        if head.has(frame::ACK) && self.pings.open > 0 {
            let Pings { open, answered, .. } = self.pings;
            self.pings = Pings { open: open - 1, answered: answered.wrapping_add(1), ..self.pings };
            return Ok(());
        }
        self.idle_frame(head, "PING without end")?;
        if !head.has(frame::ACK) {
            self.acknowledge()?;
            frame::put(out, frame::PING, frame::ACK, 0, payload);
        }
        Ok(())
    }

    /// Counts an acknowledgement: a peer that sends without reading must not fill the memory.
    fn acknowledge(&mut self) -> Result<(), Broken> {
        self.unread.acknowledgements += 1;
        if self.unread.acknowledgements > MAX_ACKNOWLEDGED {
            return Err(Broken::Http2("PING or SETTINGS without end, and answers are not read"));
        }
        Ok(())
    }

    fn on_settings(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Broken> {
        self.idle_frame(head, "SETTINGS without end")?;
        if head.has(frame::ACK) {
            return Ok(());
        }
        self.acknowledge()?;
        self.sender.settings(payload, out)?;
        if self.state == State::Handshake {
            self.state = State::Open;
            self.expect = Expect::Any;
        }
        Ok(())
    }

    fn on_goaway(&mut self, payload: &[u8], events: &mut impl Events) -> Result<(), Broken> {
        let last = frame::word(payload)? & 0x7fff_ffff;
        let code = frame::word(payload.get(4..).unwrap_or_default())?;
        self.state = State::Leaving;
        if code != code::NO_ERROR || self.goaway.is_none() {
            let debug = printable(&String::from_utf8_lossy(&payload[8..])).into_owned();
            self.goaway = Some(Broken::GoAway { code: error_name(code), debug });
        }
        for id in self.oldest_first(|id, _| id > last) {
            self.sender.forget(id);
            if let Some(call) = self.remove(id) {
                events.ended(&call, End::Refused);
            }
        }
        Ok(())
    }

    fn on_window_update(
        &mut self,
        head: Head,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Broken> {
        let increment = frame::word(payload)? & MAX_WINDOW;
        if head.stream != 0 && !self.streams.was_opened(head.stream) {
            return self.closed_stream(head.stream);
        }
        let awaited = self.sender.awaits_window(head.stream);
        self.sender.open_window(head.stream, increment, out)?;
        if awaited {
            return Ok(());
        }
        self.updates.count_update(self.streams.closed(), self.sender.sent())
    }
}

/// Appends from `bytes` until `partial` has `length` bytes, and returns the rest.
fn fill<'a>(partial: &mut Vec<u8>, bytes: &'a [u8], length: usize) -> &'a [u8] {
    let missing = length.saturating_sub(partial.len()).min(bytes.len());
    partial.extend_from_slice(&bytes[..missing]);
    &bytes[missing..]
}
