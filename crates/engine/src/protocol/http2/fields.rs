//! Rules for the header fields of every reply. RFC 9113, sections 8.2 and 8.3.

use super::{Field, Problem};

/// Connection-specific fields of HTTP/1.1. RFC 9113, section 8.2.2.
const CONNECTION_FIELDS: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];

/// The part of a header block that does not depend on the application.
#[derive(Debug, Default)]
pub(crate) struct CommonFields {
    /// HTTP status, 100 to 999; 0 if absent, as in trailers.
    pub status: u16,
    /// The first error in the block.
    pub problem: Option<Problem>,
    /// True after a field that is not a pseudo-header.
    regular: bool,
}

impl CommonFields {
    /// Takes the next field.
    pub fn take(&mut self, field: Field<'_>) -> Result<(), Problem> {
        // RFC 9113, section 8.2.1.
        if field.value.iter().any(|byte| matches!(byte, 0 | b'\n' | b'\r')) {
            return Err("a header field whose value has a line end or NUL");
        }
        match field.name {
            b":status" => {
                let status = status(field.value).ok_or("an invalid :status")?;
                if std::mem::replace(&mut self.status, status) != 0 {
                    return Err("more than one :status");
                }
                if self.regular {
                    return Err("a :status after other header fields");
                }
            }
            [b':', ..] => return Err("a pseudo-header that replies don't have"),
            name if CONNECTION_FIELDS.contains(&name) => {
                return Err("a header field that HTTP/2 does not have, such as connection");
            }
            name if name.iter().any(u8::is_ascii_uppercase) => {
                return Err("a header field with an upper-case name");
            }
            _ => self.regular = true,
        }
        Ok(())
    }

    /// Checks the block as trailers, which have no pseudo-header.
    pub fn check_trailers(&self) -> Result<(), Problem> {
        match (self.problem, self.status) {
            (Some(problem), _) => Err(problem),
            (None, 0) => Ok(()),
            (None, _) => Err("trailers with a :status"),
        }
    }
}

/// An HTTP status: three digits.
fn status(digits: &[u8]) -> Option<u16> {
    let &[first @ b'1'..=b'9', second, third] = digits else { return None };
    [first, second, third].iter().try_fold(0, |status, digit| {
        digit.is_ascii_digit().then(|| status * 10 + u16::from(digit - b'0'))
    })
}
