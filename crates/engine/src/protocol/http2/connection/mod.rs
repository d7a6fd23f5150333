//! One client connection.
//!
//! ```text
//!             peer's SETTINGS            GOAWAY, or identifiers used up
//!  Handshake ----------------> Open ------------------------------------> Leaving
//! ```
//! Calls may be sent while `Open`. A `Leaving` connection still receives replies.

mod fast_path;
mod flood;
#[cfg(any(test, feature = "fuzzing"))]
mod footprint;
mod receive;
mod refusals;
mod reset_streams;
mod surplus;

use std::sync::Arc;

use super::application::{Exchange, Http2Application};
use super::heads::HeadReader;
use super::pieces::Pieces;
use super::request::Templates;
use super::sender::{DEFAULT_WINDOW, MAX_WINDOW, Sender};
use super::{Streams, code, frame};
use crate::payload::Payload;
use crate::protocol::{self, Allowance, Broken, Call, Events};
use flood::Flood;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use footprint::Footprint;
use refusals::Refusals;
use reset_streams::ResetStreams;
use rpcbench_clock::Nanos;
use surplus::Surplus;

/// Largest header block assembled from CONTINUATION frames, bytes.
const MAX_BLOCK: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Handshake,
    Open,
    Leaving,
}

/// What the next frame must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// Any frame.
    Any,
    /// The peer's first SETTINGS: RFC 9113, section 3.4.
    Settings,
    /// The next piece of the open header block.
    Continuation,
}

/// The stream of a header block, and whether the block ends it.
#[derive(Clone, Copy, Debug)]
struct BlockOwner {
    stream: u32,
    last: bool,
}

/// An incomplete header block.
#[derive(Debug)]
struct OpenBlock {
    owner: BlockOwner,
    bytes: Vec<u8>,
    /// Number of CONTINUATION frames so far.
    pieces: u32,
}

/// Frames written since the last flush: a peer that does not read can't have seen them.
#[derive(Clone, Copy, Debug, Default)]
struct Unread {
    acknowledgements: u16,
    /// Refills of the connection's window.
    refills: u16,
}

/// The state machine of one connection, over any application.
#[derive(Debug)]
pub(crate) struct Connection<C: Http2Application> {
    sender: Sender,
    state: State,
    streams: Streams<C::Exchange>,
    pieces: Pieces,
    /// First stream of which nothing has been flushed.
    unflushed: u32,
    unread: Unread,
    received: u32,
    heads: HeadReader<C>,
    partial: Vec<u8>,
    expect: Expect,
    /// The open header block, while a CONTINUATION is expected.
    block: Option<OpenBlock>,
    refusals: Refusals,
    flood: Flood,
    updates: Flood,
    surplus: Surplus,
    reset_streams: ResetStreams,
    /// The last GOAWAY. One with NO_ERROR does not replace an earlier one.
    goaway: Option<Broken>,
    pings: Pings,
}

/// Signs that the peer is alive.
#[derive(Clone, Copy, Debug, Default)]
struct Pings {
    /// Our PINGs: not yet answered, and answered.
    open: u32,
    answered: u32,
    /// Streams closed because their calls timed out.
    expired: u32,
}

impl<C: Http2Application> protocol::Connection for Connection<C> {
    const HANDSHAKE: &str = "HTTP/2 handshake";

    type Templates = Templates;

    fn templates(payload: &dyn Payload, authority: &str) -> Templates {
        Templates::new::<C>(payload, authority)
    }

    fn new(
        templates: Arc<Templates>,
        in_flight: u32,
        allowance: &Arc<Allowance>,
        out: &mut Vec<u8>,
    ) -> Self {
        out.extend_from_slice(frame::PREFACE);
        let mut settings = Vec::new();
        for (id, value) in [(0x2_u16, 0_u32), (0x4, MAX_WINDOW), (0x6, MAX_BLOCK as u32)] {
            settings.extend_from_slice(&id.to_be_bytes());
            settings.extend_from_slice(&value.to_be_bytes());
        }
        frame::put(out, frame::SETTINGS, 0, 0, &settings);
        let raise = MAX_WINDOW - DEFAULT_WINDOW;
        frame::put(out, frame::WINDOW_UPDATE, 0, 0, &raise.to_be_bytes());
        Self {
            sender: Sender::new(templates),
            state: State::Handshake,
            streams: Streams::new(in_flight),
            pieces: Pieces::new(Arc::clone(allowance)),
            unflushed: 1,
            unread: Unread::default(),
            received: 0,
            heads: HeadReader::new(),
            partial: Vec::new(),
            expect: Expect::Settings,
            block: None,
            refusals: Refusals::new(in_flight),
            flood: Flood::default(),
            updates: Flood::default(),
            surplus: Surplus::default(),
            reset_streams: ResetStreams::default(),
            goaway: None,
            pings: Pings::default(),
        }
    }

    fn switch(&mut self, templates: Arc<Templates>) {
        self.sender.switch(templates);
    }

