//! JSON that must be refused, after which the server must go on; and what libraries take in different ways.

use crate::cases::probe::Probe;
use crate::cases::{CallError, Case};
use crate::codec::json::node::Node;
use crate::codec::json::write::Style;
use crate::codec::{Encoding, Sent, json};
use crate::profile::Need;
use crate::shape::Shape;
use crate::values::{Contact, Value, status};

const TEXT: Shape = Shape::Text(100);
const SHAPES: [Shape; 4] = [TEXT, Shape::Record, Shape::Dto, Shape::Tree];
const JSON: &[Need] = &[Need::Wire(Encoding::Json)];

pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        name: "json/truncated",
        verifies: "a request is refused if cut after its first byte, in the middle, or before \
            its last byte, in each method",
        needs: JSON,
        run: truncated,
    },
    Case {
        name: "json/malformed",
        verifies: "a body that is not JSON is refused: `no JSON`, a missing colon, a missing \
            comma, a wrong closing bracket",
        needs: JSON,
        run: malformed,
    },
    Case {
        name: "json/wrong-type",
        verifies: "an object in place of any value, or a number in place of an object, is \
            refused, at every level of each method",
        needs: JSON,
        run: wrong_type,
    },
    Case {
        name: "json/no-integer",
        verifies: "the string `\"abc\"` is refused in place of an integer: in nine places, 32 \
            and 64 bits, in a list and in a child",
        needs: JSON,
        run: |probe| misfits(probe, &INTEGERS, "abc"),
    },
    Case {
        name: "json/no-base64",
        verifies: "a string that is not base64 is refused as `digest`",
        needs: JSON,
        run: |probe| misfits(probe, &["tree.digest"], "!no base64!"),
    },
    Case {
        name: "json/nesting",
        verifies: "content of 10,000 nested arrays is refused by each method",
        needs: JSON,
        run: nesting,
    },
    Case {
        name: "json/unknown-enum",
        verifies: "an unknown enum name is refused, or read as the unspecified value",
        needs: JSON,
        run: unknown_enum,
    },
    Case {
        name: "json/trailing",
        verifies: "a request followed by `}`, by `junk` or by another request is refused, or \
            answered as if it stood alone",
        needs: JSON,
        run: trailing,
    },
    Case {
        name: "json/invalid-utf8",
        verifies: "a text with the byte `ff` in it is refused, or comes back with U+FFFD in its \
            place",
        needs: JSON,
        run: invalid_utf8,
    },
    Case {
        name: "json/lone-surrogate",
        verifies: "half of a surrogate pair in a text is refused, or comes back as U+FFFD, `?` \
            or the same escape",
        needs: JSON,
        run: lone_surrogate,
    },
];

/// Places of integers, of 32 bits and of 64.
const INTEGERS: [&str; 9] = [
    "record.field2",
    "record.field22",
    "record.field5.1",
    "dto.prop4",
    "tree.age",
    "tree.balance",
    "tree.serial",
    "tree.phone",
    "tree.left.id",
];

/// Cut after the first byte, in the middle, and before the last byte.
fn truncated(probe: &mut Probe<'_>) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let whole = probe.codec().request(&probe.value(shape, 0));
        for end in [1, whole.len() / 2, whole.len() - 1] {
            let what = format!("a request to {} cut to {end} bytes", shape.method().name());
            probe.refuses(shape, &whole[..end], &what)?;
        }
        probe.still_serves(shape)
    })
}

fn malformed(probe: &mut Probe<'_>) -> Result<(), String> {
    for body in ["no JSON", r#"{"text" "a"}"#, r#"{"text":"a"]"#, r#"{"text":"a" "more":1}"#] {
        probe.refuses(TEXT, body.as_bytes(), &format!("the request {body:?}"))?;
    }
    probe.still_serves(TEXT)
}

/// An object for what is none, and a number for what is an object: no library takes one for the other, though many take
/// numbers for strings, ones for booleans, single values for lists, or a string for an object made of one.
fn wrong_type(probe: &mut Probe<'_>) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let request = json::request(&probe.value(shape, 0));
        for place in request.places() {
            let misfit = |node: &Node| match node {
                Node::Object(_) => Node::Integer(7),
                _ => Node::Object(vec![("x".to_owned(), Node::Integer(1))]),
            };
            let body = changed(&request, &place, misfit)?;
            probe.refuses(shape, &body, &format!("a value of the wrong type at `{place}`"))?;
        }
        probe.still_serves(shape)
    })
}

