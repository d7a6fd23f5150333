//! Decodes structs into trees of all their fields, including unknown ones.

use std::collections::{BTreeMap, HashSet};

use super::schema::{Field, Kind, Struct};
use super::wire::{COMPACT_FALSE, SHORT_LIST, Type, Wire, unzigzag};
use crate::values::{self, Content, Message};

/// Maximum nesting of unknown fields.
const MAX_DEPTH: u32 = 64;
const TWICE: &str = "occurs twice";
const LONG: &str = "takes more bytes than it needs";

/// Reads messages and records the first encoding that no encoder writes.
pub(super) struct Reader<'a> {
    wire: Wire,
    rest: &'a [u8],
    /// Names of the enclosing fields.
    path: Vec<&'static str>,
    /// The first duplicate or overlong field, and which of the two it is.
    pub redundant: Option<(String, &'static str)>,
}

/// Why decoding failed.
pub(super) type DecodeError = String;

impl<'a> Reader<'a> {
    pub fn new(wire: Wire, bytes: &'a [u8]) -> Self {
        Self { wire, rest: bytes, path: Vec::new(), redundant: None }
    }

    /// Reads a struct that ends with the input.
    pub fn whole(&mut self, of: &Struct) -> Result<Message, DecodeError> {
        let message = self.structure(of)?;
        match self.rest.len() {
            0 => Ok(message),
            more => Err(format!("{more} trailing bytes")),
        }
    }

    fn structure(&mut self, of: &Struct) -> Result<Message, DecodeError> {
        let fields = of.fields.iter().flat_map(at_default).collect();
        self.fields(of, fields)
    }

    /// Reads the fields of a struct or union; `fields` has their defaults.
    fn fields(&mut self, of: &Struct, fields: Vec<values::Field>) -> Result<Message, DecodeError> {
        let mut message = Message::of(of.name, fields);
        let (mut last, mut seen) = (0, HashSet::new());
        while let Some((found, number)) = self.header(&mut last)? {
            let Some(field) = of.field(number) else {
                message.unknown.push(number.to_string());
                self.skip(found, MAX_DEPTH)?;
                continue;
            };
            self.path.push(field.name);
            if !seen.insert(number) {
                self.mark(TWICE);
            }
            let expected = Type::of(field.kind);
            if Type::numbered(found, self.wire) != Some(expected) {
                return Err(format!("{} has type {found}; expected {expected:?}", self.place()));
            }
            self.field(field, found, &mut message)?;
            self.path.pop();
        }
        Ok(message)
    }

    /// Reads a field of type `found` into its message.
    fn field(&mut self, field: &Field, found: u8, to: &mut Message) -> Result<(), DecodeError> {
        if let Kind::Union(of) = field.kind {
            let union = self.fields(of, members(of))?;
            to.unknown.extend(union.unknown);
            for member in union.fields.into_iter().filter(|member| member.content.is_some()) {
                set(to, &member.name, member.content);
            }
            return Ok(());
        }
        let content = match (field.kind, self.wire) {
            (Kind::Bool, Wire::Compact) => Content::Bool(found != COMPACT_FALSE),
            (kind, _) => self.value(kind)?,
        };
        set(to, field.name, Some(content));
        Ok(())
    }

    fn value(&mut self, kind: Kind) -> Result<Content, DecodeError> {
        Ok(match kind {
            Kind::Bool => Content::Bool(self.take(1)?[0] != 0),
            Kind::I32 => Content::Integer(i128::from(self.i32()?)),
            Kind::I64 => Content::Integer(i128::from(self.i64()?)),
            Kind::U64 => Content::Integer(i128::from(self.i64()?.cast_unsigned())),
            Kind::Double => Content::Double(self.double()?),
            Kind::Text => Content::Text(self.text()?),
            Kind::Bytes => Content::Bytes(self.binary()?.to_vec()),
            Kind::Struct(of) | Kind::Union(of) => Content::Message(self.structure(of)?),
            Kind::List(item) => self.list(*item)?,
            Kind::Map => self.map()?,
        })
    }

