//! Encoded values in replies, and the literals they are compared with.

use std::fmt;

use super::json;

/// Characters shown of a text.
const MAX_SHOWN: usize = 80;

/// A value in a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Missing,
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f32),
    Double(f64),
    /// A JSON number, as written.
    Number(&'a str),
    /// A protobuf string, or bytes.
    Bytes(&'a [u8]),
    /// A JSON string, with its escapes, without quotes.
    Escaped(&'a str),
    /// A message, an object or a list.
    Composite,
}

/// What to compare a value with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i128),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Literal {
    /// # Errors
    /// Never; expectations of messages can fail.
    pub fn of_json(value: &serde_json::Value) -> Result<Self, String> {
        Ok(match value {
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::String(text) => Self::Text(text.clone()),
            serde_json::Value::Number(number) => Self::of_number(number),
            _ => Self::Null,
        })
    }

    pub fn of_number(number: &serde_json::Number) -> Self {
        let int = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
        int.map_or_else(|| Self::Double(number.as_f64().unwrap_or(f64::NAN)), Self::Int)
    }

    fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(int) => Some(*int as f64),
            Self::Double(double) => Some(*double),
            _ => None,
        }
    }
}

impl Value<'_> {
    #[inline(always)]
    pub fn equals(&self, literal: &Literal) -> bool {
        match (*self, literal) {
            (Self::Null, Literal::Null) => true,
            (Self::Bool(value), Literal::Bool(expected)) => value == *expected,
            (Self::Int(value), Literal::Int(expected)) => i128::from(value) == *expected,
            (Self::Uint(value), Literal::Int(expected)) => i128::from(value) == *expected,
            (Self::Float(value), literal) => literal.as_f64().is_some_and(|it| it as f32 == value),
            (Self::Double(value), literal) => literal.as_f64() == Some(value),
            (Self::Number(text), Literal::Int(expected)) => match text.parse::<i128>() {
                Ok(value) => value == *expected,
                Err(_) => text.parse() == Ok(*expected as f64),
            },
            (Self::Number(text), Literal::Double(expected)) => text.parse() == Ok(*expected),
            (Self::Escaped(text), Literal::Text(expected)) => json::is_text(text, expected),
            (Self::Bytes(bytes), Literal::Text(expected)) => bytes == expected.as_bytes(),
            (Self::Bytes(bytes), Literal::Bytes(expected)) => bytes == expected,
            _ => false,
        }
    }

    /// True for the value of a field that is not set, if its type can't tell the two apart.
    pub fn is_default(&self) -> bool {
        match *self {
            Self::Missing => true,
            Self::Bool(value) => !value,
            Self::Int(value) => value == 0,
            Self::Uint(value) => value == 0,
            Self::Float(value) => value.to_bits() == 0,
            Self::Double(value) => value.to_bits() == 0,
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Null | Self::Number(_) | Self::Escaped(_) | Self::Composite => false,
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Missing => f.write_str("missing"),
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Double(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(&start(text)),
            Self::Escaped(text) => write!(f, "\"{}\"", start(text)),
            Self::Bytes(bytes) => write!(f, "\"{}\"", start(&String::from_utf8_lossy(bytes))),
            Self::Composite => f.write_str("a message, an object or a list"),
        }
    }
}

fn start(text: &str) -> String {
    let start: String = text.chars().take(MAX_SHOWN).collect();
    if start.len() < text.len() { format!("{start}...") } else { start }
}
