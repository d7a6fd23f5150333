//! A conversation of frames that are mostly well formed: deeper than plain bytes get.

use super::Steps;
use super::ledger::RIGHT;
use super::machine::Machine;
use super::peer::Peer;
use crate::protocol::End;
use crate::protocol::http2::frame;

/// Header blocks that a peer might send; some enter fields into the table, some refer to them.
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
/// Values that settings and windows turn on.
const VALUES: [u32; 12] =
    [0, 1, 2, 10, 100, 4096, 16_384, 65_535, 1 << 20, 16_777_215, 0x7fff_ffff, u32::MAX];

/// Two ends of a conversation.
struct Dialogue {
    machine: Machine,
    peer: Peer,
    /// Bytes in which a frame is cut before it is received; 0: it comes whole.
    cut: usize,
    /// Streams of which no answer has begun, each still with the chance of a right one.
    fresh: Vec<u32>,
    /// A header block is open, and only CONTINUATION may come.
    in_block: bool,
}

/// Frames chosen by the fuzzer into a connection whose every word is checked: flow control, header
/// compression, the order and the number of streams, the body of each request.
///
/// # Panics
/// When the connection breaks the rules, or its calls do not end as they must.
pub fn frames(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let mut dialogue = Dialogue {
        machine: Machine::new(),
        peer: Peer::new(),
        cut: 0,
        fresh: Vec::new(),
        in_block: false,
    };
    dialogue.say(frame::SETTINGS, 0, 0, &settings(&mut steps));
    while let Some(step) = steps.byte() {
        if dialogue.machine.is_broken() {
            break;
        }
        dialogue.step(step, &mut steps);
    }
    dialogue.end();
}

/// A payload of SETTINGS with up to three pairs.
fn settings(steps: &mut Steps<'_>) -> Vec<u8> {
    let count = steps.choice() % 4;
    let mut payload = Vec::new();
    for _ in 0..count {
        payload.extend_from_slice(&[0, 1 + steps.choice() % 6]);
        payload.extend_from_slice(&value(steps).to_be_bytes());
    }
    payload
}

fn value(steps: &mut Steps<'_>) -> u32 {
    match usize::from(steps.choice()) {
        n if n < 4 * VALUES.len() => VALUES[n / 4],
        n => n as u32,
    }
}

fn block<'a>(steps: &mut Steps<'a>) -> &'a [u8] {
    match usize::from(steps.choice()) {
        n if n < 16 * BLOCKS.len() => BLOCKS[n / 16],
        n => steps.bytes(n % 32),
    }
}

fn message() -> Vec<u8> {
    [&[0][..], &(RIGHT.len() as u32).to_be_bytes(), RIGHT].concat()
}

impl Dialogue {
    fn step(&mut self, step: u8, steps: &mut Steps<'_>) {
        match step % 16 {
            0 | 1 => self.send(steps.choice()),
            2 => self.machine.flush(),
            3 => self.machine.expire(u64::from(steps.choice())),
            4 => self.cut = usize::from(steps.choice()),
            5 => {
                let payload = settings(steps);
                self.say(frame::SETTINGS, steps.choice() / 0x80, 0, &payload);
            }
            6 => {
                let payload = value(steps).to_be_bytes();
                let stream = self.stream(steps);
                self.say(frame::WINDOW_UPDATE, 0, stream, &payload);
            }
            7 => {
                let code = u32::from(steps.choice() % 15).to_be_bytes();
                let stream = self.stream(steps);
                self.say(frame::RST_STREAM, 0, stream, &code);
            }
            8 => {
                let last = u32::from(steps.choice()).to_be_bytes();
                let code = u32::from(steps.choice() % 15).to_be_bytes();
                self.say(frame::GOAWAY, 0, 0, &[last, code].concat());
            }
            9 => self.say(frame::PING, steps.choice() & 1, 0, &[7; 8]),
            10 => {
                let block = block(steps);
                self.say(frame::CONTINUATION, steps.choice() & 4, self.machine.last_stream, block);
            }
            11 => self.answer(steps.choice()),
            12 => {
                let (message, from) = (message(), usize::from(steps.choice() % 8));
                let (flags, stream) = (steps.choice(), self.stream(steps));
                self.say(frame::DATA, flags & 0x9, stream, &message[from..]);
            }
            13 => {
                let (flags, stream) = (steps.choice(), u32::from(steps.choice()));
                let (kind, length) = (steps.choice() % 12, usize::from(steps.choice()));
                self.say(kind, flags, stream, steps.bytes(length));
            }
            _ => {
                let (flags, stream) = (steps.choice(), self.stream(steps));
                self.say(frame::HEADERS, flags & 0x2d, stream, block(steps));
            }
        }
        self.settle();
    }

