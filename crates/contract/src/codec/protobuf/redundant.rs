//! Finds encodings that decoders accept but no encoder writes: a reply that contains one was copied from a request.

use std::collections::HashSet;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use crate::codec::types;
use crate::shape::Shape;
use crate::values::Mismatch;

const TWICE: &str = "occurs twice";
const LONG: &str = "takes more bytes than it needs";

/// Refuses a decodable reply if, at any level, a map key or a field other than a list occurs twice, or a number, tag or length
/// takes more bytes than necessary.
pub(super) fn refuse(shape: Shape, reply: &[u8]) -> Result<(), Mismatch> {
    message(&types::reply(shape), reply, "")
}

/// Skips unknown fields.
fn message(descriptor: &MessageDescriptor, mut rest: &[u8], path: &str) -> Result<(), Mismatch> {
    let (mut single, mut keys) = (HashSet::new(), HashSet::new());
    while !rest.is_empty() {
        let Some((tag, tag_is_long)) = varint(&mut rest) else { return Ok(()) };
        let field = u32::try_from(tag >> 3).ok().and_then(|number| descriptor.get_field(number));
        let Some((value, value_is_long)) = value(tag & 7, &mut rest) else { return Ok(()) };
        let Some(field) = field else { continue };
        let path =
            if path.is_empty() { field.name().into() } else { format!("{path}.{}", field.name()) };
        let again = match (field.is_map(), field.is_list()) {
            (true, _) => !keys.insert(key(&field, value)),
            (false, list) => !list && !single.insert(field.number()),
        };
        for (found, how) in [(again, TWICE), (tag_is_long || value_is_long, LONG)] {
            if found {
                return Err(Mismatch::Redundant { field: path, how });
            }
        }
        if let Kind::Message(inner) = field.kind() {
            message(&inner, value, &path)?;
        }
    }
    Ok(())
}

/// Field number of the map, and the key of the entry.
fn key<'a>(map: &FieldDescriptor, mut entry: &'a [u8]) -> (u32, &'a [u8]) {
    while let Some((tag, _)) = varint(&mut entry)
        && let Some((value, _)) = value(tag & 7, &mut entry)
    {
        if tag >> 3 == 1 {
            return (map.number(), value);
        }
    }
    (map.number(), &[])
}

/// The value of a field with this wire type, and whether its length or varint is overlong.
fn value<'a>(wire_type: u64, rest: &mut &'a [u8]) -> Option<(&'a [u8], bool)> {
    let (length, long) = match wire_type {
        0 => {
            let mut after = *rest;
            let (_, long) = varint(&mut after)?;
            (rest.len() - after.len(), long)
        }
        1 => (8, false),
        2 => {
            let (length, long) = varint(rest)?;
            (usize::try_from(length).ok()?, long)
        }
        5 => (4, false),
        _ => return None,
    };
    rest.split_off(..length).map(|value| (value, long))
}

/// A number in base 128, and whether it is overlong.
fn varint(rest: &mut &[u8]) -> Option<(u64, bool)> {
    let mut value = 0;
    for place in 0..10 {
        let byte = *rest.split_off_first()?;
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some((value, byte == 0 && place > 0));
        }
    }
    None
}
