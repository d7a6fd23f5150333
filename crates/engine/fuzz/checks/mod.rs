//! The fuzz targets of `crates/engine/fuzz`, and the replay of their corpus in tests.
//!
//! Each function feeds arbitrary bytes to the state machines and panics if one violates its contract. Not part of the
//! crate's interface.

mod bounds;
mod carries;
mod frames;
mod gzip;
mod hpack;
// By its path, since fuzzing needs nothing else of the testkit, and would compile all that it depends on.
#[path = "../../../reference/src/http2/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the testkit uses the rest")]
mod http2;
mod ledger;
mod machine;
mod peer;
#[cfg(test)]
mod replay;
mod replies;
#[cfg(test)]
mod tests;
mod thrift;
mod tls;

pub use frames::frames;
pub use gzip::gzip;
pub use hpack::hpack;
use machine::Machine;
pub use replies::replies;
pub use thrift::thrift;
pub use tls::tls;

use super::grpc::Grpc;
use super::over_http2::JsonH2c;
use carries::Carries;
use http2::{Frame, FrameRef, PREFACE};

/// Steps read from the fuzzer's bytes.
struct Steps<'a>(&'a [u8]);

impl<'a> Steps<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// The next byte; 0 after the end.
    fn choice(&mut self) -> u8 {
        self.byte().unwrap_or(0)
    }

    /// The next bytes, fewer at the end.
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Feeds arbitrary bytes, cut anywhere, to a connection with calls in flight: once over gRPC, once over JSON.
///
/// # Panics
/// If a call ends twice or not at all, a buffer exceeds its bound, or the connection's output is not made of frames.
pub fn connection(bytes: &[u8]) {
    play::<Grpc>(bytes);
    play::<JsonH2c>(bytes);
}

fn play<C: Carries>(bytes: &[u8]) {
    let mut steps = Steps(bytes);
    let mut machine = Machine::<C>::new();
    // Most inputs should get past the handshake.
    if steps.choice() & 1 == 0 {
        machine.receive(&Frame::settings(&[]).encode());
    }
    while let Some(step) = steps.byte() {
        match step {
            0 => machine.flush(),
            1 => machine.expire(u64::from(steps.choice())),
            2..=9 => machine.send(step),
            _ => machine.receive(steps.bytes(usize::from(step))),
        }
        check_frames(&std::mem::take(&mut machine.out));
        if machine.is_broken() {
            break;
        }
    }
    machine.end();
}

fn check_frames(out: &[u8]) {
    let mut rest = out.strip_prefix(PREFACE).unwrap_or(out);
    while let Some(frame) = FrameRef::parse(rest) {
        rest = &rest[frame.size()..];
    }
    assert!(rest.is_empty(), "part of a frame was written");
}
