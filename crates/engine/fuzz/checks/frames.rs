//! Conversations of mostly well-formed frames, which reach deeper than arbitrary bytes.

use super::Steps;
use super::carries::Carries;
use super::http2::{Frame, FrameType, flag};
use super::ledger::RIGHT;
use super::machine::Machine;
use super::peer::Peer;
use crate::protocol::End;
use crate::protocol::grpc::Grpc;
use crate::protocol::over_http2::JsonH2c;

/// Boundary values of settings and windows.
const VALUES: [u32; 12] =
    [0, 1, 2, 10, 100, 4096, 16_384, 65_535, 1 << 20, 16_777_215, 0x7fff_ffff, u32::MAX];

/// The flags that HEADERS may have.
const HEADERS_FLAGS: u8 = flag::END_STREAM | flag::END_HEADERS | flag::PADDED | flag::PRIORITY;

/// Two ends of a conversation.
struct Dialogue<C: Carries> {
    machine: Machine<C>,
    peer: Peer<C>,
    /// Bytes in which a frame is cut before it is received; 0: it comes whole.
    cut: usize,
    /// Streams without any reply yet, which may still get a right one.
    fresh: Vec<u32>,
    /// True if a header block is open, so only CONTINUATION is allowed.
    in_block: bool,
}

/// Feeds frames chosen by the fuzzer to a connection and checks all its output: flow control, header compression, the order
/// and the number of streams, the body of each request. Once over gRPC, once over JSON.
///
/// # Panics
/// If the connection breaks the rules, or a call does not end as it must.
pub fn frames(bytes: &[u8]) {
    converse::<Grpc>(bytes);
    converse::<JsonH2c>(bytes);
}

fn converse<C: Carries>(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let mut dialogue = Dialogue::<C> {
        machine: Machine::new(),
        peer: Peer::new(),
        cut: 0,
        fresh: Vec::new(),
        in_block: false,
    };
    dialogue.say(&settings(&mut steps));
    while let Some(step) = steps.byte() {
        if dialogue.machine.is_broken() {
            break;
        }
        dialogue.step(step, &mut steps);
    }
    dialogue.end();
}

/// SETTINGS with up to three pairs.
fn settings(steps: &mut Steps<'_>) -> Frame {
    let count = steps.choice() % 4;
    let pairs: Vec<_> =
        (0..count).map(|_| (u16::from(1 + steps.choice() % 6), value(steps))).collect();
    Frame::settings(&pairs)
}

fn value(steps: &mut Steps<'_>) -> u32 {
    match usize::from(steps.choice()) {
        n if n < 4 * VALUES.len() => VALUES[n / 4],
        n => n as u32,
    }
}

fn block<'a, C: Carries>(steps: &mut Steps<'a>) -> &'a [u8] {
    match usize::from(steps.choice()) {
        n if n < 16 * C::BLOCKS.len() => C::BLOCKS[n / 16],
        n => steps.bytes(n % 32),
    }
}

impl<C: Carries> Dialogue<C> {
    fn step(&mut self, step: u8, steps: &mut Steps<'_>) {
        match step % 16 {
            0 | 1 => self.send(steps.choice()),
            2 => self.machine.flush(),
            3 => self.machine.expire(u64::from(steps.choice())),
            4 => self.cut = usize::from(steps.choice()),
            5 => {
                let settings = settings(steps);
                self.say(&Frame { flags: steps.choice() / 0x80, ..settings });
            }
            6 => {
                let bytes = value(steps);
                self.say(&Frame::window_update(self.stream(steps), bytes));
            }
            7 => {
                let code = u32::from(steps.choice() % 15);
                self.say(&Frame::rst_stream(self.stream(steps), code));
            }
            8 => {
                let last = steps.choice().into();
                self.say(&Frame::goaway(last, u32::from(steps.choice() % 15)));
            }
            9 => self.say(&Frame { flags: steps.choice() & flag::ACK, ..Frame::ping([7; 8]) }),
            10 => {
                let block = Frame::continuation(self.machine.last_stream, block::<C>(steps));
                self.say(&Frame { flags: steps.choice() & flag::END_HEADERS, ..block });
            }
            11 => self.answer(steps.choice()),
            12 => {
                let (message, from) = (C::body(RIGHT), usize::from(steps.choice() % 8));
                let flags = steps.choice() & (flag::END_STREAM | flag::PADDED);
                let data = Frame::data(self.stream(steps), &message[from.min(message.len())..]);
                self.say(&Frame { flags, ..data });
            }
            13 => {
                let (flags, stream) = (steps.choice(), u32::from(steps.choice()));
                let (kind, length) = (steps.choice() % 12, usize::from(steps.choice()));
                let payload = steps.bytes(length);
                self.say(&Frame::new(FrameType::from_byte(kind), flags, stream, payload));
            }
            _ => {
                let flags = steps.choice() & HEADERS_FLAGS;
                let stream = self.stream(steps);
                self.say(&Frame { flags, ..Frame::headers(stream, block::<C>(steps)) });
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

    fn say(&mut self, frame: &Frame) {
        self.peer.say(frame);
        if matches!(frame.kind, FrameType::Data | FrameType::Headers) {
            self.fresh.retain(|fresh| *fresh != frame.stream);
        }
        let bytes = frame.encode();
        for piece in bytes.chunks(if self.cut == 0 { bytes.len() } else { self.cut }) {
            if !self.machine.is_broken() {
                self.machine.receive(piece);
            }
        }
        if matches!(frame.kind, FrameType::Headers | FrameType::Continuation) {
            self.in_block = !frame.has(flag::END_HEADERS);
            self.machine.last_stream = frame.stream;
        }
        self.settle();
    }

    /// The complete right reply to a call without any yet.
    fn answer(&mut self, choice: u8) {
        let open = self.fresh.len();
        if open == 0 || self.in_block {
            return;
        }
        let stream = self.fresh[usize::from(choice) % open];
        let mut answer = C::answer(stream);
        let last = answer.pop().expect("some frames");
        answer.iter().for_each(|frame| self.say(frame));
        self.machine.receive(&last.encode());
        let end = self.machine.ledger.ended.last();
        assert_eq!(end, Some(&(stream, Some(End::Answered { right: true }))));
        self.settle();
    }

    /// The peer reads what was written, and learns which calls have ended.
    fn settle(&mut self) {
        let out = std::mem::take(&mut self.machine.out);
        if !self.machine.is_broken() {
            self.peer.read(&out); // After an error, output is dropped.
        }
        for (stream, _) in self.machine.ledger.ended.drain(..) {
            self.peer.forget(stream);
            self.fresh.retain(|fresh| *fresh != stream);
        }
    }

    /// With all windows open, every open request is sent completely.
    fn end(mut self) {
        if !self.machine.is_broken() && !self.in_block {
            self.cut = 0;
            for (stream, bytes) in self.peer.missing() {
                self.say(&Frame::window_update(stream, bytes as u32));
                assert!(!self.machine.is_broken());
            }
            assert!(self.peer.is_served());
        }
        self.machine.end();
    }
}
