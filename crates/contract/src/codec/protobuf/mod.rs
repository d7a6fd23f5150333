//! Protocol Buffers.

mod convert;
mod odd;
#[allow(missing_docs, clippy::all)]
pub mod pb;
pub(super) mod read;
mod redundant;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use prost::Message;

use super::{Codec, Oddity, Sent};
use crate::profile::Need;
use crate::values::{self, FlatRecord, Mismatch, PropertyDto, TreeNode, Value};
use wire::{delimited, fixed32, fixed64};

/// Where the content travels.
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

    fn spellings(&self, value: &Value) -> Vec<Vec<u8>> {
        let usual = self.request(value);
        let spelled = delimited(REQUEST_FIELD, &content(value));
        if spelled == usual { vec![usual] } else { vec![usual, spelled] }
    }

    fn odd_request(&self, value: &Value, other: &Value, oddity: Oddity) -> Vec<u8> {
        let usual = self.request(value);
        odd::request(value.shape(), &usual, &self.request(other), oddity).unwrap_or(usual)
    }

    fn with_unknown_fields(&self, value: &Value) -> Vec<u8> {
        [unknown_fields(), self.request(value), unknown_fields()].concat()
    }

    fn verify(&self, sent: Sent<'_>, reply: &[u8]) -> Result<(), Mismatch> {
        if sent.content.is_some_and(|value| is_plainly(value, reply)) {
            return Ok(());
        }
        let compared = read::reply(sent.shape, reply)
            .map(|got| if sent.unknown_inside { got.without_unknown_inside() } else { got })
            .and_then(|got| values::compare(sent.shape, sent.content, &got));
        let checked = compared.and_then(|()| redundant::refuse(sent.shape, reply));
        checked.map_err(|mismatch| match reply == sent.request && !reply.is_empty() {
            true => Mismatch::RequestReturned,
            false => mismatch,
        })
    }
}

/// A request or reply. An empty text is left out, as protobuf wants it of defaults.
fn message(field: u32, value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) if text.is_empty() => Vec::new(),
        _ => delimited(field, &content(value)),
    }
}

/// What field 1 or 2 holds.
fn content(value: &Value) -> Vec<u8> {
    match value {
        Value::Text(text) => text.as_bytes().to_vec(),
        Value::Record(record) => encoded_record(record),
        Value::Dto(dto) => encoded_dto(dto),
        Value::Tree(tree) => encoded_tree(tree),
    }
}

pub(crate) fn encoded_record(record: &FlatRecord) -> Vec<u8> {
    pb::FlatRecord::from(record.clone()).encode_to_vec()
}

fn encoded_dto(dto: &PropertyDto) -> Vec<u8> {
    let mut bytes = pb::PropertyDto::from(dto.clone()).encode_to_vec();
    for (number, double) in [(7, dto.prop7), (8, dto.prop8), (9, dto.prop9)] {
        if is_negative_zero(double) {
            bytes.extend(fixed64(number, double.to_bits()));
        }
    }
    bytes
}

fn encoded_tree(tree: &TreeNode) -> Vec<u8> {
    let mut bytes = pb::TreeNode::from(tree.clone()).encode_to_vec();
    if is_negative_zero(tree.score) {
        bytes.extend(fixed64(6, tree.score.to_bits()));
    }
    if is_negative_zero(tree.ratio.into()) {
        bytes.extend(fixed32(7, tree.ratio.to_bits()));
    }
    bytes
}

/// -0.0 is not the default, but prost leaves it out.
fn is_negative_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}

/// One field of every valid layout, under numbers that no message of the contract has.
fn unknown_fields() -> Vec<u8> {
    let varint = [wire::tag(1001, wire::Layout::Varint), wire::varint(300)].concat();
    let fixed = [fixed64(1002, 7), fixed32(1003, 0x0403_0201)].concat();
    [varint, fixed, delimited(1004, b"from a later version")].concat()
}

/// Whether `reply` is the right one and holds nothing else, decoded into typed messages: the quick answer. A
/// `false` may still turn out right where not-a-number, an encoding with explicit defaults or the like is
/// involved.
fn is_plainly(value: &Value, reply: &[u8]) -> bool {
    match value {
        Value::Text(text) => plainly::<pb::TextReply>(reply, |got| got.echo == *text),
        Value::Record(record) => plainly::<pb::RecordReply>(reply, |got| {
            got.echo.is_some_and(|echo| FlatRecord::from(echo) == **record)
        }),
        Value::Dto(dto) => plainly::<pb::DtoReply>(reply, |got| {
            got.echo.is_some_and(|echo| PropertyDto::from(echo) == **dto)
        }),
        Value::Tree(tree) => plainly::<pb::TreeReply>(reply, |got| {
            got.echo.is_some_and(|echo| TreeNode::from(echo) == **tree)
        }),
    }
}

/// Unknown fields, which decoding drops, show in the length.
fn plainly<R: Message + Default>(reply: &[u8], same: impl FnOnce(R) -> bool) -> bool {
    R::decode(reply).is_ok_and(|got| got.encoded_len() == reply.len() && same(got))
}
