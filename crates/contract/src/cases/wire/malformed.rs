//! Protobuf that must be refused without breaking the server.

use crate::cases::probe::Probe;
use crate::cases::{Case, case};
use crate::codec::protobuf::wire::{Layout, delimited, tag};
use crate::codec::{Encoding, varint};
use crate::profile::Need;
use crate::shape::Shape;

const PROTOBUF: &[Need] = &[Need::Wire(Encoding::Protobuf)];

// What several cases verify. The contract's page has a single line for them.
const TRUNCATED: &str = "a request is refused if cut short, or if its outer length fits content that lacks its last byte";

#[rustfmt::skip]
pub(in crate::cases) const CASES: &[Case] = &[
    case("text/truncated", PROTOBUF, |probe| truncated(probe, Shape::Text(100)),
        "a request is refused if cut after its first byte, in the middle, or before its last byte"),
    case("record/truncated", PROTOBUF, |probe| truncated(probe, Shape::Record),
        TRUNCATED),
    case("dto/truncated", PROTOBUF, |probe| truncated(probe, Shape::Dto),
        TRUNCATED),
    case("tree/truncated", PROTOBUF, |probe| truncated(probe, Shape::Tree),
        TRUNCATED),
    case("malformed/wire-type", PROTOBUF, |probe| probe.all_refuse(&invalid_wire_type(), "a field of wire type 7"),
        "a field with the nonexistent wire type 7 is refused by each method"),
    case("malformed/length-past-end", PROTOBUF, length_past_end,
        "a length of 2, 1 MiB or 2^31 - 1 with one byte behind it is refused by each method"),
    case("malformed/unfinished-tag", PROTOBUF, |probe| probe.all_refuse(&[0x8a], "a tag without its last byte"),
        "a message that ends inside a field's tag is refused by each method"),
];

/// Cuts after the tag, in the middle, and before the last byte. Also cuts the last byte of a message inside a valid length, which
/// always leaves a field incomplete.
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

/// The bytes after the tag are not a valid value of field 1 in any wire type.
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
