//! Protobuf, in gRPC and in Connect.

use std::io;

use bytes::Bytes;

use super::in_order::{Answer, InOrder, Request};
use super::{Dialect, http1};
use crate::echo::{self, INTERNAL, Status, Truth, UNIMPLEMENTED};
use crate::{skim, swap};

/// How messages are carried.
pub(crate) enum Protobuf {
    /// Messages have a prefix of five bytes.
    Grpc,
    /// Connect's unary protocol over HTTP/1.1: messages are bare, and errors are JSON.
    Connect,
}

impl Dialect for Protobuf {
    type Failure = Status;

    fn message<'a>(&self, body: &'a [u8]) -> Result<&'a [u8], Status> {
        match self {
            Self::Grpc => echo::unframe(body),
            Self::Connect => Ok(body),
        }
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

    fn looks_usual(&self, message: &[u8]) -> bool {
        swap::is_usual_protobuf(message)
    }

    fn failure(&self, words: String) -> Status {
        Status::new(INTERNAL, words)
    }

    fn is_malformed(failure: &Status) -> bool {
        failure.code == INTERNAL
    }
}

impl InOrder for Protobuf {
    fn take(&self, input: &mut Vec<u8>) -> io::Result<Option<Request>> {
        http1::take(input)
    }

    fn write(&self, _request: &Request, reply: Result<Bytes, Status>) -> Answer {
        let bytes = match reply {
            Ok(message) => http1::reply(200, "application/proto", &message),
            Err(Status { code, message }) => {
                let (status, code) = match code {
                    UNIMPLEMENTED => (404, "unimplemented"),
                    _ => (500, "internal"),
                };
                let body = serde_json::json!({ "code": code, "message": message }).to_string();
                http1::reply(status, "application/json", body.as_bytes())
            }
        };
        Answer { bytes, last: false }
    }
}
