//! The protocols over HTTP/2, as its fuzz targets see them.

use std::sync::Arc;

use super::http2::Frame;
use super::ledger::{REQUESTS, RIGHT};
use crate::payload::Filler;
use crate::protocol::grpc::Grpc;
use crate::protocol::http2::{Http2Application, Templates};
use crate::protocol::over_http2::JsonH2c;

/// Names and values.
pub(super) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A protocol over HTTP/2, as its peer sees it.
pub(super) trait Carries: Http2Application {
    /// Header blocks that a peer might send; some enter fields into the table, some refer to them.
    const BLOCKS: [&[u8]; 12];

    /// The requests of [`REQUESTS`].
    fn templates() -> Arc<Templates> {
        Arc::new(Templates::new::<Self>(&Filler::of(&REQUESTS), "host"))
    }

    /// The body that carries a message.
    fn body(message: &[u8]) -> Vec<u8>;

    /// The fields that only a request has, for a body of `length` bytes.
    fn own_fields(length: usize) -> Fields;

    /// The complete right reply.
    fn answer(stream: u32) -> Vec<Frame>;
}

impl Carries for Grpc {
    const BLOCKS: [&[u8]; 12] = [
        b"\x88\x0f\x10\x10application/grpc",
        b"\x88\x5f\x10application/grpc",
        b"\x88\xbe",
        b"\x00\x0bgrpc-status\x010",
        b"\x40\x0bgrpc-status\x010",
        b"\x00\x0bgrpc-status\x0213\x00\x0cgrpc-message\x08no%20way",
        b"\x88\x0f\x10\x10application/grpc\x00\x0bgrpc-status\x015",
        b"\x08\x03103",
        b"\x08\x03503",
        b"\x20\x88\x5f\x09text/html",
        b"\x3f\xe1\x1f\xbe",
        b"",
    ];

    fn body(message: &[u8]) -> Vec<u8> {
        [&[0][..], &(message.len() as u32).to_be_bytes(), message].concat()
    }

    fn own_fields(_: usize) -> Fields {
        Fields::new()
    }

    fn answer(stream: u32) -> Vec<Frame> {
        vec![
            Frame::headers(stream, Self::BLOCKS[0]),
            Frame::data(stream, Self::body(RIGHT)),
            Frame::headers(stream, Self::BLOCKS[3]).end_stream(),
        ]
    }
}

impl Carries for JsonH2c {
    const BLOCKS: [&[u8]; 12] = [
        b"\x88\x0f\x10\x10application/json",
        b"\x88\x5f\x10application/json",
        b"\x88\xbe",
        b"\x88\x0f\x0d\x015",
        b"\x88\x5c\x015",
        b"\x88\x0f\x0d\x0217",
        b"\x89",
        b"\x08\x03103",
        b"\x08\x03503",
        b"\x20\x88\x5f\x09text/html",
        b"\x3f\xe1\x1f\xbe",
        b"",
    ];

    fn body(message: &[u8]) -> Vec<u8> {
        message.to_vec()
    }

    fn own_fields(length: usize) -> Fields {
        vec![(b"content-length".to_vec(), length.to_string().into_bytes())]
    }

    fn answer(stream: u32) -> Vec<Frame> {
        vec![
            Frame::headers(stream, Self::BLOCKS[3]),
            Frame::data(stream, Self::body(RIGHT)).end_stream(),
        ]
    }
}
