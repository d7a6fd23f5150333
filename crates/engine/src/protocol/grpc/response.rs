//! Response headers and trailers.

use rpcbench_record::printable;

use super::exchange::whole_message;
use super::{details, status};
use crate::protocol::End;
use crate::protocol::http1;
use crate::protocol::http2::{self, CommonFields, Field, Problem};

/// Maximum bytes shown of an invalid status.
const MAX_STATUS: usize = 20;

/// The content of a header block.
#[derive(Debug, Default)]
pub(crate) struct ResponseHead {
    pub common: CommonFields,
    /// gRPC status, if it is one of gRPC's codes.
    pub grpc: Option<u32>,
    /// The status as sent, if it is not one of gRPC's codes.
    unknown: Option<String>,
    /// The message of the status, percent-decoded.
    pub message: Option<String>,
    /// Details of the status, base64.
    details: Option<Box<[u8]>>,
    /// Whether the content type is gRPC's. `None` without one.
    grpc_content: Option<bool>,
    /// Content-Length, if any.
    pub length: Option<u32>,
}

impl http2::Head for ResponseHead {
    fn take(&mut self, field: Field<'_>) {
        if let Err(problem) = self.read(field) {
            self.common.problem.get_or_insert(problem);
        }
    }

    fn is_success(&self, last: bool) -> bool {
        if last {
            return self.common.check_trailers().is_ok() && self.grpc == Some(status::OK);
        }
        self.common.status == 200 && self.check_headers().is_ok() && self.length.is_none()
    }

    #[inline]
    fn message<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        whole_message(data)
    }

    #[cfg(any(test, feature = "fuzzing"))]
    fn room(&self) -> usize {
        let details = self.details.as_ref().map_or(0, |details| details.len());
        details + self.message.as_ref().map_or(0, String::capacity)
    }
}

impl ResponseHead {
    fn read(&mut self, field: Field<'_>) -> Result<(), Problem> {
        match field.name {
            b"grpc-status" => {
                let known = code(field.value);
                if self.grpc.replace(known.unwrap_or(status::UNKNOWN)).is_some() {
                    return Err("more than one grpc-status");
                }
                let sent = &field.value[..field.value.len().min(MAX_STATUS)];
                self.unknown = known.is_none().then(|| unescape(sent));
            }
            b"grpc-message" if self.message.replace(unescape(field.value)).is_some() => {
                return Err("more than one grpc-message");
            }
            b"grpc-status-details-bin" => self.details = Some(field.value.into()),
            b"content-type" if self.grpc_content.replace(is_grpc(field.value)).is_some() => {
                return Err("more than one content-type");
            }
            b"content-length"
                if self.length.replace(http1::length(field.value)? as u32).is_some() =>
            {
                return Err("more than one content-length");
            }
            _ => {}
        }
        self.common.take(field)
    }

    /// Checks the block as headers before a message.
    pub fn check_headers(&self) -> Result<(), Problem> {
        match (self.common.problem, self.common.status) {
            (Some(problem), _) => Err(problem),
            (None, 0) => Err("response headers without :status"),
            (None, 101) => Err("101 Switching Protocols, which HTTP/2 does not have"),
            _ if self.grpc.is_some() => Err("a grpc-status before the end of the stream"),
            (None, 200) if self.grpc_content != Some(true) => {
                Err("content-type is not application/grpc")
            }
            _ => Ok(()),
        }
    }

    /// The status of a call that ends with this header block.
    pub fn status(&self, http_of_headers: u16) -> u32 {
        self.grpc.unwrap_or_else(|| status::from_http(self.http_or(http_of_headers)))
    }

    /// How a call ends whose last header block this is, if it fails.
    #[cold]
    pub fn failure(&self, http_of_headers: u16) -> End {
        match self.grpc {
            Some(code) => {
                let text = self.message.as_deref().unwrap_or_default();
                let message = match &self.unknown {
                    Some(sent) => format!("grpc-status {sent} {text}").trim_end().to_owned(),
                    None => text.to_owned(),
                };
                let details = self.details.as_deref().map(details::of_trailer);
                End::Status { code, message, details: details.unwrap_or_default() }
            }
            None => status::http_failure(self.http_or(http_of_headers)),
        }
    }

