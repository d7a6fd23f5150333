//! JSON that must be refused without breaking the server, and JSON that libraries treat differently.

use crate::cases::probe::Probe;
use crate::cases::{CallError, Case, SHAPES, TEXT, case};
use crate::codec::json::node::Node;
use crate::codec::json::write::Style;
use crate::codec::{Encoding, Sent, json};
use crate::profile::Need;
use crate::shape::Shape;
use crate::values::{Contact, Status, Value};

const JSON: &[Need] = &[Need::Wire(Encoding::Json)];

#[rustfmt::skip]
pub(in crate::cases) const CASES: &[Case] = &[
    case("json/truncated", JSON, truncated,
        "a request is refused if cut after its first byte, in the middle, or before its last byte, in each method"),
    case("json/malformed", JSON, malformed,
        "a body that is not JSON is refused"),
    case("json/wrong-type", JSON, wrong_type,
        "an object in place of a value, or a number in place of an object, is refused at every level of each method"),
    case("json/no-integer", JSON, |probe| refuses_text_at(probe, &INTEGERS, "abc"),
        "the string `\"abc\"` in place of an integer is refused, in nine places: 32 and 64 bits, in a list and in a child"),
    case("json/no-base64", JSON, |probe| refuses_text_at(probe, &["tree.digest"], "!no base64!"),
        "a string that is not base64 is refused as `digest`"),
    case("json/nesting", JSON, nesting,
        "content of 10,000 nested arrays is refused by each method"),
    case("json/unknown-enum", JSON, unknown_enum,
        "an unknown enum name is refused, or read as the unspecified value"),
    case("json/trailing", JSON, trailing,
        "a request followed by `}`, by `junk` or by another request is refused, or answered as if it stood alone"),
    case("json/invalid-utf8", JSON, invalid_utf8,
        "a text with the byte `ff` in it is refused, or comes back with U+FFFD in its place"),
    case("json/lone-surrogate", JSON, lone_surrogate,
        "half of a surrogate pair in a text is refused, or comes back as U+FFFD, `?` or the same escape"),
];

/// Paths of integers of 32 and 64 bits.
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

fn truncated(probe: &mut Probe<'_>) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let whole = probe.codec().request(&probe.value(shape, 0));
        probe.refuses_cut(shape, &whole, 1)?;
        probe.still_serves(shape)
    })
}

fn malformed(probe: &mut Probe<'_>) -> Result<(), String> {
    for body in ["no JSON", r#"{"text" "a"}"#, r#"{"text":"a"]"#, r#"{"text":"a" "more":1}"#] {
        probe.refuses(TEXT, body.as_bytes(), &format!("the request {body:?}"))?;
    }
    probe.still_serves(TEXT)
}

/// Replaces objects with numbers, and anything else with objects: no library converts between these, though many convert numbers
/// to strings, numbers to booleans, single values to lists, or strings to objects with one field.
fn wrong_type(probe: &mut Probe<'_>) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let request = json::request(&probe.value(shape, 0));
        for path in request.paths() {
            let misfit = |node: &Node| match node {
                Node::Object(_) => Node::Integer(7),
                _ => Node::Object(vec![("x".to_owned(), Node::Integer(1))]),
            };
            let body = changed(&request, &path, misfit)?;
            probe.refuses(shape, &body, &format!("a value of the wrong type at `{path}`"))?;
        }
        probe.still_serves(shape)
    })
}

fn refuses_text_at(probe: &mut Probe<'_>, paths: &[&str], text: &str) -> Result<(), String> {
    paths.iter().try_for_each(|path| {
        let value = with_phone(match path.split('.').next() {
            Some("record") => probe.value(Shape::Record, 0),
            Some("dto") => probe.value(Shape::Dto, 0),
            _ => probe.value(Shape::Tree, 0),
        });
        let body = changed(&json::request(&value), path, |_| Node::text(text))?;
        probe.refuses(value.shape(), &body, &format!("{text:?} at `{path}`"))?;
        probe.still_serves(value.shape())
    })
}

