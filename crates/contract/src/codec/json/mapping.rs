//! Protobuf's JSON mapping: values as JSON, and back.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::node::{Entries, Node};
use crate::codec::protobuf::read;
use crate::values::{self, Content, Field, Message, Mismatch};

/// Content of this kind as JSON, with explicit defaults. `arrange` may modify the entries of each message.
pub(super) fn write(content: &Content, kind: &Kind, arrange: &dyn Fn(Entries) -> Entries) -> Node {
    match (content, kind) {
        (Content::Bool(value), _) => Node::Bool(*value),
        (Content::Integer(number), Kind::Enum(names)) => {
            let named = i32::try_from(*number).ok().and_then(|number| names.get_value(number));
            named.map_or(Node::Integer(*number), |value| Node::text(value.name()))
        }
        (Content::Integer(value), kind) if is_wide(kind) => Node::Text(value.to_string()),
        (Content::Integer(value), _) => Node::Integer(*value),
        // As a double: some libraries parse one first, and the shortest digits of f32::MAX parse to a larger double.
        (Content::Single(value), _) => Node::Double((*value).into()),
        (Content::Double(value), _) => Node::Double(*value),
        (Content::Text(text), _) => Node::text(text),
        (Content::Bytes(bytes), _) => Node::Text(BASE64.encode(bytes)),
        (Content::List(items), _) => {
            Node::List(items.iter().map(|item| write(item, kind, arrange)).collect())
        }
        (Content::Map(entries), Kind::Message(entry)) => {
            let kind = entry.map_entry_value_field().kind();
            let write = |value| write(value, &kind, arrange);
            Node::Object(entries.iter().map(|(key, value)| (key.clone(), write(value))).collect())
        }
        (Content::Message(message), Kind::Message(descriptor)) => {
            let entries = message.fields.iter().filter_map(|Field { name, content }| {
                let field = descriptor.get_field_by_name(name)?;
                let node = write(content.as_ref()?, &field.kind(), arrange);
                Some((field.json_name().to_owned(), node))
            });
            Node::Object(arrange(entries.collect()))
        }
        (Content::Map(_) | Content::Message(_), _) => Node::Null,
    }
}

/// Reads `node` as a message of this type. Fields that are omitted or `null` have their default.
///
/// # Errors
/// A duplicate key or a value of the wrong type. Unknown keys go to [`Message::unknown`].
pub(super) fn read(
    node: &Node,
    descriptor: &MessageDescriptor,
    path: &str,
) -> Result<Message, Mismatch> {
    let Node::Object(entries) = node else { return Err(wrong(path, "an object", node)) };
    let unknown = |key: &&String| descriptor.get_field_by_json_name(key).is_none();
    let fields = descriptor.fields().map(|field| {
        let path = inside(path, field.json_name());
        let content = match single(entries, field.json_name(), &path)? {
            Some(node) => Some(member(node, &field, &path)?),
            None => (!field.supports_presence())
                .then(|| read::content(&prost_reflect::Value::default_value_for_field(&field))),
        };
        Ok(Field { name: field.name().to_owned(), content })
    });
    Ok(Message {
        name: descriptor.name().to_owned(),
        fields: fields.collect::<Result<_, _>>()?,
        unknown: entries.iter().map(|(key, _)| key).filter(unknown).cloned().collect(),
    })
}

/// The value of a unique key; `None` if it is absent or `null`.
fn single<'a>(entries: &'a Entries, key: &str, path: &str) -> Result<Option<&'a Node>, Mismatch> {
    let mut values = entries.iter().filter(|(name, _)| name == key).map(|(_, value)| value);
    let value = values.next();
    match values.next() {
        Some(_) => Err(twice(path)),
        None => Ok(value.filter(|value| **value != Node::Null)),
    }
}

