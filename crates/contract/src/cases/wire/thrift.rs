//! Valid Thrift structs that no library writes, and structs that must be refused.

use crate::cases::probe::Probe;
use crate::cases::{Case, SHAPES, TEXT, case};
use crate::codec::{Encoding, NonCanonical, NonCanonicalVariant};
use crate::profile::Need;
use crate::values::Value;

const THRIFT: &[Need] = &[Need::Thrift];
const COMPACT: &[Need] = &[Need::Wire(Encoding::ThriftCompact)];

#[rustfmt::skip]
pub(in crate::cases) const CASES: &[Case] = &[
    case("struct/other-field", THRIFT, other_field,
        "the reply holds field 1, even if the request also has a field 2, in each method"),
    case("struct/twice", THRIFT, |probe| non_canonical(probe, NonCanonical::Twice),
        "if each field and each map key, at every level, occurs twice with different values, the later values come back, once each"),
    case("struct/unknown-inside", THRIFT, |probe| non_canonical(probe, NonCanonical::Unknown),
        "unknown fields of each type, at every level, are skipped and do not come back; in the compact protocol all are overlong"),
    case("struct/reordered", THRIFT, |probe| non_canonical(probe, NonCanonical::Reordered),
        "structs with their fields in descending order, at every level, come back"),
    case("struct/overlong", COMPACT, |probe| non_canonical(probe, NonCanonical::Overlong),
        "numbers of 16, 32 and 64 bits in one byte more than needed, and long-form headers of fields and lists, are understood and re-encoded"),
    case("struct/truncated", THRIFT, truncated,
        "a struct cut after its first byte, in the middle, or before its last two bytes is refused, or its connection closed"),
    case("struct/unknown-type", THRIFT, |probe| probe.all_refuse(&[0x7f; 6], "a field of a nonexistent type"),
        "a field of a nonexistent type (six bytes of `7f`) is refused, or its connection closed"),
    case("struct/length-past-end", THRIFT, length_past_end,
        "a text of one byte that claims a length of 100, 1 MiB, 2^31 - 1 or -1 is refused, or its connection closed"),
];

/// Values per shape and form.
const VALUES: u64 = 4;

/// A server that returns the bytes of the request also returns field 2, which it should ignore.
fn other_field(probe: &mut Probe<'_>) -> Result<(), String> {
    for shape in SHAPES {
        let wanted = probe.value(shape, 0);
        let mut decoy = probe.value(shape, 1);
        if let Value::Tree(tree) = &mut decoy {
            // Python's library decodes bytes as text even if it skips them.
            tree.digest = b"text".to_vec();
        }
        let [request, reply] = [probe.codec().request(&wanted), probe.codec().reply(&decoy)];
        // The reply's field replaces the end of the request. The compact protocol encodes field numbers as differences:
        // 2 from the start, 1 from field 1.
        let mut both = [&request[..request.len() - 1], &reply].concat();
        if probe.profile().encoding == Encoding::ThriftCompact {
            both[request.len() - 1] -= 0x10;
        }
        probe.returns(&wanted, &both)?;
    }
    Ok(())
}

fn non_canonical(probe: &mut Probe<'_>, form: NonCanonical) -> Result<(), String> {
    for shape in SHAPES {
        for number in 0..VALUES {
            let (value, other) = (probe.value(shape, number), probe.value(shape, number + VALUES));
            let variant = NonCanonicalVariant::numbered(form, shape, number as usize);
            let request = probe.codec().non_canonical_request(&value, &other, variant);
            let answered = probe.returns(&value, &request);
            answered.map_err(|reason| format!("{}: {reason}", shape.method().name()))?;
        }
    }
    Ok(())
}

/// Cuts at least two bytes: the zero byte that ends the framing would replace a single one.
fn truncated(probe: &mut Probe<'_>) -> Result<(), String> {
    for shape in SHAPES {
        let whole = probe.codec().request(&probe.value(shape, 0));
        probe.refuses_cut(shape, &whole, 2)?;
        probe.still_serves(shape)?;
    }
    Ok(())
}

/// A field header, the claimed length, and one byte of text.
fn length_past_end(probe: &mut Probe<'_>) -> Result<(), String> {
    let lengths: &[(&str, [u8; 4], &[u8])] = &[
        ("100", [0, 0, 0, 100], &[100]),
        ("1 MiB", [0, 0x10, 0, 0], &[0x80, 0x80, 0x40]),
        ("2^31 - 1", [0x7f, 0xff, 0xff, 0xff], &[0xff, 0xff, 0xff, 0xff, 7]),
        ("-1", [0xff; 4], &[0xff, 0xff, 0xff, 0xff, 15]),
    ];
    for (length, binary, compact) in lengths {
        let request = match probe.profile().encoding {
            Encoding::ThriftCompact => [&[0x18][..], compact, b"a"].concat(),
            _ => [&[11, 0, 1][..], binary, b"a"].concat(),
        };
        let what = format!("a text of 1 byte that claims {length}");
        probe.refuses(TEXT, &request, &what)?;
        probe.still_serves(TEXT)?;
    }
    Ok(())
}