fn nesting(probe: &mut Probe<'_>) -> Result<(), String> {
    const DEPTH: usize = 10_000;
    SHAPES.into_iter().try_for_each(|shape| {
        let request = json::request(&probe.value(shape, 0));
        let junk = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
        let content = request.paths().into_iter().nth(1).unwrap_or_default();
        let body = changed(&request, &content, |_| Node::Literal(junk.clone()))?;
        probe.refuses(shape, &body, &format!("{DEPTH} nested arrays at `{content}`"))?;
        probe.still_serves(shape)
    })
}

fn unknown_enum(probe: &mut Probe<'_>) -> Result<(), String> {
    let sent = with_phone(probe.value(Shape::Tree, 0));
    let body = changed(&json::request(&sent), "tree.status", |_| Node::text("STATUS_NOWHERE"))?;
    let mut unspecified = sent;
    if let Value::Tree(tree) = &mut unspecified {
        tree.status = Status::Unspecified as i32;
    }
    probe
        .answers_or_refuses(Sent::new(&unspecified, &body))
        .map_err(|reason| format!("an unknown enum name: {reason}"))?;
    probe.still_serves(Shape::Tree)
}

fn trailing(probe: &mut Probe<'_>) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let (value, other) = (probe.value(shape, 0), probe.value(shape, 1));
        let (request, other) = (probe.codec().request(&value), probe.codec().request(&other));
        for more in [&b"}"[..], b"junk", &other] {
            probe
                .answers_or_refuses(Sent::new(&value, &[&request, more].concat()))
                .map_err(|reason| format!("a request with trailing data: {reason}"))?;
        }
        probe.still_serves(shape)
    })
}

/// Text with U+FFFD in place of bytes that can't be decoded.
const REPLACED: &str = "ab\u{fffd}cd";

fn invalid_utf8(probe: &mut Probe<'_>) -> Result<(), String> {
    let value = Value::Text(REPLACED.to_owned());
    let body = b"{\"text\":\"ab\xffcd\"}";
    probe
        .answers_or_refuses(Sent::new(&value, body))
        .map_err(|reason| format!("a text that is not UTF-8: {reason}"))?;
    probe.still_serves(TEXT)
}

fn lone_surrogate(probe: &mut Probe<'_>) -> Result<(), String> {
    for half in ["\\ud800", "\\udfff"] {
        let body = format!("{{\"text\":\"ab{half}cd\"}}").into_bytes();
        match probe.call(TEXT.method(), &body) {
            Err(CallError::Status { code, .. }) if probe.profile().refusals.contains(&code) => {}
            Err(error) => return Err(format!("half of a surrogate pair, {half}: {error}")),
            Ok(reply) => is_replaced(probe, &body, &reply, half)
                .map_err(|reason| format!("half of a surrogate pair, {half}: {reason}"))?,
        }
    }
    probe.still_serves(TEXT)
}

/// Accepts U+FFFD, a question mark or the same escape in place of the lone surrogate.
fn is_replaced(probe: &Probe<'_>, request: &[u8], reply: &[u8], half: &str) -> Result<(), String> {
    let kept = format!("ab{half}cd");
    let text = String::from_utf8_lossy(reply).to_lowercase();
    let right = |text: &str| {
        let value = Value::Text(text.to_owned());
        probe.codec().verify(Sent::new(&value, request), reply)
    };
    if text.contains(&kept) && text.contains("\"echo\"") || right("ab?cd").is_ok() {
        return Ok(());
    }
    right(REPLACED).map_err(|mismatch| mismatch.to_string())
}

/// The request with another value at `path`.
fn changed(request: &Node, path: &str, change: impl Fn(&Node) -> Node) -> Result<Vec<u8>, String> {
    let mut request = request.clone();
    let missing = || format!("`{path}` is not in the request; please report this");
    let node = request.at(path).ok_or_else(missing)?;
    *node = change(node);
    Ok(Style::default().write(&request))
}

/// Sets the integer member of a tree's oneof; the other member is a text.
fn with_phone(mut value: Value) -> Value {
    if let Value::Tree(tree) = &mut value {
        tree.contact = Some(Contact::Phone(7));
    }
    value
}
