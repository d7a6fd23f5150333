//! What depends on the protocol in how a call comes, is answered, and fails.

mod grpc;
mod in_order;
mod json;
mod tcp_echo;
mod thrift;

use bytes::Bytes;

use crate::echo::Truth;
pub(crate) use grpc::Grpc;
pub(crate) use in_order::converse;
pub(crate) use json::{Json, Reply};
pub(crate) use tcp_echo::TcpEcho;
pub(crate) use thrift::answer as thrift_answer;

/// How a protocol writes what a call is answered with.
pub(crate) trait Dialect {
    /// How a call fails.
    type Failure;

    /// The message in a request's body.
    fn message<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Self::Failure> {
        Ok(body)
    }

    /// The reply that the contract asks for, or one that differs in a field.
    fn echo(&self, method: &str, message: &[u8], truth: Truth) -> Result<Bytes, Self::Failure>;

    /// The reply with the content's bytes as they came.
    fn skim(&self, method: &str, message: &[u8]) -> Result<Bytes, Self::Failure>;

    /// The request with the reply's tag or key.
    fn swap(&self, message: &[u8]) -> Bytes;

    /// Words about an error, as if they were a reply.
    fn excuse(&self, words: &str) -> Bytes;

    /// The least reply that has nothing in it.
    fn nothing(&self) -> Bytes;

    /// A failure of the server's own.
    fn failure(&self, words: String) -> Self::Failure;

    /// Whether the request is at fault.
    fn is_malformed(failure: &Self::Failure) -> bool;
}
