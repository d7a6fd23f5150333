//! A memo of the last head, which avoids parsing it again.

use std::ops::Range;

use super::head::{Framing, Head, length};

/// The last head with a status from 200 to 299. A head that differs only in the digits of its Content-Length has the same
/// meaning. A head with another date is parsed again, once a second.
#[derive(Debug, Default)]
pub(super) struct Known {
    bytes: Vec<u8>,
    /// Range of these digits in `bytes`; past the end if absent.
    digits: Range<usize>,
    head: Option<Head>,
}

impl Known {
    /// If `bytes` begin with the known head: its meaning and its length.
    #[inline]
    pub fn recognise(&self, bytes: &[u8]) -> Option<(Head, usize)> {
        let head = self.head?;
        let rest = bytes.strip_prefix(&self.bytes[..self.digits.start])?;
        let (framing, rest) = match head.framing {
            Framing::Length(_) if !self.digits.is_empty() => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                (Framing::Length(length(&rest[..digits]).ok()?), &rest[digits..])
            }
            other => (other, rest),
        };
        let rest = rest.strip_prefix(&self.bytes[self.digits.end..])?;
        Some((Head { framing, ..head }, bytes.len() - rest.len()))
    }

    /// Remembers the head of a success, unless its Content-Length is not that of its body.
    pub fn learn(&mut self, bytes: &[u8], head: Head, digits: Option<Range<usize>>) {
        if head.status / 100 != 2 || head.status == 204 && digits.is_some() {
            return;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.digits = digits.unwrap_or(bytes.len()..bytes.len());
        self.head = Some(head);
    }

    /// Memory held, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn footprint(&self) -> usize {
        self.bytes.capacity()
    }
}