/// The text must be refused at each of these places.
fn misfits(probe: &mut Probe<'_>, places: &[&str], text: &str) -> Result<(), String> {
    places.iter().try_for_each(|place| {
        let value = with_phone(match place.split('.').next() {
            Some("record") => probe.value(Shape::Record, 0),
            Some("dto") => probe.value(Shape::Dto, 0),
            _ => probe.value(Shape::Tree, 0),
        });
        let body = changed(&json::request(&value), place, |_| Node::text(text))?;
        probe.refuses(value.shape(), &body, &format!("{text:?} at `{place}`"))?;
        probe.still_serves(value.shape())
    })
}

fn nesting(probe: &mut Probe<'_>) -> Result<(), String> {
    const DEPTH: usize = 10_000;
    SHAPES.into_iter().try_for_each(|shape| {
        let request = json::request(&probe.value(shape, 0));
        let junk = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        let content = request.places().into_iter().nth(1).unwrap_or_default();
        let body = changed(&request, &content, |_| Node::Literal(junk.clone()))?;
        probe.refuses(shape, &body, &format!("{DEPTH} nested arrays at `{content}`"))?;
        probe.still_serves(shape)
    })
}

fn unknown_enum(probe: &mut Probe<'_>) -> Result<(), String> {
    let sent = with_phone(probe.value(Shape::Tree, 0));
    let body = changed(&json::request(&sent), "tree.status", |_| Node::text("STATUS_NOWHERE"))?;
    let unspecified = match sent {
        Value::Tree(mut tree) => {
            tree.status = status::UNSPECIFIED;
            Value::Tree(tree)
        }
        other => other,
    };
    answers_or_refuses(probe, &unspecified, &body)
        .map_err(|reason| format!("an enum's value with an unknown name: {reason}"))?;
    probe.still_serves(Shape::Tree)
}

fn trailing(probe: &mut Probe<'_>) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let (value, other) = (probe.value(shape, 0), probe.value(shape, 1));
        let (request, other) = (probe.codec().request(&value), probe.codec().request(&other));
        for more in [&b"}"[..], b"junk", &other] {
            answers_or_refuses(probe, &value, &[&request, more].concat())
                .map_err(|reason| format!("a request with more behind it: {reason}"))?;
        }
        probe.still_serves(shape)
    })
}

const MENDED: &str = "ab\u{fffd}cd";

fn invalid_utf8(probe: &mut Probe<'_>) -> Result<(), String> {
    let value = Value::Text(MENDED.to_owned());
    let body = b"{\"text\":\"ab\xffcd\"}";
    answers_or_refuses(probe, &value, body)
        .map_err(|reason| format!("a text that is no UTF-8: {reason}"))?;
    probe.still_serves(TEXT)
}

fn lone_surrogate(probe: &mut Probe<'_>) -> Result<(), String> {
    for half in ["\\ud800", "\\udfff"] {
        let body = format!("{{\"text\":\"ab{half}cd\"}}").into_bytes();
        match probe.call(TEXT.method(), &body) {
            Err(CallError::Status { code, .. }) if probe.profile().refusals.contains(&code) => {}
            Err(error) => return Err(format!("half of a surrogate pair, {half}: {error}")),
            Ok(reply) => is_mended(probe, &body, &reply, half)
                .map_err(|reason| format!("half of a surrogate pair, {half}: {reason}"))?,
        }
    }
    probe.still_serves(TEXT)
}

/// Whether the reply has the replacement character, a question mark or the same escape in the half pair's place.
fn is_mended(probe: &Probe<'_>, request: &[u8], reply: &[u8], half: &str) -> Result<(), String> {
    let kept = format!("ab{half}cd");
    let text = String::from_utf8_lossy(reply).to_lowercase();
    let right = |text: &str| {
        let value = Value::Text(text.to_owned());
        let sent = Sent { shape: TEXT, content: Some(&value), request, unknown_inside: false };
        probe.codec().verify(sent, reply)
    };
    if text.contains(&kept) && text.contains("\"echo\"") || right("ab?cd").is_ok() {
        return Ok(());
    }
    right(MENDED).map_err(|mismatch| mismatch.to_string())
}

fn answers_or_refuses(probe: &mut Probe<'_>, value: &Value, body: &[u8]) -> Result<(), String> {
    let shape = value.shape();
    probe.answers_or_refuses(Sent {
        shape,
        content: Some(value),
        request: body,
        unknown_inside: false,
    })
}

/// The request with another value at `place`.
fn changed(request: &Node, place: &str, change: impl Fn(&Node) -> Node) -> Result<Vec<u8>, String> {
    let mut request = request.clone();
    let missing = || format!("`{place}` is not in the request; please report this");
    let node = request.at(place).ok_or_else(missing)?;
    *node = change(node);
    Ok(Style::default().write(&request))
}

/// The other member of the oneof is a text.
fn with_phone(value: Value) -> Value {
    match value {
        Value::Tree(mut tree) => {
            tree.contact = Some(Contact::Phone(7));
            Value::Tree(tree)
        }
        other => other,
    }
}
