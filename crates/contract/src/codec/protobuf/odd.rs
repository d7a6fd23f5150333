//! Requests that mean the same and are encoded as no library would.

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, Value};

use super::wire::{Layout, tag, varint};
use super::{read, unknown_fields};
use crate::codec::Oddity;
use crate::shape::Shape;

/// Longest varint, bytes.
const LONGEST: usize = 10;

/// The request `usual` in an odd encoding. `other`, another request of the same shape, lends the values that do not
/// count. `None` if one of them is no request.
pub(super) fn request(shape: Shape, usual: &[u8], other: &[u8], oddity: Oddity) -> Option<Vec<u8>> {
    let [usual, other] = [usual, other].map(|request| read::request(shape, request));
    Some(Writer { oddity }.message(&usual?, &other?))
}

struct Writer {
    oddity: Oddity,
}

impl Writer {
    fn message(&self, message: &DynamicMessage, other: &DynamicMessage) -> Vec<u8> {
        let mut fields: Vec<_> = message.fields().collect();
        let (mut out, mut end) = (Vec::new(), Vec::new());
        match self.oddity {
            Oddity::Overlong => {}
            Oddity::Twice => out = self.overruled(message, other),
            Oddity::Reordered => fields.reverse(),
            Oddity::Unknown => (out, end) = (unknown_fields(), unknown_fields()),
        }
        for (field, value) in fields {
            out.extend(self.field(&field, value, &other.get_field(&field)));
        }
        [out, end].concat()
    }

    /// Other values of the fields that a message has, lists aside, whose entries add up. Libraries differ in what they
    /// do about two members of a oneof.
    fn overruled(&self, message: &DynamicMessage, other: &DynamicMessage) -> Vec<u8> {
        let single = |field: &FieldDescriptor| {
            !field.is_list() && !field.is_map() && field.containing_oneof().is_none()
        };
        let fields = message.fields().filter(|(field, _)| single(field));
        let write = |(field, value): (FieldDescriptor, &Value)| match (
            value,
            other.get_field(&field).as_ref(),
        ) {
            (Value::Message(value), Value::Message(other)) => {
                self.delimited(field.number(), &self.overruled(value, other))
            }
            (_, other) => self.scalar(&field, other),
        };
        fields.flat_map(write).collect()
    }

    fn field(&self, field: &FieldDescriptor, value: &Value, other: &Value) -> Vec<u8> {
        match (value, other) {
            (Value::Message(value), Value::Message(other)) => {
                self.delimited(field.number(), &self.message(value, other))
            }
            (Value::List(values), Value::List(others)) => self.list(field, values, others),
            (Value::Map(entries), _) => {
                let mut entries: Vec<_> =
                    entries.iter().map(|(key, value)| self.entry(field, key, value)).collect();
                entries.sort();
                entries.concat()
            }
            _ => self.scalar(field, value),
        }
    }

    fn list(&self, field: &FieldDescriptor, values: &[Value], others: &[Value]) -> Vec<u8> {
        if let Kind::Message(item) = field.kind() {
            let empty = Value::Message(DynamicMessage::new(item));
            let others = others.iter().chain(std::iter::repeat(&empty));
            let items = values.iter().zip(others);
            return items.flat_map(|(value, other)| self.field(field, value, other)).collect();
        }
        // Packed, but for the first one of a list in pieces.
        let alone = usize::from(self.oddity == Oddity::Reordered).min(values.len());
        let (first, rest) = values.split_at(alone);
        let pieces = rest.chunks(rest.len().div_ceil(1 + alone).max(1)).map(|piece| {
            let packed: Vec<u8> = piece.iter().flat_map(|value| self.bare(field, value)).collect();
            self.delimited(field.number(), &packed)
        });
        first.iter().flat_map(|value| self.scalar(field, value)).chain(pieces.flatten()).collect()
    }

    /// An entry of a map from texts to numbers.
    fn entry(&self, field: &FieldDescriptor, key: &MapKey, value: &Value) -> Vec<u8> {
        let (Kind::Message(entry), MapKey::String(key)) = (field.kind(), key) else {
            return Vec::new();
        };
        let key = self.scalar(&entry.map_entry_key_field(), &Value::String(key.clone()));
        let number = |value: &Value| self.scalar(&entry.map_entry_value_field(), value);
        let (value, other) = (number(value), number(&Value::I64(1)));
        let whole = |parts: &[&[u8]]| self.delimited(field.number(), &parts.concat());
        match self.oddity {
            Oddity::Overlong | Oddity::Unknown => whole(&[&key, &value]),
            Oddity::Twice => [whole(&[&key, &other]), whole(&[&other, &key, &value])].concat(),
            Oddity::Reordered => whole(&[&value, &key]),
        }
    }

    /// A field with one value that is no message.
    fn scalar(&self, field: &FieldDescriptor, value: &Value) -> Vec<u8> {
        let layout = match (value, field.kind()) {
            (Value::String(_) | Value::Bytes(_), _) => Layout::Length,
            (Value::F64(_), _) | (_, Kind::Fixed64) => Layout::Fixed64,
            (Value::F32(_), _) => Layout::Fixed32,
            _ => Layout::Varint,
        };
        [self.number(tag(field.number(), layout)), self.bare(field, value)].concat()
    }

    /// A value without its tag.
    fn bare(&self, field: &FieldDescriptor, value: &Value) -> Vec<u8> {
        let integer = |bits: u64| match field.kind() {
            Kind::Fixed64 => bits.to_le_bytes().to_vec(),
            _ => self.number(varint(bits as usize)),
        };
        match value {
            Value::Bool(value) => integer((*value).into()),
            Value::I32(value) | Value::EnumNumber(value) => integer(i64::from(*value) as u64),
            Value::I64(value) => integer(*value as u64),
            Value::U32(value) => integer((*value).into()),
            Value::U64(value) => integer(*value),
            Value::F32(value) => value.to_le_bytes().to_vec(),
            Value::F64(value) => value.to_le_bytes().to_vec(),
            Value::String(text) => self.sized(text.as_bytes()),
            Value::Bytes(bytes) => self.sized(bytes),
            Value::Message(_) | Value::List(_) | Value::Map(_) => Vec::new(),
        }
    }

    fn delimited(&self, number: u32, content: &[u8]) -> Vec<u8> {
        [self.number(tag(number, Layout::Length)), self.sized(content)].concat()
    }

    fn sized(&self, content: &[u8]) -> Vec<u8> {
        [self.number(varint(content.len())), content.to_vec()].concat()
    }

    /// A varint, a byte longer than it need be unless fields come twice.
    fn number(&self, mut varint: Vec<u8>) -> Vec<u8> {
        let lengthen = self.oddity != Oddity::Twice && varint.len() < LONGEST;
        if let Some(last) = varint.last_mut().filter(|_| lengthen) {
            *last |= 0x80;
            varint.push(0);
        }
        varint
    }
}
