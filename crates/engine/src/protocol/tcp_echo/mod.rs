//! The floor: a length of four bytes, big-endian, and so many bytes; the reply is the same. Replies come in the order of
//! the requests, and there is nothing else: no status, no handshake, no goodbye.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rpcbench_record::Protocol;

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
    /// In the order of their replies. `None`: it ran out of time, and its reply may still come.
    calls: VecDeque<Option<Call>>,
    /// Calls of `calls` that have no end.
    open: u32,
    /// Calls at the end of `calls` that have not been given to the kernel.
    unflushed: usize,
    /// The beginning of a reply that is not whole.
    partial: Vec<u8>,
    /// Where `partial` takes its memory from, and how much it has, bytes.
    allowance: Arc<Allowance>,
    taken: usize,
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
            allowance: Arc::clone(allowance),
            taken: 0,
            templates,
            calls: VecDeque::with_capacity(in_flight as usize),
            open: 0,
            unflushed: 0,
            partial: Vec::new(),
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
        self.leaving && self.open == 0
    }

    #[inline]
    fn can_send(&self) -> bool {
        !self.leaving
    }

    #[inline]
    fn open_calls(&self) -> u32 {
        self.open
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
        self.calls.push_back(Some(call));
        self.open += 1;
        self.unflushed += 1;
    }

    #[inline]
    fn flushed(&mut self, now: Nanos) {
        let flushed = self.calls.len() - self.unflushed;
        for call in self.calls.range_mut(flushed..).flatten() {
            call.written = now;
        }
        self.unflushed = 0;
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
        let late = |call: &mut Option<Call>| call.take_if(|call| call.due <= cutoff);
        let expired: Vec<Call> = self.calls.iter_mut().filter_map(late).collect();
        self.open -= expired.len() as u32;
        self.leaving |= !expired.is_empty();
        expired
    }

    fn abandon(&mut self) -> Vec<Call> {
        self.open = 0;
        self.unflushed = 0;
        self.calls.drain(..).flatten().collect()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.allowance.give(self.taken);
    }
}

impl Connection {
    #[inline]
    fn keep_within_room(&mut self) -> Result<(), Broken> {
        let needed = self.partial.capacity();
        if needed != self.taken {
            self.allowance.give(std::mem::take(&mut self.taken));
            if !self.allowance.take(needed) {
                return Err(broken("more of unfinished replies than is allowed at once"));
            }
            self.taken = needed;
        }
        Ok(())
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
        let call = self.calls.pop_front().ok_or_else(|| broken("a reply to no call"))?;
        self.unflushed = self.unflushed.min(self.calls.len());
        let Some(call) = call else { return Ok(()) };
        self.open -= 1;
        let right = events.verify(call, body);
        events.ended(call, End::Answered { right });
        Ok(())
    }
}

#[cold]
fn broken(problem: &'static str) -> Broken {
    Broken::Rules { protocol: Protocol::TcpEcho, problem }
}
