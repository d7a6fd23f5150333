//! Message headers and structs in Thrift's two protocols.
//!
//! Input may be incomplete: `None` means that more is needed, `Err` that it is invalid.

use rpcbench_record::Protocol;

use super::Problem;

/// Longest method name accepted, bytes.
const MAX_NAME: u32 = 1024;
/// In the compact protocol, marks a list whose size follows because it does not fit in four bits.
const LONG_LIST: u8 = 15;

/// Kinds of messages.
const CALL: u8 = 1;
pub(super) const REPLY: u8 = 2;
pub(super) const EXCEPTION: u8 = 3;

/// What precedes the struct of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    /// Call, reply, exception, or another number.
    pub kind: u8,
    pub name: &'a [u8],
    pub sequence_id: u32,
    /// Length of this head, bytes.
    pub length: usize,
}

/// The layout of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This many bytes.
    Fixed(usize),
    /// A number in base 128.
    Varint,
    /// A length and that many bytes.
    Binary,
    Struct,
    /// A list or a set.
    List,
    Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// `None` at the end of the struct.
    pub kind: Option<Kind>,
    pub number: i16,
    /// Length of this head, bytes.
    pub length: usize,
}

/// The head of a list, a set or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entries {
    /// Kinds of keys and values; for a list, the same twice.
    pub kinds: [Kind; 2],
    pub count: u32,
    /// Length of this head, bytes.
    pub length: usize,
}

type Read<T> = Result<Option<T>, Problem>;

/// One of Thrift's protocols. Each has its own type numbers.
pub(crate) trait Encoding: std::fmt::Debug + Send + Sync + 'static {
    /// Over the framed transport, and over the buffered one.
    const FRAMED: Protocol;
    const BUFFERED: Protocol;
    /// Head of field 1, a struct: the argument of a method.
    const ARGUMENT: &[u8];
    /// Head of field 0, a struct: the result of a method.
    const RESULT: &[u8];

    /// Appends the head of a message; returns the offset of its sequence id.
    fn put_head(out: &mut Vec<u8>, kind: u8, name: &str, sequence_id: u32) -> usize;

    /// Encodes a sequence id that takes four bytes.
    fn sequence_id(id: u32) -> [u8; 4];

    fn head(bytes: &[u8]) -> Read<Head<'_>>;

    /// The head of the next field; `last` is the number of the previous one.
    fn field(bytes: &[u8], last: i16) -> Read<Field>;

    /// A length, and the number of bytes that encode it.
    fn size(bytes: &[u8]) -> Read<(u32, usize)>;

    fn i32(bytes: &[u8]) -> Read<i32>;

    fn list(bytes: &[u8]) -> Read<Entries>;

    fn map(bytes: &[u8]) -> Read<Entries>;

    /// Appends the head of a call; returns the offset of its sequence id.
    fn put_call(out: &mut Vec<u8>, name: &str) -> usize {
        Self::put_head(out, CALL, name, 0)
    }
}

/// The binary protocol, strict: messages begin with a version.
#[derive(Debug)]
pub(crate) struct Binary;

#[derive(Debug)]
pub(crate) struct Compact;

const OTHER_VERSION: Problem = "a message of another protocol; does the server speak this one?";
const LONG_NAME: Problem = "the name of a method is longer than 1 KiB";
const NO_TYPE: Problem = "a value of a type that does not exist";
const NEGATIVE: Problem = "a length below 0";

impl Encoding for Binary {
    const FRAMED: Protocol = Protocol::Thrift;
    const BUFFERED: Protocol = Protocol::ThriftBuffered;
    const ARGUMENT: &[u8] = &[12, 0, 1];
    const RESULT: &[u8] = &[12, 0, 0];

    fn put_head(out: &mut Vec<u8>, kind: u8, name: &str, sequence_id: u32) -> usize {
        out.extend([0x80, 1, 0, kind]);
        out.extend((name.len() as u32).to_be_bytes());
        out.extend(name.as_bytes());
        let at = out.len();
        out.extend(sequence_id.to_be_bytes());
        at
    }

    #[inline]
    fn sequence_id(id: u32) -> [u8; 4] {
        id.to_be_bytes()
    }

