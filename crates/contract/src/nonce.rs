//! Bytes of a request that are its call's own.

/// Half a byte of each digit counts; a carry runs through the other half.
const COUNTS: u64 = 0x0f0f_0f0f_0f0f_0f0f;
/// The digits are `@`, `A` to `O`: their lower halves are their values.
const ZEROS: u64 = 0x4040_4040_4040_4040;

/// A number that no other call with the same request has. It is written into the request in 8 digits, and comes back with
/// the reply, so that a reply which is remembered is the reply to no other call.
///
/// It is kept as its digits: base 16 with the digits `@` and `A` to `O`, which no text format escapes, and in which
/// counting takes a few instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce([u8; Self::DIGITS]);

impl Nonce {
    /// Digits of a nonce; bytes.
    pub const DIGITS: usize = 8;

    /// The nonce of a number.
    #[must_use]
    pub fn new(number: u32) -> Self {
        let halves =
            (0..Self::DIGITS).map(|place| u64::from(number >> (4 * place) & 15) << (8 * place));
        Self((halves.sum::<u64>() | ZEROS).to_be_bytes())
    }

    /// The nonce that is `step` further on. After the highest number comes 0.
    #[inline]
    #[must_use]
    pub fn plus(self, step: Self) -> Self {
        let (number, step) = (u64::from_be_bytes(self.0), u64::from_be_bytes(step.0) & COUNTS);
        Self(((number | !COUNTS).wrapping_add(step) & COUNTS | ZEROS).to_be_bytes())
    }

    /// All digits, the highest first.
    #[inline]
    #[must_use]
    pub fn digits(self) -> [u8; Self::DIGITS] {
        self.0
    }

    /// Whether `place` has its last digits.
    ///
    /// # Panics
    /// Where `place` has more than [`Self::DIGITS`] bytes.
    #[inline]
    #[must_use]
    pub fn is(&self, place: &[u8]) -> bool {
        match <&[u8; Self::DIGITS]>::try_from(place) {
            Ok(place) => *place == self.0,
            Err(_) => place == &self.0[Self::DIGITS - place.len()..],
        }
    }

    /// Writes as many of the last digits as `place` has bytes.
    ///
    /// # Panics
    /// Where `place` has more than [`Self::DIGITS`] bytes.
    #[inline]
    pub fn write(&self, place: &mut [u8]) {
        match <&mut [u8; Self::DIGITS]>::try_from(&mut *place) {
            Ok(place) => *place = self.0,
            Err(_) => place.copy_from_slice(&self.0[Self::DIGITS - place.len()..]),
        }
    }
}

impl Default for Nonce {
    fn default() -> Self {
        Self(ZEROS.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_are_those_of_the_number(number: u32, length in 0..=Nonce::DIGITS) {
            let hexadecimal = format!("{number:08x}");
            let value = |digit: char| digit.to_digit(16).unwrap() as u8;
            let expected: Vec<u8> = hexadecimal.chars().map(|digit| b'@' + value(digit)).collect();
            prop_assert_eq!(&Nonce::new(number).digits()[..], &expected[..]);
            let mut place = vec![b'?'; length];
            Nonce::new(number).write(&mut place);
            prop_assert_eq!(&place[..], &expected[Nonce::DIGITS - length..]);
            prop_assert!(Nonce::new(number).is(&place));
            prop_assert_eq!(Nonce::new(!number).is(&place), length == 0);
        }

        #[test]
        fn counting_is_adding(number: u32, step: u32) {
            let sum = Nonce::new(number).plus(Nonce::new(step));
            prop_assert_eq!(sum, Nonce::new(number.wrapping_add(step)));
        }
    }

    #[test]
    fn the_default_is_zero() {
        assert_eq!(Nonce::default(), Nonce::new(0));
    }
}
