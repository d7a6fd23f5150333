//! Gzip (RFC 1952) for requests, and for replies that are checked or shown.

use std::borrow::Cow;
use std::io::Write as _;

use flate2::write::GzEncoder;
use flate2::{Compression, Crc, Decompress, FlushDecompress, Status};

/// First bytes of every member: the magic number and the only method. No text, JSON or protobuf message begins like this.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
/// Bytes of a header without optional fields, and of a trailer.
const HEADER: usize = 10;
const TRAILER: usize = 8;
/// Bytes by which the buffer grows at first.
const FIRST: usize = 4 << 10;

/// Why content can't be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GzipError {
    /// It is cut or corrupt.
    #[error("a reply that is not valid gzip: {0}")]
    Invalid(&'static str),
    /// It is larger than allowed.
    #[error("a reply of more than {} once decompressed", rpcbench_record::units::bytes(*.0 as u64))]
    TooLarge(usize),
}

/// Compresses a request.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let written = encoder.write_all(content);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// True if these bytes begin like gzip.
#[inline]
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The content of a reply, decompressed if it is compressed.
#[inline(always)]
pub(crate) fn content<'a>(
    gunzip: &'a mut Option<Box<Gunzip>>,
    reply: &'a [u8],
    most: usize,
) -> Result<&'a [u8], String> {
    if !is_gzip(reply) {
        return Ok(reply);
    }
    decompressed(gunzip, reply, most)
}

#[cold]
fn decompressed<'a>(
    gunzip: &'a mut Option<Box<Gunzip>>,
    reply: &'a [u8],
    most: usize,
) -> Result<&'a [u8], String> {
    let gunzip = gunzip.get_or_insert_default();
    gunzip.content(reply, most).map_err(|error| error.to_string())
}

/// Decompresses replies one after another. Its memory is reused, so it allocates nothing in steady state.
#[derive(Debug)]
pub struct Gunzip {
    inflate: Decompress,
    content: Vec<u8>,
}

impl Default for Gunzip {
    fn default() -> Self {
        Self { inflate: Decompress::new(false), content: Vec::new() }
    }
}

impl Gunzip {
    /// The content of a reply, at most `most` bytes; a reply that does not begin like gzip is its own content.
    ///
    /// # Errors
    /// If the reply is invalid or too large.
    pub fn content<'a>(&'a mut self, reply: &'a [u8], most: usize) -> Result<&'a [u8], GzipError> {
        if !is_gzip(reply) {
            return Ok(reply);
        }
        self.content.clear();
        let mut rest = reply;
        while !rest.is_empty() {
            rest = self.member(rest, most)?;
        }
        Ok(&self.content)
    }

    /// Memory held for content, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn room(&self) -> usize {
        self.content.capacity()
    }

    /// Appends the content of the first member, and returns what follows it.
    fn member<'a>(&mut self, bytes: &'a [u8], most: usize) -> Result<&'a [u8], GzipError> {
        const CUT: GzipError = GzipError::Invalid("it is truncated");
        let (rest, begin) = (after_header(bytes)?, self.content.len());
        self.inflate.reset(false);
        let length = loop {
            let taken = self.inflate.total_in() as usize;
            self.grow(most)?;
            let before = self.content.len();
            let status = self.inflate.decompress_vec(
                &rest[taken..],
                &mut self.content,
                FlushDecompress::None,
            );
            let status = status.map_err(|_| GzipError::Invalid("it is corrupt"))?;
            if self.content.len() > most {
                return Err(GzipError::TooLarge(most));
            }
            let now = self.inflate.total_in() as usize;
            match status {
                Status::StreamEnd => break now,
                _ if now == taken && self.content.len() == before => return Err(CUT),
                Status::Ok | Status::BufError => {}
            }
        };
        let (trailer, after) = rest[length..].split_first_chunk::<TRAILER>().ok_or(CUT)?;
        let mut crc = Crc::new();
        crc.update(&self.content[begin..]);
        let [expected, size] =
            [0, 4].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|n| trailer[at + n])));
        match (crc.sum(), crc.amount()) == (expected, size) {
            true => Ok(after),
            false => Err(GzipError::Invalid("its checksum is wrong")),
        }
    }

    /// Doubles the room for content, up to one byte more than `most`.
    fn grow(&mut self, most: usize) -> Result<(), GzipError> {
        let room = self.content.capacity() - self.content.len();
        if room > 0 {
            return Ok(());
        }
        let more = self.content.len().max(FIRST).min(most + 1 - self.content.len());
        let reserved = self.content.try_reserve_exact(more);
        reserved.map_err(|_| GzipError::TooLarge(self.content.len()))
    }
}

