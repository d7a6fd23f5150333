//! The response half of one call: HEADERS, messages, trailers.
//!
//! ```text
//!            HEADERS            DATA*            HEADERS + END_STREAM
//!  waiting ----------> headed --------> answered --------------------> ended
//!     \________________ HEADERS + END_STREAM (trailers only) ___________/
//! ```
//! An HTTP error page may end with its DATA: then there is only the HTTP status.

use super::response::ResponseHead;
use super::{Grpc, status};
use crate::gzip;
use crate::protocol::http1::MAX_INTERIM;
use crate::protocol::http2::{self, Http2Application, Piece, Pieces, Problem};
use crate::protocol::{Call, End, Events, too_long};
use rpcbench_clock::Nanos;

/// Bytes before each message.
const PREFIX: usize = Grpc::PREFIX;
/// The flag of a compressed message.
const COMPRESSED: u8 = 1;
const NOT_OFFERED: Problem = "compressed message, and no compression was offered";

/// What has been received for a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    None,
    Right,
    Wrong,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    call: Call,
    /// HTTP status of the headers; 0 before them.
    http: u16,
    /// Header blocks of status 1xx before the headers.
    interim: u8,
    answer: Answer,
    /// An incomplete message.
    piece: Option<Piece>,
    /// Bytes still expected by the content-length, if there was one.
    promised: Option<u32>,
}

impl http2::Exchange for Exchange {
    type Head = ResponseHead;

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
        self.http == 0
    }

    #[inline]
    fn plain_headers(&mut self, _head: &ResponseHead) -> bool {
        let plain = self.is_waiting();
        if plain {
            self.http = 200;
        }
        plain
    }

    #[inline]
    fn plain_data(&mut self, data: &[u8], _last: bool, events: &mut impl Events) -> bool {
        let Some(message) = whole_message(data) else { return false };
        let plain = self.http == 200
            && self.answer == Answer::None
            && self.piece.is_none()
            && self.promised.is_none();
        if plain {
            self.message(message, events);
        }
        plain
    }

    #[inline]
    fn answer(&self) -> Option<bool> {
        let whole = self.http == 200 && self.answer != Answer::None && self.piece.is_none();
        whole.then_some(self.answer == Answer::Right)
    }

    #[inline]
    fn is_decided(&self) -> bool {
        self.answer != Answer::None || (self.http != 200 && !self.is_waiting())
    }

    #[inline]
    fn headers(&mut self, head: &ResponseHead) -> Result<(), Problem> {
        if self.http != 0 {
            return Err("headers in the middle of a stream");
        }
        head.check_headers()?;
        if head.common.status >= 200 {
            self.http = head.common.status;
            self.promised = head.length;
            return Ok(());
        }
        self.interim += 1;
        let flood = u32::from(self.interim) > MAX_INTERIM;
        if flood { Err("replies of status 1xx without end") } else { Ok(()) }
    }

    #[inline]
    fn data(
        &mut self,
        data: &[u8],
        _last: bool,
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<(), Problem> {
        if self.http == 0 {
            return Err("data before headers");
        }
        if self.http != 200 {
            return Ok(()); // An error page: trailers or the HTTP status decide.
        }
        if let Some(promised) = &mut self.promised {
            let left = promised.checked_sub(data.len() as u32);
            *promised = left.ok_or("a body longer than its content-length")?;
        }
        if self.piece.is_none()
            && let Some(message) = whole_message(data)
        {
            self.message(message, events);
            return Ok(());
        }
        if self.piece.is_none()
            && let Some((COMPRESSED, message)) = one_message(data)
        {
            return self.compressed(message, events);
        }
        self.add(data, pieces, events)
    }

    /// Ends an HTTP error page with its status; any other response lacks its trailers.
    #[cold]
    fn end_of_data(&mut self, _: &mut Pieces, _: &mut impl Events) -> Result<End, Problem> {
        let page = self.http != 0 && self.http != 200;
        page.then(|| status::http_failure(self.http)).ok_or("stream ended without trailers")
    }

    #[inline]
    fn end(&mut self, head: &ResponseHead, _: &mut Pieces, events: &mut impl Events) -> End {
        if let Err(problem) = self.check_last(head) {
            return End::Aborted { reason: problem.to_owned() };
        }
        if head.status(self.http) != status::OK {
            return head.failure(self.http);
        }
        if self.answer == Answer::None {
            events.malformed(self.call.request, "status OK without a message");
        } else if self.piece.is_some() {
            events.malformed(self.call.request, "status OK after part of a message");
        }
        End::Answered { right: self.answer == Answer::Right && self.piece.is_none() }
    }
}

