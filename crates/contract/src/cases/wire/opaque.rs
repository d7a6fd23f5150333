//! Bodies that a server must return unread.

use crate::cases::Case;
use crate::cases::probe::Probe;
use crate::codec::{Encoding, Sent};
use crate::profile::Need;
use crate::shape::Shape;

const OPAQUE: &[Need] = &[Need::Wire(Encoding::Opaque)];
/// Longest body, bytes.
const LONG: usize = 1 << 20;

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        name: "body/empty",
        verifies: "an empty body comes back, and so do those after it",
        needs: OPAQUE,
        run: |probe| [&b""[..], b"", b"x"].iter().try_for_each(|body| returns(probe, body)),
    },
    Case {
        name: "body/every-byte",
        verifies: "a body with all 256 byte values comes back",
        needs: OPAQUE,
        run: |probe| returns(probe, &(0..=u8::MAX).collect::<Vec<_>>()),
    },
    Case {
        name: "body/like-a-length",
        verifies: "bodies that look like a length come back: `00 00 00 01`, `ff ff ff ff`, `00 \
            00 00 00 00`",
        needs: OPAQUE,
        run: |probe| {
            [&[0, 0, 0, 1][..], &[0xff; 4], &[0, 0, 0, 0, 0]]
                .iter()
                .try_for_each(|body| returns(probe, body))
        },
    },
    Case {
        name: "body/length-1048576",
        verifies: "a body of 1 MiB with every byte value comes back",
        needs: OPAQUE,
        run: |probe| returns(probe, &(0..=u8::MAX).rev().cycle().take(LONG).collect::<Vec<_>>()),
    },
];

fn returns(probe: &mut Probe<'_>, body: &[u8]) -> Result<(), String> {
    probe.answers(Sent {
        shape: Shape::Text(0),
        content: None,
        request: body,
        nested_unknown: false,
    })
}
