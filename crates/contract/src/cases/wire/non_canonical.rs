//! Valid protobuf that no library writes: a server that decodes every level returns it in canonical form, one that
//! copies bytes does not. And texts that are not UTF-8.

use crate::cases::probe::Probe;
use crate::cases::{Case, TEXT};
use crate::codec::{Encoding, NonCanonical, Oddity, Sent};
use crate::profile::Need;
use crate::shape::Shape;

const PROTOBUF: &[Need] = &[Need::Wire(Encoding::Protobuf)];

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        name: "text/overlong",
        verifies: "a tag and a length encoded in one byte more than needed (`0a` as `8a 00`) \
            are understood",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, TEXT, NonCanonical::Overlong),
    },
    Case {
        name: "record/overlong",
        verifies: "a record comes back re-encoded if every tag, length, integer and boolean \
            takes one byte more than needed",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Record, NonCanonical::Overlong),
    },
    Case {
        name: "dto/overlong",
        verifies: "a DTO comes back re-encoded if every tag, length, integer and boolean takes \
            one byte more than needed",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Dto, NonCanonical::Overlong),
    },
    Case {
        name: "tree/overlong",
        verifies: "a tree comes back re-encoded if every tag, length, integer and boolean takes \
            one byte more than needed, in children, their tags and map entries too",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Tree, NonCanonical::Overlong),
    },
    Case {
        name: "record/twice",
        verifies: "if a record and each of its fields (but the list) occur twice with different \
            values, the later values come back, once each",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Record, NonCanonical::Twice),
    },
    Case {
        name: "dto/twice",
        verifies: "if a DTO and each of its fields occur twice with different values, the later \
            values come back, once each",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Dto, NonCanonical::Twice),
    },
    Case {
        name: "tree/twice",
        verifies: "if a tree, its fields (but the oneof), its map keys, and the fields of \
            children and their tags occur twice, the later values come back, once each",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Tree, NonCanonical::Twice),
    },
    Case {
        name: "record/reordered",
        verifies: "a record comes back re-encoded if its fields are in descending order and \
            overlong, and its list is split into one unpacked number and two packed pieces",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Record, NonCanonical::Reordered),
    },
    Case {
        name: "dto/reordered",
        verifies: "a DTO comes back re-encoded if its fields are in descending order and overlong",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Dto, NonCanonical::Reordered),
    },
    Case {
        name: "tree/reordered",
        verifies: "a tree comes back re-encoded if its fields are in descending order and \
            overlong, in children and their tags too, with values of map entries before keys",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Tree, NonCanonical::Reordered),
    },
    Case {
        name: "record/unknown-inside",
        verifies: "a record with unknown fields before and after its own, which are overlong, \
            comes back re-encoded, with the unknown fields or without",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Record, NonCanonical::Unknown),
    },
    Case {
        name: "dto/unknown-inside",
        verifies: "a DTO with unknown fields before and after its own, which are overlong, \
            comes back re-encoded, with the unknown fields or without",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Dto, NonCanonical::Unknown),
    },
    Case {
        name: "tree/unknown-inside",
        verifies: "a tree with unknown fields at every level and overlong known ones comes back \
            re-encoded, with the unknown fields or without",
        needs: PROTOBUF,
        run: |probe| non_canonical(probe, Shape::Tree, NonCanonical::Unknown),
    },
];

pub(in crate::cases) const INVALID_UTF8: &[Case] = &[
    Case {
        name: "text/invalid-utf8",
        verifies: "a text that starts with bytes that are not UTF-8 is refused",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, TEXT),
    },
    Case {
        name: "record/invalid-utf8",
        verifies: "a record is refused if any of its eight strings is not UTF-8: an impossible \
            byte, a lone continuation byte, a truncated character, an overlong NUL, half a \
            surrogate pair, a code point past the last one",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, Shape::Record),
    },
    Case {
        name: "dto/invalid-utf8",
        verifies: "a DTO is refused if any of its three strings is not UTF-8",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, Shape::Dto),
    },
    Case {
        name: "tree/invalid-utf8",
        verifies: "a tree is refused if any string or map key is not UTF-8, at any level",
        needs: PROTOBUF,
        run: |probe| invalid_utf8(probe, Shape::Tree),
    },
];

/// Values per form.
const VALUES: u64 = 4;

/// An impossible byte, a lone continuation byte, a truncated character, an overlong NUL, half of a surrogate pair, a
/// code point past the last one. Unicode 17, table 3-7.
const INVALID: [&[u8]; 6] =
    [b"\xff", b"\x80", b"\xe2\x82\x41", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"];

fn non_canonical(probe: &mut Probe<'_>, shape: Shape, form: NonCanonical) -> Result<(), String> {
    (0..VALUES).try_for_each(|number| {
        let oddity = Oddity::numbered(form, shape, number as usize);
        let (value, other) = (probe.value(shape, number), probe.value(shape, number + VALUES));
        let request = probe.codec().non_canonical_request(&value, &other, oddity);
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
