//! Reads a stream of replies, cut anywhere.

use super::body::Body;
use super::head::{self, Head};
use super::known::Known;
use super::{MAX_HEAD, Problem};

/// Bytes kept of the start of a body: enough to say what is wrong, and for Connect's JSON with its details.
pub(crate) const MAX_START: usize = 64 << 10;

/// Maximum heads of status 1xx before the one that counts.
pub(crate) const MAX_INTERIM: u32 = 16;

/// The next event of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplyEvent<'a> {
    /// The head of a reply.
    Head(Head),
    Reply(Reply<'a>),
    /// More input is needed.
    Nothing,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply<'a> {
    /// 200 to 999.
    pub status: u16,
    /// All of it, or its start: see [`Kept`].
    pub body: &'a [u8],
}

/// How much replies keep of their bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The whole body with status 200; the start with any other.
    Successes,
    All,
    /// The start, since only the status is judged.
    Starts,
}

impl Kept {
    /// Bytes kept of a body with status 200, and with any other, if a body may have `limit`.
    fn most(self, limit: usize) -> (usize, usize) {
        match self {
            Self::All => (limit, limit),
            Self::Successes => (limit, MAX_START),
            Self::Starts => (MAX_START, MAX_START),
        }
    }
}

/// The part of a reply that the next byte belongs to.
#[derive(Debug)]
enum Stage {
    Head,
    Body(Body),
    /// No part: a reply is complete, and may be in `kept`.
    Between,
}

#[derive(Debug)]
pub(crate) struct Replies {
    stage: Stage,
    /// The start of a head or of a body.
    kept: Vec<u8>,
    known: Known,
    /// Bytes kept of a body with status 200, and with any other.
    most: (usize, usize),
    /// Longest body accepted, bytes.
    limit: usize,
    /// Heads of status 1xx received for the current reply.
    interim: u32,
}

impl Replies {
    pub fn new(bodies: Kept, limit: usize) -> Self {
        let (kept, known, most) = (Vec::new(), Known::default(), bodies.most(limit));
        Self { stage: Stage::Head, kept, known, most, limit, interim: 0 }
    }

    /// Takes the next event off `bytes`. `see` gets the names and values of header fields, unless the head is known. After an
    /// error, the stream can't continue.
    #[inline]
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        bytes: &mut &'b [u8],
        see: impl FnMut(&[u8], &[u8]),
    ) -> Result<ReplyEvent<'a>, Problem> {
        if let Stage::Body(body) = &mut self.stage {
            let status = body.status;
            let Some(body) = body.read(&mut self.kept, bytes)? else {
                return Ok(ReplyEvent::Nothing);
            };
            self.stage = Stage::Between;
            return Ok(ReplyEvent::Reply(Reply { status, body }));
        }
        if matches!(self.stage, Stage::Between) {
            self.kept.clear();
            self.stage = Stage::Head;
        }
        let Some(head) = self.head(bytes, see)? else { return Ok(ReplyEvent::Nothing) };
        let most = if head.status == 200 { self.most.0 } else { self.most.1 };
        self.stage = Stage::Body(Body::of(head, most, self.limit));
        self.interim = 0;
        Ok(ReplyEvent::Head(head))
    }

    /// Skips the body of the reply whose head came last: it answers HEAD, so it has none.
    #[cold]
    pub fn skip_body(&mut self) {
        if let Stage::Body(body) = &mut self.stage {
            body.skip();
        }
    }

    /// Ends the stream with the connection; returns the reply that this completes, if any.
    pub fn end(&mut self) -> Option<Reply<'_>> {
        let Stage::Body(body) = &self.stage else { return None };
        let status = body.ends_with_connection().then_some(body.status)?;
        self.stage = Stage::Between;
        Some(Reply { status, body: &self.kept })
    }

    /// True if a reply was received in part.
    pub fn is_mid_reply(&self) -> bool {
        match self.stage {
            Stage::Head => !self.kept.is_empty() || self.interim > 0,
            Stage::Body(_) => true,
            Stage::Between => false,
        }
    }

    /// Memory held for an incomplete reply, bytes.
    #[inline]
    pub fn room(&self) -> usize {
        self.kept.capacity()
    }

    #[inline]
    fn head(
        &mut self,
        bytes: &mut &[u8],
        see: impl FnMut(&[u8], &[u8]),
    ) -> Result<Option<Head>, Problem> {
        if self.kept.is_empty()
            && let Some((head, length)) = self.known.recognise(bytes)
        {
            *bytes = &bytes[length..];
            return Ok(Some(head));
        }
        self.other_head(bytes, see)
    }

    /// Takes a head that is not known, or was cut.
    #[inline(never)]
    fn other_head(
        &mut self,
        bytes: &mut &[u8],
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> Result<Option<Head>, Problem> {
        while complete(&mut self.kept, bytes)? {
            let (head, digits) = head::parse(&self.kept, &mut see)?;
            if head.is_interim() {
                self.kept.clear();
                self.interim += 1;
                if self.interim > MAX_INTERIM {
                    return Err("replies of status 1xx without end");
                }
                continue;
            }
            self.known.learn(&self.kept, head, digits);
            self.kept.clear();
            return Ok(Some(head));
        }
        Ok(None)
    }

    /// Memory held for the known head, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn known(&self) -> usize {
        self.known.footprint()
    }
}

/// Moves the rest of a head from `bytes` to `head`. True if it is complete then.
fn complete(head: &mut Vec<u8>, bytes: &mut &[u8]) -> Result<bool, Problem> {
    let mut whole = false;
    while !whole && !bytes.is_empty() {
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let (line, rest) = bytes.split_at(line);
        head.extend_from_slice(line);
        *bytes = rest;
        whole = head.ends_with(b"\n\r\n") || head.ends_with(b"\n\n");
    }
    if !head.iter().zip(b"HTTP/1.").all(|(got, expected)| got == expected) {
        return Err("a reply that is not HTTP/1");
    }
    if head.len() > MAX_HEAD { Err("a head above 64 KiB") } else { Ok(whole) }
}
