//! Values of figures, and their units.

use serde::ser::{Serialize, Serializer};
pub(crate) use serde_json::Value;

use crate::format;

/// What a figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Milliseconds,
    Seconds,
    /// Events per second.
    PerSecond,
    Bytes,
    /// A share of one.
    Share,
    /// A count per count, such as records per reply.
    Ratio,
    Count,
    /// Money, in the currency of the price.
    Money,
    Word,
    Flag,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::PerSecond => "1/s",
            Self::Bytes => "bytes",
            Self::Share => "share of 1",
            Self::Ratio => "ratio",
            Self::Count => "count",
            Self::Money => "money",
            Self::Word => "text",
            Self::Flag => "true or false",
        }
    }

    pub(crate) fn json_type(self) -> &'static str {
        match self {
            Self::Nanoseconds | Self::Milliseconds | Self::Seconds => "number",
            Self::PerSecond | Self::Share | Self::Ratio | Self::Money => "number",
            Self::Bytes | Self::Count => "integer",
            Self::Word => "string",
            Self::Flag => "boolean",
        }
    }

    /// True for numbers, which tables align right.
    pub(crate) fn is_number(self) -> bool {
        !matches!(self, Self::Word | Self::Flag)
    }

    /// Formats a value for people.
    pub(crate) fn show(self, value: &Value) -> String {
        self.show_near(value, &[])
    }

    /// The same next to limits in the unit.
    pub(crate) fn show_near(self, value: &Value, limits: &[f64]) -> String {
        let number = match value {
            Value::String(word) => return word.clone(),
            Value::Bool(flag) => return if *flag { "yes" } else { "no" }.to_owned(),
            number => number.as_f64().unwrap_or(f64::NAN),
        };
        match self {
            Self::Nanoseconds => format::duration_ns(number),
            Self::Milliseconds => format::duration_ns(number * 1e6),
            Self::Seconds => format::duration_ns(number * 1e9),
            Self::PerSecond => format::si_near(number, limits),
            Self::Money => format::money(number),
            Self::Bytes => format::bytes(number as u64),
            Self::Share => format::percent_near(number, limits),
            Self::Ratio => format!("{number:.2}"),
            Self::Count | Self::Word | Self::Flag => format::count(number as u64),
        }
    }
}

pub(crate) fn some(value: impl Into<Value>) -> Option<Value> {
    Some(value.into())
}

/// A row: keys and values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values(pub(crate) Vec<(&'static str, Option<Value>)>);

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