    #[inline]
    fn head(bytes: &[u8]) -> Read<Head<'_>> {
        let version = bytes.iter().zip([0x80, 1, 0]);
        if version.clone().any(|(byte, expected)| *byte != expected) {
            return Err(OTHER_VERSION);
        }
        let Some((&[_, _, _, kind], rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let Some((size, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let size = u32::from_be_bytes(*size);
        if size > MAX_NAME {
            return Err(LONG_NAME);
        }
        let Some((name, rest)) = rest.split_at_checked(size as usize) else { return Ok(None) };
        let Some((id, _)) = rest.split_first_chunk() else { return Ok(None) };
        let sequence_id = u32::from_be_bytes(*id);
        Ok(Some(Head { kind, name, sequence_id, length: 12 + name.len() }))
    }

    #[inline]
    fn field(bytes: &[u8], _last: i16) -> Read<Field> {
        match bytes {
            [] => Ok(None),
            [0, ..] => Ok(Some(Field { kind: None, number: 0, length: 1 })),
            [of, high, low, ..] => {
                let (kind, number) = (binary_kind(*of)?, i16::from_be_bytes([*high, *low]));
                Ok(Some(Field { kind: Some(kind), number, length: 3 }))
            }
            _ => Ok(None),
        }
    }

    #[inline]
    fn size(bytes: &[u8]) -> Read<(u32, usize)> {
        let Some(size) = Self::i32(bytes)? else { return Ok(None) };
        u32::try_from(size).map(|size| Some((size, 4))).map_err(|_| NEGATIVE)
    }

    #[inline]
    fn i32(bytes: &[u8]) -> Read<i32> {
        Ok(bytes.first_chunk().map(|bytes| i32::from_be_bytes(*bytes)))
    }

    fn list(bytes: &[u8]) -> Read<Entries> {
        let Some((of, rest)) = bytes.split_first() else { return Ok(None) };
        let Some((count, length)) = Self::size(rest)? else { return Ok(None) };
        Ok(Some(Entries { kinds: [binary_kind(*of)?; 2], count, length: 1 + length }))
    }

    fn map(bytes: &[u8]) -> Read<Entries> {
        let Some((&[key, value], rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let Some((count, length)) = Self::size(rest)? else { return Ok(None) };
        let length = 2 + length;
        if count == 0 {
            // Some libraries omit the types of an empty map.
            return Ok(Some(Entries { kinds: [Kind::Fixed(0); 2], count, length }));
        }
        Ok(Some(Entries { kinds: [binary_kind(key)?, binary_kind(value)?], count, length }))
    }
}

#[inline]
fn binary_kind(of: u8) -> Result<Kind, Problem> {
    Ok(match of {
        2 | 3 => Kind::Fixed(1),
        6 => Kind::Fixed(2),
        8 => Kind::Fixed(4),
        4 | 10 => Kind::Fixed(8),
        16 => Kind::Fixed(16),
        11 => Kind::Binary,
        12 => Kind::Struct,
        13 => Kind::Map,
        14 | 15 => Kind::List,
        _ => return Err(NO_TYPE),
    })
}

impl Encoding for Compact {
    const FRAMED: Protocol = Protocol::ThriftCompact;
    const BUFFERED: Protocol = Protocol::ThriftBufferedCompact;
    const ARGUMENT: &[u8] = &[0x1c];
    const RESULT: &[u8] = &[0x0c, 0];

    fn put_head(out: &mut Vec<u8>, kind: u8, name: &str, sequence_id: u32) -> usize {
        out.extend([0x82, kind << 5 | 1]);
        let at = out.len();
        out.extend(Self::sequence_id(sequence_id));
        out.push(name.len() as u8);
        out.extend(name.as_bytes());
        at
    }

    #[inline]
    fn sequence_id(id: u32) -> [u8; 4] {
        std::array::from_fn(|place| {
            let more = if place < 3 { 0x80 } else { 0 };
            (id >> (7 * place)) as u8 & 0x7f | more
        })
    }

    #[inline]
    fn head(bytes: &[u8]) -> Read<Head<'_>> {
        let Some((&[protocol, version], rest)) = bytes.split_first_chunk() else {
            return if bytes.first().is_none_or(|byte| *byte == 0x82) {
                Ok(None)
            } else {
                Err(OTHER_VERSION)
            };
        };
        if protocol != 0x82 || version & 0x1f != 1 {
            return Err(OTHER_VERSION);
        }
        let Some((id, id_length)) = varint(rest)? else { return Ok(None) };
        let rest = &rest[id_length..];
        let Some((size, size_length)) = varint(rest)? else { return Ok(None) };
        if size > MAX_NAME.into() {
            return Err(LONG_NAME);
        }
        let Some(name) = rest.get(size_length..size_length + size as usize) else {
            return Ok(None);
        };
        let length = 2 + id_length + size_length + name.len();
        Ok(Some(Head { kind: version >> 5, name, sequence_id: id as u32, length }))
    }

    #[inline]
    fn field(bytes: &[u8], last: i16) -> Read<Field> {
        let Some((first, rest)) = bytes.split_first() else { return Ok(None) };
        if *first == 0 {
            return Ok(Some(Field { kind: None, number: 0, length: 1 }));
        }
        // The type holds the value of a boolean.
        let kind = match first & 15 {
            1 | 2 => Kind::Fixed(0),
            of => compact_kind(of)?,
        };
        let (number, length) = match first >> 4 {
            0 => match varint(rest)? {
                Some((number, length)) => (unzigzag(number) as i16, 1 + length),
                None => return Ok(None),
            },
            step => (last.wrapping_add(i16::from(step)), 1),
        };
        Ok(Some(Field { kind: Some(kind), number, length }))
    }

    #[inline]
    fn size(bytes: &[u8]) -> Read<(u32, usize)> {
        let Some((size, length)) = varint(bytes)? else { return Ok(None) };
        // From 2^31 on, it stands for a negative 32-bit number.
        match i32::try_from(size) {
            Ok(size) => Ok(Some((size.cast_unsigned(), length))),
            Err(_) => Err(NEGATIVE),
        }
    }

    fn i32(bytes: &[u8]) -> Read<i32> {
        Ok(varint(bytes)?.map(|(number, _)| unzigzag(number) as i32))
    }

    fn list(bytes: &[u8]) -> Read<Entries> {
        let Some((first, rest)) = bytes.split_first() else { return Ok(None) };
        let kinds = [compact_kind(first & 15)?; 2];
        if first >> 4 < LONG_LIST {
            return Ok(Some(Entries { kinds, count: (first >> 4).into(), length: 1 }));
        }
        let size = Self::size(rest)?;
        Ok(size.map(|(count, length)| Entries { kinds, count, length: 1 + length }))
    }

    fn map(bytes: &[u8]) -> Read<Entries> {
        let Some((count, length)) = Self::size(bytes)? else { return Ok(None) };
        if count == 0 {
            return Ok(Some(Entries { kinds: [Kind::Fixed(0); 2], count, length }));
        }
        let Some(types) = bytes.get(length) else { return Ok(None) };
        let kinds = [compact_kind(types >> 4)?, compact_kind(types & 15)?];
        Ok(Some(Entries { kinds, count, length: length + 1 }))
    }
}

/// Kind of a value outside a struct.
#[inline]
fn compact_kind(of: u8) -> Result<Kind, Problem> {
    Ok(match of {
        1..=3 => Kind::Fixed(1),
        4..=6 => Kind::Varint,
        7 => Kind::Fixed(8),
        8 => Kind::Binary,
        9 | 10 => Kind::List,
        11 => Kind::Map,
        12 => Kind::Struct,
        13 => Kind::Fixed(16),
        _ => return Err(NO_TYPE),
    })
}

/// A number in base 128 and its length, bytes.
#[inline]
pub(super) fn varint(bytes: &[u8]) -> Read<(u64, usize)> {
    let mut value = 0;
    for (place, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            return Ok(Some((value, place + 1)));
        }
    }
    if bytes.len() < 10 { Ok(None) } else { Err("a number of more than 10 bytes") }
}

/// ZigZag: 0, 1, 2, 3 are 0, -1, 1, -2.
fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
