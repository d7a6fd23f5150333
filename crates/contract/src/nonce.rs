//! Bytes of a request that are its call's own.

/// The digits are `@`, `A` to `O`: their lower halves are their values.
const ZEROS: u64 = 0x4040_4040_4040_4040;

/// A number that no other call with the same request has. It is written into the request in 8 digits, and comes back with
/// the reply, so that a reply which is remembered is the reply to no other call.
///
/// Its digits are base 16, `@` and `A` to `O`: no text format escapes them, and a few shifts make all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nonce(u32);

impl Nonce {
    /// Digits of a nonce; bytes.
    pub const DIGITS: usize = 8;

    /// The nonce of a number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The nonce that is `step` further on. After the highest number comes 0.
    #[inline]
    #[must_use]
    pub const fn plus(self, step: u32) -> Self {
        Self(self.0.wrapping_add(step))
    }

    /// All digits, the highest first.
    #[inline]
    #[must_use]
    pub const fn digits(self) -> [u8; Self::DIGITS] {
        // Half the number moves up, then half of each half, until each digit has a byte of its own.
        let mut digits = self.0 as u64;
        digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff;
        digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff;
        digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        (digits | ZEROS).to_be_bytes()
    }

    /// Writes as many of the last digits as `place` has bytes.
    ///
    /// # Panics
    /// Where `place` has more than [`Self::DIGITS`] bytes.
    #[inline]
    pub fn write(self, place: &mut [u8]) {
        put(&self.digits(), place);
    }
}

#[inline]
fn put(digits: &[u8; Nonce::DIGITS], place: &mut [u8]) {
    match <&mut [u8; Nonce::DIGITS]>::try_from(&mut *place) {
        Ok(place) => *place = *digits,
        Err(_) => place.copy_from_slice(&digits[Nonce::DIGITS - place.len()..]),
    }
}

/// Writes nonces, each of which is mostly the one before: it keeps the digits of that.
#[derive(Clone, Copy, Debug)]
pub struct NonceWriter {
    last: Nonce,
    digits: [u8; Nonce::DIGITS],
}

impl Default for NonceWriter {
    fn default() -> Self {
        Self { last: Nonce::default(), digits: Nonce::default().digits() }
    }
}

impl NonceWriter {
    /// Does what [`Nonce::write`] does.
    ///
    /// # Panics
    /// As that does.
    #[inline]
    pub fn write(&mut self, nonce: Nonce, place: &mut [u8]) {
        if nonce != self.last {
            *self = Self { last: nonce, digits: nonce.digits() };
        }
        put(&self.digits, place);
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
        }

        #[test]
        fn a_writer_writes_each_nonce_as_it_is(numbers: Vec<u8>, length in 0..=Nonce::DIGITS) {
            let mut writer = NonceWriter::default();
            for number in numbers {
                let nonce = Nonce::new(u32::from(number % 4));
                let (mut place, mut expected) = (vec![b'?'; length], vec![b'?'; length]);
                writer.write(nonce, &mut place);
                nonce.write(&mut expected);
                prop_assert_eq!(place, expected);
            }
        }

        #[test]
        fn counting_is_adding(number: u32, step: u32) {
            let sum = Nonce::new(number).plus(step);
            prop_assert_eq!(sum, Nonce::new(number.wrapping_add(step)));
        }
    }
}
