//! Bodies that a server must send back without looking at them.

use crate::cases::Case;
use crate::cases::probe::Probe;
use crate::codec::{Encoding, Sent};
use crate::profile::Need;
use crate::shape::Shape;

const OPAQUE: &[Need] = &[Need::Wire(Encoding::Opaque)];
/// Longest body tried, bytes.
const LONG: usize = 1 << 20;

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        name: "body/empty",
        verifies: "a body of no bytes comes back, and the next one as well",
        needs: OPAQUE,
        run: |probe| [&b""[..], b"", b"x"].iter().try_for_each(|body| returns(probe, body)),
    },
    Case {
        name: "body/every-byte",
        verifies: "a body comes back with every value that a byte can have",
        needs: OPAQUE,
        run: |probe| returns(probe, &(0..=u8::MAX).collect::<Vec<_>>()),
    },
    Case {
        name: "body/like-a-length",
        verifies: "a body that begins like another body's length is not taken for one",
        needs: OPAQUE,
        run: |probe| {
            [&[0, 0, 0, 1][..], &[0xff; 4], &[0, 0, 0, 0, 0]]
                .iter()
                .try_for_each(|body| returns(probe, body))
        },
    },
    Case {
        name: "body/length-1048576",
        verifies: "a body of 1 MiB that is no text comes back",
        needs: OPAQUE,
        run: |probe| returns(probe, &(0..=u8::MAX).rev().cycle().take(LONG).collect::<Vec<_>>()),
    },
];

fn returns(probe: &mut Probe<'_>, body: &[u8]) -> Result<(), String> {
    probe.answers(Sent {
        shape: Shape::Text(0),
        content: None,
        request: body,
        unknown_inside: false,
    })
}
