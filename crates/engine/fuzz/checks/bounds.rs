//! Bounds on what a connection holds and writes against any peer.

use super::ledger::REQUESTS;
use crate::protocol::http2::Footprint;

/// Refuses a footprint past the documented bounds, after `received` bytes of input.
pub(super) fn check(footprint: &Footprint, received: usize) {
    const FRAME: usize = 9 + 16_384;
    const BLOCK: usize = 64 * 1024;
    // A vector may have twice the capacity that it needs.
    assert!(footprint.frame <= 2 * FRAME, "{footprint:?}");
    assert!(footprint.block <= 2 * BLOCK, "{footprint:?}");
    assert!(footprint.table <= 4096, "{footprint:?}");
    // Name, value, two blocks and two texts; a Huffman code has five bits at least, and a byte of a text
    // that is no UTF-8 becomes three.
    assert!(footprint.heads <= 2 * BLOCK * (2 * 8 / 5 + 2 + 2 * 3 * 8 / 5), "{footprint:?}");
    assert!(footprint.unfinished <= received, "{footprint:?}");
    assert!(footprint.held_back <= footprint.calls as usize, "{footprint:?}");
}

/// Maximum bytes that a connection may write for `calls` calls and `received` bytes of input.
pub(super) fn output(calls: usize, received: usize) -> usize {
    const OPENING: usize = 128;
    const HEAD: usize = 256;
    // A body may have to go out byte by byte, each in a frame; an acknowledgement is no longer than its cause.
    let largest = REQUESTS.iter().max().unwrap_or(&0) + 5;
    OPENING + received + calls * (HEAD + 10 * largest)
}
