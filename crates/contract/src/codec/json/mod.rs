//! Protobuf's JSON mapping: field names as keys, 64-bit integers as strings, bytes in base64, enum values by name.

mod mapping;
pub(crate) mod node;
pub(crate) mod plain;
mod redundant;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use prost_reflect::MessageDescriptor;

use super::{Codec, NonCanonical, NonCanonicalVariant, Sent, types};
use crate::profile::Need;
use crate::values::{self, Mismatch, Value};
use node::{Entries, Node};
use write::{Escapes, Style};

/// Requests include defaults: servers without protobuf may require every key.
pub(crate) struct Json;

impl Codec for Json {
    fn offers(&self) -> &'static [Need] {
        &[Need::Decoding, Need::EmptyMembers, Need::UnknownFields]
    }

    fn request(&self, value: &Value) -> Vec<u8> {
        Style::default().write(&request(value))
    }

    fn reply(&self, value: &Value) -> Vec<u8> {
        Style::default().write(&message(&types::reply(value.shape()), value, &unchanged))
    }

    fn empty_request(&self) -> Vec<u8> {
        b"{}".to_vec()
    }

    fn non_canonical_request(
        &self,
        value: &Value,
        _other: &Value,
        variant: NonCanonicalVariant,
    ) -> Vec<u8> {
        let NonCanonicalVariant { form, usual } = variant;
        let spread = matches!(form, NonCanonical::Twice | NonCanonical::Reordered);
        let arrange: fn(Entries) -> Entries = match form {
            NonCanonical::Overlong => unchanged,
            NonCanonical::Twice | NonCanonical::Reordered => reversed,
            NonCanonical::Unknown => with_unknown,
        };
        // A nonce replaces bytes of one of these texts, so they must not be escaped.
        let kept = value.clone().nonce_texts().into_iter().map(|text| text.clone()).collect();
        let style = Style { escapes: Escapes::First, spread, exponents: true, kept, usual };
        let outer: fn(Entries) -> Entries = if usual > 0 { unchanged } else { arrange };
        style.write(&outer_message(&types::request(value.shape()), value, &outer, &arrange))
    }

    fn with_unknown_fields(&self, value: &Value) -> Vec<u8> {
        let request = match request(value) {
            Node::Object(entries) => Node::Object(with_unknown(entries)),
            other => other,
        };
        Style::default().write(&request)
    }

    fn verify(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch> {
        let plain = sent.content.is_some_and(|value| plain::carries(reply, value));
        let compared = if plain { Ok(()) } else { compare(sent, reply) };
        let checked = compared.and_then(|()| redundant::refuse(reply));
        checked.map_err(|mismatch| sent.explain(reply, mismatch))
    }
}

/// The request that carries `value`.
pub(crate) fn request(value: &Value) -> Node {
    message(&types::request(value.shape()), value, &unchanged)
}

/// A request or reply: an object with one key.
fn message(
    descriptor: &MessageDescriptor,
    value: &Value,
    arrange: &dyn Fn(Entries) -> Entries,
) -> Node {
    outer_message(descriptor, value, arrange, arrange)
}

/// The same, with the keys of the outermost object arranged by `outer`.
fn outer_message(
    descriptor: &MessageDescriptor,
    value: &Value,
    outer: &dyn Fn(Entries) -> Entries,
    arrange: &dyn Fn(Entries) -> Entries,
) -> Node {
    let write = |field: prost_reflect::FieldDescriptor| {
        let node = mapping::write(&value.content(), &field.kind(), arrange);
        (field.json_name().to_owned(), node)
    };
    Node::Object(outer(descriptor.fields().map(write).collect()))
}

fn unchanged(entries: Entries) -> Entries {
    entries
}

fn reversed(entries: Entries) -> Entries {
    entries.into_iter().rev().collect()
}

/// Adds unknown keys, with a value of each type, before and after the entries.
fn with_unknown(entries: Entries) -> Entries {
    let unknown = |key: &str, node| (key.to_owned(), node);
    let decoy = Node::Object(vec![
        unknown("text", Node::text("not this one")),
        unknown("echo", Node::text("nor this one")),
    ]);
    let before = [
        unknown("unknownObject", decoy),
        unknown("unknownNull", Node::Null),
        unknown("unknownFlag", Node::Bool(true)),
        unknown("unknownCount", Node::Integer(7)),
    ];
    let after = [
        unknown("unknownShare", Node::Double(0.5)),
        unknown("unknownText", Node::text("from a later version")),
        unknown("unknownList", Node::List(vec![Node::Null, Node::Object(Vec::new())])),
    ];
    before.into_iter().chain(entries).chain(after).collect()
}

/// Decodes the reply and compares it field by field.
fn compare(sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch> {
    let parsed = serde_json::from_slice::<Node>(reply);
    let node = parsed.map_err(|error| Mismatch::Undecodable {
        message: types::reply_name(sent.shape),
        reason: error.to_string(),
    })?;
    let got = mapping::read(&node, &types::reply(sent.shape), "")?;
    let got = if sent.nested_unknown { got.without_nested_unknown() } else { got };
    values::compare(sent.shape, sent.content, &got)
}