    fn http_or(&self, http_of_headers: u16) -> u16 {
        if self.common.status == 0 { http_of_headers } else { self.common.status }
    }
}

/// Parses one of gRPC's codes: a decimal number without sign or leading zeros.
fn code(text: &[u8]) -> Option<u32> {
    match *text {
        [digit @ b'0'..=b'9'] => Some(u32::from(digit - b'0')),
        [b'1', digit @ b'0'..=b'9'] => Some(10 + u32::from(digit - b'0')),
        _ => None,
    }
    .filter(|code| *code <= status::LAST)
}

/// True for `application/grpc`, alone or with a format or parameters after it.
fn is_grpc(content_type: &[u8]) -> bool {
    let rest = content_type.strip_prefix(b"application/grpc");
    rest.is_some_and(|rest| matches!(rest, [] | [b'+' | b';' | b' ', ..]))
}

/// Decodes gRPC's percent-encoding. Malformed parts stay unchanged; unprintable characters are escaped.
fn unescape(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    printable(&String::from_utf8_lossy(&bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::grpc::Grpc;

    type HeadReader = http2::HeadReader<Grpc>;

    #[test]
    fn remembered_block_is_decoded_again_when_the_table_has_changed() {
        let mut reader = HeadReader::new();
        // grpc-status: 0 enters the table, then the same index means grpc-status: 5.
        reader.read(b"\x40\x0bgrpc-status\x010", true, |_| ()).unwrap();
        assert_eq!(reader.read(b"\xbe", true, |_| ()).unwrap().grpc, Some(0));
        assert_eq!(reader.read(b"\xbe", true, |_| ()).unwrap().grpc, Some(0));
        reader.read(b"\x40\x0bgrpc-status\x015", true, |_| ()).unwrap();
        assert_eq!(reader.read(b"\xbe", true, |_| ()).unwrap().grpc, Some(5));
    }

    #[test]
    fn block_that_inserts_is_never_remembered() {
        let mut reader = HeadReader::new();
        for _ in 0..3 {
            let before = reader.generation();
            assert_eq!(
                reader.read(b"\x40\x0bgrpc-status\x010", true, |_| ()).unwrap().grpc,
                Some(0)
            );
            assert_eq!(reader.generation(), before + 1);
        }
    }

    #[test]
    fn empty_block_adds_nothing_to_earlier_fields() {
        let mut reader = HeadReader::new();
        for block in [&b""[..], b"\x40\x0bgrpc-status\x010", b"", b"\xbe", b""] {
            let head = reader.read(block, true, |_| ()).unwrap();
            assert_eq!(head.grpc.is_none(), block.is_empty());
            assert_eq!(head.status(503), if block.is_empty() { 14 } else { 0 });
        }
    }

    #[test]
    fn malformed_status_codes_are_not_success() {
        for (block, status) in [
            (&b"\x08\x0565736"[..], 2), // 200 in sixteen bits
            (b"\x08\x04+200\x00\x0bgrpc-status\x02+0", 2),
            (b"\x88\x00\x0bgrpc-status\x0a4294967296", 2),
        ] {
            let mut reader = HeadReader::new();
            let head = reader.read(block, true, |_| ()).unwrap();
            assert!(head.status(0) == status && matches!(head.common.status, 0 | 200), "{head:?}");
        }
        assert_eq!(
            HeadReader::new().read(b"\x08\x0565736", true, |_| ()).unwrap().common.status,
            0
        );
    }

    #[test]
    fn messages_are_unescaped() {
        assert_eq!(unescape(b"a%20b%zz%E2%82%AC%"), "a b%zz\u{20ac}%");
        assert_eq!(unescape(b"%1b[2J%0D%0aok\x9b\x1b"), "\\u{1b}[2J\\r\\nok\u{fffd}\\u{1b}");
    }
}
