//! Times of the steps in which connections open.

use rpcbench_record::{Latency, Opening};
use rpcbench_stats::Histogram;

use crate::driver::Handshake;

/// See [`Opening`]; nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct OpeningTimes {
    /// TCP handshakes.
    pub tcp: Histogram,
    /// Full TLS handshakes.
    pub full_handshake: Histogram,
    /// Resumed TLS handshakes.
    pub resumed_handshake: Histogram,
    /// From the end of the handshake to the first byte.
    pub first_byte: Histogram,
}

impl OpeningTimes {
    pub(crate) fn handshake(&mut self, Handshake { begin, end, is_resumed }: Handshake) {
        let times = if is_resumed { &mut self.resumed_handshake } else { &mut self.full_handshake };
        times.record(end.since(begin));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.tcp.merge(&other.tcp);
        self.full_handshake.merge(&other.full_handshake);
        self.resumed_handshake.merge(&other.resumed_handshake);
        self.first_byte.merge(&other.first_byte);
    }

    pub(crate) fn into_record(self) -> Opening {
        Opening {
            tcp: Latency::of(&self.tcp),
            full_handshake: Latency::of(&self.full_handshake),
            resumed_handshake: Latency::of(&self.resumed_handshake),
            first_byte: Latency::of(&self.first_byte),
        }
    }
}
