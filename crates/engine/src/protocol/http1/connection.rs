//! A connection of HTTP/1.1. Replies come in the order of the requests.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use rpcbench_record::Protocol;

use super::replies::Kept;
use super::{CODING, Problem, Replies, Reply, ReplyEvent, error_snippet};
use crate::payload::{Payload, ReplyCheck};
use crate::protocol::allowance::Holding;
use crate::protocol::head::{Head, distinct_targets};
use crate::protocol::in_order::InOrder;
use crate::protocol::template::{self, Layout};
use crate::protocol::{self, Allowance, Broken, Call, End, Events};
use crate::target::Target;
use rpcbench_clock::Nanos;

/// A protocol over HTTP/1.1.
pub(crate) trait Http1Application: Debug + Send + 'static {
    const PROTOCOL: Protocol;

    /// Header fields of every request.
    const FIELDS: &[(&str, &str)];

    /// How a call ends if its reply has a status other than 200 that is not accepted.
    #[cold]
    fn failure(reply: &Reply<'_>) -> End {
        End::status(reply.status.into(), error_snippet(reply.body))
    }
}

/// Why no more calls are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    /// A call timed out, and its reply comes before those of later calls.
    Late,
    /// The peer ends the connection with the current reply.
    LastReply,
    /// The peer closed the connection in the middle of a reply.
    MidReply,
    /// The peer ends an idle connection with a 408. RFC 9110, section 15.5.9.
    Idle,
}

/// The state machine of one connection.
#[derive(Debug)]
pub(crate) struct Connection<A> {
    application: PhantomData<A>,
    templates: Arc<Templates>,
    /// Maximum open calls; more than one are pipelined.
    most: usize,
    calls: InOrder,
    replies: Replies,
    /// The share of the allowance that `replies` holds.
    holding: Holding,
    leaving: Option<Leaving>,
}

impl<A: Http1Application> protocol::Connection for Connection<A> {
    const HANDSHAKE: &str = "connection";

    type Templates = Templates;

    fn templates(payload: &dyn Payload, authority: &str) -> Templates {
        templates(payload, authority, A::FIELDS)
    }

    fn new(
        templates: Arc<Templates>,
        in_flight: u32,
        allowance: &Arc<Allowance>,
        _out: &mut Vec<u8>,
    ) -> Self {
        let replies = Replies::new(templates.kept, allowance.max_message);
        Self {
            application: PhantomData,
            templates,
            most: in_flight as usize,
            calls: InOrder::new(in_flight),
            replies,
            holding: Holding::new(allowance),
            leaving: None,
        }
    }

    fn switch(&mut self, templates: Arc<Templates>) {
        self.templates = templates;
    }

    fn is_open(&self) -> bool {
        self.leaving.is_none()
    }

    fn is_handshaking(&self) -> bool {
        false
    }

    fn is_finished(&self) -> bool {
        self.leaving.is_some() && self.calls.open() == 0
    }

    #[inline]
    fn can_send(&self) -> bool {
        self.leaving.is_none() && self.calls.awaited() < self.most
    }

    #[inline]
    fn open_calls(&self) -> u32 {
        self.calls.open()
    }

    fn close_reason(&self) -> String {
        let why = match self.leaving {
            Some(Leaving::Late) => "a call ran out of time",
            Some(Leaving::MidReply) => "peer closed the connection in the middle of a reply",
            Some(Leaving::Idle) => "peer ended an idle connection with status 408",
            Some(Leaving::LastReply) => "peer ended the connection with a reply that said so",
            None => "peer closed the connection",
        };
        why.to_owned()
    }

    #[inline]
    fn send(&mut self, call: Call, out: &mut Vec<u8>) {
        self.templates.requests.put(call.request, call.nonce, out);
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
        self.read(bytes, events).map_err(|problem| Broken::Rules { protocol: A::PROTOCOL, problem })
    }

    fn closed(&mut self, events: &mut impl Events) {
        if let Some(reply) = self.replies.end() {
            answer::<A>(&mut self.calls, &reply, events);
        } else if self.replies.is_mid_reply() && self.leaving != Some(Leaving::Late) {
            self.leaving = Some(Leaving::MidReply);
        }
    }

    fn expire(&mut self, cutoff: Nanos, _out: &mut Vec<u8>) -> Vec<Call> {
        let expired = self.calls.expire(cutoff);
        if !expired.is_empty() {
            self.leaving.get_or_insert(Leaving::Late);
        }
        expired
    }

