//! Correct answers to the calls of the contract.

use bytes::Bytes;
use prost::Message;

mod pb {
    include!("../generated/echo.rs");
}

pub(crate) const UNIMPLEMENTED: u32 = 12;
pub(crate) const INTERNAL: u32 = 13;

/// The status of a failed call: grpc-status and grpc-message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) code: u32,
    pub(crate) message: String,
}

impl Status {
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Whether a reply has the right content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Right,
    /// One field differs from the request.
    Wrong,
}

/// The message in a request body, which must hold exactly one, uncompressed.
pub(crate) fn unframe(body: &[u8]) -> Result<&[u8], Status> {
    let Some((prefix, message)) = body.split_first_chunk::<5>() else {
        return Err(Status::new(
            INTERNAL,
            format!("a request of {} bytes has no message prefix", body.len()),
        ));
    };
    if prefix[0] != 0 {
        return Err(Status::new(
            UNIMPLEMENTED,
            format!("message flags {} are not supported", prefix[0]),
        ));
    }
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
    if u32::try_from(message.len()) != Ok(length) {
        return Err(Status::new(
            INTERNAL,
            format!("the prefix says {length} bytes, {} bytes came", message.len()),
        ));
    }
    Ok(message)
}

/// A message with its gRPC prefix.
pub(crate) fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&[0], &length[..], message].concat()
}

/// The reply message of a method of the contract.
pub(crate) fn reply(path: &str, message: &[u8], truth: Truth) -> Result<Bytes, Status> {
    /// The reply to a request with one message. In a wrong reply, a number in the message differs.
    macro_rules! echo {
        ($request:ident . $content:ident . $number:ident => $reply:ident) => {{
            let mut echo = decode::<pb::$request>(message)?.$content;
            if truth == Truth::Wrong {
                let content = echo.get_or_insert_default();
                content.$number = content.$number.wrapping_add(1);
            }
            Ok(pb::$reply { echo }.encode_to_vec().into())
        }};
    }
    match path {
        "/rpcbench.v1.Echo/Text" => text(message, truth),
        "/rpcbench.v1.Echo/Record" => echo!(RecordRequest.record.field2 => RecordReply),
        "/rpcbench.v1.Echo/Dto" => echo!(DtoRequest.dto.prop4 => DtoReply),
        "/rpcbench.v1.Echo/Tree" => echo!(TreeRequest.tree.age => TreeReply),
        other => Err(Status::new(UNIMPLEMENTED, format!("unknown method {other}"))),
    }
}

fn text(message: &[u8], truth: Truth) -> Result<Bytes, Status> {
    let mut echo = decode::<pb::TextRequest>(message)?.text;
    if truth == Truth::Wrong {
        let replacement = if echo.starts_with('x') { "y" } else { "x" };
        let end = echo.chars().next().map_or(0, char::len_utf8);
        echo.replace_range(..end, replacement);
    }
    Ok(pb::TextReply { echo }.encode_to_vec().into())
}

fn decode<M: Message + Default>(message: &[u8]) -> Result<M, Status> {
    M::decode(message).map_err(|error| Status::new(INTERNAL, format!("malformed request: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_carries_text_in_field_2() {
        let reply = reply("/rpcbench.v1.Echo/Text", b"\x0a\x03abc", Truth::Right).unwrap();
        assert_eq!(&reply[..], b"\x12\x03abc");
    }

    #[test]
    fn wrong_reply_differs_and_decodes() {
        for method in ["Text", "Record", "Dto", "Tree"] {
            let path = format!("/rpcbench.v1.Echo/{method}");
            let right = reply(&path, b"", Truth::Right).unwrap();
            let wrong = reply(&path, b"", Truth::Wrong).unwrap();
            assert_ne!(right, wrong, "{method}");
        }
        let wrong = reply("/rpcbench.v1.Echo/Text", b"\x0a\x03xbc", Truth::Wrong).unwrap();
        assert_eq!(&wrong[..], b"\x12\x03ybc");
    }

    #[test]
    fn malformed_requests_are_refused() {
        assert_eq!(
            reply("/rpcbench.v1.Echo/Text", b"\x0a\x09abc", Truth::Right).unwrap_err().code,
            INTERNAL
        );
        assert_eq!(
            reply("/rpcbench.v1.Echo/Text", b"\x0a\x01\xff", Truth::Right).unwrap_err().code,
            INTERNAL
        );
        assert_eq!(
            reply("/rpcbench.v1.Echo/None", b"", Truth::Right).unwrap_err().code,
            UNIMPLEMENTED
        );
        assert_eq!(unframe(b"\0\0\0").unwrap_err().code, INTERNAL);
        assert_eq!(unframe(b"\0\0\0\0\x02a").unwrap_err().code, INTERNAL);
        assert_eq!(unframe(b"\x01\0\0\0\x01a").unwrap_err().code, UNIMPLEMENTED);
        assert_eq!(unframe(b"\0\0\0\0\x01a").unwrap(), b"a");
    }
}
