//! Compares values and describes the first difference.

use std::collections::BTreeMap;

use super::{Content, Field, Message, Value};
use crate::shape::Shape;

/// Longest value shown in full in messages, characters.
const SHORT: usize = 40;

/// How a reply differs from the right one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The reply is the request, byte for byte: the server did not decode.
    #[error("the reply is the request, byte for byte; decode it and return its content as `echo`")]
    RequestReturned,
    /// The reply is not an encoding of the method's reply type.
    #[error("the reply is not a valid {message}: {reason}")]
    Undecodable {
        /// Full name of the reply type.
        message: String,
        /// Error of the decoder.
        reason: String,
    },
    /// A field has another value.
    #[error("{field}: expected {expected}, got {got}")]
    Field {
        /// Path of the field: `echo.left.tags[1].value`.
        field: String,
        /// The right value, shortened.
        expected: String,
        /// The value in the reply, shortened.
        got: String,
    },
    /// The reply holds a field that its type does not have.
    #[error("{}unknown field {field} in the reply", at(.within))]
    UnknownField {
        /// Path of the message that holds it; empty for the reply itself.
        within: String,
        /// Its number or name, depending on the encoding.
        field: String,
    },
    /// The reply has an encoding that decoders accept and no encoder writes.
    #[error(
        "{field} {how} in the reply, which no encoder writes; decode every level of the request and encode its content again"
    )]
    Redundant {
        /// Path of the field: `echo.left.name`.
        field: String,
        /// What is redundant.
        how: &'static str,
    },
    /// A reply that must equal the request has another byte.
    #[error("byte {at} of the reply: expected 0x{expected:02x}, got 0x{got:02x}")]
    Byte {
        /// Offset of the byte.
        at: usize,
        /// The request's byte.
        expected: u8,
        /// The reply's byte.
        got: u8,
    },
    /// A reply that must equal the request has another length.
    #[error("the reply has {got} bytes; expected {expected}")]
    Length {
        /// The request's length, bytes.
        expected: usize,
        /// The reply's length, bytes.
        got: usize,
    },
}

fn at(within: &str) -> String {
    if within.is_empty() { String::new() } else { format!("{within}: ") }
}

/// Checks that `got` is exactly the reply to a request of `shape` with `expected` as its content. Integers and texts must be
/// identical; NaN equals NaN, and 0.0 equals -0.0, which some libraries omit. A present message or oneof member at its default
/// differs from an absent one. If `expected` is `None`, the content may be absent or empty.
pub(crate) fn compare(
    shape: Shape,
    expected: Option<&Value>,
    got: &Message,
) -> Result<(), Mismatch> {
    let reply = |echo| Message::of("reply", vec![Field::new("echo", echo)]);
    match expected {
        Some(value) => messages(&reply(Some(value.content())), got, ""),
        None => messages(&reply(None), got, "")
            .or_else(|_| messages(&reply(Some(Value::empty(shape).content())), got, "")),
    }
}

fn messages(expected: &Message, got: &Message, path: &str) -> Result<(), Mismatch> {
    for Field { name, content } in &expected.fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        members(content.as_ref(), got.field(name), &path)?;
    }
    match got.unknown.first() {
        Some(unknown) => {
            Err(Mismatch::UnknownField { within: path.to_owned(), field: unknown.clone() })
        }
        None => Ok(()),
    }
}

/// Compares fields that may be absent.
fn members(expected: Option<&Content>, got: Option<&Content>, path: &str) -> Result<(), Mismatch> {
    let show = |content: Option<&Content>| content.map_or_else(|| "nothing".to_owned(), describe);
    match (expected, got) {
        (Some(expected), Some(got)) => contents(expected, got, path),
        (None, None) => Ok(()),
        _ => Err(differ(path, show(expected), show(got))),
    }
}

fn contents(expected: &Content, got: &Content, path: &str) -> Result<(), Mismatch> {
    let same = match (expected, got) {
        (Content::Message(expected), Content::Message(got)) => {
            return messages(expected, got, path);
        }
        (Content::List(expected), Content::List(got)) => return lists(expected, got, path),
        (Content::Map(expected), Content::Map(got)) => return maps(expected, got, path),
        (Content::Double(expected), Content::Double(got)) => {
            expected == got || expected.is_nan() && got.is_nan()
        }
        (Content::Single(expected), Content::Single(got)) => {
            expected == got || expected.is_nan() && got.is_nan()
        }
        // Some encodings only have doubles.
        (Content::Single(expected), Content::Double(_)) => {
            return contents(&Content::Double((*expected).into()), got, path);
        }
        (Content::Bool(expected), Content::Bool(got)) => expected == got,
        (Content::Integer(expected), Content::Integer(got)) => expected == got,
        (Content::Text(expected), Content::Text(got)) => expected == got,
        (Content::Bytes(expected), Content::Bytes(got)) => expected == got,
        _ => false,
    };
    if same { Ok(()) } else { Err(differ(path, describe(expected), describe(got))) }
}

fn lists(expected: &[Content], got: &[Content], path: &str) -> Result<(), Mismatch> {
    if expected.len() != got.len() {
        return Err(differ(path, entries(expected.len()), entries(got.len())));
    }
    let pairs = expected.iter().zip(got).enumerate();
    pairs
        .into_iter()
        .try_for_each(|(at, (expected, got))| contents(expected, got, &format!("{path}[{at}]")))
}

fn maps(
    expected: &BTreeMap<String, Content>,
    got: &BTreeMap<String, Content>,
    path: &str,
) -> Result<(), Mismatch> {
    let mut keys: Vec<_> = expected.keys().chain(got.keys()).collect();
    keys.sort();
    keys.into_iter().try_for_each(|key| {
        members(expected.get(key), got.get(key), &format!("{path}[{}]", text(key)))
    })
}

fn differ(path: &str, expected: String, got: String) -> Mismatch {
    Mismatch::Field { field: path.to_owned(), expected, got }
}

fn entries(count: usize) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

/// A value on one short line.
pub(crate) fn describe(content: &Content) -> String {
    match content {
        Content::Bool(value) => value.to_string(),
        Content::Integer(value) => value.to_string(),
        Content::Single(value) => format!("{value:?}"),
        Content::Double(value) => format!("{value:?}"),
        Content::Text(value) => text(value),
        Content::Bytes(value) => format!("{} bytes {}", value.len(), hex(value)),
        Content::Message(value) => format!("a {}", value.name),
        Content::List(values) => entries(values.len()),
        Content::Map(values) => entries(values.len()),
    }
}

fn text(value: &str) -> String {
    if value.chars().count() <= SHORT {
        return format!("{value:?}");
    }
    let head: String = value.chars().take(SHORT / 2).collect();
    let hidden = value.chars().count() - SHORT / 2;
    let tail: String = value.chars().skip(hidden).collect();
    format!("{head:?}..{tail:?} ({} bytes)", value.len())
}

fn hex(bytes: &[u8]) -> String {
    let shown: String = bytes.iter().take(SHORT / 2).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > SHORT / 2 { shown + ".." } else { shown }
}
