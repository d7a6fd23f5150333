//! The memory that spares reading a head that has come before.

use std::ops::Range;

use super::head::{Framing, Head, length};

/// The last head of a success. A head that differs from it in the number of its Content-Length alone says the same.
/// A head with another date is parsed again: that happens once a second.
#[derive(Debug, Default)]
pub(super) struct Known {
    bytes: Vec<u8>,
    /// Where the number is in `bytes`; past their end if absent.
    digits: Range<usize>,
    head: Option<Head>,
}

impl Known {
    /// What `bytes` begin with, if that is the head that is known, and how long it is.
    #[inline]
    pub fn recognise(&self, bytes: &[u8]) -> Option<(Head, usize)> {
        let head = self.head?;
        let rest = bytes.strip_prefix(&self.bytes[..self.digits.start])?;
        let (framing, rest) = match head.framing {
            Framing::Length(_) => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                (Framing::Length(length(&rest[..digits]).ok()?), &rest[digits..])
            }
            other => (other, rest),
        };
        let rest = rest.strip_prefix(&self.bytes[self.digits.end..])?;
        Some((Head { framing, ..head }, bytes.len() - rest.len()))
    }

    /// Remembers a head, if it is that of a success.
    pub fn learn(&mut self, bytes: &[u8], head: Head, digits: Option<Range<usize>>) {
        if head.status != 200 {
            return;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.digits = digits.unwrap_or(bytes.len()..bytes.len());
        self.head = Some(head);
    }

    /// Room taken, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn footprint(&self) -> usize {
        self.bytes.capacity()
    }
}