    fn is_open(&self) -> bool {
        self.state == State::Open
    }

    fn is_handshaking(&self) -> bool {
        self.state == State::Handshake
    }

    fn is_finished(&self) -> bool {
        self.state == State::Leaving && self.streams.open() == 0
    }

    #[inline]
    fn can_send(&self) -> bool {
        self.state == State::Open && self.streams.open() < self.sender.max_concurrent()
    }

    #[inline]
    fn open_calls(&self) -> u32 {
        self.streams.open()
    }

    fn max_calls(&self) -> u32 {
        self.sender.max_concurrent()
    }

    fn close_reason(&self) -> String {
        let said = self.goaway.as_ref().map(ToString::to_string);
        said.unwrap_or_else(|| "peer closed the connection".to_owned())
    }

    #[inline(always)]
    fn send(&mut self, call: Call, out: &mut Vec<u8>) {
        let stream = self.streams.insert(C::Exchange::new(call));
        if self.streams.next_id().is_none() {
            self.state = State::Leaving;
        }
        self.sender.send(stream, call.into(), out);
    }

    fn goodbye(&mut self, out: &mut Vec<u8>) {
        // No stream of the peer was processed, and there was no error.
        frame::put(out, frame::GOAWAY, 0, 0, &[0; 8]);
    }

    fn ping(&mut self, out: &mut Vec<u8>) {
        self.pings.open += 1;
        frame::put(out, frame::PING, 0, 0, b"rpcbench");
    }

    fn answers(&self) -> u64 {
        let closed = self.streams.closed().wrapping_sub(self.pings.expired);
        let answered = closed.wrapping_add(self.pings.answered);
        u64::from(answered) << 32 | u64::from(self.received)
    }

    #[inline]
    fn flushed(&mut self, now: Nanos) {
        self.unread = Unread::default();
        let end = self.streams.end();
        let Self { sender, streams, unflushed, .. } = self;
        let first = std::mem::replace(unflushed, end);
        if sender.has_sent_all() && streams.are_neighbours() {
            streams.newest_mut(first).for_each(|exchange| exchange.stamp(now));
            return;
        }
        let mut stamp = |stream| {
            if let Some(exchange) = streams.get_mut(stream) {
                exchange.stamp(now);
            }
        };
        sender.completed.drain(..).for_each(&mut stamp);
        let new = (first..end).step_by(2);
        new.filter(|stream| !sender.holds_back(*stream)).for_each(stamp);
    }

    #[inline]
    fn receive(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        self.read(bytes, out, events)
    }

    fn expire(&mut self, cutoff: Nanos, out: &mut Vec<u8>) -> Vec<Call> {
        let late = self.oldest_first(|_, exchange| exchange.call().due <= cutoff);
        let calls: Vec<Call> =
            late.into_iter().filter_map(|id| self.reset(id, code::CANCEL, out)).collect();
        self.pings.expired = self.pings.expired.wrapping_add(calls.len() as u32);
        calls
    }

    fn abandon(&mut self) -> Vec<Call> {
        let open = self.oldest_first(|_, _| true);
        open.into_iter().filter_map(|id| self.remove(id)).collect()
    }
}

impl<C: Http2Application> Connection<C> {
    /// The open streams that match, oldest call first.
    fn oldest_first(&mut self, wanted: impl Fn(u32, &C::Exchange) -> bool) -> Vec<u32> {
        let streams = self.streams.iter_mut().filter(|(id, exchange)| wanted(*id, exchange));
        let mut ids: Vec<u32> = streams.map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    /// The first unflushed stream.
    #[cfg(test)]
    pub fn unflushed(&self) -> u32 {
        self.unflushed
    }

    /// Shrinks the connection's window to `bytes`.
    #[cfg(test)]
    pub fn shrink_window(&mut self, bytes: i64) {
        self.sender.window = bytes;
    }

    /// Skips the stream identifiers before `next`.
    #[cfg(test)]
    pub fn skip_to(&mut self, next: u32) {
        self.streams.skip_to(next);
        self.unflushed = next;
    }

    fn reset(&mut self, stream: u32, code: u32, out: &mut Vec<u8>) -> Option<Call> {
        let call = self.remove(stream)?;
        self.sender.forget(stream);
        self.refusals.unanswered += 1;
        frame::put(out, frame::RST_STREAM, 0, stream, &code.to_be_bytes());
        Some(call)
    }

    /// Ends a stream that the peer has not ended with END_STREAM: frames in flight may still arrive.
    fn remove(&mut self, stream: u32) -> Option<Call> {
        let call = self.finish(stream)?;
        self.reset_streams.add(stream);
        Some(call)
    }

    /// Ends a stream, and drops what was received on it.
    #[inline]
    fn finish(&mut self, stream: u32) -> Option<Call> {
        let exchange = self.streams.remove(stream)?;
        self.pieces.forget(exchange.piece());
        Some(*exchange.call())
    }
}
