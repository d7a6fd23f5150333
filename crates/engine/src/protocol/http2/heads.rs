//! Header blocks of replies, and a memo that avoids decoding them again.

use super::HpackError;
use super::application::{Head, Http2Application};
use super::frame;
use super::hpack::{Decoder, Field};

/// A form that no frame has.
const NO_FORM: u64 = u64::MAX;

/// The last block of its kind, and the state of the table when it was decoded.
#[derive(Debug)]
struct Memo<H> {
    /// Form of a frame with this block, if it belongs to a plain success and may be compared.
    form: u64,
    valid: bool,
    /// True if it belongs to a plain success.
    success: bool,
    block: Vec<u8>,
    generation: u64,
    head: H,
}

/// Decodes header blocks, most of them by comparing bytes.
#[derive(Debug)]
pub(crate) struct HeadReader<C: Http2Application> {
    decoder: Decoder,
    headers: Memo<C::Head>,
    trailers: Memo<C::Head>,
}

impl<C: Http2Application> HeadReader<C> {
    pub fn new() -> Self {
        Self { decoder: Decoder::new(), headers: Memo::new(), trailers: Memo::new() }
    }

    /// Decodes a block; `last` if it ends the stream. `see` gets its fields, unless the block is known.
    #[inline]
    pub fn read(
        &mut self,
        block: &[u8],
        last: bool,
        see: impl FnMut(&Field<'_>),
    ) -> Result<&C::Head, HpackError> {
        let memo = if last { &mut self.trailers } else { &mut self.headers };
        let known = memo.valid && memo.generation == self.decoder.generation();
        if !known || memo.block != block {
            memo.decode(&mut self.decoder, block, last, see)?;
            self.set_forms();
        }
        Ok(if last { &self.trailers.head } else { &self.headers.head })
    }

    /// Allows comparing frames if the last blocks decoded are a plain success and the table has not changed since.
    #[cold]
    fn set_forms(&mut self) {
        let now = self.decoder.generation();
        let current = |memo: &Memo<C::Head>| memo.success && memo.generation == now;
        let all = current(&self.headers) && (!C::TRAILERS || current(&self.trailers));
        for (memo, flags) in
            [(&mut self.headers, frame::END_HEADERS), (&mut self.trailers, frame::LAST_HEADERS)]
        {
            let form = frame::form(memo.block.len(), frame::HEADERS, flags);
            memo.form = if all { form } else { NO_FORM };
        }
    }

    /// The bytes after the first frame, if it has the headers of a plain success.
    #[inline]
    pub fn after_headers<'a>(&self, head: frame::Head, bytes: &'a [u8]) -> Option<&'a [u8]> {
        self.headers.after(head, bytes)
    }

    /// Same for the trailers of a plain success, if it has any.
    #[inline]
    pub fn after_trailers<'a>(&self, head: frame::Head, bytes: &'a [u8]) -> Option<&'a [u8]> {
        self.trailers.after(head, bytes)
    }

    /// The content of the last headers.
    #[inline]
    pub fn last_headers(&self) -> &C::Head {
        &self.headers.head
    }

    /// Size of the table, and other memory held, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn footprint(&self) -> (usize, usize) {
        let (table, scratch) = self.decoder.footprint();
        let memos = [&self.headers, &self.trailers];
        let remembered = memos.map(|memo| memo.block.capacity() + memo.head.room());
        (table, scratch + remembered[0] + remembered[1])
    }

    /// Changes whenever the meaning of an index may have changed.
    #[cfg(test)]
    pub fn generation(&self) -> u64 {
        self.decoder.generation()
    }
}

impl<H: Head> Memo<H> {
    fn new() -> Self {
        let (valid, success, block) = (false, false, Vec::new());
        Self { form: NO_FORM, valid, success, block, generation: 0, head: H::default() }
    }

    /// The bytes after the first frame, if it is one with this block.
    #[inline(always)]
    fn after<'a>(&self, head: frame::Head, bytes: &'a [u8]) -> Option<&'a [u8]> {
        if head.form != self.form {
            return None;
        }
        let (found, rest) = bytes[frame::HEADER..].split_at_checked(self.block.len())?;
        equal(found, &self.block).then_some(rest)
    }

    #[cold]
    fn decode(
        &mut self,
        decoder: &mut Decoder,
        block: &[u8],
        last: bool,
        mut see: impl FnMut(&Field<'_>),
    ) -> Result<(), HpackError> {
        let before = decoder.generation();
        self.head = H::default();
        self.form = NO_FORM;
        self.block.clear();
        (self.valid, self.success) = (false, false);
        decoder.decode(block, |field| {
            see(&field);
            self.head.take(field);
        })?;
        // A block that changed the table means something else the next time.
        self.valid = decoder.generation() == before;
        self.success = self.valid && self.head.is_success(last);
        self.generation = before;
        self.block.extend_from_slice(block);
        Ok(())
    }
}

/// True if two blocks of the same length are equal. Most are short, and calling `memcmp` costs more than comparing here.
#[inline(always)]
fn equal(a: &[u8], b: &[u8]) -> bool {
    match (a.split_first_chunk::<8>(), b.split_first_chunk::<8>()) {
        (Some((first, rest)), Some((second, other))) => {
            u64::from_ne_bytes(*first) == u64::from_ne_bytes(*second)
                && (rest.is_empty() || rest == other)
        }
        _ => a.iter().zip(b).all(|(a, b)| a == b),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_blocks_and_no_others_are_equal(a in prop::collection::vec(any::<u8>(), 0..40), at in 0_usize..40, bit in 0..8_u32) {
            let mut other = a.clone();
            prop_assert!(equal(&a, &other));
            if let Some(byte) = other.get_mut(at) {
                *byte ^= 1_u8 << bit;
                prop_assert!(!equal(&a, &other));
            }
        }
    }
}
