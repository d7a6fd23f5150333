//! Valid JSON that no library writes. A server that decodes every level returns it in canonical form; a server that copies bytes
//! does not.

use crate::cases::probe::Probe;
use crate::cases::{Case, SHAPES, case};
use crate::codec::json::node::Node;
use crate::codec::json::write::{Escapes, Style};
use crate::codec::{Encoding, NonCanonical, NonCanonicalVariant, Sent, json};
use crate::profile::Need;
use crate::values::{PropertyDto, Value};

const JSON: &[Need] = &[Need::Wire(Encoding::Json)];

#[rustfmt::skip]
pub(in crate::cases) const CASES: &[Case] = &[
    case("json/escapes", JSON, |probe| written(probe, Escapes::All),
        "keys and strings with every letter and digit escaped (`\\u0065`) are understood and come back unescaped; so are 64-bit integers, bytes and enum names"),
    case("json/surrogate-pairs", JSON, |probe| written(probe, Escapes::Wide),
        "characters beyond ASCII come back if sent as `\\u20ac` or as a surrogate pair (`\\ud83d\\ude80`)"),
    case("json/whitespace", JSON, |probe| non_canonical(probe, NonCanonical::Reordered),
        "keys in reverse order, each with an escaped letter, and every kind of whitespace around all tokens are understood, not copied"),
    case("json/unknown-inside", JSON, |probe| non_canonical(probe, NonCanonical::Unknown),
        "unknown keys of every type in each object are ignored, and the rest comes back re-encoded; those inside the content may come back"),
    case("json/numbers", JSON, numbers,
        "doubles come back by value from every notation of JSON, such as `0`, `-0` and `150e-1`, up to 55 digits"),
];

/// Values per shape.
const VALUES: u64 = 4;

fn written(probe: &mut Probe<'_>, escapes: Escapes) -> Result<(), String> {
    let write = |value: &Value, number| {
        // Every second value only inside: this includes texts, which have no nonce here.
        let usual = number as usize % 2;
        Style { escapes, usual, ..Style::default() }.write(&json::request(value))
    };
    each(probe, write, false)
}

fn non_canonical(probe: &mut Probe<'_>, form: NonCanonical) -> Result<(), String> {
    let codec = probe.codec();
    let nested_unknown = form == NonCanonical::Unknown;
    let write = |value: &Value, number| {
        let variant = NonCanonicalVariant::numbered(form, value.shape(), number as usize);
        codec.non_canonical_request(value, value, variant)
    };
    each(probe, write, nested_unknown)
}

/// Requires values of each shape to come back if `write` encodes their requests.
fn each(
    probe: &mut Probe<'_>,
    write: impl Fn(&Value, u64) -> Vec<u8>,
    nested_unknown: bool,
) -> Result<(), String> {
    for shape in SHAPES {
        for number in 0..VALUES {
            let value = probe.value(shape, number);
            let request = write(&value, number);
            let sent = Sent { shape, content: Some(&value), request: &request, nested_unknown };
            let answered = probe.answers(sent);
            answered.map_err(|reason| format!("{}: {reason}", shape.method().name()))?;
        }
    }
    Ok(())
}

/// RFC 8259, section 6: fractions, exponents with and without a sign, `e` and `E`, redundant zeros.
const NOTATIONS: [(&str, f64); 12] = [
    ("0", 0.0),
    ("-0", 0.0),
    ("0.0e+00", 0.0),
    ("15", 15.0),
    ("15.000", 15.0),
    ("1.50e1", 15.0),
    ("1.5E+01", 15.0),
    ("150e-1", 15.0),
    ("0.0000000000000000000000015E25", 15.0),
    ("-1500000000000000000000000000e-26", -15.0),
    ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
    ("1.7976931348623157E+308", f64::MAX),
];

fn numbers(probe: &mut Probe<'_>) -> Result<(), String> {
    NOTATIONS.into_iter().try_for_each(|(notation, prop7)| {
        let value = Value::Dto(Box::new(PropertyDto { prop7, ..PropertyDto::default() }));
        let mut request = json::request(&value);
        if let Some(node) = request.at("dto.prop7") {
            *node = Node::Literal(notation.to_owned());
        }
        let returned = probe.returns(&value, &Style::default().write(&request));
        returned.map_err(|reason| format!("{notation}: {reason}"))
    })
}
