//! Chunked bodies (RFC 9112, section 7.1), cut anywhere.

use super::body::Piece;
use super::{MAX_LENGTH, Problem};

/// Bytes of sizes, extensions and trailers allowed beyond the number of content bytes.
const FRAMING: usize = 64 << 10;

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChunkPart {
    /// A size's first digit.
    #[default]
    SizeStart,
    Size,
    Extension,
    /// The LF after a size.
    SizeEnd,
    Content,
    /// The CR after content.
    ContentEnd,
    /// The LF after that CR.
    ContentEndLf,
    /// The start of a line of trailers, or of the empty line after them.
    TrailerStart,
    Trailer,
    /// The last LF.
    LastLf,
}

/// A chunked body, read up to some byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chunks {
    part: ChunkPart,
    /// Bytes left in the chunk.
    left: usize,
    /// Bytes received: content, and everything else.
    content: usize,
    framing: usize,
}

impl Chunks {
    /// Takes the next piece of content off `bytes`.
    #[inline]
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Piece<'a>, Problem> {
        while let Some((first, rest)) = bytes.split_first() {
            if self.part == ChunkPart::Content {
                return Ok(Piece::Content(self.take_content(bytes)));
            }
            *bytes = rest;
            self.framing += 1;
            if self.framing > FRAMING + self.content {
                return Err("chunks of next to nothing, without end");
            }
            if self.step(*first)? {
                return Ok(Piece::End);
            }
        }
        Ok(Piece::Missing)
    }

    #[inline]
    fn take_content<'a>(&mut self, bytes: &mut &'a [u8]) -> &'a [u8] {
        let (content, rest) = bytes.split_at(bytes.len().min(self.left));
        *bytes = rest;
        self.left -= content.len();
        self.content += content.len();
        if self.left == 0 {
            self.part = ChunkPart::ContentEnd;
        }
        content
    }

    /// Takes a byte that is not content. True if it ends the body.
    #[inline]
    fn step(&mut self, byte: u8) -> Result<bool, Problem> {
        self.part = match (self.part, byte) {
            (ChunkPart::SizeStart | ChunkPart::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.digit(byte)?;
                ChunkPart::Size
            }
            (ChunkPart::Size | ChunkPart::Extension, b'\r') => ChunkPart::SizeEnd,
            (ChunkPart::Size, b';' | b' ' | b'\t') => ChunkPart::Extension,
            (ChunkPart::Extension, b' '.. | b'\t') => ChunkPart::Extension,
            (ChunkPart::SizeEnd, b'\n') if self.left > 0 => ChunkPart::Content,
            (ChunkPart::SizeEnd, b'\n') => ChunkPart::TrailerStart,
            (ChunkPart::ContentEnd, b'\r') => ChunkPart::ContentEndLf,
            (ChunkPart::ContentEndLf, b'\n') => ChunkPart::SizeStart,
            (ChunkPart::TrailerStart, b'\r') => ChunkPart::LastLf,
            (ChunkPart::Trailer, b'\n') => ChunkPart::TrailerStart,
            (ChunkPart::LastLf | ChunkPart::TrailerStart, b'\n') => return Ok(true),
            (ChunkPart::TrailerStart | ChunkPart::Trailer, _) => ChunkPart::Trailer,
            _ => return Err("a chunk that can't be read"),
        };
        Ok(false)
    }

    fn digit(&mut self, byte: u8) -> Result<(), Problem> {
        let value = char::from(byte).to_digit(16).unwrap_or_default() as usize;
        self.left = self.left * 16 + value;
        if self.left > MAX_LENGTH { Err("a chunk above 4 GiB") } else { Ok(()) }
    }
}
