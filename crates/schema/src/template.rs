//! Requests to fill in: every field, with an example of its type.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor, Value as Default};
use serde_json::{Map, Value, json};

use crate::describe::written_oneof;

/// Maximum nesting of messages shown.
const MAX_DEPTH: usize = 5;

/// A message as JSON with every field; for a oneof, the first.
pub(crate) fn of(kind: &MessageDescriptor) -> String {
    let value = message(kind, &mut Vec::new());
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

/// `within` holds the types that enclose the message; it is unchanged afterwards.
fn message(kind: &MessageDescriptor, within: &mut Vec<String>) -> Value {
    if let Some(known) = well_known(kind.full_name()) {
        return known;
    }
    let is_first = |field: &FieldDescriptor| {
        written_oneof(field).is_none_or(|oneof| oneof.fields().next().as_ref() == Some(field))
    };
    within.push(kind.full_name().to_owned());
    let fields = kind.fields().filter(is_first);
    let members =
        fields.filter_map(|field| Some((field.json_name().to_owned(), value(&field, within)?)));
    let members = Value::Object(members.collect::<Map<_, _>>());
    within.pop();
    members
}

/// An example of a field's value. `None` for a message that contains itself or is nested too deep.
fn value(field: &FieldDescriptor, within: &mut Vec<String>) -> Option<Value> {
    if let Kind::Message(entry) = field.kind()
        && field.is_map()
    {
        let key = match entry.map_entry_key_field().kind() {
            Kind::String => "key",
            Kind::Bool => "true",
            _ => "0",
        };
        let one = single(&entry.map_entry_value_field(), within);
        return Some(one.map_or_else(|| json!({}), |one| json!({ key: one })));
    }
    match (single(field, within), field.is_list()) {
        (one, false) => one,
        (Some(one), true) => Some(json!([one])),
        (None, true) => Some(json!([])),
    }
}

/// The default of the field, or of its elements; for a message, its own template.
fn single(field: &FieldDescriptor, within: &mut Vec<String>) -> Option<Value> {
    let kind = field.kind();
    if let Kind::Message(kind) = &kind {
        let is_shown = within.len() < MAX_DEPTH && within.iter().all(|it| it != kind.full_name());
        return is_shown.then(|| message(kind, within));
    }
    let is_one = !field.is_list();
    let default = if is_one { field.default_value() } else { Default::default_value(&kind) };
    Some(match default {
        Default::Bool(value) => json!(value),
        Default::I32(value) => json!(value),
        Default::U32(value) => json!(value),
        // As in protobuf's mapping, since not every JSON parser has 64-bit integers.
        Default::I64(value) => json!(value.to_string()),
        Default::U64(value) => json!(value.to_string()),
        Default::F32(value) => decimal(value.into()),
        Default::F64(value) => decimal(value),
        Default::String(value) => json!(value),
        Default::Bytes(value) => json!(BASE64_STANDARD.encode(value)),
        Default::EnumNumber(number) => {
            let name = kind.as_enum().and_then(|kind| kind.get_value(number));
            json!(name.map(|it| it.name().to_owned()))
        }
        Default::Message(_) | Default::List(_) | Default::Map(_) => return None,
    })
}

/// A number, or the name in protobuf's mapping for a value that is not one.
fn decimal(value: f64) -> Value {
    match value {
        value if value.is_nan() => json!("NaN"),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        value => json!(value),
    }
}

/// Examples of types with their own JSON form.
fn well_known(name: &str) -> Option<Value> {
    Some(match name.strip_prefix("google.protobuf.")? {
        "Timestamp" => json!("2026-01-01T00:00:00Z"),
        "Duration" => json!("1s"),
        "FieldMask" => json!("a,b"),
        "Any" => json!({ "@type": "type.googleapis.com/package.Message" }),
        "Struct" | "Empty" => json!({}),
        "Value" => json!(null),
        "ListValue" => json!([]),
        "DoubleValue" | "FloatValue" => json!(0.0),
        "Int32Value" | "UInt32Value" => json!(0),
        "Int64Value" | "UInt64Value" => json!("0"),
        "BoolValue" => json!(false),
        "StringValue" | "BytesValue" => json!(""),
        _ => return None,
    })
}