fn member(node: &Node, field: &FieldDescriptor, path: &str) -> Result<Content, Mismatch> {
    match (node, field.kind()) {
        (Node::Object(entries), Kind::Message(entry)) if field.is_map() => {
            map(entries, &entry.map_entry_value_field().kind(), path)
        }
        (Node::List(items), kind) if field.is_list() => {
            let item = |(at, item)| value(item, &kind, &format!("{path}[{at}]"));
            items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Content::List)
        }
        _ if field.is_map() => Err(wrong(path, "an object", node)),
        _ if field.is_list() => Err(wrong(path, "an array", node)),
        (node, kind) => value(node, &kind, path),
    }
}

fn map(entries: &Entries, kind: &Kind, path: &str) -> Result<Content, Mismatch> {
    let mut map = BTreeMap::new();
    for (key, node) in entries {
        let path = format!("{path}[{key:?}]");
        if map.insert(key.clone(), value(node, kind, &path)?).is_some() {
            return Err(twice(&path));
        }
    }
    Ok(Content::Map(map))
}

fn value(node: &Node, kind: &Kind, path: &str) -> Result<Content, Mismatch> {
    let (content, expected) = match kind {
        Kind::Message(descriptor) => return read(node, descriptor, path).map(Content::Message),
        Kind::Bool => (boolean(node), "a boolean"),
        Kind::String => (text(node).cloned().map(Content::Text), "a string"),
        Kind::Bytes => {
            let bytes = text(node).and_then(|text| BASE64.decode(text).ok());
            (bytes.map(Content::Bytes), "a string in base64")
        }
        Kind::Double => (double(node).map(Content::Double), "a number"),
        Kind::Float => (double(node).map(|value| Content::Single(value as f32)), "a number"),
        Kind::Enum(names) => {
            let named = text(node).and_then(|name| names.get_value_by_name(name));
            let number = named.map(|value| Content::Integer(value.number().into()));
            (number, "the name of one of the enum's values")
        }
        kind if is_wide(kind) => {
            let digits = text(node).and_then(|digits| digits.parse().ok());
            let number = digits.or_else(|| integer(node)).map(Content::Integer);
            (number, "an integer, or a string of its digits")
        }
        _ => (integer(node).map(Content::Integer), "an integer"),
    };
    content.ok_or_else(|| wrong(path, expected, node))
}

fn boolean(node: &Node) -> Option<Content> {
    match node {
        Node::Bool(value) => Some(Content::Bool(*value)),
        _ => None,
    }
}

fn text(node: &Node) -> Option<&String> {
    match node {
        Node::Text(text) => Some(text),
        _ => None,
    }
}

fn double(node: &Node) -> Option<f64> {
    match node {
        Node::Integer(value) => Some(*value as f64),
        Node::Double(value) => Some(*value),
        _ => None,
    }
}

/// 2^53. Doubles represent all integers up to it.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads an integer, which may have a zero fraction or an exponent if its value is exact.
fn integer(node: &Node) -> Option<i128> {
    match node {
        Node::Integer(value) => Some(*value),
        Node::Double(value) => {
            (value.fract() == 0.0 && value.abs() < EXACT).then_some(*value as i128)
        }
        _ => None,
    }
}

/// True for 64-bit integers, which are written as strings because not all JSON libraries can represent them.
fn is_wide(kind: &Kind) -> bool {
    matches!(kind, Kind::Int64 | Kind::Uint64 | Kind::Sint64 | Kind::Fixed64 | Kind::Sfixed64)
}

fn inside(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn wrong(path: &str, expected: &str, got: &Node) -> Mismatch {
    let field = if path.is_empty() { "the reply" } else { path };
    let got = match got {
        Node::Bool(value) => values::describe(&Content::Bool(*value)),
        Node::Integer(value) => values::describe(&Content::Integer(*value)),
        Node::Double(value) => values::describe(&Content::Double(*value)),
        Node::Text(text) => values::describe(&Content::Text(text.clone())),
        Node::List(_) => "an array".to_owned(),
        Node::Object(_) => "an object".to_owned(),
        Node::Null | Node::Literal(_) => "null".to_owned(),
    };
    Mismatch::Field { field: field.to_owned(), expected: expected.to_owned(), got }
}

fn twice(path: &str) -> Mismatch {
    Mismatch::Redundant { field: path.to_owned(), how: "occurs twice" }
}
