//! Header blocks of replies, and a memo that avoids decoding them again.

use super::HpackError;
use super::application::{Head, Http2Application};
use super::hpack::{Decoder, Field};

/// The last block of its kind, and the state of the table when it was decoded.
#[derive(Debug, Default)]
struct Memo<H> {
    valid: bool,
    /// True if it is half of a plain success.
    success: bool,
    block: Vec<u8>,
    generation: u64,
    head: H,
}

/// The blocks of a plain success, and the content of its headers.
#[derive(Debug)]
pub(crate) struct Plain<'a, H> {
    pub headers: &'a [u8],
    pub head: &'a H,
    /// Unused if a success has no trailers.
    pub trailers: &'a [u8],
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
        Self { decoder: Decoder::new(), headers: Memo::default(), trailers: Memo::default() }
    }

    /// Decodes a block; `last`: the stream ends with it. `see` gets its fields, unless they are known.
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
        }
        Ok(&memo.head)
    }

    /// The blocks of a plain success, if the last ones decoded are such and the table has not changed since.
    #[inline]
    pub fn plain(&self) -> Option<Plain<'_, C::Head>> {
        let (headers, trailers) = (&self.headers, &self.trailers);
        let now = self.decoder.generation();
        let current = |memo: &Memo<C::Head>| memo.success && memo.generation == now;
        (current(headers) && (!C::TRAILERS || current(trailers))).then_some(Plain {
            headers: &headers.block,
            head: &headers.head,
            trailers: &trailers.block,
        })
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
        self.block.clear();
        (self.valid, self.success) = (false, false);
        decoder.decode(block, |field| {
            see(&field);
            self.head.take(field);
        })?;
        // A block that changed the table has another meaning the next time.
        self.valid = decoder.generation() == before;
        self.success = self.valid && self.head.is_success(last);
        self.generation = before;
        self.block.extend_from_slice(block);
        Ok(())
    }
}
