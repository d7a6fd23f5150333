//! gRPC: a HEADERS frame of fields that the server's table has, and a DATA frame.

use super::frame::{self, Frame};
use super::{Numbers, Reply, USER_AGENT, Wire};
use crate::floor::FloorError;
use crate::floor::peer::Peer;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Largest window of flow control, and the one that a connection starts with. RFC 9113, section 6.9.
const MAX_WINDOW: u32 = 0x7fff_ffff;
const DEFAULT_WINDOW: u32 = 65_535;
/// SETTINGS_ENABLE_PUSH off, SETTINGS_INITIAL_WINDOW_SIZE the largest.
const SETTINGS: [(u16, u32); 2] = [(2, 0), (4, MAX_WINDOW)];
/// `:method: POST` and `:scheme: http` of HPACK's static table.
const STATIC: [u8; 2] = [0x83, 0x86];
/// An HPACK literal with a new name that enters the table.
const INSERTED: u8 = 0x40;
/// The newest entry of HPACK's dynamic table, as an indexed field.
const NEWEST: u8 = 0x80 | 62;
/// Bytes before the protobuf message in DATA: a flag and the length.
const PREFIX: usize = 5;

pub(super) struct Grpc {
    /// The header block that enters the fields into the server's table.
    inserting: Vec<u8>,
    /// The header block that refers to them.
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
    fn greet(&self, peer: &mut Peer) -> Result<(), FloorError> {
        peer.write(&greeting())?;
        loop {
            let Frame { kind, flags, .. } = frame::read(peer)?;
            if kind == frame::SETTINGS && flags & frame::ACK != 0 {
                break;
            }
        }
        let mut out = Vec::new();
        frame::put(&mut out, frame::SETTINGS, frame::ACK, 0, &[]);
        peer.write(&out)
    }

    fn request(&self, call: u32, message: &[u8]) -> Vec<u8> {
        let stream = self.stream(call);
        let block = if call == 0 { &self.inserting } else { &self.indexed };
        let data = [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat();
        let mut out = Vec::new();
        frame::put(&mut out, frame::HEADERS, frame::END_HEADERS, stream, block);
        frame::put(&mut out, frame::DATA, frame::END_STREAM, stream, &data);
        out
    }

    fn numbers(&self) -> Numbers {
        let data = frame::HEADER + self.indexed.len();
        Numbers { first: 1, step: 2, places: vec![frame::STREAM, data + frame::STREAM] }
    }

    fn reply(&self, peer: &mut Peer, call: u32) -> Result<Reply, FloorError> {
        let mut size = 0;
        let mut data = Vec::new();
        loop {
            let Frame { kind, flags, stream, payload } = frame::read(peer)?;
            if stream != self.stream(call) || !matches!(kind, frame::DATA | frame::HEADERS) {
                let problem = format!("a frame of type {kind} on stream {stream} within a reply");
                return Err(FloorError::Opening(problem));
            }
            size += frame::HEADER + payload.len();
            if kind == frame::DATA {
                data.extend_from_slice(&payload);
            }
            if flags & frame::END_STREAM != 0 {
                let message = data.get(PREFIX..).unwrap_or_default().to_vec();
                return Ok(Reply { size, message });
            }
        }
    }

    fn windowed(&self, message: &[u8]) -> Option<u64> {
        Some((PREFIX + message.len()) as u64)
    }
}

fn greeting() -> Vec<u8> {
    let mut out = PREFACE.to_vec();
    let mut settings = Vec::new();
    for (id, value) in SETTINGS {
        settings.extend_from_slice(&id.to_be_bytes());
        settings.extend_from_slice(&value.to_be_bytes());
    }
    frame::put(&mut out, frame::SETTINGS, 0, 0, &settings);
    let raise = MAX_WINDOW - DEFAULT_WINDOW;
    frame::put(&mut out, frame::WINDOW_UPDATE, 0, 0, &raise.to_be_bytes());
    out
}
