//! Protobuf that must be refused, after which the server must go on.

use crate::cases::Case;
use crate::cases::probe::Probe;
use crate::codec::Encoding;
use crate::codec::protobuf::wire::{Layout, delimited, tag, varint};
use crate::profile::Need;
use crate::shape::Shape;

const SHAPES: [Shape; 4] = [Shape::Text(100), Shape::Record, Shape::Dto, Shape::Tree];
const PROTOBUF: &[Need] = &[Need::Wire(Encoding::Protobuf)];

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        name: "text/truncated",
        verifies: "a text request is refused if cut after its first byte, in the middle, or \
            before its last byte",
        needs: PROTOBUF,
        run: |probe| truncated(probe, Shape::Text(100)),
    },
    Case {
        name: "record/truncated",
        verifies: "a record request is refused if cut short, or if its outer length fits a \
            record that lacks its last byte",
        needs: PROTOBUF,
        run: |probe| truncated(probe, Shape::Record),
    },
    Case {
        name: "dto/truncated",
        verifies: "a DTO request is refused if cut short, or if its outer length fits a DTO \
            that lacks its last byte",
        needs: PROTOBUF,
        run: |probe| truncated(probe, Shape::Dto),
    },
    Case {
        name: "tree/truncated",
        verifies: "a tree request is refused if cut short, or if its outer length fits a tree \
            that lacks its last byte",
        needs: PROTOBUF,
        run: |probe| truncated(probe, Shape::Tree),
    },
    Case {
        name: "malformed/wire-type",
        verifies: "a field with the nonexistent wire type 7 is refused by each method",
        needs: PROTOBUF,
        run: |probe| malformed(probe, "a field of wire type 7", &invalid_wire_type()),
    },
    Case {
        name: "malformed/length-past-end",
        verifies: "a length of 2, 1 MiB or 2^31 - 1 with only one byte behind it is refused by \
            each method",
        needs: PROTOBUF,
        run: length_past_end,
    },
    Case {
        name: "malformed/unfinished-tag",
        verifies: "a message that ends inside a field's tag is refused by each method",
        needs: PROTOBUF,
        run: |probe| malformed(probe, "a tag without its last byte", &[0x8a]),
    },
];

/// Cut after the tag, in the middle, and before the last byte; and, where the content is a message,
/// with a length that fits around content without its last byte, which is always amid a field.
fn truncated(probe: &mut Probe<'_>, shape: Shape) -> Result<(), String> {
    let whole = probe.codec().request(&probe.value(shape, 0));
    for end in [1, whole.len() / 2, whole.len() - 1] {
        let what = format!("a request cut to {end} of {} bytes", whole.len());
        probe.refuses(shape, &whole[..end], &what)?;
    }
    if !matches!(shape, Shape::Text(_)) {
        let content = &whole[content_start(&whole)..whole.len() - 1];
        let what = "a request whose content lacks its last byte";
        probe.refuses(shape, &delimited(1, content), what)?;
    }
    probe.still_serves(shape)
}

/// Where the content of field 1 begins: behind a tag of one byte and the length.
fn content_start(request: &[u8]) -> usize {
    2 + request[1..].iter().take_while(|byte| **byte >= 0x80).count()
}

/// Followed by what no decoder takes for a value of field 1 either.
fn invalid_wire_type() -> Vec<u8> {
    [tag(1, Layout::Invalid), varint(127), vec![b'a']].concat()
}

fn length_past_end(probe: &mut Probe<'_>) -> Result<(), String> {
    for length in [2, 1 << 20, i32::MAX as usize] {
        let request = [tag(1, Layout::Length), varint(length), vec![b'a']].concat();
        malformed(probe, &format!("a field of 1 byte that claims {length}"), &request)?;
    }
    Ok(())
}

fn malformed(probe: &mut Probe<'_>, what: &str, request: &[u8]) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let what = format!("{what}, sent to {},", shape.method().name());
        probe.refuses(shape, request, &what)?;
        probe.still_serves(shape)
    })
}
