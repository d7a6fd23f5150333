//! A cheat: the reply is the request with the reply's tag or key, otherwise unchanged.

use bytes::Bytes;

const REQUEST_TAG: u8 = 0x0a;
const REPLY_TAG: u8 = 0x12;

/// Changes the tag of a leading field 1 to field 2.
pub(crate) fn protobuf(message: &[u8]) -> Bytes {
    match message.split_first() {
        Some((&REQUEST_TAG, rest)) => [&[REPLY_TAG], rest].concat().into(),
        _ => Bytes::copy_from_slice(message),
    }
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
    fn the_rest_is_unchanged() {
        assert_eq!(&protobuf(b"\x0a\x01a\x0a\x01b")[..], b"\x12\x01a\x0a\x01b");
        assert_eq!(&protobuf(b"")[..], b"");
        assert_eq!(&json(br#"{ "text":	"a" }"#)[..], br#"{ "echo":	"a" }"#);
        assert_eq!(&json(b"{}")[..], b"{}");
    }
}