    /// One of the open streams; sometimes one that is closed, and the connection itself.
    fn stream(&self, steps: &mut Steps<'_>) -> u32 {
        match steps.choice() {
            0 => 0,
            n @ 1..0x80 => self.machine.ledger.pick(n),
            n => u32::from(n & 0x1f),
        }
    }

    fn send(&mut self, choice: u8) {
        let before = self.machine.ledger.sent;
        if self.machine.can_send() {
            assert!(self.machine.ledger.open.len() < self.peer.max_concurrent);
            self.peer.entries.push_back(self.machine.entry(choice));
            self.fresh.push(before as u32 * 2 + 1);
        }
        self.machine.send(choice);
    }

    fn say(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let mut bytes = Vec::new();
        frame::put(&mut bytes, kind, flags, stream, payload);
        self.peer.say(kind, flags, stream, payload);
        self.fresh.retain(|fresh| *fresh != stream || kind > frame::HEADERS);
        for piece in bytes.chunks(if self.cut == 0 { bytes.len() } else { self.cut }) {
            if !self.machine.is_broken() {
                self.machine.receive(piece);
            }
        }
        if matches!(kind, frame::HEADERS | frame::CONTINUATION) {
            self.in_block = flags & frame::END_HEADERS == 0;
            self.machine.last_stream = stream;
        }
        self.settle();
    }

    /// The whole right answer to a call that has had none of it.
    fn answer(&mut self, choice: u8) {
        let open = self.fresh.len();
        if open == 0 || self.in_block {
            return;
        }
        let stream = self.fresh[usize::from(choice) % open];
        self.say(frame::HEADERS, frame::END_HEADERS, stream, BLOCKS[0]);
        self.say(frame::DATA, 0, stream, &message());
        let (machine, mut bytes) = (&mut self.machine, Vec::new());
        let flags = frame::END_HEADERS | frame::END_STREAM;
        frame::put(&mut bytes, frame::HEADERS, flags, stream, BLOCKS[3]);
        machine.receive(&bytes);
        let end = machine.ledger.ended.last();
        assert_eq!(end, Some(&(stream, Some(End::Answered { right: true }))));
        self.settle();
    }

    /// The peer reads what was written, and learns which calls have ended.
    fn settle(&mut self) {
        let out = std::mem::take(&mut self.machine.out);
        if !self.machine.is_broken() {
            self.peer.read(&out); // A broken connection is closed, and what it wrote last is dropped.
        }
        for (stream, _) in self.machine.ledger.ended.drain(..) {
            self.peer.forget(stream);
            self.fresh.retain(|fresh| *fresh != stream);
        }
    }

    /// With all windows open, every request that is still wanted goes out whole.
    fn end(mut self) {
        if !self.machine.is_broken() && !self.in_block {
            self.cut = 0;
            for (stream, bytes) in self.peer.missing() {
                self.say(frame::WINDOW_UPDATE, 0, stream, &(bytes as u32).to_be_bytes());
                assert!(!self.machine.is_broken());
            }
            assert!(self.peer.is_served());
        }
        self.machine.end();
    }
}
