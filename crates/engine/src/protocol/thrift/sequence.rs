//! Sequence ids of calls.

/// The lowest id with four bytes as a varint, as in the compact protocol: all ids have one width, so they can be patched.
const FIRST: u32 = 1 << 21;
/// The lowest id with five bytes.
const END: u32 = 1 << 28;

/// Sequence id of a connection's call with this number, counted from 0. Ids repeat only after all are used.
#[inline]
pub(crate) fn id(number: u64) -> u32 {
    FIRST + (number % u64::from(END - FIRST)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_take_four_bytes_and_wrap_around() {
        assert_eq!((id(0), id(1)), (2_097_152, 2_097_153));
        let last = u64::from(END - FIRST) - 1;
        assert_eq!((id(last), id(last + 1)), (END - 1, FIRST));
    }
}
