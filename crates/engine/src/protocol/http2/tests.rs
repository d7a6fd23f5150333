//! A connection and a scripted peer, without sockets, for tests of protocols over HTTP/2: input, output, and how calls end.

use std::sync::Arc;

use super::application::Http2Application;
use super::frame::{self, Head, put};
use super::{Connection, Templates};
use crate::payload::Filler;
use crate::protocol::{Broken, Call, Connection as _, End, Events};
use crate::target::Target;

pub(crate) const RIGHT: End = End::Answered { right: true };
pub(crate) const WRONG: End = End::Answered { right: false };

#[derive(Default)]
pub(crate) struct Seen {
    pub ends: Vec<(u32, End)>,
    pub problems: Vec<String>,
    pub target: Option<Target>,
}

impl Events for Seen {
    fn verify(&mut self, call: &Call, message: &[u8]) -> bool {
        message == format!("REPLY {}", call.request).as_bytes()
    }

    fn malformed(&mut self, _: u32, problem: &str) {
        self.problems.push(problem.to_owned());
    }

    fn ended(&mut self, call: &Call, end: End) {
        self.ends.push((call.request, end));
    }

    fn target(&self, _: Call) -> Option<&Target> {
        self.target.as_ref()
    }
}

/// The connection under test, and its results.
pub(crate) struct Bench<C: Http2Application> {
    pub connection: Connection<C>,
    pub out: Vec<u8>,
    pub seen: Seen,
}

impl<C: Http2Application> Bench<C> {
    pub fn new(requests: &[usize]) -> Self {
        let templates = Arc::new(Templates::new::<C>(&Filler::of(requests), "host"));
        let mut out = Vec::new();
        let connection = Connection::new(templates, 2, &Arc::default(), &mut out);
        Self { connection, out, seen: Seen::default() }
    }

    /// After the handshake and before the first request.
    pub fn open(requests: &[usize]) -> Self {
        let mut bench = Self::new(requests);
        bench.settings(&[]).unwrap();
        bench.out.clear();
        bench
    }

    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.connection.receive(bytes, &mut self.out, &mut self.seen)
    }

    pub fn frame(
        &mut self,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
    ) -> Result<(), Broken> {
        let mut bytes = Vec::new();
        put(&mut bytes, kind, flags, stream, payload);
        self.receive(&bytes)
    }

    pub fn settings(&mut self, settings: &[(u16, u32)]) -> Result<(), Broken> {
        let payload: Vec<u8> = settings
            .iter()
            .flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        self.frame(frame::SETTINGS, 0, 0, &payload)
    }

    pub fn call(&mut self, request: u32) {
        assert!(self.connection.can_send());
        self.connection.send(Call { request, ..Call::default() }, &mut self.out);
    }

    /// Length of the prefix of `bytes` that the fast path takes.
    pub fn plain(&mut self, bytes: &[u8]) -> Option<usize> {
        self.connection.fast_path(Head::parse(bytes)?, bytes, &mut self.seen)
    }

    /// The frames written since the last time: kind, flags, stream and payload.
    pub fn written(&mut self) -> Vec<(u8, u8, u32, Vec<u8>)> {
        let (mut frames, bytes) = (Vec::new(), std::mem::take(&mut self.out));
        let mut rest = &bytes[..];
        while let Some(head) = Head::parse(rest) {
            let end = frame::HEADER + head.length();
            frames.push((
                head.kind(),
                head.flags(),
                head.stream,
                rest[frame::HEADER..end].to_vec(),
            ));
            rest = &rest[end..];
        }
        assert!(rest.is_empty());
        frames
    }

    pub fn ended(&mut self) -> Vec<(u32, End)> {
        std::mem::take(&mut self.seen.ends)
    }
}
