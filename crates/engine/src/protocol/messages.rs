//! Connections of protocols that only exchange messages: replies come in request order, and opening or ending a connection
//! sends nothing.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use rpcbench_record::Protocol;

use super::allowance::Holding;
use super::in_order::InOrder;
use super::{Allowance, Broken, Call, End, Events};
use crate::payload::Payload;
use rpcbench_clock::Nanos;

/// Longest message accepted, bytes.
pub(crate) const MAX_MESSAGE: usize = 64 << 20;

/// How a peer broke the protocol.
pub(crate) type Problem = &'static str;

/// How a protocol writes and reads its messages.
pub(crate) trait Messages: Debug + Sized + Send + 'static {
    const PROTOCOL: Protocol;

    /// The requests to one target as whole messages.
    type Templates: Debug + Send + Sync;

    fn new() -> Self;

    fn templates(payload: &dyn Payload) -> Self::Templates;

    /// Writes a call, number `number` on its connection, from 0.
    fn put(templates: &Self::Templates, number: u64, call: Call, out: &mut Vec<u8>);

    /// Range of the first message in `bytes`, once it is complete. Until then, the next call gets the same bytes and more;
    /// after that, the bytes after the message.
    fn next(&mut self, bytes: &[u8]) -> Result<Option<Range<usize>>, Problem>;

    /// Reads a message as the reply to the `number`th call.
    fn read<'a>(
        templates: &Self::Templates,
        number: u64,
        message: &'a [u8],
    ) -> Result<Answer<'a>, Problem>;
}

/// The content of a reply.
#[derive(Debug)]
pub(crate) enum Answer<'a> {
    /// Success, with this message.
    Reply(&'a [u8]),
    /// Success with an unreadable reply, and why.
    Malformed(Problem),
    /// The protocol's own status.
    Status { code: u32, message: String },
}

#[derive(Debug)]
pub(crate) struct Connection<M: Messages> {
    templates: Arc<M::Templates>,
    messages: M,
    calls: InOrder,
    /// Calls sent so far.
    sent: u64,
    /// The start of an incomplete message, and its share of the allowance.
    partial: Vec<u8>,
    holding: Holding,
    /// True once a call timed out. Its reply would come before those of later calls, so no more are sent.
    leaving: bool,
}

impl<M: Messages> super::Connection for Connection<M> {
    const HANDSHAKE: &str = "connection";

    type Templates = M::Templates;

    fn templates(payload: &dyn Payload, _authority: &str) -> M::Templates {
        M::templates(payload)
    }

    fn new(
        templates: Arc<M::Templates>,
        in_flight: u32,
        allowance: &Arc<Allowance>,
        _out: &mut Vec<u8>,
    ) -> Self {
        Self {
            templates,
            messages: M::new(),
            calls: InOrder::new(in_flight),
            sent: 0,
            partial: Vec::new(),
            holding: Holding::new(allowance),
            leaving: false,
        }
    }

    fn switch(&mut self, templates: Arc<M::Templates>) {
        self.templates = templates;
    }

    fn is_open(&self) -> bool {
        !self.leaving
    }

    fn is_handshaking(&self) -> bool {
        false
    }

    fn is_finished(&self) -> bool {
        self.leaving && self.calls.open() == 0
    }

    #[inline]
    fn can_send(&self) -> bool {
        !self.leaving
    }

    #[inline]
    fn open_calls(&self) -> u32 {
        self.calls.open()
    }

    fn close_reason(&self) -> String {
        let why =
            if self.leaving { "a call ran out of time" } else { "peer closed the connection" };
        why.to_owned()
    }

    #[inline]
    fn send(&mut self, call: Call, out: &mut Vec<u8>) {
        M::put(&self.templates, self.sent, call, out);
        self.calls.push(call);
        self.sent += 1;
    }

    #[inline]
    fn flushed(&mut self, now: Nanos) {
        self.calls.flushed(now);
    }

    #[inline]
    fn receive(
        &mut self,
        bytes: &[u8],
        _out: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), Broken> {
        self.take(bytes, events).map_err(|problem| Broken::Rules { protocol: M::PROTOCOL, problem })
    }

    fn expire(&mut self, cutoff: Nanos, _out: &mut Vec<u8>) -> Vec<Call> {
        let expired = self.calls.expire(cutoff);
        self.leaving |= !expired.is_empty();
        expired
    }

    fn abandon(&mut self) -> Vec<Call> {
        self.calls.abandon()
    }
}

impl<M: Messages> Connection<M> {
    /// Bytes of an incomplete message.
    #[cfg(test)]
    pub fn unfinished(&self) -> usize {
        self.partial.len()
    }

    #[inline]
    fn take(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<(), Problem> {
        if self.partial.is_empty() {
            let taken = self.whole(bytes, events)?;
            self.partial.extend_from_slice(&bytes[taken..]);
        } else {
            let mut partial = std::mem::take(&mut self.partial);
            partial.extend_from_slice(bytes);
            let taken = self.whole(&partial, events)?;
            partial.drain(..taken);
            self.partial = partial;
        }
        match self.holding.resize(self.partial.capacity()) {
            true => Ok(()),
            false => Err("too many bytes of unfinished replies"),
        }
    }

    /// Takes the complete messages at the start of `bytes`, and returns their length.
    #[inline]
    fn whole(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<usize, Problem> {
        let mut taken = 0;
        while let Some(message) = self.messages.next(&bytes[taken..])? {
            self.message(&bytes[taken..][message.clone()], events)?;
            taken += message.end;
        }
        Ok(taken)
    }

    #[inline]
    fn message(&mut self, message: &[u8], events: &mut impl Events) -> Result<(), Problem> {
        let awaited = self.calls.awaited() as u64;
        if awaited == 0 {
            return Err("a reply to no call");
        }
        let answer = M::read(&self.templates, self.sent - awaited, message)?;
        let Some(Some(call)) = self.calls.answered() else { return Ok(()) };
        let end = match answer {
            Answer::Reply(reply) => End::Answered { right: events.verify(&call, reply) },
            Answer::Malformed(problem) => {
                events.malformed(call.request, problem);
                End::Answered { right: false }
            }
            Answer::Status { code, message } => End::status(code, message),
        };
        events.ended(&call, end);
        Ok(())
    }
}
