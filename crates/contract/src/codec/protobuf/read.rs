//! Decodes messages into trees of all their fields, including unknown ones.

use std::collections::HashMap;

use prost_reflect::{DynamicMessage, MapKey, ReflectMessage as _, Value};

use crate::codec::types;
use crate::shape::Shape;
use crate::values::{Content, Field, Message, Mismatch};

/// Decodes the reply of `shape`'s method.
pub(super) fn reply(shape: Shape, bytes: &[u8]) -> Result<Message, Mismatch> {
    let decoded = DynamicMessage::decode(types::reply(shape), bytes);
    decoded.map(|reply| tree(&reply)).map_err(|error| Mismatch::Undecodable {
        message: types::reply_name(shape),
        reason: error.to_string(),
    })
}

/// Decodes a request of `shape`'s method.
pub(super) fn request(shape: Shape, bytes: &[u8]) -> Option<DynamicMessage> {
    DynamicMessage::decode(types::request(shape), bytes).ok()
}

/// Only messages and oneof members can be absent; other absent fields have their default.
fn tree(message: &DynamicMessage) -> Message {
    let descriptor = message.descriptor();
    let fields = descriptor.fields().map(|field| Field {
        name: field.name().to_owned(),
        content: (!field.supports_presence() || message.has_field(&field))
            .then(|| content(&message.get_field(&field))),
    });
    Message {
        name: descriptor.name().to_owned(),
        fields: fields.collect(),
        unknown: message.unknown_fields().map(|field| field.number().to_string()).collect(),
    }
}

pub(in crate::codec) fn content(value: &Value) -> Content {
    match value {
        Value::Bool(value) => Content::Bool(*value),
        Value::I32(value) | Value::EnumNumber(value) => Content::Integer((*value).into()),
        Value::I64(value) => Content::Integer((*value).into()),
        Value::U32(value) => Content::Integer((*value).into()),
        Value::U64(value) => Content::Integer((*value).into()),
        Value::F32(value) => Content::Single(*value),
        Value::F64(value) => Content::Double(*value),
        Value::String(value) => Content::Text(value.clone()),
        Value::Bytes(value) => Content::Bytes(value.to_vec()),
        Value::Message(value) => Content::Message(tree(value)),
        Value::List(values) => Content::List(values.iter().map(content).collect()),
        Value::Map(entries) => map(entries),
    }
}

fn map(entries: &HashMap<MapKey, Value>) -> Content {
    let key = |key: &MapKey| match key {
        MapKey::String(text) => text.clone(),
        other => format!("{other:?}"),
    };
    Content::Map(entries.iter().map(|(name, value)| (key(name), content(value))).collect())
}
