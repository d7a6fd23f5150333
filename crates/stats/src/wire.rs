//! Histograms as text: HdrHistogram's V2 encoding, DEFLATE, base64.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use crate::histogram::{self, Histogram};

/// Why a text is not a histogram of this layout.
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

impl Histogram {
    /// The histogram as HdrHistogram V2, compressed, in base64: the text of interval logs and of every
    /// HdrHistogram tool. No count is lost; exact sum, smallest and largest value are not part of the
    /// format.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        // Neither can fail: the bounds are constants, counts of calls stay below 2^63, and memory
        // takes every write.
        let written = exported(self)
            .and_then(|copy| V2DeflateSerializer::new().serialize(&copy, &mut bytes).ok());
        debug_assert!(written.is_some(), "a histogram can always be exported");
        STANDARD.encode(bytes)
    }

    /// Reads what [`to_base64`](Self::to_base64), or any HdrHistogram library, has written with the
    /// same bounds and digits. Counts are exact; the smallest and largest value and the mean are those
    /// of the slots.
    ///
    /// # Errors
    /// Text that is not base64, not HdrHistogram V2, or of another layout.
    pub fn from_base64(text: &str) -> Result<Self, HistogramError> {
        let bytes = STANDARD.decode(text)?;
        claimed_size(&bytes)?;
        let read: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError::Encoding(error.to_string()))?;
        let (low, high, digits) = (read.low(), read.high(), read.sigfig());
        if (low, high, digits) != (Self::LOWEST, Self::HIGHEST, Self::DIGITS) {
            return Err(HistogramError::Layout { low, high, digits });
        }
        let slots =
            read.iter_recorded().map(|slot| (slot.value_iterated_to(), slot.count_at_value()));
        Self::from_slots(slots).ok_or(HistogramError::Count)
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

/// Refuses a histogram that claims to be larger than this layout, as the reader would allocate that much before reading.
fn claimed_size(bytes: &[u8]) -> Result<(), HistogramError> {
    let mut header = [0; 8];
    let mut inner = ZlibDecoder::new(bytes.get(FRAME..).unwrap_or_default());
    inner
        .read_exact(&mut header)
        .map_err(|error| HistogramError::Encoding(format!("no DEFLATE: {error}")))?;
    let [.., a, b, c, d] = header;
    match u32::from_be_bytes([a, b, c, d]) {
        size if size as usize > LARGEST => {
            Err(HistogramError::Encoding(format!("claims {size} bytes of at most {LARGEST}")))
        }
        _ => Ok(()),
    }
}
