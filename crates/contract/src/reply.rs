//! Whether a reply is the right one, and if not, where it differs.

use std::collections::HashMap;
use std::sync::LazyLock;

use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, MapKey, ReflectMessage as _, Value,
};

use crate::shape::Shape;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(include_bytes!(concat!(env!("OUT_DIR"), "/echo.binpb")).as_slice())
        .expect("the build script has written a valid descriptor set")
});

/// Values longer than this are cut in messages, characters.
const SHORT: usize = 40;

/// How a reply differs from the right one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The reply is the request, byte for byte: the server did not decode.
    #[error("the reply is the request, byte for byte; decode it and return its content in field 2")]
    RequestReturned,
    /// The reply is not an encoding of the method's reply type.
    #[error("the reply is no {message}: {reason}")]
    Undecodable {
        /// Full name of the reply type.
        message: &'static str,
        /// What the decoder found.
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
    #[error("{}unknown field {number} in the reply", at(.within))]
    UnknownField {
        /// Path of the message that holds it; empty for the reply itself.
        within: String,
        /// Its number.
        number: u32,
    },
}

fn at(within: &str) -> String {
    if within.is_empty() { String::new() } else { format!("{within}: ") }
}

/// Decodes both replies to `shape`'s method and compares them field by field, unknown fields included.
pub(crate) fn compare(shape: Shape, expected: &[u8], got: &[u8]) -> Result<(), Mismatch> {
    messages(&decode(shape, expected)?, &decode(shape, got)?, "")
}

fn decode(shape: Shape, bytes: &[u8]) -> Result<DynamicMessage, Mismatch> {
    let message = shape.reply_type();
    let undecodable = |reason: String| Mismatch::Undecodable { message, reason };
    let descriptor = POOL.get_message_by_name(message);
    let descriptor = descriptor.ok_or_else(|| undecodable("its type is not known".to_owned()))?;
    DynamicMessage::decode(descriptor, bytes).map_err(|error| undecodable(error.to_string()))
}

fn messages(expected: &DynamicMessage, got: &DynamicMessage, path: &str) -> Result<(), Mismatch> {
    for field in expected.descriptor().fields() {
        let path = if path.is_empty() {
            field.name().to_owned()
        } else {
            format!("{path}.{}", field.name())
        };
        present(expected, got, &field, &path)?;
        values(&expected.get_field(&field), &got.get_field(&field), &path)?;
    }
    match got.unknown_fields().next() {
        Some(unknown) => {
            Err(Mismatch::UnknownField { within: path.to_owned(), number: unknown.number() })
        }
        None => Ok(()),
    }
}

/// Whether a field is there says something only for messages and members of a oneof.
fn present(
    expected: &DynamicMessage,
    got: &DynamicMessage,
    field: &FieldDescriptor,
    path: &str,
) -> Result<(), Mismatch> {
    if !field.supports_presence() || expected.has_field(field) == got.has_field(field) {
        return Ok(());
    }
    let show = |message: &DynamicMessage| match message.has_field(field) {
        true => describe(&message.get_field(field)),
        false => "nothing".to_owned(),
    };
    Err(Mismatch::Field { field: path.to_owned(), expected: show(expected), got: show(got) })
}

fn values(expected: &Value, got: &Value, path: &str) -> Result<(), Mismatch> {
    let same = match (expected, got) {
        (Value::Message(expected), Value::Message(got)) => return messages(expected, got, path),
        (Value::List(expected), Value::List(got)) => return lists(expected, got, path),
        (Value::Map(expected), Value::Map(got)) => return maps(expected, got, path),
        (Value::F64(expected), Value::F64(got)) => {
            expected == got || expected.is_nan() && got.is_nan()
        }
        (Value::F32(expected), Value::F32(got)) => {
            expected == got || expected.is_nan() && got.is_nan()
        }
        _ => expected == got,
    };
    if same { Ok(()) } else { Err(differ(path, describe(expected), describe(got))) }
}

fn lists(expected: &[Value], got: &[Value], path: &str) -> Result<(), Mismatch> {
    if expected.len() != got.len() {
        return Err(differ(path, entries(expected.len()), entries(got.len())));
    }
    let pairs = expected.iter().zip(got).enumerate();
    pairs
        .into_iter()
        .try_for_each(|(at, (expected, got))| values(expected, got, &format!("{path}[{at}]")))
}

fn maps(
    expected: &HashMap<MapKey, Value>,
    got: &HashMap<MapKey, Value>,
    path: &str,
) -> Result<(), Mismatch> {
    let mut keys: Vec<_> = expected.keys().chain(got.keys()).collect();
    keys.sort();
    for key in keys {
        let path = format!("{path}[{}]", describe(&key.clone().into()));
        match (expected.get(key), got.get(key)) {
            (Some(expected), Some(got)) => values(expected, got, &path)?,
            (Some(expected), None) => {
                return Err(differ(&path, describe(expected), "nothing".to_owned()));
            }
            (None, got) => {
                let got = got.map_or_else(|| "nothing".to_owned(), describe);
                return Err(differ(&path, "nothing".to_owned(), got));
            }
        }
    }
    Ok(())
}

fn differ(path: &str, expected: String, got: String) -> Mismatch {
    Mismatch::Field { field: path.to_owned(), expected, got }
}

fn entries(count: usize) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

/// A value on one short line.
fn describe(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) | Value::EnumNumber(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => format!("{value:?}"),
        Value::F64(value) => format!("{value:?}"),
        Value::String(value) => text(value),
        Value::Bytes(value) => format!("{} bytes {}", value.len(), hex(value)),
        Value::Message(value) => format!("a {}", value.descriptor().name()),
        Value::List(values) => entries(values.len()),
        Value::Map(values) => entries(values.len()),
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

#[cfg(test)]
mod tests;
