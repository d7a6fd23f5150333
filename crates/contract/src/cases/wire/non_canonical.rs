//! Valid protobuf that no library writes. A server that decodes every level returns it in canonical form; a server that copies
//! bytes does not. Also texts that are not UTF-8.

use crate::cases::probe::Probe;
use crate::cases::{Case, TEXT, case};
use crate::codec::{Encoding, NonCanonical, NonCanonicalVariant, Sent};
use crate::profile::Need;
use crate::shape::Shape;

const PROTOBUF: &[Need] = &[Need::Wire(Encoding::Protobuf)];

// What several cases verify. The contract's page has a single line for them.
const OVERLONG: &str = "content comes back re-encoded if every tag, length, integer and boolean, at every level, takes one byte more than needed";
const TWICE: &str = "if the content, each of its fields (but lists and the oneof) and each map key occur twice with different values, the later values come back, once each";
const DESCENDING: &str = "content comes back re-encoded if its fields, at every level, are in descending order and overlong; map values precede keys, and the record's list is split into packed and unpacked pieces";
const UNKNOWN: &str = "content with unknown fields at every level, and overlong known ones, comes back re-encoded, with the unknown fields or without";
const NOT_UTF8: &str = "content is refused if any string or map key, at any level, is not UTF-8";

#[rustfmt::skip]
pub(in crate::cases) const CASES: &[Case] = &[
    case("text/overlong", PROTOBUF, |probe| non_canonical(probe, TEXT, NonCanonical::Overlong),
        "a tag and a length in one byte more than needed (`0a` as `8a 00`) are understood"),
    case("record/overlong", PROTOBUF, |probe| non_canonical(probe, Shape::Record, NonCanonical::Overlong),
        OVERLONG),
    case("dto/overlong", PROTOBUF, |probe| non_canonical(probe, Shape::Dto, NonCanonical::Overlong),
        OVERLONG),
    case("tree/overlong", PROTOBUF, |probe| non_canonical(probe, Shape::Tree, NonCanonical::Overlong),
        OVERLONG),
    case("record/twice", PROTOBUF, |probe| non_canonical(probe, Shape::Record, NonCanonical::Twice),
        TWICE),
    case("dto/twice", PROTOBUF, |probe| non_canonical(probe, Shape::Dto, NonCanonical::Twice),
        TWICE),
    case("tree/twice", PROTOBUF, |probe| non_canonical(probe, Shape::Tree, NonCanonical::Twice),
        TWICE),
    case("record/reordered", PROTOBUF, |probe| non_canonical(probe, Shape::Record, NonCanonical::Reordered),
        DESCENDING),
    case("dto/reordered", PROTOBUF, |probe| non_canonical(probe, Shape::Dto, NonCanonical::Reordered),
        DESCENDING),
    case("tree/reordered", PROTOBUF, |probe| non_canonical(probe, Shape::Tree, NonCanonical::Reordered),
        DESCENDING),
    case("record/unknown-inside", PROTOBUF, |probe| non_canonical(probe, Shape::Record, NonCanonical::Unknown),
        UNKNOWN),
    case("dto/unknown-inside", PROTOBUF, |probe| non_canonical(probe, Shape::Dto, NonCanonical::Unknown),
        UNKNOWN),
    case("tree/unknown-inside", PROTOBUF, |probe| non_canonical(probe, Shape::Tree, NonCanonical::Unknown),
        UNKNOWN),
];

#[rustfmt::skip]
pub(in crate::cases) const INVALID_UTF8: &[Case] = &[
    case("text/invalid-utf8", PROTOBUF, |probe| invalid_utf8(probe, TEXT),
        NOT_UTF8),
    case("record/invalid-utf8", PROTOBUF, |probe| invalid_utf8(probe, Shape::Record),
        NOT_UTF8),
    case("dto/invalid-utf8", PROTOBUF, |probe| invalid_utf8(probe, Shape::Dto),
        NOT_UTF8),
    case("tree/invalid-utf8", PROTOBUF, |probe| invalid_utf8(probe, Shape::Tree),
        NOT_UTF8),
];

/// Values per form.
const VALUES: u64 = 4;

/// An impossible byte, a lone continuation byte, a truncated character, an overlong NUL, half of a surrogate pair, a
/// code point past the last one. Unicode 17, table 3-7.
const INVALID: [&[u8]; 6] =
    [b"\xff", b"\x80", b"\xe2\x82\x41", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"];

fn non_canonical(probe: &mut Probe<'_>, shape: Shape, form: NonCanonical) -> Result<(), String> {
    (0..VALUES).try_for_each(|number| {
        let variant = NonCanonicalVariant::numbered(form, shape, number as usize);
        let (value, other) = (probe.value(shape, number), probe.value(shape, number + VALUES));
        let request = probe.codec().non_canonical_request(&value, &other, variant);
        probe.answers(Sent {
            shape,
            content: Some(&value),
            request: &request,
            nested_unknown: form == NonCanonical::Unknown,
        })
    })
}

/// Puts invalid bytes at the beginning of each text in turn.
fn invalid_utf8(probe: &mut Probe<'_>, shape: Shape) -> Result<(), String> {
    let value = probe.value(shape, 0);
    let request = probe.codec().request(&value);
    for (number, (path, text)) in value.texts().into_iter().enumerate() {
        let invalid = INVALID[number % INVALID.len()];
        let at = request.windows(text.len()).position(|bytes| bytes == text.as_bytes());
        let at = at.ok_or_else(|| format!("{path} is not in the request; please report this"))?;
        let mut broken = request.clone();
        broken[at..at + invalid.len()].copy_from_slice(invalid);
        probe.refuses(shape, &broken, &format!("{path} with bytes that are not UTF-8"))?;
    }
    let next = probe.value(shape, 1);
    probe.echoes(&next).map_err(|reason| format!("after a text that is not UTF-8, {reason}"))
}
