//! Field types: what their content means, and what it is compared with.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use prost_reflect::{EnumDescriptor, Kind};

use super::value::{Literal, Value};
use super::wire::{Content, Malformed, fixed, varint};

/// Converts the content of a field of this type to a value.
#[inline]
pub(super) fn value<'a>(kind: &Kind, content: Content<'a>) -> Result<Value<'a>, Malformed> {
    Ok(match (kind, content) {
        (Kind::Double, Content::Fixed64(bits)) => Value::Double(f64::from_bits(bits)),
        (Kind::Float, Content::Fixed32(bits)) => Value::Float(f32::from_bits(bits)),
        (Kind::Int32 | Kind::Enum(_), Content::Varint(bits)) => Value::Int((bits as i32).into()),
        (Kind::Int64, Content::Varint(bits)) => Value::Int(bits as i64),
        (Kind::Uint32, Content::Varint(bits)) => Value::Uint((bits as u32).into()),
        (Kind::Uint64, Content::Varint(bits)) => Value::Uint(bits),
        (Kind::Sint32, Content::Varint(bits)) => Value::Int(zigzag((bits as u32).into())),
        (Kind::Sint64, Content::Varint(bits)) => Value::Int(zigzag(bits)),
        (Kind::Fixed32, Content::Fixed32(bits)) => Value::Uint(bits.into()),
        (Kind::Fixed64, Content::Fixed64(bits)) => Value::Uint(bits),
        (Kind::Sfixed32, Content::Fixed32(bits)) => Value::Int((bits as i32).into()),
        (Kind::Sfixed64, Content::Fixed64(bits)) => Value::Int(bits as i64),
        (Kind::Bool, Content::Varint(bits)) => Value::Bool(bits != 0),
        (Kind::String | Kind::Bytes, Content::Bytes(bytes)) => Value::Bytes(bytes),
        (Kind::Message(_), Content::Bytes(_) | Content::Group(_)) => Value::Composite,
        _ => return Err(Malformed),
    })
}

fn zigzag(bits: u64) -> i64 {
    (bits >> 1) as i64 ^ -((bits & 1) as i64)
}

/// Takes the next element of a packed list.
pub(super) fn packed<'a>(kind: &Kind, rest: &mut &'a [u8]) -> Result<Content<'a>, Malformed> {
    Ok(match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => {
            Content::Fixed64(u64::from_le_bytes(fixed(rest)?))
        }
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => {
            Content::Fixed32(u32::from_le_bytes(fixed(rest)?))
        }
        _ => Content::Varint(varint(rest)?),
    })
}

/// True if lists of this type may be packed.
pub(super) fn may_be_packed(kind: &Kind) -> bool {
    !matches!(kind, Kind::String | Kind::Bytes | Kind::Message(_))
}

/// The value of a field that is not set.
pub(super) fn default(kind: &Kind) -> Value<'static> {
    match kind {
        Kind::Double => Value::Double(0.0),
        Kind::Float => Value::Float(0.0),
        Kind::Bool => Value::Bool(false),
        Kind::String | Kind::Bytes => Value::Bytes(b""),
        Kind::Uint32 | Kind::Uint64 | Kind::Fixed32 | Kind::Fixed64 => Value::Uint(0),
        Kind::Message(_) => Value::Missing,
        _ => Value::Int(0),
    }
}

/// Converts JSON to a literal to compare a field of this type with.
pub(super) fn literal(kind: &Kind, value: &serde_json::Value) -> Result<Literal, String> {
    use serde_json::Value as Json;
    let number = |text: &str| text.parse().map(Literal::Int).ok();
    let literal = match (kind, value) {
        (Kind::Bool, Json::Bool(value)) => Some(Literal::Bool(*value)),
        (Kind::String, Json::String(text)) => Some(Literal::Text(text.clone())),
        (Kind::Bytes, Json::String(text)) => BASE64_STANDARD.decode(text).ok().map(Literal::Bytes),
        (Kind::Enum(kind), Json::String(name)) => {
            return enum_value(kind, name);
        }
        (Kind::Bool | Kind::String | Kind::Bytes | Kind::Message(_), _) => None,
        (_, Json::Number(number)) => Some(Literal::of_number(number)),
        // Protobuf's JSON writes 64-bit numbers as text.
        (Kind::Double | Kind::Float, _) => None,
        (_, Json::String(text)) => number(text),
        _ => None,
    };
    literal.ok_or_else(|| {
        let expected = match kind {
            Kind::Bool => "true or false",
            Kind::String => "a text in quotes",
            Kind::Bytes => "base64 in quotes",
            _ => "a number",
        };
        format!("{value} does not fit; expected {expected}")
    })
}

fn enum_value(kind: &EnumDescriptor, name: &str) -> Result<Literal, String> {
    let value = kind.get_value_by_name(name).map(|value| Literal::Int(value.number().into()));
    value.ok_or_else(|| {
        let known: Vec<String> = kind.values().map(|value| value.name().to_owned()).collect();
        format!("{} has no value '{name}'; expected one of {}", kind.full_name(), known.join(", "))
    })
}
