//! A reply's bytes as a tree of all its fields, unknown ones included.

use std::collections::HashMap;
use std::sync::LazyLock;

use prost_reflect::{
    DescriptorPool, DynamicMessage, MapKey, MessageDescriptor, ReflectMessage as _, Value,
};

use crate::shape::Shape;
use crate::values::{Content, Field, Message, Mismatch};

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(include_bytes!(concat!(env!("OUT_DIR"), "/echo.binpb")).as_slice())
        .expect("the build script has written a valid descriptor set")
});

/// Decodes the reply of `shape`'s method.
pub(super) fn reply(shape: Shape, bytes: &[u8]) -> Result<Message, Mismatch> {
    decode(reply_type(shape), bytes).map(|reply| tree(&reply))
}

/// Decodes a request of `shape`'s method.
pub(super) fn request(shape: Shape, bytes: &[u8]) -> Result<DynamicMessage, Mismatch> {
    decode(request_type(shape), bytes)
}

/// The type of the replies of `shape`'s method.
pub(super) fn reply_descriptor(shape: Shape) -> Result<MessageDescriptor, Mismatch> {
    descriptor(reply_type(shape))
}

fn decode(message: &'static str, bytes: &[u8]) -> Result<DynamicMessage, Mismatch> {
    let decoded = DynamicMessage::decode(descriptor(message)?, bytes);
    decoded.map_err(|error| Mismatch::Undecodable { message, reason: error.to_string() })
}

fn descriptor(message: &'static str) -> Result<MessageDescriptor, Mismatch> {
    let unknown = || Mismatch::Undecodable { message, reason: "its type is not known".to_owned() };
    POOL.get_message_by_name(message).ok_or_else(unknown)
}

fn request_type(shape: Shape) -> &'static str {
    match shape {
        Shape::Text(_) => "rpcbench.v1.TextRequest",
        Shape::Record => "rpcbench.v1.RecordRequest",
        Shape::Dto => "rpcbench.v1.DtoRequest",
        Shape::Tree => "rpcbench.v1.TreeRequest",
    }
}

fn reply_type(shape: Shape) -> &'static str {
    match shape {
        Shape::Text(_) => "rpcbench.v1.TextReply",
        Shape::Record => "rpcbench.v1.RecordReply",
        Shape::Dto => "rpcbench.v1.DtoReply",
        Shape::Tree => "rpcbench.v1.TreeReply",
    }
}

/// Whether a field is there says something only for messages and members of a oneof; others are at their
/// default when they are not.
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

fn content(value: &Value) -> Content {
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
