//! Histograms as text: HdrHistogram's V2 encoding, DEFLATE, base64.
//!
//! The `hdrhistogram` crate only writes them. Its reader takes 2.5 times as long, or 3.7 times into a [`Histogram`], and as much
//! memory as a text claims to need.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Decompress, FlushDecompress};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use crate::histogram::{self, Histogram};

/// Reason why a text is not a histogram of this layout.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("histogram is not base64: {0}; expected the text of HdrHistogram V2 with DEFLATE")]
    Base64(#[from] base64::DecodeError),
    /// The bytes are not HdrHistogram V2.
    #[error("histogram is not HdrHistogram V2 with DEFLATE: {0}")]
    Encoding(String),
    /// The histogram has other bounds or another resolution.
    #[error(
        "histogram covers {low}..{high} with {digits} digits; expected {}..{} with {}",
        Histogram::LOWEST,
        Histogram::HIGHEST,
        Histogram::DIGITS
    )]
    Layout {
        /// Smallest value distinguished from 0.
        low: u64,
        /// Largest value.
        high: u64,
        /// Significant decimal digits.
        digits: u8,
    },
    /// The sum of its counts exceeds 64 bits.
    #[error("histogram's counts add up to more than {}", u64::MAX)]
    Count,
}

/// Bytes of the largest encoding of the layout: at most nine per count.
const LARGEST: usize = histogram::SLOTS * 9;
/// Bytes before the compressed part: a magic number and the part's length.
const FRAME: usize = 8;
/// Bytes before the counts: a magic number, the length of the counts, an offset, the digits, both bounds, and a ratio.
const HEADER: usize = 40;
/// Magic numbers of the frame and of the header. Some libraries set the bits of [`WORD_SIZE`].
const COMPRESSED: u32 = 0x1c84_9304;
const PLAIN: u32 = 0x1c84_9303;
const WORD_SIZE: u32 = 0xf0;

thread_local! {
    /// Reused for all texts of a thread: a record has thousands, and each takes less time to read than its memory to allocate and
    /// zero.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A thread's buffers for reading texts.
struct Scratch {
    inflate: Decompress,
    compressed: Vec<u8>,
    plain: Vec<u8>,
}

impl Default for Scratch {
    fn default() -> Self {
        let plain = Vec::with_capacity(HEADER + LARGEST);
        Self { inflate: Decompress::new(true), compressed: Vec::new(), plain }
    }
}

impl Histogram {
    /// The histogram as HdrHistogram V2, compressed, in base64: the text of interval logs and of every
    /// HdrHistogram tool. No count is lost; exact sum, smallest and largest value are not part of the
    /// format.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        // Neither can fail: the bounds are constants, counts of calls stay below 2^63, and writes to memory succeed.
        let written = exported(self)
            .and_then(|copy| V2DeflateSerializer::new().serialize(&copy, &mut bytes).ok());
        debug_assert!(written.is_some(), "a histogram can always be exported");
        STANDARD.encode(bytes)
    }

    /// Reads text written by [`to_base64`](Self::to_base64), or by any HdrHistogram library with the same bounds and digits.
    /// Counts are exact; the smallest and largest value and the mean are those of the slots.
    ///
    /// # Errors
    /// If the text is not base64, not HdrHistogram V2, or of another layout.
    pub fn from_base64(text: &str) -> Result<Self, HistogramError> {
        let mut read = Self::new();
        read.merge_base64(text)?;
        Ok(read)
    }

    /// Adds the values of an encoded text without allocating a second histogram. Returns their number.
    ///
    /// # Errors
    /// As [`from_base64`](Self::from_base64). Some of the values may have been added.
    pub fn merge_base64(&mut self, text: &str) -> Result<u64, HistogramError> {
        let before = self.count();
        with_slots(text, |slots| self.add_slots(slots))?;
        Ok(self.count() - before)
    }

    /// Number of values in an encoded text.
    ///
    /// # Errors
    /// As [`from_base64`](Self::from_base64).
    pub fn count_in_base64(text: &str) -> Result<u64, HistogramError> {
        with_slots(text, |slots| {
            slots.try_fold(0_u64, |count, (_, times)| count.checked_add(times))
        })
    }
}

