//! The protocols: how calls arrive, are answered and fail.

mod http1;
mod in_order;
mod json;
mod protobuf;
mod tcp_echo;
mod thrift;

use bytes::Bytes;

use crate::echo::Truth;
pub(crate) use in_order::converse;
pub(crate) use json::{Json, Reply};
pub(crate) use protobuf::Protobuf;
pub(crate) use tcp_echo::TcpEcho;
pub(crate) use thrift::answer as thrift_answer;

/// How a protocol writes answers.
pub(crate) trait Dialect {
    /// A failed call.
    type Failure;

    /// The message in a request's body.
    fn message<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Self::Failure> {
        Ok(body)
    }

    /// The correct reply, or one that differs in a field.
    fn echo(&self, method: &str, message: &[u8], truth: Truth) -> Result<Bytes, Self::Failure>;

    /// A reply with the content's bytes copied from the request.
    fn skim(&self, method: &str, message: &[u8]) -> Result<Bytes, Self::Failure>;

    /// The request, with its tag or key replaced by the reply's.
    fn swap(&self, message: &[u8]) -> Bytes;

    /// True if the first bytes are those of a usual request, as encoders write it.
    fn looks_usual(&self, message: &[u8]) -> bool;

    /// An error message in place of the reply.
    fn error_as_reply(&self, words: &str) -> Bytes {
        Bytes::copy_from_slice(words.as_bytes())
    }

    /// The shortest empty reply.
    fn nothing(&self) -> Bytes {
        Bytes::new()
    }

    /// An internal error of the server.
    fn failure(&self, words: String) -> Self::Failure;

    /// True if the request caused the failure.
    fn is_malformed(failure: &Self::Failure) -> bool;
}
