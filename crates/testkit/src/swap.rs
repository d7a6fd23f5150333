//! A cheat: the reply is the request with its tag or key replaced by the reply's.

use bytes::Bytes;
use prost::encoding::{decode_varint, encoded_len_varint};

const REQUEST_TAG: u8 = 0x0a;
const REPLY_TAG: u8 = 0x12;

/// Changes the tag of a leading field 1 to field 2.
pub(crate) fn protobuf(message: &[u8]) -> Bytes {
    match message.split_first() {
        Some((&REQUEST_TAG, rest)) => [&[REPLY_TAG], rest].concat().into(),
        _ => Bytes::copy_from_slice(message),
    }
}

/// True if field 1 fills the message, and its tag and length are as short as possible.
pub(crate) fn is_usual_protobuf(message: &[u8]) -> bool {
    let Some((&REQUEST_TAG, mut rest)) = message.split_first() else { return false };
    let length = decode_varint(&mut rest).unwrap_or(u64::MAX);
    length == rest.len() as u64 && message.len() - rest.len() == 1 + encoded_len_varint(length)
}

/// True if an object begins and ends without whitespace, and without escapes in its first key.
pub(crate) fn is_usual_json(body: &[u8]) -> bool {
    let key = body.strip_prefix(b"{\"").unwrap_or_default();
    let letters = key.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    letters > 0 && key[letters..].starts_with(b"\":") && body.ends_with(b"}")
}

/// Replaces the first string with `"echo"`.
pub(crate) fn json(body: &[u8]) -> Bytes {
    let mut parts = body.splitn(3, |byte| *byte == b'"');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(_), Some(after)) => [before, b"\"echo\"", after].concat().into(),
        _ => Bytes::copy_from_slice(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_after_the_tag_are_unchanged() {
        assert_eq!(&protobuf(b"\x0a\x01a\x0a\x01b")[..], b"\x12\x01a\x0a\x01b");
        assert_eq!(&protobuf(b"")[..], b"");
        assert_eq!(&json(br#"{ "text":	"a" }"#)[..], br#"{ "echo":	"a" }"#);
        assert_eq!(&json(b"{}")[..], b"{}");
    }

    #[test]
    fn requests_are_usual_by_their_first_bytes() {
        assert!(is_usual_protobuf(b"\x0a\x01a") && is_usual_json(br#"{"text":"a"}"#));
        for odd in
            [&b"\x0a\x81\x00a"[..], b"\x8a\x00\x01a", b"\x0a\x01a\x0a\x01b", b"\x0a\x02a", b""]
        {
            assert!(!is_usual_protobuf(odd), "{odd:?}");
        }
        for odd in [&br#"{"\u0074ext":"a"}"#[..], br#"{ "text":"a"}"#, br#"{"text":"a"} "#, b"{}"] {
            assert!(!is_usual_json(odd), "{odd:?}");
        }
    }
}