    fn list(&mut self, kind: Kind) -> Result<Content, DecodeError> {
        let (found, count) = self.list_head()?;
        let expected = Type::of(kind);
        if count > 0 && Type::numbered(found, self.wire) != Some(expected) {
            return Err(format!("{} lists type {found}; expected {expected:?}", self.place()));
        }
        (0..count).map(|_| self.value(kind)).collect::<Result<_, _>>().map(Content::List)
    }

    fn map(&mut self) -> Result<Content, DecodeError> {
        let (found, count) = self.map_head()?;
        let expected = [Type::Binary, Type::I64];
        if count > 0 && found.map(|of| Type::numbered(of, self.wire)) != expected.map(Some) {
            return Err(format!("{} maps types {found:?}; expected {expected:?}", self.place()));
        }
        let mut entries = BTreeMap::new();
        for _ in 0..count {
            let (key, value) = (self.text()?, self.value(Kind::I64)?);
            if entries.insert(key, value).is_some() {
                self.mark(TWICE);
            }
        }
        Ok(Content::Map(entries))
    }

    /// Type and number of the next field; `None` at the end of a struct.
    fn header(&mut self, last: &mut i16) -> Result<Option<(u8, i16)>, DecodeError> {
        let first = self.take(1)?[0];
        if first == 0 {
            return Ok(None);
        }
        let (found, number) = match self.wire {
            Wire::Binary => (first, self.i16()?),
            Wire::Compact if first >> 4 == 0 => (first, self.i16()?),
            Wire::Compact => (first & 15, last.wrapping_add(i16::from(first >> 4))),
        };
        *last = number;
        Ok(Some((found, number)))
    }

    fn list_head(&mut self) -> Result<(u8, u32), DecodeError> {
        let first = self.take(1)?[0];
        if self.wire == Wire::Binary {
            return Ok((first, self.count()?));
        }
        let short = usize::from(first >> 4);
        let count = if short <= SHORT_LIST { short as u32 } else { self.count()? };
        Ok((first & 15, count))
    }

    fn map_head(&mut self) -> Result<([u8; 2], u32), DecodeError> {
        if self.wire == Wire::Binary {
            let types = self.take(2)?;
            return Ok(([types[0], types[1]], self.count()?));
        }
        let count = self.count()?;
        let types = if count == 0 { 0 } else { self.take(1)?[0] };
        Ok(([types >> 4, types & 15], count))
    }

    /// The number of entries or bytes that follow.
    fn count(&mut self) -> Result<u32, DecodeError> {
        let count = match self.wire {
            Wire::Binary => self.i32()?.cast_unsigned(),
            Wire::Compact => self.varint()? as u32,
        };
        // Each entry takes at least one byte.
        if count as usize > self.rest.len() {
            return Err(format!(
                "{} claims {count} bytes or entries, {} follow",
                self.place(),
                self.rest.len()
            ));
        }
        Ok(count)
    }

    fn text(&mut self) -> Result<String, DecodeError> {
        let bytes = self.binary()?.to_vec();
        String::from_utf8(bytes).map_err(|error| format!("{}: {error}", self.place()))
    }

