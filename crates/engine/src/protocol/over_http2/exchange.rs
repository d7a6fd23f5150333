//! The reply to one call.
//!
//! ```text
//!            HEADERS            DATA*             END_STREAM, on DATA or on trailers
//!  waiting ----------> headed --------> answered ------------------------------------> ended
//!     \_______________________ HEADERS + END_STREAM ___________________________________/
//! ```

use super::head::ReplyHead;
use crate::protocol::http1::{MAX_INTERIM, MAX_SNIPPET, error_snippet};
use crate::protocol::http2::{self, Piece, Pieces, Problem};
use crate::protocol::{Call, End, Events, too_long};
use crate::target::Target;
use rpcbench_clock::Nanos;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    call: Call,
    /// HTTP status of the headers; 0 before them.
    status: u16,
    /// Header blocks of status 1xx before the headers.
    interim: u8,
    /// Whether the message is right, once it is complete.
    answer: Option<bool>,
    /// Content-Length of the headers, if any, and bytes of body received.
    promised: Option<u32>,
    received: u32,
    /// The start of an incomplete message, or of the body of an error.
    piece: Option<Piece>,
}

impl http2::Exchange for Exchange {
    type Head = ReplyHead;

    #[inline]
    fn new(call: Call) -> Self {
        Self { call, ..Self::default() }
    }

    #[inline]
    fn call(&self) -> &Call {
        &self.call
    }

    #[inline]
    fn stamp(&mut self, now: Nanos) {
        self.call.written = now;
    }

    #[inline]
    fn piece(&self) -> Option<Piece> {
        self.piece
    }

    #[inline]
    fn is_waiting(&self) -> bool {
        self.status == 0
    }

    #[inline]
    fn plain_headers(&mut self, head: &ReplyHead) -> bool {
        let plain = self.is_waiting();
        if plain {
            self.begin(head);
        }
        plain
    }

    #[inline]
    fn plain_data(&mut self, data: &[u8], last: bool, events: &mut impl Events) -> bool {
        if self.status != 200 || self.piece.is_some() {
            return false;
        }
        if self.answer.is_some() {
            return last && data.is_empty(); // Only the end, after a message of the announced length.
        }
        let whole = self.promised.map_or(last, |promised| promised as usize == data.len());
        if whole {
            self.received = data.len() as u32;
            self.answer = Some(events.verify(&self.call, data));
        }
        whole
    }

    #[inline]
    fn answer(&self) -> Option<bool> {
        self.answer
    }

    #[inline]
    fn headers(&mut self, head: &ReplyHead) -> Result<(), Problem> {
        if let Some(problem) = head.common.problem {
            return Err(problem);
        }
        match head.common.status {
            _ if !self.is_waiting() => return Err("headers in the middle of a stream"),
            0 => return Err("response headers without :status"),
            101 => return Err("101 Switching Protocols, which HTTP/2 does not have"),
            100..=199 => {
                self.interim += 1;
                if u32::from(self.interim) > MAX_INTERIM {
                    return Err("replies of status 1xx without end");
                }
            }
            _ => self.begin(head),
        }
        Ok(())
    }

    #[inline]
    fn data(
        &mut self,
        data: &[u8],
        last: bool,
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<(), Problem> {
        if self.is_waiting() {
            return Err("data before headers");
        }
        if self.plain_data(data, last, events) {
            return Ok(());
        }
        let whole = self.status == 200 || events.accepts(self.call, self.status.into());
        self.add(data, whole, pieces)
    }

    #[inline]
    fn end_of_data(
        &mut self,
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<End, Problem> {
        let is_head = || events.target(self.call).is_some_and(Target::is_head);
        if self.promised.is_some_and(|promised| promised != self.received)
            && !(self.received == 0 && is_head())
        {
            return Err("a body shorter than its content-length");
        }
        match self.answer {
            Some(right) => Ok(End::Answered { right }),
            None => Ok(self.conclude(pieces, events)),
        }
    }

    #[cold]
    fn end(&mut self, head: &ReplyHead, pieces: &mut Pieces, events: &mut impl Events) -> End {
        let taken =
            if self.is_waiting() { self.headers(head) } else { head.common.check_trailers() };
        let end = match taken {
            Ok(()) if self.is_waiting() => Err("stream ended after a reply of status 1xx"),
            Ok(()) => self.end_of_data(pieces, events),
            Err(problem) => Err(problem),
        };
        end.unwrap_or_else(|problem| End::Aborted { reason: problem.to_owned() })
    }
}

impl Exchange {
    /// Takes final headers, those with a status other than 1xx.
    #[inline]
    fn begin(&mut self, head: &ReplyHead) {
        self.status = head.common.status;
        // These never have a body. RFC 9110, section 8.6.
        let bodiless = matches!(head.common.status, 204 | 304);
        self.promised = if bodiless { Some(0) } else { head.length };
    }

    /// Keeps a piece of the body; if not `whole`, only the start of the body.
    #[cold]
    fn add(&mut self, data: &[u8], whole: bool, pieces: &mut Pieces) -> Result<(), Problem> {
        let before = self.received as usize;
        let received = before + data.len();
        if received.max(self.promised.unwrap_or_default() as usize) > pieces.max_message() {
            return Err(too_long(pieces.max_message()));
        }
        if self.promised.is_some_and(|promised| received > promised as usize) {
            return Err("a body longer than its content-length or status allows");
        }
        self.received = received as u32;
        let most = if whole { received } else { MAX_SNIPPET };
        let wanted = &data[..data.len().min(most.saturating_sub(before))];
        if !wanted.is_empty() {
            let mut bytes = pieces.take(self.piece.take());
            bytes.extend_from_slice(wanted);
            self.piece = pieces.keep(bytes);
        }
        Ok(())
    }

    #[cold]
    fn conclude(&mut self, pieces: &mut Pieces, events: &mut impl Events) -> End {
        let piece = self.piece.take();
        let mut body = piece.map(|piece| pieces.take(Some(piece))).unwrap_or_default();
        let end = match self.status {
            200 => End::Answered { right: events.verify(&self.call, &body) },
            status => match events.verify_other(self.call, status.into(), &body) {
                Some(right) => End::Accepted { right },
                None => End::status(status.into(), error_snippet(&body)),
            },
        };
        if piece.is_some() {
            body.clear();
            pieces.keep(body);
        }
        end
    }
}
