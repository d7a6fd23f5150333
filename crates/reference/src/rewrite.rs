//! Makes replies from requests without decoding them.

use std::borrow::Cow;

/// Field 2, length-delimited.
pub const REPLY_TAG: u8 = 0x12;
/// Field 1, length-delimited.
const REQUEST_TAG: u8 = 0x0a;
/// A reply with a truncated length.
pub(crate) const MALFORMED: &[u8] = &[REPLY_TAG, 0xff, 0xff];
/// gRPC's code for a request that can't be read.
const INTERNAL: u32 = 13;

/// Makes the reply's message from a request's body with its gRPC prefix. `Cow::Borrowed` is the request's message, whose first
/// byte (if any) must still be replaced with [`REPLY_TAG`]. `Err` is a gRPC status.
pub type Protobuf = fn(&[u8]) -> Result<Cow<'_, [u8]>, u32>;

/// Accepts messages that satisfy `is_echoed`.
///
/// # Errors
/// The status for any other message.
pub fn protobuf(body: &[u8]) -> Result<Cow<'_, [u8]>, u32> {
    let message = unframe(body).ok_or(INTERNAL)?;
    if is_echoed(message) { Ok(Cow::Borrowed(message)) } else { Err(INTERNAL) }
}

/// True if a message is empty or has exactly one field, field 1, as every encoder writes it.
pub(crate) fn is_echoed(message: &[u8]) -> bool {
    message.is_empty() || only_field(message).is_some()
}

/// The message of a body that contains exactly one, uncompressed.
fn unframe(body: &[u8]) -> Option<&[u8]> {
    let (length, message) = body.strip_prefix(&[0])?.split_first_chunk()?;
    (u32::from_be_bytes(*length) as usize == message.len()).then_some(message)
}

/// The content of field 1, if the message has no other field.
pub fn only_field(message: &[u8]) -> Option<&[u8]> {
    let (&REQUEST_TAG, rest) = message.split_first()? else { return None };
    let mut length = 0_usize;
    for (index, &byte) in rest.iter().take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            let content = &rest[index + 1..];
            return (content.len() == length).then_some(content);
        }
    }
    None
}

/// The reply to a JSON object whose only member is `key`: the same object with the key `echo`. `None` if the body does not begin
/// this way.
pub(crate) fn json<'a>(key: &str, body: &'a [u8]) -> Option<[&'a [u8]; 3]> {
    let start = body.iter().position(|byte| *byte == b'"')?;
    let rest = body[start + 1..].strip_prefix(key.as_bytes())?.strip_prefix(b"\"")?;
    let is_object = body[..start].trim_ascii() == b"{" && body.trim_ascii_end().ends_with(b"}");
    is_object.then_some([&body[..start], b"\"echo\"", rest])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_with_one_field_is_sent_back() {
        let framed = |message: &[u8]| [&[0, 0, 0, 0, message.len() as u8], message].concat();
        for message in [&b""[..], b"\x0a\x03abc", b"\x0a\x00", b"\x0a\x02\xff\x00"] {
            assert_eq!(protobuf(&framed(message)).as_deref(), Ok(message));
        }
        for odd in [&b"\x0a\x05abc"[..], b"\x0a", b"\x12\x01a", b"\x0a\x01a\x0a\x01b"] {
            assert_eq!(protobuf(&framed(odd)), Err(INTERNAL), "{odd:?}");
        }
        assert_eq!(protobuf(b"\x01\0\0\0\0"), Err(INTERNAL), "compressed");
        assert_eq!(protobuf(b"\0\0\0\0\x09abc"), Err(INTERNAL));
        assert_eq!(protobuf(b"\0\0"), Err(INTERNAL));
    }

    #[test]
    fn object_with_one_member_gets_another_key() {
        let reply = |key, body: &'static str| {
            json(key, body.as_bytes()).map(|parts| String::from_utf8(parts.concat()).unwrap())
        };
        assert_eq!(reply("text", r#"{"text":"a"}"#).unwrap(), r#"{"echo":"a"}"#);
        assert_eq!(
            reply("dto", "{ \"dto\": {\"a\": 1} }\n").unwrap(),
            "{ \"echo\": {\"a\": 1} }\n"
        );
        for odd in [r#"{"tex":"a"}"#, r#"["text"]"#, r#"{"text":"a""#, "{}", ""] {
            assert_eq!(reply("text", odd), None, "{odd}");
        }
    }
}
