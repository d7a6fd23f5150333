//! Makes the reply's message from the body of a request.

use std::borrow::Cow;

use rpcbench_reference::rewrite::only_field;

use crate::echo::{self, Truth};

/// The reply's message for a complete request body with its gRPC prefix: see [`rpcbench_reference::rewrite::Protobuf`].
pub(super) fn reply(body: &[u8]) -> Result<Cow<'_, [u8]>, u32> {
    let message = echo::unframe(body).map_err(|status| status.code)?;
    if is_one_text(message) {
        return Ok(Cow::Borrowed(message));
    }
    echo::reply("/rpcbench.v1.Echo/Text", message, Truth::Right)
        .map(|reply| Cow::Owned(reply.into()))
        .map_err(|status| status.code)
}

/// True if the message is empty, or has exactly one field: field 1 with valid text.
fn is_one_text(message: &[u8]) -> bool {
    let is_text = |text: &[u8]| text.is_ascii() || std::str::from_utf8(text).is_ok();
    message.is_empty() || only_field(message).is_some_and(is_text)
}

#[cfg(test)]
mod tests {
    use rpcbench_reference::rewrite::REPLY_TAG;

    use super::*;
    use crate::echo::INTERNAL;

    fn framed(message: &[u8]) -> Vec<u8> {
        [&[0], &u32::try_from(message.len()).unwrap().to_be_bytes()[..], message].concat()
    }

    fn retagged(message: &[u8]) -> Result<Vec<u8>, u32> {
        let body = framed(message);
        let reply = reply(&body)?;
        let mut bytes = reply.to_vec();
        if let (Cow::Borrowed(_), Some(tag)) = (reply, bytes.first_mut()) {
            *tag = REPLY_TAG;
        }
        Ok(bytes)
    }

    #[test]
    fn plain_text_is_retagged() {
        assert_eq!(retagged(b"").unwrap(), b"");
        assert_eq!(retagged(b"\x0a\x03abc").unwrap(), b"\x12\x03abc");
        assert_eq!(retagged("\n\u{2}\u{e9}".as_bytes()).unwrap(), "\u{12}\u{2}\u{e9}".as_bytes());
        let long = [&[0x0a, 0xac, 0x02][..], &[b'x'; 300]].concat();
        assert_eq!(retagged(&long).unwrap()[..4], [0x12, 0xac, 0x02, b'x']);
    }

    #[test]
    fn unusual_but_valid_messages_are_decoded() {
        assert_eq!(retagged(b"\x0a\x01a\x0a\x01b").unwrap(), b"\x12\x01b");
        assert_eq!(retagged(b"\x18\x07\x0a\x01b").unwrap(), b"\x12\x01b");
        assert_eq!(retagged(b"\x0a\x81\x80\x80\x80\x00b").unwrap(), b"\x12\x01b");
    }

    #[test]
    fn malformed_messages_are_refused() {
        for message in [
            &b"\x0a\x05abc"[..],
            b"\x0a",
            b"\x0a\x01\xff",
            b"\xff\xff",
            b"\x0a\xff\xff\xff\xff\x0f",
        ] {
            assert_eq!(retagged(message), Err(INTERNAL), "{message:?}");
        }
        assert_eq!(reply(b"\0\0\0\0").unwrap_err(), INTERNAL);
    }

    proptest::proptest! {
        #[test]
        fn retagging_agrees_with_decoder(message in proptest::collection::vec(0_u8..24, 0..24)) {
            let honest = echo::reply("/rpcbench.v1.Echo/Text", &message, Truth::Right);
            let expected = honest.map(|reply| reply.to_vec()).map_err(|status| status.code);
            // An empty text may be sent as a field or omitted.
            let same = |reply: Result<Vec<u8>, u32>| reply.map(|bytes| if bytes == [0x12, 0] { vec![] } else { bytes });
            proptest::prop_assert_eq!(same(retagged(&message)), same(expected));
        }
    }
}
