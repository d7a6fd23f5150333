//! The decoder and its dynamic table.

use std::collections::VecDeque;

use super::static_table::STATIC_TABLE;
use super::{HpackError, huffman};

/// Size of an entry beyond its name and value. RFC 7541, section 4.1.
const ENTRY_OVERHEAD: usize = 32;
/// The initial table size of both sides. RFC 9113, section 6.5.2.
const DEFAULT_TABLE_SIZE: usize = 4096;
/// Largest decoded header list, with the overhead of its entries, bytes.
const MAX_LIST: usize = 64 * 1024;

/// A decoded header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    pub name: &'a [u8],
    pub value: &'a [u8],
}

/// Name and value.
type Entry = (Box<[u8]>, Box<[u8]>);

/// Decodes header blocks. A connection has one, which decodes every block in order.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: VecDeque<Entry>,
    table_bytes: usize,
    table_limit: usize,
    generation: u64,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    pub fn new() -> Self {
        Self {
            table: VecDeque::new(),
            table_bytes: 0,
            table_limit: DEFAULT_TABLE_SIZE,
            generation: 0,
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Size of the table as HPACK counts it, and memory held for decoding, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn footprint(&self) -> (usize, usize) {
        (self.table_bytes, self.name.capacity() + self.value.capacity())
    }

    /// Changes whenever the meaning of an index may have changed.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Decodes a whole block and passes each field to `each`.
    pub fn decode(
        &mut self,
        block: &[u8],
        mut each: impl FnMut(Field<'_>),
    ) -> Result<(), HpackError> {
        let mut input = Input { bytes: block };
        let (mut list_bytes, mut fields) = (0, 0);
        while let Some(first) = input.bytes.first().copied() {
            if first & 0xe0 == 0x20 {
                let size = input.integer(5)?;
                if fields > 0 || size > DEFAULT_TABLE_SIZE {
                    return Err(HpackError::TableSize(size));
                }
                self.resize(size);
                continue;
            }
            fields += 1;
            self.field(first, &mut input)?;
            list_bytes += self.name.len() + self.value.len() + ENTRY_OVERHEAD;
            if list_bytes > MAX_LIST {
                return Err(HpackError::TooLarge(MAX_LIST));
            }
            each(Field { name: &self.name, value: &self.value });
        }
        Ok(())
    }

    /// Reads one field into `name` and `value`.
    fn field(&mut self, first: u8, input: &mut Input<'_>) -> Result<(), HpackError> {
        if first & 0x80 != 0 {
            let index = input.integer(7)?;
            return self.look_up(index, true);
        }
        let insert = first & 0x40 != 0;
        let index = input.integer(if insert { 6 } else { 4 })?;
        if index == 0 {
            input.string(&mut self.name)?;
        } else {
            self.look_up(index, false)?;
        }
        input.string(&mut self.value)?;
        if insert {
            self.insert();
        }
        Ok(())
    }

    fn look_up(&mut self, index: usize, with_value: bool) -> Result<(), HpackError> {
        let unknown = HpackError::Index(index);
        let position = index.checked_sub(1).ok_or(unknown)?;
        let (name, value): (&[u8], &[u8]) = match STATIC_TABLE.get(position) {
            Some(entry) => *entry,
            None => {
                let entry = self.table.get(position - STATIC_TABLE.len()).ok_or(unknown)?;
                (&entry.0, &entry.1)
            }
        };
        self.name.clear();
        self.name.extend_from_slice(name);
        if with_value {
            self.value.clear();
            self.value.extend_from_slice(value);
        }
        Ok(())
    }

    fn insert(&mut self) {
        self.generation += 1;
        let bytes = self.name.len() + self.value.len() + ENTRY_OVERHEAD;
        self.evict_to(self.table_limit.saturating_sub(bytes));
        if bytes <= self.table_limit {
            self.table.push_front((self.name.as_slice().into(), self.value.as_slice().into()));
            self.table_bytes += bytes;
        }
    }

    fn resize(&mut self, limit: usize) {
        self.generation += 1;
        self.table_limit = limit;
        self.evict_to(limit);
    }

    fn evict_to(&mut self, limit: usize) {
        while self.table_bytes > limit {
            let Some((name, value)) = self.table.pop_back() else { return };
            self.table_bytes -= name.len() + value.len() + ENTRY_OVERHEAD;
        }
    }
}

struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> Result<u8, HpackError> {
        let (first, rest) = self.bytes.split_first().ok_or(HpackError::Truncated)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn integer(&mut self, prefix_bits: u8) -> Result<usize, HpackError> {
        let limit = (1_usize << prefix_bits) - 1;
        let mut value = usize::from(self.byte()?) & limit;
        if value < limit {
            return Ok(value);
        }
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            value += usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(HpackError::Integer)
    }

    fn string(&mut self, out: &mut Vec<u8>) -> Result<(), HpackError> {
        let coded = self.bytes.first().ok_or(HpackError::Truncated)? & 0x80 != 0;
        let length = self.integer(7)?;
        let (text, rest) = self.bytes.split_at_checked(length).ok_or(HpackError::Truncated)?;
        self.bytes = rest;
        out.clear();
        if coded {
            huffman::decode(text, out)
        } else {
            out.extend_from_slice(text);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Owned = Vec<(Vec<u8>, Vec<u8>)>;

    fn ours(decoder: &mut Decoder, block: &[u8]) -> Result<Owned, HpackError> {
        let mut fields = Vec::new();
        decoder.decode(block, |f| fields.push((f.name.to_vec(), f.value.to_vec())))?;
        Ok(fields)
    }

    /// RFC 7541, appendix C.6: responses with Huffman codes in a table of 256 bytes.
    #[test]
    fn decodes_the_examples_of_the_standard() {
        let mut decoder = Decoder::new();
        decoder.resize(256);
        let first = b"\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff\x6e\x91\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\xae\x43\xd3";
        let fields = ours(&mut decoder, first).unwrap();
        assert_eq!(fields[0], (b":status".to_vec(), b"302".to_vec()));
        assert_eq!(fields[2].1, b"Mon, 21 Oct 2013 20:13:21 GMT");
        assert_eq!(decoder.table_bytes, 222);
        let fields = ours(&mut decoder, b"\x48\x83\x64\x0e\xff\xc1\xc0\xbf").unwrap();
        assert_eq!(fields[0], (b":status".to_vec(), b"307".to_vec()));
        assert_eq!(fields[3].1, b"https://www.example.com");
        assert_eq!(decoder.table_bytes, 222);
    }

    #[test]
    fn refuses_invalid_header_blocks() {
        for (block, error) in [
            (&b"\x80"[..], HpackError::Index(0)),
            (b"\xc0", HpackError::Index(64)),
            (b"\x40", HpackError::Truncated),
            (b"\x40\x05ab", HpackError::Truncated),
            (b"\xff\xff\xff\xff\xff\xff", HpackError::Integer),
            (b"\x3f\xe2\x1f", HpackError::TableSize(4097)),
            (b"\x82\x20", HpackError::TableSize(0)),
            (b"\x00\x81\x00\x00", HpackError::Huffman),
        ] {
            assert_eq!(ours(&mut Decoder::new(), block), Err(error), "{block:x?}");
        }
    }

    #[test]
    fn expansion_of_small_blocks_is_bounded() {
        let mut decoder = Decoder::new();
        let mut block = vec![0x40, 1, b'a', 0x7f, 0xa1, 0x1e]; // a value of 4000 bytes
        block.resize(block.len() + 4000, b'x');
        ours(&mut decoder, &block).unwrap();
        assert_eq!(ours(&mut decoder, &[0xbe; 17]), Err(HpackError::TooLarge(MAX_LIST)));
    }

    proptest! {
        #[test]
        fn agrees_with_another_decoder_on_encoded_lists(
            lists in prop::collection::vec(
                prop::collection::vec(("[a-z-]{1,20}", prop::collection::vec(any::<u8>(), 0..60)), 0..12),
                1..8,
            ),
        ) {
            let mut encoder = loona_hpack::Encoder::new();
            let mut decoder = Decoder::new();
            for list in lists {
                let list: Owned = list.into_iter().map(|(n, v)| (n.into_bytes(), v)).collect();
                let block = encoder.encode(list.iter().map(|(n, v)| (n.as_slice(), v.as_slice())));
                prop_assert_eq!(ours(&mut decoder, &block).unwrap(), list);
            }
        }

        #[test]
        fn huffman_agrees_with_another_decoder(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut ours = Vec::new();
            let result = huffman::decode(&bytes, &mut ours);
            let theirs = loona_hpack::huffman::HuffmanDecoder::new().decode(&bytes);
            prop_assert_eq!(result.ok().map(|()| ours), theirs.ok());
        }

        #[test]
        fn arbitrary_bytes_yield_fields_or_an_error(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..6)) {
            let mut decoder = Decoder::new();
            for block in blocks {
                if ours(&mut decoder, &block).is_err() {
                    break;
                }
                prop_assert!(decoder.table_bytes <= DEFAULT_TABLE_SIZE);
            }
        }
    }
}