/// The first bytes of the content of a reply, which may itself be cut; all bytes of an uncompressed reply.
#[cold]
pub(crate) fn start(reply: &[u8], most: usize) -> Cow<'_, [u8]> {
    if !is_gzip(reply) {
        return Cow::Borrowed(reply);
    }
    let mut content = Vec::with_capacity(most);
    let Ok(rest) = after_header(reply) else { return Cow::Borrowed(reply) };
    let inflated = Decompress::new(false).decompress_vec(rest, &mut content, FlushDecompress::None);
    if inflated.is_ok() { Cow::Owned(content) } else { Cow::Borrowed(reply) }
}

/// What follows the header of a member.
fn after_header(bytes: &[u8]) -> Result<&[u8], GzipError> {
    const CUT: GzipError = GzipError::Invalid("its header is truncated");
    if !is_gzip(bytes) {
        return Err(GzipError::Invalid("something else follows it"));
    }
    let (header, mut rest) = bytes.split_at_checked(HEADER).ok_or(CUT)?;
    let has = |bit: u8| header[3] & 1 << bit != 0;
    if has(2) {
        let (length, after) = rest.split_first_chunk::<2>().ok_or(CUT)?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..).ok_or(CUT)?;
    }
    // A name and a comment.
    for _ in [3, 4].into_iter().filter(|bit| has(*bit)) {
        let end = rest.iter().position(|byte| *byte == 0).ok_or(CUT)?;
        rest = &rest[end + 1..];
    }
    if has(1) { rest.get(2..).ok_or(CUT) } else { Ok(rest) }
}

#[cfg(test)]
mod tests {
    use flate2::GzBuilder;

    use super::*;

    const MOST: usize = 1 << 20;

    fn content(reply: &[u8], most: usize) -> Result<Vec<u8>, String> {
        let mut gunzip = Gunzip::default();
        // The second call reuses the memory of the first.
        let _ = gunzip.content(reply, most);
        gunzip.content(reply, most).map(<[u8]>::to_vec).map_err(|error| error.to_string())
    }

    #[test]
    fn content_comes_back_whole() {
        for length in [0, 1, 100, 4095, 4096, 4097, 300_000] {
            let bytes: Vec<u8> = (0..length).map(|at: u64| (at * at / 7) as u8).collect();
            assert_eq!(content(&gzip(&bytes), MOST).unwrap(), bytes, "{length}");
            assert_eq!(content(&gzip(&bytes), length as usize).unwrap(), bytes, "{length}");
        }
        assert_eq!(content(b"plain", MOST).unwrap(), b"plain");
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(content(&two, MOST).unwrap(), b"one two");
    }

    #[test]
    fn optional_header_fields_are_skipped() {
        let builder = GzBuilder::new().filename("name").comment("comment").extra([7; 300]);
        let mut encoder = builder.write(Vec::new(), Compression::fast());
        encoder.write_all(b"content").unwrap();
        assert_eq!(content(&encoder.finish().unwrap(), MOST).unwrap(), b"content");
    }

    #[test]
    fn bomb_is_refused_in_bounded_memory() {
        let bomb = gzip(&vec![0; 64 << 20]);
        assert!(bomb.len() < 100_000);
        let mut gunzip = Gunzip::default();
        let refused = gunzip.content(&bomb, MOST).unwrap_err();
        assert_eq!(refused.to_string(), "a reply of more than 1 MiB once decompressed");
        assert!(gunzip.room() <= MOST + 1);
        assert_eq!(gunzip.content(&gzip(b"next"), MOST).unwrap(), b"next");
    }

    #[test]
    fn broken_content_is_refused_wherever_it_breaks() {
        let whole = gzip(b"some content, some content, some content");
        for cut in 3..whole.len() {
            assert!(content(&whole[..cut], MOST).is_err(), "{cut}");
        }
        let mut wrong = whole.clone();
        let crc = wrong.len() - 8;
        wrong[crc] ^= 1;
        assert_eq!(
            content(&wrong, MOST).unwrap_err(),
            "a reply that is not valid gzip: its checksum is wrong"
        );
        let more = [&whole[..], b"x"].concat();
        assert_eq!(
            content(&more, MOST).unwrap_err(),
            "a reply that is not valid gzip: something else follows it"
        );
        assert!(content(&[&MAGIC[..], &[0xff; 40]].concat(), MOST).is_err());
    }

    #[test]
    fn start_of_a_cut_reply_is_readable() {
        let text = "the server is out of memory ".repeat(100);
        let whole = gzip(text.as_bytes());
        assert_eq!(&*start(&whole[..whole.len() - 9], 20), &text.as_bytes()[..20]);
        assert_eq!(&*start(b"plain", 2), b"plain");
        assert_eq!(&*start(&MAGIC, 20), MAGIC);
    }
}
