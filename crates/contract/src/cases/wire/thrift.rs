//! Structs of Thrift that are legal and that no library writes, and structs that must be refused.

use crate::cases::Case;
use crate::cases::probe::Probe;
use crate::codec::Encoding;
use crate::codec::{Oddity, Sent};
use crate::profile::Need;
use crate::shape::Shape;
use crate::values::Value;

const TEXT: Shape = Shape::Text(100);
const SHAPES: [Shape; 4] = [TEXT, Shape::Record, Shape::Dto, Shape::Tree];
const THRIFT: &[Need] = &[Need::Thrift];
const COMPACT: &[Need] = &[Need::Wire(Encoding::ThriftCompact)];

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        name: "struct/other-field",
        verifies: "the reply holds the content of field 1, even if the request also has a field \
            2, in each method",
        needs: THRIFT,
        run: other_field,
    },
    Case {
        name: "struct/twice",
        verifies: "if each field and each map key occurs twice with different values, at every \
            level, the later values come back, once each",
        needs: THRIFT,
        run: |probe| odd(probe, Oddity::Twice),
    },
    Case {
        name: "struct/unknown-inside",
        verifies: "unknown fields (1001 to 1011, one of each type) at every level are skipped \
            and do not come back; in the compact protocol all is overlong",
        needs: THRIFT,
        run: |probe| odd(probe, Oddity::Unknown),
    },
    Case {
        name: "struct/reordered",
        verifies: "structs with their fields in descending order, at every level, come back",
        needs: THRIFT,
        run: |probe| odd(probe, Oddity::Reordered),
    },
    Case {
        name: "struct/overlong",
        verifies: "numbers of 16, 32 and 64 bits in one byte more than needed, and long-form \
            headers of fields and lists, are understood and re-encoded",
        needs: COMPACT,
        run: |probe| odd(probe, Oddity::Overlong),
    },
    Case {
        name: "struct/truncated",
        verifies: "a struct is refused, or its connection closed, if cut after its first byte, \
            in the middle, or before its last two bytes",
        needs: THRIFT,
        run: truncated,
    },
    Case {
        name: "struct/unknown-type",
        verifies: "a field of a nonexistent type (six bytes of `7f`) is refused, or its \
            connection closed",
        needs: THRIFT,
        run: |probe| malformed(probe, "a field of a type that does not exist", &[0x7f; 6]),
    },
    Case {
        name: "struct/length-past-end",
        verifies: "a text of one byte that claims a length of 100, 1 MiB, 2^31 - 1 or -1 is \
            refused, or its connection closed",
        needs: THRIFT,
        run: length_past_end,
    },
];

/// Values tried of each shape and oddity.
const VALUES: u64 = 4;

/// A server that returns the request's bytes hands field 2, which it should not even look at, back.
fn other_field(probe: &mut Probe<'_>) -> Result<(), String> {
    for shape in SHAPES {
        let wanted = probe.value(shape, 0);
        let mut decoy = probe.value(shape, 1);
        if let Value::Tree(tree) = &mut decoy {
            // Python's library takes bytes for a text where it skips them.
            tree.digest = b"text".to_vec();
        }
        let [request, reply] = [probe.codec().request(&wanted), probe.codec().reply(&decoy)];
        // Without its end the request is followed by the reply's field. In the compact protocol the reply writes how far
        // its number is from 0, which is one less far from 1.
        let mut both = [&request[..request.len() - 1], &reply].concat();
        if probe.profile().encoding == Encoding::ThriftCompact {
            both[request.len() - 1] -= 0x10;
        }
        probe.returns(&wanted, &both)?;
    }
    Ok(())
}

fn odd(probe: &mut Probe<'_>, oddity: Oddity) -> Result<(), String> {
    for shape in SHAPES {
        for number in 0..VALUES {
            let (value, other) = (probe.value(shape, number), probe.value(shape, number + VALUES));
            let request = probe.codec().odd_request(&value, &other, oddity);
            let sent =
                Sent { shape, content: Some(&value), request: &request, unknown_inside: false };
            probe.answers(sent).map_err(|reason| format!("{}: {reason}", shape.method().name()))?;
        }
    }
    Ok(())
}

/// Two bytes are missing at least: the protocol's own framing, which ends with an empty field, stands in for one.
fn truncated(probe: &mut Probe<'_>) -> Result<(), String> {
    for shape in SHAPES {
        let whole = probe.codec().request(&probe.value(shape, 0));
        for end in [1, whole.len() / 2, whole.len() - 2] {
            let what = format!(
                "a {} request cut to {end} of {} bytes",
                shape.method().name(),
                whole.len()
            );
            probe.refuses(shape, &whole[..end], &what)?;
        }
        probe.still_serves(shape)?;
    }
    Ok(())
}

/// The text's length stands where the whole request is, without the text, as long as the text is.
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

fn malformed(probe: &mut Probe<'_>, what: &str, request: &[u8]) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let what = format!("{what}, sent to {},", shape.method().name());
        probe.refuses(shape, request, &what)?;
        probe.still_serves(shape)
    })
}
