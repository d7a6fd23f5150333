//! Values of figures, and their units.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::format;

/// What a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Milliseconds,
    Seconds,
    /// Things per second.
    PerSecond,
    Bytes,
    /// A share of one.
    Share,
    Count,
    Word,
    /// Yes or no.
    Flag,
}

impl Unit {
    /// Its name, for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::PerSecond => "1/s",
            Self::Bytes => "bytes",
            Self::Share => "share of 1",
            Self::Count => "count",
            Self::Word => "text",
            Self::Flag => "true or false",
        }
    }

    /// Its type in JSON Schema.
    pub(crate) fn json_type(self) -> &'static str {
        match self {
            Self::Nanoseconds | Self::Milliseconds | Self::Seconds => "number",
            Self::PerSecond | Self::Share => "number",
            Self::Bytes | Self::Count => "integer",
            Self::Word => "string",
            Self::Flag => "boolean",
        }
    }

    /// Whether it is a number, and so right-aligned in a table.
    pub(crate) fn is_number(self) -> bool {
        !matches!(self, Self::Word | Self::Flag)
    }

    /// A value as people read it.
    pub(crate) fn show(self, value: &Value) -> String {
        let number = match value {
            Value::Word(word) => return word.clone(),
            Value::Flag(flag) => return if *flag { "yes" } else { "no" }.to_owned(),
            Value::Whole(whole) => *whole as f64,
            Value::Number(number) => *number,
        };
        match self {
            Self::Nanoseconds => format::duration_ns(number),
            Self::Milliseconds => format::duration_ns(number * 1e6),
            Self::Seconds => format::duration_ns(number * 1e9),
            Self::PerSecond => format::si(number),
            Self::Bytes => format::bytes(number as u64),
            Self::Share => format::percent(number),
            Self::Count | Self::Word | Self::Flag => format::count(number as u64),
        }
    }
}

/// The value of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Word(String),
    Whole(u64),
    Number(f64),
    Flag(bool),
}

/// A known value.
pub(crate) fn some(value: impl Into<Value>) -> Option<Value> {
    Some(value.into())
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(whole: u64) -> Self {
        Self::Whole(whole)
    }
}

impl From<u32> for Value {
    fn from(whole: u32) -> Self {
        Self::Whole(u64::from(whole))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<&String> for Value {
    fn from(word: &String) -> Self {
        Self::Word(word.clone())
    }
}

impl From<String> for Value {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => to.serialize_str(word),
            Self::Whole(whole) => to.serialize_u64(*whole),
            Self::Number(number) => to.serialize_f64(*number),
            Self::Flag(flag) => to.serialize_bool(*flag),
        }
    }
}

/// A row: keys and values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values(pub(crate) Vec<(&'static str, Option<Value>)>);

impl Values {
    /// The values alone, for a line of CSV.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Option<Value>> {
        self.0.iter().map(|(_, value)| value)
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
