//! Headers and trailers of a reply.

use crate::protocol::http1;
use crate::protocol::http2::{self, CommonFields, Field, Problem};

/// The content of a header block.
#[derive(Debug, Default)]
pub(crate) struct ReplyHead {
    pub common: CommonFields,
    /// Content-Length, if any.
    pub length: Option<u32>,
}

impl ReplyHead {
    fn read(&mut self, field: Field<'_>) -> Result<(), Problem> {
        if field.name == b"content-length" {
            let length = http1::length(field.value)? as u32;
            if self.length.replace(length).is_some() {
                return Err("more than one content-length");
            }
        }
        self.common.take(field)
    }
}

impl http2::Head for ReplyHead {
    fn take(&mut self, field: Field<'_>) {
        if let Err(problem) = self.read(field) {
            self.common.problem.get_or_insert(problem);
        }
    }

    fn is_success(&self, _last: bool) -> bool {
        self.common.status == 200 && self.common.problem.is_none()
    }

    #[inline]
    fn message<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        self.length.is_none_or(|length| length as usize == data.len()).then_some(data)
    }
}