    fn abandon(&mut self) -> Vec<Call> {
        self.calls.abandon()
    }
}

impl<A: Http1Application> Connection<A> {
    #[inline]
    fn read(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<(), Problem> {
        let mut rest = bytes;
        loop {
            if self.calls.awaited() == 0 && !rest.is_empty() {
                return self.unasked(rest);
            }
            let see = |name: &[u8], value: &[u8]| events.field(false, name, value);
            match self.replies.next(&mut rest, see)? {
                ReplyEvent::Head(head)
                    if self.templates.has_head_requests && awaits_head(&self.calls, events) =>
                {
                    self.replies.skip_body();
                    if head.closes {
                        self.leave(events);
                    }
                }
                ReplyEvent::Head(head) => {
                    if head.is_last() {
                        self.leave(events);
                    }
                }
                ReplyEvent::Reply(reply) => answer::<A>(&mut self.calls, &reply, events),
                ReplyEvent::Nothing => break,
            }
        }
        if self.holding.resize(self.replies.room()) {
            Ok(())
        } else {
            Err("too many bytes of unfinished replies")
        }
    }

    /// Handles bytes that belong to no call.
    #[cold]
    fn unasked(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        let timed_out = bytes.starts_with(b"HTTP/1.") && bytes.get(8..13) == Some(b" 408 ");
        if !timed_out || self.leaving.is_some() || self.replies.is_mid_reply() {
            return Err("a reply to no call, or a body longer than its head says");
        }
        self.leaving = Some(Leaving::Idle);
        Ok(())
    }

    /// Stops sending: the peer ends the connection with the current reply, and ignores later requests. RFC 9112, section 9.6.
    #[cold]
    fn leave(&mut self, events: &mut impl Events) {
        self.leaving = Some(Leaving::LastReply);
        for call in self.calls.take_later() {
            events.ended(&call, End::Refused);
        }
    }

    /// Bytes held for incomplete replies, and for the known head.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn footprint(&self) -> (usize, usize) {
        (self.replies.room(), self.replies.known())
    }
}

/// True if the next reply is to a HEAD request.
#[cold]
fn awaits_head(calls: &InOrder, events: &impl Events) -> bool {
    calls.next().and_then(|call| events.target(call)).is_some_and(Target::is_head)
}

/// The requests of a payload.
#[derive(Debug)]
pub(crate) struct Templates {
    requests: template::Templates,
    /// True if some replies have no body, no matter what their head announces.
    has_head_requests: bool,
    /// How much of bodies is kept.
    kept: Kept,
}

fn templates(payload: &dyn Payload, authority: &str, fields: &[(&str, &str)]) -> Templates {
    let (targets, target_of) = distinct_targets(payload);
    let head = |target: &&Target| {
        let head = Head::new(target, authority, fields, CODING);
        let mut bytes = format!("{} {} HTTP/1.1\r\nHost: {authority}\r\n", head.method, head.path);
        for (name, value) in &head.fields {
            bytes.extend([name, ": ", value, "\r\n"]);
        }
        bytes
    };
    let heads: Vec<String> = targets.iter().map(head).collect();
    let requests = template::Templates::new(payload, |index, out| {
        let (body, start) = (payload.request(index), out.len());
        out.extend_from_slice(heads[target_of[index] as usize].as_bytes());
        if payload.target(index).has_body {
            out.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        let message = out.len() - start;
        out.extend_from_slice(body);
        Layout { body: message, message, last_frame: 0 }
    });
    let has_head_requests = targets.iter().any(|target| target.is_head());
    let kept = match payload.reply_check() {
        ReplyCheck::Status => Kept::Starts,
        _ if targets.iter().any(|target| !target.accepted.is_empty()) => Kept::All,
        _ => Kept::Successes,
    };
    Templates { requests, has_head_requests, kept }
}

/// Ends the call whose reply was received, unless it has timed out already.
#[inline]
fn answer<A: Http1Application>(calls: &mut InOrder, reply: &Reply<'_>, events: &mut impl Events) {
    let Some(Some(call)) = calls.answered() else { return };
    let end = match reply.status {
        200 => End::Answered { right: events.verify(&call, reply.body) },
        _ => match events.verify_other(call, reply.status.into(), reply.body) {
            Some(right) => End::Accepted { right },
            None => A::failure(reply),
        },
    };
    events.ended(&call, end);
}
