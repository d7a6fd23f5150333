//! Replies, within the peer's windows.

use std::borrow::Cow;

use super::{Blocked, Grpc, NO_ERROR};
use crate::fault::{Fault, altered};
use crate::http2::{DEFAULT_MAX_PAYLOAD, Frame, FrameType, Head};
use crate::rewrite::{MALFORMED, REPLY_TAG};

impl Grpc {
    #[inline]
    pub(super) fn answer(&mut self, stream: u32, body: &[u8], granted: i64, out: &mut Vec<u8>) {
        if let Some(fault) = self.injector.next(out) {
            return self.fail(fault, stream, body, out);
        }
        if self.last_answered.is_some_and(|last| stream > last) {
            return;
        }
        self.calls += 1;
        match (self.rewrite)(body) {
            Ok(reply) => {
                self.injector.keep(&reply);
                self.ok(stream, reply, granted, out);
            }
            Err(status) => self.encoder.error(out, stream, status),
        }
    }

    /// Makes a call go wrong on purpose.
    #[cold]
    fn fail(&mut self, fault: Fault, stream: u32, body: &[u8], out: &mut Vec<u8>) {
        if matches!(fault, Fault::Silence | Fault::Reset | Fault::HalfClose) {
            self.closing = fault.close();
            return;
        }
        match fault {
            Fault::Partial => return self.encoder.headers(out, stream),
            Fault::Late => {
                self.late.insert(stream, body.to_vec());
                return;
            }
            _ => self.calls += 1,
        }
        match fault {
            Fault::Status(code) => self.encoder.error(out, stream, code),
            Fault::Remembered => self.encoder.ok(out, stream, self.injector.last()),
            Fault::Altered => self.send_now(stream, &altered(body), out),
            Fault::Malformed => self.encoder.ok(out, stream, MALFORMED),
            Fault::GoAway => {
                Frame::goaway(stream, NO_ERROR).put(out);
                self.last_answered = Some(stream);
                self.send_now(stream, body, out);
            }
            _ => self.encoder.ok(out, stream, b""),
        }
    }

    /// Answers without regard for the peer's windows.
    fn send_now(&mut self, stream: u32, body: &[u8], out: &mut Vec<u8>) {
        if let Ok(reply) = (self.rewrite)(body) {
            self.encoder.ok(out, stream, &reply);
        }
    }

    /// Sends the late reply to a call that the client has given up.
    pub(super) fn send_late(&mut self, stream: u32, out: &mut Vec<u8>) {
        if let Some(body) = self.late.remove(&stream) {
            self.send_now(stream, &body, out);
        }
    }

    #[inline]
    fn ok(&mut self, stream: u32, reply: Cow<'_, [u8]>, granted: i64, out: &mut Vec<u8>) {
        let length = reply.len() + 5;
        let window = self.send_window.min(self.initial_window + granted);
        if length <= DEFAULT_MAX_PAYLOAD && length as i64 <= window {
            self.send_window -= length as i64;
            return self.encoder.ok(out, stream, &reply);
        }
        let mut data = vec![0];
        data.extend_from_slice(&(reply.len() as u32).to_be_bytes());
        data.extend_from_slice(&reply);
        if let Some(tag) = data.get_mut(5) {
            *tag = REPLY_TAG;
        }
        self.encoder.headers(out, stream);
        self.blocked.push_back(Blocked { stream, data, sent: 0, granted });
        self.send_blocked(out);
    }

    /// Sends as much of the blocked replies as the peer's windows allow.
    pub(super) fn send_blocked(&mut self, out: &mut Vec<u8>) {
        let Self { blocked, encoder, send_window, initial_window, .. } = self;
        blocked.retain_mut(|reply| {
            while reply.sent < reply.data.len() {
                let window =
                    (*send_window).min(*initial_window + reply.granted - reply.sent as i64);
                let room = usize::try_from(window).unwrap_or(0);
                let length = room.min(reply.data.len() - reply.sent).min(DEFAULT_MAX_PAYLOAD);
                if length == 0 {
                    return true;
                }
                Head { length, kind: FrameType::Data, flags: 0, stream: reply.stream }.put(out);
                out.extend_from_slice(&reply.data[reply.sent..reply.sent + length]);
                reply.sent += length;
                *send_window -= length as i64;
            }
            encoder.trailers(out, reply.stream);
            false
        });
    }
}