impl Exchange {
    /// Checks the stream's last header block.
    #[inline]
    fn check_last(&self, head: &ResponseHead) -> Result<(), Problem> {
        match (self.http, head.common.problem, head.common.status) {
            (0, Some(problem), _) => Err(problem),
            (0, None, 0) => Err("response headers without :status"),
            (0, None, _) => Ok(()),
            _ if self.promised.is_some_and(|bytes| bytes > 0) && self.http == 200 => {
                Err("a body shorter than its content-length")
            }
            _ => head.common.check_trailers(),
        }
    }

    /// Takes a piece of body other than one whole message.
    #[cold]
    fn add(
        &mut self,
        data: &[u8],
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<(), Problem> {
        let mut bytes = pieces.take(self.piece.take());
        bytes.extend_from_slice(data);
        let mut rest = &bytes[..];
        while let Some((prefix, tail)) = rest.split_first_chunk::<PREFIX>() {
            let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
            if prefix[0] > COMPRESSED {
                return Err("a message that is neither compressed nor plain");
            }
            if length > pieces.max_message() {
                return Err(too_long(pieces.max_message()));
            }
            if prefix[0] == COMPRESSED && !self.takes_gzip(events) {
                return Err(NOT_OFFERED);
            }
            let Some((message, tail)) = tail.split_at_checked(length) else { break };
            match prefix[0] {
                COMPRESSED => self.compressed(message, events)?,
                _ => self.message(message, events),
            }
            rest = tail;
        }
        let done = bytes.len() - rest.len();
        bytes.drain(..done);
        self.piece = pieces.keep(bytes);
        Ok(())
    }

    /// Takes a compressed message as it is: it is decompressed only if something looks into it.
    fn compressed(&mut self, message: &[u8], events: &mut impl Events) -> Result<(), Problem> {
        if !self.takes_gzip(events) {
            return Err(NOT_OFFERED);
        }
        if !gzip::is_gzip(message) {
            return Err(
                "compressed message that is not gzip, the only compression that was offered",
            );
        }
        self.message(message, events);
        Ok(())
    }

    fn takes_gzip(&self, events: &impl Events) -> bool {
        events.target(self.call).is_some_and(|target| target.gzip)
    }

    #[inline]
    fn message(&mut self, message: &[u8], events: &mut impl Events) {
        if self.answer != Answer::None {
            events.malformed(self.call.request, "more than one message in the reply");
            self.answer = Answer::Wrong;
            return;
        }
        let right = events.verify(&self.call, message);
        self.answer = if right { Answer::Right } else { Answer::Wrong };
    }
}

/// The message, if `data` is exactly one uncompressed message.
#[inline]
pub(super) fn whole_message(data: &[u8]) -> Option<&[u8]> {
    let (flag, message) = one_message(data)?;
    (flag == 0).then_some(message)
}

/// The message and its compression flag, if `data` is exactly one message.
#[inline]
fn one_message(data: &[u8]) -> Option<(u8, &[u8])> {
    let (prefix, message) = data.split_first_chunk::<PREFIX>()?;
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
    (length == message.len()).then_some((prefix[0], message))
}
