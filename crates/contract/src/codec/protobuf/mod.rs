//! Protocol Buffers.

mod non_canonical;
#[allow(missing_docs, clippy::all)]
pub mod pb;
pub(super) mod read;
mod redundant;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use prost::Message;

use super::{Codec, NonCanonicalVariant, Sent, varint};
use crate::profile::Need;
use crate::values::{self, Mismatch, PropertyDto, TreeNode, Value};
use wire::{delimited, fixed32, fixed64};

const REQUEST_FIELD: u32 = 1;
const REPLY_FIELD: u32 = 2;

/// `contract/echo.proto`.
pub(crate) struct Protobuf;

impl Codec for Protobuf {
    fn offers(&self) -> &'static [Need] {
        &[
            Need::Decoding,
            Need::NonFinite,
            Need::AbsentContent,
            Need::EmptyMembers,
            Need::UnknownFields,
        ]
    }

    fn request(&self, value: &Value) -> Vec<u8> {
        message(REQUEST_FIELD, value)
    }

    fn reply(&self, value: &Value) -> Vec<u8> {
        message(REPLY_FIELD, value)
    }

    fn empty_request(&self) -> Vec<u8> {
        Vec::new()
    }

    fn valid_encodings(&self, value: &Value) -> Vec<Vec<u8>> {
        let canonical = self.request(value);
        let explicit = delimited(REQUEST_FIELD, &content(value));
        if explicit == canonical { vec![canonical] } else { vec![canonical, explicit] }
    }

    fn non_canonical_request(
        &self,
        value: &Value,
        other: &Value,
        variant: NonCanonicalVariant,
    ) -> Vec<u8> {
        let canonical = self.request(value);
        non_canonical::request(value.shape(), &canonical, &self.request(other), variant)
            .unwrap_or(canonical)
    }

    fn with_unknown_fields(&self, value: &Value) -> Vec<u8> {
        [unknown_fields(), self.request(value), unknown_fields()].concat()
    }

    fn verify(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch> {
        if sent.content.is_some_and(|value| matches_exactly(value, reply)) {
            return Ok(());
        }
        let compared = read::reply(sent.shape, reply)
            .map(|got| if sent.nested_unknown { got.without_nested_unknown() } else { got })
            .and_then(|got| values::compare(sent.shape, sent.content, &got));
        let checked = compared.and_then(|()| redundant::refuse(sent.shape, reply));
        checked.map_err(|mismatch| sent.explain(reply, mismatch))
    }
}

/// A request or reply. An empty text is omitted, as protobuf requires for defaults.
fn message(field: u32, value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) if text.is_empty() => Vec::new(),
        _ => delimited(field, &content(value)),
    }
}

/// The content of field 1 or 2.
fn content(value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) => text.as_bytes().to_vec(),
        Value::Record(record) => record.encode_to_vec(),
        Value::Dto(dto) => encoded_dto(dto),
        Value::Tree(tree) => encoded_tree(tree),
    }
}

fn encoded_dto(dto: &PropertyDto) -> Vec<u8> {
    let mut bytes = dto.encode_to_vec();
    for (number, double) in [(7, dto.prop7), (8, dto.prop8), (9, dto.prop9)] {
        if is_negative_zero(double) {
            bytes.extend(fixed64(number, double.to_bits()));
        }
    }
    bytes
}

fn encoded_tree(tree: &TreeNode) -> Vec<u8> {
    let mut bytes = tree.encode_to_vec();
    if is_negative_zero(tree.score) {
        bytes.extend(fixed64(6, tree.score.to_bits()));
    }
    if is_negative_zero(tree.ratio.into()) {
        bytes.extend(fixed32(7, tree.ratio.to_bits()));
    }
    bytes
}

/// -0.0 is not the default, but prost omits it.
fn is_negative_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}

/// One field of each wire type, with field numbers that no message of the contract has.
fn unknown_fields() -> Vec<u8> {
    let varint = [wire::tag(1001, wire::Layout::Varint), varint(300)].concat();
    let fixed = [fixed64(1002, 7), fixed32(1003, 0x0403_0201)].concat();
    [varint, fixed, delimited(1004, b"from a later version")].concat()
}

/// Fast path: compares typed messages. A reply that fails may still be right, for example with NaN or explicit
/// defaults.
fn matches_exactly(value: &Value, reply: &[u8]) -> bool {
    match value {
        Value::Text(text) => decodes_to::<pb::TextReply>(reply, |got| got.echo == *text),
        Value::Record(record) => {
            decodes_to::<pb::RecordReply>(reply, |got| got.echo.is_some_and(|it| it == **record))
        }
        Value::Dto(dto) => {
            decodes_to::<pb::DtoReply>(reply, |got| got.echo.is_some_and(|it| it == **dto))
        }
        Value::Tree(tree) => {
            decodes_to::<pb::TreeReply>(reply, |got| got.echo.is_some_and(|it| it == **tree))
        }
    }
}

/// Decoding drops unknown fields, so they show in the length.
fn decodes_to<R: Message + Default>(reply: &[u8], same: impl FnOnce(R) -> bool) -> bool {
    R::decode(reply).is_ok_and(|got| got.encoded_len() == reply.len() && same(got))
}
