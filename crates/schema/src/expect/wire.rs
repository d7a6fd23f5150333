//! Protobuf's wire format: the fields of an encoded message.

/// Content of a field on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    /// A length and this many bytes.
    Bytes(&'a [u8]),
    /// The bytes between a group's tags.
    Group(&'a [u8]),
}

/// The reply is not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Takes the next field off `rest`: its number and content. `None` at the end.
#[inline(always)]
pub(super) fn next<'a>(rest: &mut &'a [u8]) -> Result<Option<(u32, Content<'a>)>, Malformed> {
    if rest.is_empty() {
        return Ok(None);
    }
    let (number, kind) = tag(rest)?;
    let content = match kind {
        3 => Content::Group(group(rest, number)?),
        kind => scalar(rest, kind)?,
    };
    Ok(Some((number, content)))
}

#[inline]
fn tag(rest: &mut &[u8]) -> Result<(u32, u8), Malformed> {
    let tag = varint(rest)?;
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number));
    Ok((number.ok_or(Malformed)?, (tag & 7) as u8))
}

#[inline(always)]
fn scalar<'a>(rest: &mut &'a [u8], kind: u8) -> Result<Content<'a>, Malformed> {
    Ok(match kind {
        0 => Content::Varint(varint(rest)?),
        1 => Content::Fixed64(u64::from_le_bytes(fixed(rest)?)),
        2 => {
            let length = usize::try_from(varint(rest)?).map_err(|_| Malformed)?;
            Content::Bytes(rest.split_off(..length).ok_or(Malformed)?)
        }
        5 => Content::Fixed32(u32::from_le_bytes(fixed(rest)?)),
        _ => return Err(Malformed),
    })
}

/// Takes the content and the end of the group with this number.
#[cold]
fn group<'a>(rest: &mut &'a [u8], number: u32) -> Result<&'a [u8], Malformed> {
    let whole = *rest;
    let mut depth = 0_u32;
    loop {
        let before = rest.len();
        let (inner, kind) = tag(rest)?;
        match kind {
            3 => depth += 1,
            4 if depth > 0 => depth -= 1,
            4 if inner == number => return Ok(&whole[..whole.len() - before]),
            kind => scalar(rest, kind).map(drop)?,
        }
    }
}

#[inline]
pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    match **rest {
        [byte @ 0..0x80, ..] => {
            *rest = &rest[1..];
            Ok(byte.into())
        }
        _ => long_varint(rest),
    }
}

#[cold]
fn long_varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first().ok_or(Malformed)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed)
}

pub(super) fn fixed<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (bytes, after) = rest.split_first_chunk().ok_or(Malformed)?;
    *rest = after;
    Ok(*bytes)
}
