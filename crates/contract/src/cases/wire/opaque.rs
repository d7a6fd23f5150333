//! Bodies that a server must return unread.

use crate::cases::probe::Probe;
use crate::cases::{Case, case};
use crate::codec::{Encoding, Sent};
use crate::profile::Need;
use crate::shape::Shape;

const OPAQUE: &[Need] = &[Need::Wire(Encoding::Opaque)];
/// Longest body, bytes.
const LONG: usize = 1 << 20;

#[rustfmt::skip]
pub(in crate::cases) const CASES: &[Case] = &[
    case("body/empty", OPAQUE, |probe| returns(probe, &[b"", b"", b"x"]),
        "an empty body comes back, and so do those after it"),
    case("body/every-byte", OPAQUE, |probe| returns(probe, &[&every_byte()]),
        "a body with all 256 byte values comes back"),
    case("body/like-a-length", OPAQUE, |probe| returns(probe, &[&[0, 0, 0, 1], &[0xff; 4], &[0; 5]]),
        "bodies that look like a length come back"),
    case("body/length-1048576", OPAQUE, |probe| returns(probe, &[&long()]),
        "a body of 1 MiB with every byte value comes back"),
];

fn every_byte() -> Vec<u8> {
    (0..=u8::MAX).collect()
}

/// Interpreted as a length, the first bytes point beyond the end.
fn long() -> Vec<u8> {
    (0..=u8::MAX).rev().cycle().take(LONG).collect()
}

fn returns(probe: &mut Probe<'_>, bodies: &[&[u8]]) -> Result<(), String> {
    bodies.iter().try_for_each(|request| {
        probe.answers(Sent { shape: Shape::Text(0), content: None, request, nested_unknown: false })
    })
}
