//! gRPC: a HEADERS frame of fields in the server's table, and a DATA frame.

use std::io;

use anyhow::ensure;
use rpcbench_testkit::http2::{
    DEFAULT_WINDOW, Frame, FrameType, Head, MAX_WINDOW, PREFACE, flag, setting,
};

use super::{Numbers, Reply, USER_AGENT, Wire};
use crate::floor::peer::Peer;

const SETTINGS: [(u16, u32); 2] =
    [(setting::ENABLE_PUSH, 0), (setting::INITIAL_WINDOW_SIZE, MAX_WINDOW)];
/// Offset of the stream identifier in a frame.
const STREAM: usize = 5;
/// `:method: POST` and `:scheme: http` in HPACK's static table.
const STATIC: [u8; 2] = [0x83, 0x86];
/// An HPACK literal with a new name that enters the table.
const INSERTED: u8 = 0x40;
/// The newest entry of HPACK's dynamic table, as an indexed field.
const NEWEST: u8 = 0x80 | 62;
/// Bytes before the protobuf message in DATA: a flag and the length.
const PREFIX: usize = 5;

pub(super) struct Grpc {
    /// The header block that adds the fields to the server's table.
    inserting: Vec<u8>,
    /// The header block that refers to the table.
    indexed: Vec<u8>,
}

impl Grpc {
    pub fn new(path: &str, authority: &str) -> Self {
        let fields = [
            (":path", path),
            (":authority", authority),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("user-agent", USER_AGENT),
        ];
        let (mut inserting, mut indexed) = (STATIC.to_vec(), STATIC.to_vec());
        for (older, (name, value)) in fields.iter().rev().enumerate().rev() {
            inserting.push(INSERTED);
            for text in [name, value] {
                inserting.push(text.len() as u8);
                inserting.extend_from_slice(text.as_bytes());
            }
            indexed.push(NEWEST + older as u8);
        }
        Self { inserting, indexed }
    }

    fn stream(&self, call: u32) -> u32 {
        self.numbers().of(call.into()) as u32
    }
}

impl Wire for Grpc {
    fn greet(&self, peer: &mut Peer) -> io::Result<()> {
        let mut greeting = PREFACE.to_vec();
        Frame::settings(&SETTINGS).put(&mut greeting);
        Frame::window_update(0, MAX_WINDOW - DEFAULT_WINDOW).put(&mut greeting);
        peer.write(&greeting)?;
        loop {
            let frame = peer.read_frame()?;
            if frame.kind == FrameType::Settings && frame.has(flag::ACK) {
                return peer.write(&Frame::settings_ack().encode());
            }
        }
    }

    fn request(&self, call: u32, message: &[u8]) -> Vec<u8> {
        let stream = self.stream(call);
        let block = if call == 0 { &self.inserting } else { &self.indexed };
        let data = [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat();
        let mut out = Frame::headers(stream, block.as_slice()).encode();
        Frame::data(stream, data).end_stream().put(&mut out);
        out
    }

    fn numbers(&self) -> Numbers {
        let data = Head::SIZE + self.indexed.len();
        Numbers { first: 1, step: 2, offsets: vec![STREAM, data + STREAM] }
    }

    fn reply(&self, peer: &mut Peer, call: u32) -> anyhow::Result<Reply> {
        let mut size = 0;
        let mut data = Vec::new();
        loop {
            let frame = peer.read_frame()?;
            let is_expected = matches!(frame.kind, FrameType::Data | FrameType::Headers)
                && frame.stream == self.stream(call);
            ensure!(is_expected, "{:?} on stream {} within a reply", frame.kind, frame.stream);
            size += frame.size();
            if frame.kind == FrameType::Data {
                data.extend_from_slice(&frame.payload);
            }
            if frame.has(flag::END_STREAM) {
                let message = data.get(PREFIX..).unwrap_or_default().to_vec();
                return Ok(Reply { size, message });
            }
        }
    }

    fn windowed(&self, message: &[u8]) -> Option<u64> {
        Some((PREFIX + message.len()) as u64)
    }
}