fn exported(own: &Histogram) -> Option<hdrhistogram::Histogram<u64>> {
    let (low, high, digits) = (Histogram::LOWEST, Histogram::HIGHEST, Histogram::DIGITS);
    let mut copy = hdrhistogram::Histogram::new_with_bounds(low, high, digits).ok()?;
    for (value, times) in own.slots() {
        copy.record_n(value, times).ok()?;
    }
    Some(copy)
}

/// Calls `of` with the slots of a text. `of` returns `None` if their counts exceed 64 bits.
fn with_slots<T>(
    text: &str,
    of: impl FnOnce(&mut Slots<'_>) -> Option<T>,
) -> Result<T, HistogramError> {
    SCRATCH.with_borrow_mut(|scratch| {
        let mut slots = Slots { rest: scratch.counts(text)?, slot: 0, problem: None };
        let result = of(&mut slots).ok_or(HistogramError::Count)?;
        slots.problem.map_or(Ok(result), |problem| Err(broken(problem)))
    })
}

/// The slots of encoded counts in ascending order, with their counts, some of which are 0. Stops at a problem.
struct Slots<'a> {
    rest: &'a [u8],
    slot: usize,
    problem: Option<&'static str>,
}

impl Iterator for Slots<'_> {
    type Item = (usize, u64);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u64)> {
        if self.rest.is_empty() {
            return None;
        }
        let Some((number, rest)) = number(self.rest) else {
            self.problem = Some("ends within a count");
            return None;
        };
        // The lowest bit is the sign: a negative number skips that many slots. Branchless, as signs can't be predicted.
        let (size, skips) = (number >> 1, 0_u64.wrapping_sub(number & 1));
        let next = self.slot as u64 + 1 + (size & skips);
        if next > histogram::SLOTS as u64 {
            self.problem = Some("has too many counts");
            return None;
        }
        self.rest = rest;
        Some((std::mem::replace(&mut self.slot, next as usize), size & !skips))
    }
}

fn broken(what: impl Into<String>) -> HistogramError {
    HistogramError::Encoding(what.into())
}

impl Scratch {
    /// The encoded counts of a text. Refuses a histogram that claims to be larger than this layout without reading it further.
    fn counts(&mut self, text: &str) -> Result<&[u8], HistogramError> {
        let Self { inflate, compressed, plain } = self;
        compressed.clear();
        STANDARD.decode_vec(text, compressed)?;
        plain.clear();
        inflate.reset(true);
        let body = compressed.get(FRAME..).unwrap_or_default();
        // Stops at the end of the stream or of the buffer.
        let read = inflate.decompress_vec(body, plain, FlushDecompress::Finish);
        read.map_err(|error| broken(format!("no DEFLATE: {error}")))?;
        let Some((header, counts)) = plain.split_at_checked(HEADER) else {
            return Err(broken("no DEFLATE: it is cut short"));
        };
        if word(compressed, 0) & !WORD_SIZE != COMPRESSED || word(header, 0) & !WORD_SIZE != PLAIN {
            return Err(broken("unknown magic number"));
        }
        let size = word(header, 4) as usize;
        if size > LARGEST {
            return Err(broken(format!("claims {size} bytes of at most {LARGEST}")));
        }
        let [low, high] =
            [16, 24].map(|at| u64::from(word(header, at)) << 32 | u64::from(word(header, at + 4)));
        let digits = u8::try_from(word(header, 12)).unwrap_or(u8::MAX);
        if (low, high, digits) != (Histogram::LOWEST, Histogram::HIGHEST, Histogram::DIGITS) {
            return Err(HistogramError::Layout { low, high, digits });
        }
        let counts = counts.get(..size).filter(|_| word(header, 8) == 0);
        counts.ok_or_else(|| broken("is cut short or shifted"))
    }
}

/// Four bytes as a big-endian number. 0 beyond the end.
fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_be_bytes)
}

/// Splits off the bits of the next number.
#[inline(always)]
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        // Most counts are below 64.
        [byte, rest @ ..] if *byte < 0x80 => Some((u64::from(*byte), rest)),
        _ => long_number(bytes),
    }
}

/// Seven bits per byte, lowest first; the ninth byte has eight.
fn long_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        let all = at == 8;
        number |= u64::from(if all { *byte } else { byte & 0x7f }) << (7 * at);
        if all || byte & 0x80 == 0 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}
