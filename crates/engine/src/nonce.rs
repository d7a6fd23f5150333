//! Bytes that make each call's request unique.

/// The digits are `@` and `A` to `O`; the low four bits of each are its value.
const ZEROS: u64 = 0x4040_4040_4040_4040;

/// A number unique among the calls with the same request. Its digits are written into the request and returned in the reply,
/// so a remembered reply fits no other call.
///
/// The digits are base 16, `@` and `A` to `O`: no text format escapes them, and a few shifts make all eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nonce(u32);

/// All digits of a nonce, the highest first.
pub(crate) type Digits = [u8; Nonce::DIGITS];

impl Nonce {
    /// Digits of a nonce, a byte each.
    pub const DIGITS: usize = 8;

    /// The nonce of a number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The nonce plus `step`; wraps around.
    #[inline]
    pub const fn plus(self, step: u32) -> Self {
        Self(self.0.wrapping_add(step))
    }

    pub const fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub const fn digits(self) -> Digits {
        // Half the number moves up, then half of each half, until each digit has a byte.
        let mut digits = self.0 as u64;
        digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff;
        digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff;
        digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        (digits | ZEROS).to_be_bytes()
    }
}

/// Writes the last digits, as many as fit `place`.
///
/// # Panics
/// If `place` has more than [`Nonce::DIGITS`] bytes.
#[inline(always)]
pub(crate) fn put(digits: &Digits, place: &mut [u8]) {
    match <&mut Digits>::try_from(&mut *place) {
        Ok(place) => *place = *digits,
        Err(_) => place.copy_from_slice(&digits[Nonce::DIGITS - place.len()..]),
    }
}

/// Converts nonces to digits. Keeps the last result, since most nonces repeat the previous one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NonceWriter {
    last: Nonce,
    digits: Digits,
}

impl Default for NonceWriter {
    fn default() -> Self {
        Self { last: Nonce::default(), digits: Nonce::default().digits() }
    }
}

impl NonceWriter {
    #[inline]
    pub fn digits(&mut self, nonce: Nonce) -> &Digits {
        if nonce != self.last {
            *self = Self { last: nonce, digits: nonce.digits() };
        }
        &self.digits
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
            put(&Nonce::new(number).digits(), &mut place);
            prop_assert_eq!(&place[..], &expected[Nonce::DIGITS - length..]);
        }

        #[test]
        fn writer_digits_equal_those_of_the_nonce(numbers: Vec<u8>) {
            let mut writer = NonceWriter::default();
            for number in numbers {
                let nonce = Nonce::new(u32::from(number % 4));
                prop_assert_eq!(*writer.digits(nonce), nonce.digits());
            }
        }

        #[test]
        fn counting_is_adding(number: u32, step: u32) {
            let sum = Nonce::new(number).plus(step);
            prop_assert_eq!(sum, Nonce::new(number.wrapping_add(step)));
        }
    }
}
