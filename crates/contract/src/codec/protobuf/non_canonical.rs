//! Requests in encodings that no library writes.

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MapKey, Value};

use super::wire::{Layout, tag};
use super::{read, unknown_fields};
use crate::codec::{NonCanonical, NonCanonicalVariant, varint};
use crate::shape::Shape;

/// Longest varint, bytes.
const MAX_VARINT: usize = 10;

/// Re-encodes the request `canonical` in another form. `other`, another request of the same shape, provides values that are
/// overwritten. `None` if either is not a request.
pub(super) fn request(
    shape: Shape,
    canonical: &[u8],
    other: &[u8],
    variant: NonCanonicalVariant,
) -> Option<Vec<u8>> {
    let [canonical, other] = [canonical, other].map(|request| read::request(shape, request));
    Some(Writer { variant, level: 0 }.message(&canonical?, &other?))
}

/// Writes the fields of a message.
#[derive(Clone, Copy)]
struct Writer {
    variant: NonCanonicalVariant,
    level: usize,
}

impl Writer {
    /// The form at this level. `None` for canonical.
    fn form(self) -> Option<NonCanonical> {
        self.variant.at(self.level)
    }

    /// The writer for messages inside this one.
    fn inner(self) -> Self {
        Self { level: self.level + 1, ..self }
    }

    fn message(&self, message: &DynamicMessage, other: &DynamicMessage) -> Vec<u8> {
        let mut fields: Vec<_> = message.fields().collect();
        let (mut out, mut end) = (Vec::new(), Vec::new());
        match self.form() {
            None | Some(NonCanonical::Overlong) => {}
            Some(NonCanonical::Twice) => out = self.replaced_values(message, other),
            Some(NonCanonical::Reordered) => fields.reverse(),
            Some(NonCanonical::Unknown) => (out, end) = (unknown_fields(), unknown_fields()),
        }
        for (field, value) in fields {
            out.extend(self.field(&field, value, &other.get_field(&field)));
        }
        [out, end].concat()
    }

    /// Values that later ones replace. Excludes lists, whose entries add up, and oneofs, as libraries differ in how they treat
    /// two members.
    fn replaced_values(&self, message: &DynamicMessage, other: &DynamicMessage) -> Vec<u8> {
        let single = |field: &FieldDescriptor| {
            !field.is_list() && !field.is_map() && field.containing_oneof().is_none()
        };
        let fields = message.fields().filter(|(field, _)| single(field));
        let write = |(field, value): (FieldDescriptor, &Value)| match (
            value,
            other.get_field(&field).as_ref(),
        ) {
            (Value::Message(value), Value::Message(other)) => {
                self.delimited(field.number(), &self.replaced_values(value, other))
            }
            (_, other) => self.scalar(&field, other),
        };
        fields.flat_map(write).collect()
    }

    fn field(&self, field: &FieldDescriptor, value: &Value, other: &Value) -> Vec<u8> {
        match (value, other) {
            (Value::Message(value), Value::Message(other)) => {
                self.delimited(field.number(), &self.inner().message(value, other))
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
        // Packed, except for the first item of a split list.
        let unpacked = usize::from(self.form() == Some(NonCanonical::Reordered)).min(values.len());
        let (first, rest) = values.split_at(unpacked);
        let pieces = rest.chunks(rest.len().div_ceil(1 + unpacked).max(1)).map(|piece| {
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
        let inner = self.inner();
        let key = inner.scalar(&entry.map_entry_key_field(), &Value::String(key.clone()));
        let number = |value: &Value| inner.scalar(&entry.map_entry_value_field(), value);
        let (value, other) = (number(value), number(&Value::I64(1)));
        let whole = |parts: &[&[u8]]| self.delimited(field.number(), &parts.concat());
        match inner.form() {
            None | Some(NonCanonical::Overlong | NonCanonical::Unknown) => whole(&[&key, &value]),
            Some(NonCanonical::Twice) => {
                [whole(&[&key, &other]), whole(&[&other, &key, &value])].concat()
            }
            Some(NonCanonical::Reordered) => whole(&[&value, &key]),
        }
    }

    /// A field with a single value that is not a message.
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
            _ => self.number(varint(bits)),
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
        [self.number(varint(content.len() as u64)), content.to_vec()].concat()
    }

    /// A varint. One byte longer than necessary, unless fields occur twice or the level is canonical.
    fn number(&self, mut varint: Vec<u8>) -> Vec<u8> {
        let lengthen =
            !matches!(self.form(), None | Some(NonCanonical::Twice)) && varint.len() < MAX_VARINT;
        if let Some(last) = varint.last_mut().filter(|_| lengthen) {
            *last |= 0x80;
            varint.push(0);
        }
        varint
    }
}