    fn binary(&mut self) -> Result<&'a [u8], DecodeError> {
        let count = self.count()?;
        self.take(count as usize)
    }

    fn i16(&mut self) -> Result<i16, DecodeError> {
        match self.wire {
            Wire::Binary => self.array().map(i16::from_be_bytes),
            Wire::Compact => self.varint().map(|number| unzigzag(number) as i16),
        }
    }

    fn i32(&mut self) -> Result<i32, DecodeError> {
        match self.wire {
            Wire::Binary => self.array().map(i32::from_be_bytes),
            Wire::Compact => self.varint().map(|number| unzigzag(number) as i32),
        }
    }

    fn i64(&mut self) -> Result<i64, DecodeError> {
        match self.wire {
            Wire::Binary => self.array().map(i64::from_be_bytes),
            Wire::Compact => self.varint().map(unzigzag),
        }
    }

    fn double(&mut self) -> Result<f64, DecodeError> {
        match self.wire {
            Wire::Binary => self.array().map(f64::from_be_bytes),
            Wire::Compact => self.array().map(f64::from_le_bytes),
        }
    }

    /// A number in base 128.
    fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0;
        for place in 0..10 {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                if byte == 0 && place > 0 {
                    self.mark(LONG);
                }
                return Ok(value);
            }
        }
        Err(format!("{} has a number of more than 10 bytes", self.place()))
    }

    /// Skips a value of the type with this number.
    fn skip(&mut self, found: u8, max_depth: u32) -> Result<(), DecodeError> {
        let of = Type::numbered(found, self.wire).ok_or_else(|| format!("unknown type {found}"))?;
        let deeper = max_depth.checked_sub(1).ok_or("nested too deeply")?;
        match of {
            Type::Bool if self.wire == Wire::Compact => {}
            Type::Bool | Type::I8 => drop(self.take(1)?),
            Type::I16 => drop(self.i16()?),
            Type::I32 => drop(self.i32()?),
            Type::I64 => drop(self.i64()?),
            Type::Double => drop(self.take(8)?),
            Type::Binary => drop(self.binary()?),
            Type::Struct => {
                let mut last = 0;
                while let Some((found, _)) = self.header(&mut last)? {
                    self.skip(found, deeper)?;
                }
            }
            Type::List | Type::Set => {
                let (found, count) = self.list_head()?;
                (0..count).try_for_each(|_| self.skip_item(found, deeper))?;
            }
            Type::Map => {
                let (found, count) = self.map_head()?;
                for _ in 0..count {
                    found.into_iter().try_for_each(|of| self.skip_item(of, deeper))?;
                }
            }
        }
        Ok(())
    }

    /// A boolean in a list takes one byte.
    fn skip_item(&mut self, found: u8, max_depth: u32) -> Result<(), DecodeError> {
        match Type::numbered(found, self.wire) {
            Some(Type::Bool) => self.take(1).map(drop),
            _ => self.skip(found, max_depth),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let bytes = self.rest.split_first_chunk::<N>();
        let (bytes, rest) = bytes.ok_or_else(|| self.cut_short())?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8], DecodeError> {
        self.rest.split_off(..bytes).ok_or_else(|| self.cut_short())
    }

    fn cut_short(&self) -> DecodeError {
        format!("cut off in {}", self.place())
    }

    fn mark(&mut self, how: &'static str) {
        if self.redundant.is_none() {
            self.redundant = Some((self.place(), how));
        }
    }

    fn place(&self) -> String {
        if self.path.is_empty() { "a field header".to_owned() } else { self.path.join(".") }
    }
}

/// An omitted field. Structs and unions are absent, other fields have their defaults.
fn at_default(field: &Field) -> Vec<values::Field> {
    let content = match field.kind {
        Kind::Union(of) => return members(of),
        Kind::Struct(_) => None,
        Kind::Bool => Some(Content::Bool(false)),
        Kind::I32 | Kind::I64 | Kind::U64 => Some(Content::Integer(0)),
        Kind::Double => Some(Content::Double(0.0)),
        Kind::Text => Some(Content::Text(String::new())),
        Kind::Bytes => Some(Content::Bytes(Vec::new())),
        Kind::List(_) => Some(Content::List(Vec::new())),
        Kind::Map => Some(Content::Map(BTreeMap::new())),
    };
    vec![values::Field::new(field.name, content)]
}

/// The members of a union, all unset.
fn members(of: &Struct) -> Vec<values::Field> {
    of.fields.iter().map(|member| values::Field::new(member.name, None)).collect()
}

fn set(message: &mut Message, name: &str, content: Option<Content>) {
    if let Some(field) = message.fields.iter_mut().find(|field| field.name == name) {
        field.content = content;
    }
}
