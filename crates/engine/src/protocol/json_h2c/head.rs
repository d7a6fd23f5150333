//! What the headers and the trailers of a reply say.

use crate::protocol::http1;
use crate::protocol::http2::{self, Field, Problem};

/// Fields about a connection of HTTP/1.1. RFC 9113, section 8.2.2.
const OF_CONNECTIONS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

/// What a header block says.
#[derive(Debug, Default)]
pub(crate) struct ReplyHead {
    /// HTTP status, 100 to 999; 0 if absent, as in trailers.
    pub status: u16,
    /// Bytes of body that it promises.
    pub length: Option<u32>,
    /// What is wrong with it.
    pub problem: Option<Problem>,
}

impl ReplyHead {
    fn read(&mut self, field: Field<'_>) -> Result<(), Problem> {
        match field.name {
            b":status" => {
                let status = status(field.value).ok_or("an invalid :status")?;
                if std::mem::replace(&mut self.status, status) != 0 {
                    return Err("more than one :status");
                }
            }
            b"content-length" => {
                let length = http1::length(field.value)? as u32;
                if self.length.replace(length).is_some() {
                    return Err("more than one content-length");
                }
            }
            name if OF_CONNECTIONS.contains(&name) => {
                return Err("a header field that HTTP/2 does not have, such as connection");
            }
            _ => {}
        }
        Ok(())
    }
}

/// A status of HTTP: three digits.
fn status(digits: &[u8]) -> Option<u16> {
    let &[first @ b'1'..=b'9', second, third] = digits else { return None };
    [first, second, third].iter().try_fold(0, |status, digit| {
        digit.is_ascii_digit().then(|| status * 10 + u16::from(digit - b'0'))
    })
}

impl http2::Head for ReplyHead {
    fn take(&mut self, field: Field<'_>) {
        if let Err(problem) = self.read(field) {
            self.problem.get_or_insert(problem);
        }
    }

    fn is_success(&self) -> bool {
        self.status == 200 && self.problem.is_none()
    }

    #[inline]
    fn message<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        self.length.is_none_or(|length| length as usize == data.len()).then_some(data)
    }
}
