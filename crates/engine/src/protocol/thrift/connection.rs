//! The state machine of one connection.

use std::sync::Arc;

use super::encoding::{EXCEPTION, Encoding, REPLY};
use super::templates::Templates;
use super::transport::Transport;
use super::{Problem, exception, sequence};
use crate::clock::Nanos;
use crate::payload::Payload;
use crate::protocol::allowance::Holding;
use crate::protocol::in_order::InOrder;
use crate::protocol::{self, Allowance, Broken, Call, End, Events};

/// A connection over a transport with an encoding.
#[derive(Debug)]
pub(crate) struct Connection<T> {
    templates: Arc<Templates>,
    transport: T,
    calls: InOrder,
    /// Calls that were sent, ever.
    sent: u64,
    /// The beginning of a message that is not whole, and what it holds of the allowance.
    partial: Vec<u8>,
    holding: Holding,
    /// A call ran out of time: as its reply stands before those of later calls, no more are sent.
    leaving: bool,
}

impl<T: Transport> protocol::Connection for Connection<T> {
    const HANDSHAKE: &str = "connection";

    type Templates = Templates;

    fn templates(payload: &dyn Payload, _authority: &str) -> Templates {
        Templates::new::<T>(payload)
    }

    fn new(
        templates: Arc<Templates>,
        in_flight: u32,
        allowance: &Arc<Allowance>,
        _out: &mut Vec<u8>,
    ) -> Self {
        Self {
            templates,
            transport: T::new(),
            calls: InOrder::new(in_flight),
            sent: 0,
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
        let (bytes, sequence_id, nonce) = self.templates.message(call.request);
        let at = out.len();
        out.extend_from_slice(bytes);
        let message = &mut out[at..];
        let id = T::Encoding::sequence_id(sequence::id(self.sent));
        message[sequence_id].copy_from_slice(&id);
        call.nonce.write(&mut message[nonce]);
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
        if self.partial.is_empty() {
            let taken = self.messages(bytes, events)?;
            self.partial.extend_from_slice(&bytes[taken..]);
            return self.keep_within_room();
        }
        let mut partial = std::mem::take(&mut self.partial);
        partial.extend_from_slice(bytes);
        let taken = self.messages(&partial, events)?;
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

impl<T: Transport> Connection<T> {
    #[inline]
    fn keep_within_room(&mut self) -> Result<(), Broken> {
        if self.holding.resize(self.partial.capacity()) {
            return Ok(());
        }
        Err(broken::<T>("more of unfinished replies than is allowed at once"))
    }

    /// Takes the whole messages that `bytes` begin with, and tells their length.
    #[inline]
    fn messages(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<usize, Broken> {
        let mut taken = 0;
        while let Some(message) = self.transport.next(&bytes[taken..]).map_err(broken::<T>)? {
            self.message(&bytes[taken..][message.clone()], events).map_err(broken::<T>)?;
            taken += message.end;
        }
        Ok(taken)
    }

    #[inline]
    fn message(&mut self, message: &[u8], events: &mut impl Events) -> Result<(), Problem> {
        let head = T::Encoding::head(message)?.ok_or("a message without a whole head")?;
        if head.kind != REPLY && head.kind != EXCEPTION {
            return Err("a message that is no reply");
        }
        let awaited = self.calls.awaited() as u64;
        if awaited == 0 {
            return Err("a reply to no call");
        }
        if head.sequence_id != sequence::id(self.sent - awaited) {
            return Err("a reply with another sequence id than its call has");
        }
        if head.name != self.templates.method.as_bytes() {
            return Err("a reply that names another method than its call does");
        }
        let body = &message[head.length..];
        let exception = match head.kind {
            EXCEPTION => {
                let read = exception::read::<T::Encoding>(body);
                Some(read.ok_or("an exception that can't be read")?)
            }
            _ => None,
        };
        let Some(Some(call)) = self.calls.answered() else { return Ok(()) };
        let end = match exception {
            Some((code, message)) => End::Status { code, message },
            None => End::Answered { right: result::<T>(call, body, events) },
        };
        events.ended(call, end);
        Ok(())
    }
}

/// Whether the struct of a result has the right reply in it.
#[inline]
fn result<T: Transport>(call: Call, body: &[u8], events: &mut impl Events) -> bool {
    let reply = body.strip_prefix(T::Encoding::RESULT).and_then(|rest| rest.split_last());
    match reply {
        Some((0, reply)) => events.verify(call, reply),
        _ => {
            events.malformed(call.request, "a reply without a result");
            false
        }
    }
}

#[cold]
fn broken<T: Transport>(problem: Problem) -> Broken {
    Broken::Rules { protocol: T::PROTOCOL, problem }
}
