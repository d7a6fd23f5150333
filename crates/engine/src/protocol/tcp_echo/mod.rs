//! The floor: a length of four bytes, big-endian, and so many bytes; the reply is the same. Replies come in the order of
//! the requests, and there is nothing else: no status, no handshake, no goodbye.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use rpcbench_record::Protocol;

use super::allowance::Holding;
use super::in_order::InOrder;
use super::{Allowance, Broken, Call, End, Events};
use crate::clock::Nanos;
use crate::payload::Payload;

/// Bytes of a length.
const PREFIX: usize = 4;
/// Longest body that is taken, bytes.
const MAX_BODY: usize = 64 << 20;

/// Every request with its length before it, and where its nonce goes.
#[derive(Debug)]
pub(crate) struct Templates(Vec<(Vec<u8>, Range<usize>)>);

/// The state machine of one connection.
#[derive(Debug)]
pub(crate) struct Connection {
    templates: Arc<Templates>,
    calls: InOrder,
    /// The beginning of a reply that is not whole, and what it holds of the allowance.
    partial: Vec<u8>,
    holding: Holding,
    /// A call ran out of time: as its reply stands before those of later calls, no more are sent.
    leaving: bool,
}

impl super::Connection for Connection {
    const HANDSHAKE: &str = "connection";

    type Templates = Templates;

    fn templates(payload: &dyn Payload, _authority: &str) -> Templates {
        let frame = |index| {
            let body = payload.request(index);
            let nonce = payload.nonce(index);
            let frame = [&(body.len() as u32).to_be_bytes(), body].concat();
            (frame, nonce.start + PREFIX..nonce.end + PREFIX)
        };
        Templates((0..payload.len()).map(frame).collect())
    }

    fn new(
        templates: Arc<Templates>,
        in_flight: u32,
        allowance: &Arc<Allowance>,
        _out: &mut Vec<u8>,
    ) -> Self {
        Self {
            templates,
            calls: InOrder::new(in_flight),
            partial: Vec::new(),
            holding: Holding::new(allowance),
            leaving: false,
        }
    }

    fn switch(&mut self, templates: Arc<Templates>) {
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

    fn farewell(&self) -> String {
        let why =
            if self.leaving { "a call ran out of time" } else { "peer closed the connection" };
        why.to_owned()
    }

    #[inline]
    fn send(&mut self, call: Call, out: &mut Vec<u8>) {
        let (frame, nonce) = &self.templates.0[call.request as usize];
        let at = out.len();
        out.extend_from_slice(frame);
        call.nonce.write(&mut out[at + nonce.start..at + nonce.end]);
        self.calls.push(call);
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
        if self.partial.is_empty() {
            let taken = self.replies(bytes, events)?;
            self.partial.extend_from_slice(&bytes[taken..]);
            return self.keep_within_room();
        }
        let mut partial = std::mem::take(&mut self.partial);
        partial.extend_from_slice(bytes);
        let taken = self.replies(&partial, events)?;
        partial.drain(..taken);
        self.partial = partial;
        self.keep_within_room()
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

impl Connection {
    #[inline]
    fn keep_within_room(&mut self) -> Result<(), Broken> {
        if self.holding.resize(self.partial.capacity()) {
            return Ok(());
        }
        Err(broken("more of unfinished replies than is allowed at once"))
    }

    /// Takes the whole replies that `bytes` begin with, and tells their length.
    #[inline]
    fn replies(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<usize, Broken> {
        let mut rest = bytes;
        while let Some((prefix, tail)) = rest.split_first_chunk::<PREFIX>() {
            let length = u32::from_be_bytes(*prefix) as usize;
            if length > MAX_BODY {
                return Err(broken("a reply longer than 64 MiB; does the server speak tcp-echo?"));
            }
            let Some((body, tail)) = tail.split_at_checked(length) else { break };
            self.reply(body, events)?;
            rest = tail;
        }
        Ok(bytes.len() - rest.len())
    }

    #[inline]
    fn reply(&mut self, body: &[u8], events: &mut impl Events) -> Result<(), Broken> {
        let call = self.calls.answered().ok_or_else(|| broken("a reply to no call"))?;
        let Some(call) = call else { return Ok(()) };
        let right = events.verify(call, body);
        events.ended(call, End::Answered { right });
        Ok(())
    }
}

#[cold]
fn broken(problem: &'static str) -> Broken {
    Broken::Rules { protocol: Protocol::TcpEcho, problem }
}
