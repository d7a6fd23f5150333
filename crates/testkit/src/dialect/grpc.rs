//! gRPC: protobuf after a prefix of five bytes.

use bytes::Bytes;

use super::Dialect;
use crate::echo::{self, INTERNAL, Status, Truth};
use crate::{skim, swap};

pub(crate) struct Grpc;

impl Dialect for Grpc {
    type Failure = Status;

    fn message<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Status> {
        echo::unframe(body)
    }

    fn echo(&self, method: &str, message: &[u8], truth: Truth) -> Result<Bytes, Status> {
        echo::reply(method, message, truth)
    }

    fn skim(&self, method: &str, message: &[u8]) -> Result<Bytes, Status> {
        skim::protobuf(method, message)
    }

    fn swap(&self, message: &[u8]) -> Bytes {
        swap::protobuf(message)
    }

    fn error_as_reply(&self, words: &str) -> Bytes {
        Bytes::copy_from_slice(words.as_bytes())
    }

    fn nothing(&self) -> Bytes {
        Bytes::new()
    }

    fn failure(&self, words: String) -> Status {
        Status::new(INTERNAL, words)
    }

    fn is_malformed(failure: &Status) -> bool {
        failure.code == INTERNAL
    }
}
