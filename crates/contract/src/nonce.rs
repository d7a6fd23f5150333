//! Bytes of a request that belong to its call alone.

/// Bytes of a whole nonce.
pub const NONCE_BYTES: usize = 8;

/// What call `number` writes into its request: eight digits to the base 16, `@` for 0 and `A` to `O` for 1 to 15, which
/// no text format escapes. It comes back with the reply, so a remembered reply fits no other call.
#[must_use]
pub fn nonce(number: u32) -> [u8; NONCE_BYTES] {
    std::array::from_fn(|at| b'@' | (number >> (28 - 4 * at)) as u8 & 0xf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_letters_that_no_format_escapes() {
        assert_eq!(&nonce(0x0123_abcf), b"@ABCJKLO");
    }
}
