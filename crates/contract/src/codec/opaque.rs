//! Bytes that a server returns unread.

use super::protobuf::Protobuf;
use super::{Codec, Sent};
use crate::profile::Need;
use crate::values::{Mismatch, Value};

/// Requests are protobuf, so that they are as long as in gRPC. The right reply is the same bytes.
pub(crate) struct Opaque;

impl Codec for Opaque {
    fn offers(&self) -> &'static [Need] {
        &[]
    }

    fn request(&self, value: &Value) -> Vec<u8> {
        Protobuf.request(value)
    }

    fn reply(&self, value: &Value) -> Vec<u8> {
        self.request(value)
    }

    fn empty_request(&self) -> Vec<u8> {
        Protobuf.empty_request()
    }

    fn with_unknown_fields(&self, value: &Value) -> Vec<u8> {
        Protobuf.with_unknown_fields(value)
    }

    fn verify(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch> {
        let request = sent.request;
        if reply == request {
            return Ok(());
        }
        match request.iter().zip(reply).position(|(sent, got)| sent != got) {
            Some(at) => Err(Mismatch::Byte { at, expected: request[at], got: reply[at] }),
            None => Err(Mismatch::Length { expected: request.len(), got: reply.len() }),
        }
    }
}
