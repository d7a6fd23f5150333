//! Bytes of a request that are its call's own.

/// A number that no other call of a run has. It is written into the request in hexadecimal digits, and comes back with
/// the reply, so that a reply which is remembered is the reply to no other call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nonce(pub u64);

impl Nonce {
    /// Digits of a nonce; bytes.
    pub const DIGITS: usize = 16;

    /// All digits, the highest first.
    #[inline]
    #[must_use]
    pub fn digits(self) -> [u8; Self::DIGITS] {
        let mut digits = [0; Self::DIGITS];
        let (high, low) = digits.split_at_mut(8);
        high.copy_from_slice(&hexadecimal((self.0 >> 32) as u32));
        low.copy_from_slice(&hexadecimal(self.0 as u32));
        digits
    }

    /// Writes as many of the last digits as `place` has bytes.
    ///
    /// # Panics
    /// Where `place` has more than [`Self::DIGITS`] bytes.
    #[inline]
    pub fn write(self, place: &mut [u8]) {
        let digits = self.digits();
        match <&mut [u8; Self::DIGITS]>::try_from(&mut *place) {
            Ok(place) => *place = digits,
            Err(_) => place.copy_from_slice(&digits[Self::DIGITS - place.len()..]),
        }
    }
}

/// Eight digits at once: each half of a byte gets a byte, and those above 9 are moved up to the letters.
#[inline]
fn hexadecimal(number: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut halves = u64::from(number);
    halves = (halves | halves << 16) & 0x0000_ffff_0000_ffff;
    halves = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff;
    halves = (halves | halves << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = (halves + 6 * ONES) >> 4 & ONES;
    (halves + u64::from(b'0') * ONES + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_are_those_of_the_standard_library(number: u64, length in 0..=Nonce::DIGITS) {
            let expected = format!("{number:016x}");
            prop_assert_eq!(&Nonce(number).digits(), expected.as_bytes());
            let mut place = vec![b'?'; length];
            Nonce(number).write(&mut place);
            prop_assert_eq!(&place, &expected.as_bytes()[Nonce::DIGITS - length..]);
        }
    }
}
