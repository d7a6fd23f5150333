//! The body of a reply, as its content arrives.

use super::Problem;
use super::chunks::Chunks;
use super::head::{Framing, Head};
use crate::protocol::too_long;

/// The next piece of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Content(&'a [u8]),
    End,
    /// Not received yet.
    Missing,
}

/// How the body continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// This many bytes.
    Length(usize),
    Chunked(Chunks),
    UntilClose,
}

impl Rest {
    /// Takes the next piece of content off `bytes`.
    #[inline]
    fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Piece<'a>, Problem> {
        let most = match self {
            Self::Chunked(chunks) => return chunks.next(bytes),
            Self::Length(0) => return Ok(Piece::End),
            Self::Length(left) => *left,
            Self::UntilClose => usize::MAX,
        };
        if bytes.is_empty() {
            return Ok(Piece::Missing);
        }
        let (content, rest) = bytes.split_at(bytes.len().min(most));
        *bytes = rest;
        if let Self::Length(left) = self {
            *left -= content.len();
        }
        Ok(Piece::Content(content))
    }
}

/// The body of a reply whose head was received.
#[derive(Debug)]
pub(super) struct Body {
    /// The reply's status.
    pub status: u16,
    rest: Rest,
    /// Bytes of content received, how many to keep, and how many are accepted.
    length: usize,
    most: usize,
    limit: usize,
}

impl Body {
    /// Keeps up to `most` bytes, and accepts up to `limit`.
    #[inline]
    pub fn of(head: Head, most: usize, limit: usize) -> Self {
        let rest = match head.framing {
            Framing::Length(length) => Rest::Length(length),
            Framing::Chunked => Rest::Chunked(Chunks::default()),
            Framing::UntilClose => Rest::UntilClose,
        };
        // A body announced as longer is refused with its first byte: replies to HEAD have none.
        let is_longer = matches!(head.framing, Framing::Length(length) if length > limit);
        let length = if is_longer { limit } else { 0 };
        Self { status: head.status, rest, length, most, limit }
    }

    /// Marks the body as empty, no matter what the head announces.
    pub fn skip(&mut self) {
        self.rest = Rest::Length(0);
    }

    /// True if the body ends with the connection.
    pub fn ends_with_connection(&self) -> bool {
        self.rest == Rest::UntilClose
    }

    /// Takes the body's bytes from `bytes`, and returns the whole body once it is complete. A body in several pieces is joined
    /// in `kept`, which is empty at first.
    #[inline]
    pub fn read<'a, 'b: 'a>(
        &mut self,
        kept: &'a mut Vec<u8>,
        bytes: &mut &'b [u8],
    ) -> Result<Option<&'a [u8]>, Problem> {
        let mut only: &'b [u8] = &[];
        loop {
            match self.rest.next(bytes)? {
                Piece::Content(content) => {
                    let content = self.wanted(content)?;
                    if kept.is_empty() && only.is_empty() {
                        only = content;
                    } else {
                        kept.extend_from_slice(std::mem::take(&mut only));
                        kept.extend_from_slice(content);
                    }
                }
                Piece::End => return Ok(Some(if kept.is_empty() { only } else { kept })),
                Piece::Missing => {
                    kept.extend_from_slice(only);
                    return Ok(None);
                }
            }
        }
    }

    /// The part of the next content to keep.
    #[inline]
    fn wanted<'a>(&mut self, content: &'a [u8]) -> Result<&'a [u8], Problem> {
        let room = self.most.saturating_sub(self.length);
        self.length += content.len();
        if self.length > self.limit {
            return Err(too_long(self.limit));
        }
        Ok(&content[..content.len().min(room)])
    }
}
