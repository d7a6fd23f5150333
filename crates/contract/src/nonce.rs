//! Bytes that make the request of each call unique.

/// Length of a full nonce, bytes.
pub const NONCE_BYTES: usize = 8;

/// The nonce of call `number`: eight hexadecimal digits, written as `@` for 0 and `A` to `O` for 1 to 15, which no text format
/// escapes. The reply must contain it, so a cached reply of another call is wrong.
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
