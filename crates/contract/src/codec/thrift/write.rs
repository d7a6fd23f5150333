//! Encodes structs in canonical or other valid forms.

use std::collections::BTreeMap;

use super::schema::{Field, Kind, Struct};
use super::wire::{COMPACT_FALSE, SHORT_LIST, Type, Wire, zigzag};
use crate::codec::{NonCanonical, NonCanonicalVariant, varint};
use crate::values::{Content, Message};

/// Longest varints of 16, 32 and 64 bits, bytes.
const MAX_VARINTS: [usize; 3] = [3, 5, 10];
/// Number of the first unknown field.
const UNKNOWN: i16 = 1001;

pub(super) struct Writer {
    wire: Wire,
    /// `None` for canonical.
    variant: Option<NonCanonicalVariant>,
    /// Number of structs around the current one.
    level: usize,
    /// Number of the previous field in the current struct.
    last: i16,
    pub out: Vec<u8>,
}

impl Writer {
    pub fn new(wire: Wire, variant: Option<NonCanonicalVariant>) -> Self {
        Self { wire, variant, level: 0, last: 0, out: Vec::new() }
    }

    /// The form of the current struct.
    fn form(&self) -> Option<NonCanonical> {
        self.variant.and_then(|variant| variant.at(self.level))
    }

    /// Writes a struct. `other`, another value of the type, provides values that are overwritten.
    pub fn structure(&mut self, of: &Struct, message: &Message, other: &Message) {
        self.within(|writer| {
            let mut fields: Vec<&Field> = of.fields.iter().collect();
            match writer.form() {
                Some(NonCanonical::Twice) => writer.replaced_values(of, other),
                Some(NonCanonical::Reordered) => fields.reverse(),
                _ => {}
            }
            let unknown =
                matches!(writer.form(), Some(NonCanonical::Unknown | NonCanonical::Reordered));
            writer.between_unknown(unknown, |writer| {
                for field in fields {
                    writer.field(field, message, other);
                }
            });
        });
    }

    fn inner_structure(&mut self, of: &Struct, message: &Message, other: &Message) {
        self.level += 1;
        self.structure(of, message, other);
        self.level -= 1;
    }

