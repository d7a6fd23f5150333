//! Compares our decoder of header blocks with another one.

use super::Steps;
use crate::protocol::http2::HpackError;
use crate::protocol::http2::hpack::Decoder;

/// The size of both tables, and the largest allowed update, bytes.
const TABLE: usize = 4096;
/// Our limit on the size of a list, bytes.
const LIST: usize = 64 * 1024;

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Feeds header blocks to two decoders: both read the same fields from a block, or both refuse it. Known differences:
/// - an update of the table's size after the first field is an error with us (RFC 7541, section 4.2);
///   the other one takes it, unless it comes last;
/// - the other one refuses a block of updates only, because each of them comes last; it is empty with us;
/// - a list past 64 KiB is an error with us.
///
/// # Panics
/// If they differ in anything else.
pub fn hpack(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let mut ours = Decoder::new();
    let mut theirs = loona_hpack::Decoder::new();
    theirs.set_max_allowed_table_size(TABLE);
    while let Some(length) = steps.byte() {
        // Blocks of all lengths, mostly short.
        let length = if length < 0xf0 { length.into() } else { usize::from(length & 0xf) << 9 };
        let block = steps.bytes(length);
        let mut fields = Fields::new();
        let read = ours.decode(block, |f| fields.push((f.name.to_vec(), f.value.to_vec())));
        let (table, _) = ours.footprint();
        assert!(table <= TABLE);
        let same = match (read, theirs.decode(block)) {
            (Ok(()), Ok(expected)) => fields == expected,
            (Ok(()), Err(loona_hpack::decoder::DecoderError::SizeUpdateAtEnd)) => {
                assert!(fields.is_empty() && !block.is_empty());
                return;
            }
            (Ok(()), Err(error)) => panic!("they refuse what we read as {fields:?}: {error}"),
            (Err(HpackError::TableSize(size)), theirs) if size <= TABLE => {
                !fields.is_empty() && theirs.map_or(true, |all| all.starts_with(&fields))
            }
            (Err(HpackError::TooLarge(_)), Ok(all)) => list_bytes(&all) > LIST,
            (Err(HpackError::TooLarge(_)), Err(_)) => true, // The other one continued, and found a later error.
            (Err(error), Ok(all)) => panic!("{error}, but they read {all:?}"),
            (Err(_), Err(_)) => true,
        };
        assert!(same, "{fields:?}");
        if read.is_err() {
            return;
        }
    }
}

fn list_bytes(fields: &Fields) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
}
