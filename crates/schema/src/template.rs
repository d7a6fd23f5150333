//! Requests to be filled in: every field, with an example of its type.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

/// How deep messages are shown within messages.
const MAX_DEPTH: usize = 5;

/// A message as JSON with every field; of a oneof the first.
pub(crate) fn of(kind: &MessageDescriptor) -> String {
    let value = message(kind, 0);
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

fn message(kind: &MessageDescriptor, depth: usize) -> Value {
    if let Some(known) = well_known(kind.full_name()) {
        return known;
    }
    if depth >= MAX_DEPTH {
        return json!({});
    }
    let is_first = |field: &FieldDescriptor| {
        let oneof = field.containing_oneof().filter(|oneof| !oneof.is_synthetic());
        oneof.is_none_or(|oneof| oneof.fields().next().as_ref() == Some(field))
    };
    let fields = kind.fields().filter(is_first);
    let members = fields.map(|field| (field.json_name().to_owned(), value(&field, depth)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn value(field: &FieldDescriptor, depth: usize) -> Value {
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else { return json!({}) };
        let key = match entry.map_entry_key_field().kind() {
            Kind::String => "key",
            Kind::Bool => "true",
            _ => "0",
        };
        return json!({ key: single(&entry.map_entry_value_field(), depth) });
    }
    let one = single(field, depth);
    if field.is_list() { json!([one]) } else { one }
}

fn single(field: &FieldDescriptor, depth: usize) -> Value {
    match field.kind() {
        Kind::Double | Kind::Float => json!(0.0),
        Kind::Int32 | Kind::Uint32 | Kind::Sint32 | Kind::Fixed32 | Kind::Sfixed32 => json!(0),
        // As protobuf's mapping writes them, since not every reader of JSON has 64 bits.
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64 => json!("0"),
        Kind::Bool => json!(false),
        Kind::String | Kind::Bytes => json!(""),
        Kind::Message(kind) => message(&kind, depth + 1),
        Kind::Enum(kind) => json!(kind.default_value().name()),
    }
}

/// Types with a JSON form of their own.
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