    /// Writes a struct with the fields that `fields` writes.
    pub fn within(&mut self, fields: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last);
        fields(self);
        self.out.push(0);
        self.last = outer;
    }

    /// Calls `fields` to write fields, between unknown ones if `unknown` is set.
    pub fn between_unknown(&mut self, unknown: bool, fields: impl FnOnce(&mut Self)) {
        if unknown {
            self.unknown_fields();
        }
        fields(self);
        if unknown {
            self.unknown_fields();
        }
    }

    /// Writes in canonical form for the duration of `write`.
    fn canonically(&mut self, write: impl FnOnce(&mut Self)) {
        let variant = self.variant.take();
        write(self);
        self.variant = variant;
    }

    /// Writes a field if the message has it.
    pub fn field(&mut self, field: &Field, message: &Message, other: &Message) {
        if let Kind::Union(of) = field.kind {
            let set = |member: &&Field| message.field(member.name).is_some();
            if let Some(member) = of.fields.iter().find(set) {
                self.header(field.number, Type::Struct);
                // Libraries differ in how they treat a union with more than one field.
                self.canonically(|writer| {
                    writer.within(|writer| writer.field(member, message, message))
                });
            }
        } else if let Some(content) = message.field(field.name) {
            let other = other.field(field.name).unwrap_or(content);
            self.content(field.number, field.kind, content, other);
        }
    }

    /// Values that later ones replace. Excludes unions, as some libraries merge both.
    fn replaced_values(&mut self, of: &Struct, other: &Message) {
        self.canonically(|writer| {
            for field in of.fields.iter().filter(|field| !matches!(field.kind, Kind::Union(_))) {
                match (field.kind, other.field(field.name)) {
                    (Kind::Struct(inner), Some(Content::Message(other))) => {
                        writer.header(field.number, Type::Struct);
                        writer.within(|writer| writer.replaced_values(inner, other));
                    }
                    _ => writer.field(field, other, other),
                }
            }
        });
    }

    /// Writes a field with this content. `other` is the content in the other message.
    fn content(&mut self, number: i16, kind: Kind, content: &Content, other: &Content) {
        match (self.wire, content) {
            (Wire::Compact, Content::Bool(value)) => {
                let of = if *value { Type::Bool.number(self.wire) } else { COMPACT_FALSE };
                self.header_of(number, of);
            }
            _ => {
                self.header(number, Type::of(kind));
                self.value(kind, content, other);
            }
        }
    }

    fn value(&mut self, kind: Kind, content: &Content, other: &Content) {
        match (content, kind) {
            (Content::Bool(value), _) => self.out.push((*value).into()),
            (Content::Integer(value), Kind::I32) => self.i32(*value as i32),
            (Content::Integer(value), _) => self.i64(*value as i64),
            (Content::Single(value), _) => self.double((*value).into()),
            (Content::Double(value), _) => self.double(*value),
            (Content::Text(text), _) => self.binary(text.as_bytes()),
            (Content::Bytes(bytes), _) => self.binary(bytes),
            (Content::Message(message), Kind::Struct(of)) => match other {
                Content::Message(other) => self.inner_structure(of, message, other),
                _ => self.inner_structure(of, message, message),
            },
            (Content::List(items), Kind::List(item)) => self.list(*item, items, other),
            (Content::Map(entries), _) => self.map(entries),
            _ => unreachable!("the contract's own values are of the contract's types"),
        }
    }

    fn list(&mut self, kind: Kind, items: &[Content], other: &Content) {
        self.list_head(Type::of(kind), items.len());
        let others = match other {
            Content::List(others) if !others.is_empty() => others,
            _ => items,
        };
        for (item, other) in items.iter().zip(others.iter().cycle()) {
            self.value(kind, item, other);
        }
    }

    fn map(&mut self, entries: &BTreeMap<String, Content>) {
        let replaced = usize::from(self.form() == Some(NonCanonical::Twice));
        self.map_head(entries.len() * (1 + replaced));
        for (key, value) in entries {
            for _ in 0..replaced {
                self.binary(key.as_bytes());
                self.i64(1);
            }
            self.binary(key.as_bytes());
            self.value(Kind::I64, value, value);
        }
    }

    /// One field of each type, numbered from 1001. They contain no letters, so that a text of the request is never found in them.
    fn unknown_fields(&mut self) {
        let number = |at: i16| UNKNOWN + at;
        self.content(number(0), Kind::Bool, &Content::Bool(true), &Content::Bool(true));
        self.header(number(1), Type::I8);
        self.out.push(7);
        self.header(number(2), Type::I16);
        self.i16(300);
        self.header(number(3), Type::I32);
        self.i32(-70_000);
        self.header(number(4), Type::I64);
        self.i64(1 << 40);
        self.header(number(5), Type::Double);
        self.double(0.5);
        self.header(number(6), Type::Binary);
        self.binary(b"1007: 0123456789 0123456789");
        self.header(number(7), Type::List);
        self.list_head(Type::I32, 2);
        [1, 2].into_iter().for_each(|item| self.i32(item));
        self.header(number(8), Type::Set);
        self.list_head(Type::Binary, 1);
        self.binary(b"1");
        self.header(number(9), Type::Map);
        self.map_head(1);
        self.binary(b"2");
        self.i64(2);
        self.header(number(10), Type::Struct);
        self.within(|writer| {
            writer.header(1, Type::Binary);
            writer.binary(b"3.0");
        });
    }

    fn header(&mut self, number: i16, of: Type) {
        self.header_of(number, of.number(self.wire));
    }

    /// The compact protocol writes the difference to the previous field's number if it fits into four bits.
    fn header_of(&mut self, number: i16, of: u8) {
        let step = number - self.last;
        self.last = number;
        match self.wire {
            Wire::Binary => {
                self.out.push(of);
                self.out.extend(number.to_be_bytes());
            }
            Wire::Compact if (1..=15).contains(&step) && !self.is_overlong() => {
                self.out.push((step as u8) << 4 | of);
            }
            Wire::Compact => {
                self.out.push(of);
                self.i16(number);
            }
        }
    }

    fn list_head(&mut self, of: Type, count: usize) {
        let number = of.number(self.wire);
        if self.wire == Wire::Compact && count <= SHORT_LIST && !self.is_overlong() {
            self.out.push((count as u8) << 4 | number);
        } else {
            self.out.push(if self.wire == Wire::Compact { 0xf0 | number } else { number });
            self.length(count);
        }
    }

    /// The header of a map from texts to i64.
    fn map_head(&mut self, count: usize) {
        let [key, value] = [Type::Binary, Type::I64].map(|of| of.number(self.wire));
        match self.wire {
            Wire::Binary => {
                self.out.extend([key, value]);
                self.length(count);
            }
            Wire::Compact if count == 0 => self.out.push(0),
            Wire::Compact => {
                self.length(count);
                self.out.push(key << 4 | value);
            }
        }
    }

    fn binary(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.out.extend_from_slice(bytes);
    }

    /// The number of bytes or entries that follow.
    fn length(&mut self, length: usize) {
        match self.wire {
            Wire::Binary => self.out.extend((length as u32).to_be_bytes()),
            Wire::Compact => self.varint(length as u64, MAX_VARINTS[1]),
        }
    }

    fn i16(&mut self, value: i16) {
        match self.wire {
            Wire::Binary => self.out.extend(value.to_be_bytes()),
            Wire::Compact => self.varint(zigzag(value.into()), MAX_VARINTS[0]),
        }
    }

    fn i32(&mut self, value: i32) {
        match self.wire {
            Wire::Binary => self.out.extend(value.to_be_bytes()),
            Wire::Compact => self.varint(zigzag(value.into()), MAX_VARINTS[1]),
        }
    }

    fn i64(&mut self, value: i64) {
        match self.wire {
            Wire::Binary => self.out.extend(value.to_be_bytes()),
            Wire::Compact => self.varint(zigzag(value), MAX_VARINTS[2]),
        }
    }

    fn double(&mut self, value: f64) {
        match self.wire {
            Wire::Binary => self.out.extend(value.to_be_bytes()),
            Wire::Compact => self.out.extend(value.to_le_bytes()),
        }
    }

    /// True if numbers and headers are overlong.
    fn is_overlong(&self) -> bool {
        matches!(
            self.form(),
            Some(NonCanonical::Overlong | NonCanonical::Reordered | NonCanonical::Unknown)
        )
    }

    /// A varint, one byte longer than necessary if numbers are overlong and it stays within `max` bytes: some libraries
    /// refuse longer ones.
    fn varint(&mut self, number: u64, max: usize) {
        let start = self.out.len();
        self.out.extend(varint(number));
        if self.is_overlong()
            && self.out.len() - start < max
            && let Some(last) = self.out.last_mut()
        {
            *last |= 0x80;
            self.out.push(0);
        }
    }
}
