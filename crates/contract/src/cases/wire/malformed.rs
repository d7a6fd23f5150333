//! Protobuf that must be refused, after which the server must still serve.

use crate::cases::Case;
use crate::cases::probe::Probe;
use crate::codec::protobuf::wire::{Layout, delimited, tag};
use crate::codec::{Encoding, varint};
use crate::profile::Need;
use crate::shape::Shape;

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
        run: |probe| probe.all_refuse(&invalid_wire_type(), "a field of wire type 7"),
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
        run: |probe| probe.all_refuse(&[0x8a], "a tag without its last byte"),
    },
];

/// Cuts after the tag, in the middle, and before the last byte; and cuts the last byte of a message inside a valid
/// length, which always leaves a field incomplete.
fn truncated(probe: &mut Probe<'_>, shape: Shape) -> Result<(), String> {
    let whole = probe.codec().request(&probe.value(shape, 0));
    probe.refuses_cut(shape, &whole, 1)?;
    if !matches!(shape, Shape::Text(_)) {
        let content = &whole[content_start(&whole)..whole.len() - 1];
        let what = "a request whose content lacks its last byte";
        probe.refuses(shape, &delimited(1, content), what)?;
    }
    probe.still_serves(shape)
}

/// Offset of the content of field 1: after a tag of one byte and the length.
fn content_start(request: &[u8]) -> usize {
    2 + request[1..].iter().take_while(|byte| **byte >= 0x80).count()
}

/// The bytes after the tag are no value of field 1 in any wire type.
fn invalid_wire_type() -> Vec<u8> {
    [tag(1, Layout::Invalid), varint(127), vec![b'a']].concat()
}

fn length_past_end(probe: &mut Probe<'_>) -> Result<(), String> {
    for length in [2, 1 << 20, (1 << 31) - 1] {
        let request = [tag(1, Layout::Length), varint(length), vec![b'a']].concat();
        probe.all_refuse(&request, &format!("a field of 1 byte that claims {length}"))?;
    }
    Ok(())
}
