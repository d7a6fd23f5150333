//! Messages that are full, empty, absent, or have unknown fields.

use super::probe::Probe;
use super::{Case, SHAPES, TEXT, case};
use crate::codec::Sent;
use crate::profile::Need;
use crate::shape::Shape;
use crate::values::Value;

// What several cases verify. The contract's page has a single line for them.
const FILLED: &str =
    "16 different values come back, with every field set and, in trees, either member of the oneof";
const EMPTY: &str = "content with every field at its default comes back, present and empty";
const ABSENT: &str = "a request without content gets a reply with none, or with empty content";

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    case("text/filled", &[], |probe| filled(probe, TEXT),
        FILLED),
    case("record/filled", &[], |probe| filled(probe, Shape::Record),
        FILLED),
    case("dto/filled", &[], |probe| filled(probe, Shape::Dto),
        FILLED),
    case("tree/filled", &[], |probe| filled(probe, Shape::Tree),
        FILLED),
    case("text/empty", &[Need::Decoding], text_empty,
        "an empty text comes back, whether omitted from the request or sent with length 0 (JSON: `\"\"`)"),
    case("record/empty", &[Need::Decoding, Need::EmptyMembers], |probe| probe.echoes(&Value::empty(Shape::Record)),
        EMPTY),
    case("dto/empty", &[Need::Decoding, Need::EmptyMembers], |probe| probe.echoes(&Value::empty(Shape::Dto)),
        EMPTY),
    case("tree/empty", &[Need::Decoding, Need::EmptyMembers], |probe| probe.echoes(&Value::empty(Shape::Tree)),
        EMPTY),
    case("record/absent", &[Need::AbsentContent], |probe| absent(probe, Shape::Record),
        ABSENT),
    case("dto/absent", &[Need::AbsentContent], |probe| absent(probe, Shape::Dto),
        ABSENT),
    case("tree/absent", &[Need::AbsentContent], |probe| absent(probe, Shape::Tree),
        ABSENT),
    case("wire/unknown-fields", &[Need::UnknownFields], unknown_fields_are_tolerated,
        "unknown fields of every type around the content are ignored and do not come back, in each method"),
];

/// 16 values cover both arms of the oneof and every value of the enum.
fn filled(probe: &mut Probe<'_>, shape: Shape) -> Result<(), String> {
    (0..16).try_for_each(|number| probe.echoes(&probe.value(shape, number)))
}

fn text_empty(probe: &mut Probe<'_>) -> Result<(), String> {
    let empty = Value::Text(String::new());
    let requests = probe.codec().valid_encodings(&empty);
    requests.iter().try_for_each(|request| probe.returns(&empty, request))
}

/// Libraries copy an absent message as absent or as empty; both are right.
fn absent(probe: &mut Probe<'_>, shape: Shape) -> Result<(), String> {
    let request = probe.codec().empty_request();
    probe.answers(Sent { shape, content: None, request: &request, nested_unknown: false })
}

fn unknown_fields_are_tolerated(probe: &mut Probe<'_>) -> Result<(), String> {
    SHAPES.into_iter().try_for_each(|shape| {
        let value = probe.value(shape, 0);
        probe.returns(&value, &probe.codec().with_unknown_fields(&value))
    })
}
