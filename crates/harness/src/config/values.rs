//! Values with a unit or a range, written the same way in files and on the command line.

use std::str::FromStr;
use std::time::Duration;

use rpcbench_record::units::{self, ParseError};

/// Implements `Deserialize` by `FromStr`.
macro_rules! from_text {
    ($($name:ty),+ $(,)?) => {
        $(impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(reader)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        })+
    };
}
pub(crate) use from_text;

/// A number of things, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u32);

/// A number of calls, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Calls(pub u64);

/// A length of time, possibly zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Length(pub Duration);

/// A length of time, at least a millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NonZeroLength(Duration);

/// A share of a whole, as a fraction between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// Memory for a server, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory(pub u64);

from_text!(Length);

impl Length {
    /// No time.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// Milliseconds.
    pub fn ms(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }
}

impl NonZeroLength {
    /// Milliseconds.
    pub fn ms(self) -> u64 {
        Length(self.0).ms()
    }
}

impl From<NonZeroLength> for Length {
    fn from(length: NonZeroLength) -> Self {
        Self(length.0)
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        whole(text, u32::MAX.into()).map(|number| Self(u32::try_from(number).unwrap_or(u32::MAX)))
    }
}

impl FromStr for Calls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let multiple = units::rate(text).filter(|calls| calls.fract() == 0.0 && *calls >= 1.0);
        match (text.parse(), multiple) {
            (Ok(0), _) => Err("must be more than zero".to_owned()),
            (Ok(number), _) => Ok(Self(number)),
            // Exact below 2^53; no load makes more calls.
            (Err(_), Some(calls)) if calls < 9e15 => Ok(Self(calls as u64)),
            _ => Err("must be a whole number from 1, such as 500, 20k or 1M".to_owned()),
        }
    }
}

fn whole(text: &str, largest: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("must be more than zero".to_owned()),
        Ok(number) if number <= largest => Ok(number),
        _ => Err(format!("must be a whole number from 1 to {largest}")),
    }
}

impl FromStr for Length {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        units::duration(text).map(Self)
    }
}

impl FromStr for NonZeroLength {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let length = units::duration(text).map_err(|error| error.to_string())?;
        match u64::try_from(length.as_millis()) {
            Ok(0) => Err("must be at least 1ms".to_owned()),
            Ok(_) => Ok(Self(length)),
            Err(_) => Err("is longer than any run can be".to_owned()),
        }
    }
}

impl FromStr for Share {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        units::share(text).map(Self)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// Smaller sizes are typos.
        const MIN: u64 = 1 << 20;
        match units::memory(text) {
            Ok(bytes) if bytes < MIN => Err(format!(
                "no server starts in {}; write a number and a unit, such as 512M or 2G",
                units::bytes(bytes)
            )),
            read => read.map(Self).map_err(|error| error.to_string()),
        }
    }
}
