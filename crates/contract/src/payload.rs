//! The content of one call, and its encoding.

use prost::Message;

use crate::pb::{
    Branch, DtoReply, DtoRequest, FlatRecord, PropertyDto, RecordReply, RecordRequest, Status, Tag,
    TextReply, TextRequest, TreeNode, TreeReply, TreeRequest, tree_node::Contact,
};
use crate::shape::Shape;
use crate::source::Source;

/// The content of one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Payload {
    Text(String),
    Record(Box<FlatRecord>),
    Dto(Box<PropertyDto>),
    Tree(Box<TreeNode>),
}

impl Payload {
    /// A payload with every field filled. The method that takes it is `shape`'s.
    pub(crate) fn random(shape: Shape, source: &mut Source) -> Self {
        match shape {
            Shape::Text(length) => Self::Text(source.text(length as usize)),
            Shape::Record => Self::Record(Box::new(record(source))),
            Shape::Dto => Self::Dto(Box::new(dto(source))),
            Shape::Tree => Self::Tree(Box::new(tree(source))),
        }
    }

    /// The shape it is of.
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Self::Text(text) => Shape::Text(u32::try_from(text.len()).unwrap_or(u32::MAX)),
            Self::Record(_) => Shape::Record,
            Self::Dto(_) => Shape::Dto,
            Self::Tree(_) => Shape::Tree,
        }
    }

    /// The request that carries it.
    pub(crate) fn request(&self) -> Vec<u8> {
        match self.clone() {
            Self::Text(text) => TextRequest { text }.encode_to_vec(),
            Self::Record(record) => RecordRequest { record: Some(*record) }.encode_to_vec(),
            Self::Dto(dto) => DtoRequest { dto: Some(*dto) }.encode_to_vec(),
            Self::Tree(tree) => TreeRequest { tree: Some(*tree) }.encode_to_vec(),
        }
    }

    /// The right reply.
    pub(crate) fn reply(&self) -> Vec<u8> {
        match self.clone() {
            Self::Text(echo) => TextReply { echo }.encode_to_vec(),
            Self::Record(echo) => RecordReply { echo: Some(*echo) }.encode_to_vec(),
            Self::Dto(echo) => DtoReply { echo: Some(*echo) }.encode_to_vec(),
            Self::Tree(echo) => TreeReply { echo: Some(*echo) }.encode_to_vec(),
        }
    }

    /// Whether `reply` is the right one and holds nothing else, decoded into typed messages: the quick
    /// answer. A `false` may still turn out right where not-a-number, an encoding with explicit defaults
    /// or the like is involved; [`crate::reply::compare`] decides.
    pub(crate) fn is_plainly(&self, reply: &[u8]) -> bool {
        match self {
            Self::Text(text) => plainly::<TextReply>(reply, |got| got.echo == *text),
            Self::Record(own) => {
                plainly::<RecordReply>(reply, |got| got.echo.as_ref() == Some(&**own))
            }
            Self::Dto(own) => plainly::<DtoReply>(reply, |got| got.echo.as_ref() == Some(&**own)),
            Self::Tree(own) => plainly::<TreeReply>(reply, |got| got.echo.as_ref() == Some(&**own)),
        }
    }
}

/// Unknown fields, which decoding drops, show in the length.
fn plainly<R: Message + Default>(reply: &[u8], same: impl Fn(&R) -> bool) -> bool {
    R::decode(reply).is_ok_and(|got| same(&got) && got.encoded_len() == reply.len())
}

/// Eight strings of 40 to 47 bytes bring the record to about 580 bytes.
fn record(source: &mut Source) -> FlatRecord {
    let mut string = || {
        let length = 40 + source.below(8);
        source.text(length as usize)
    };
    let [field1, field4, field7, field9, field18, field102, field103, field129] =
        std::array::from_fn(|_| string());
    FlatRecord {
        field1,
        field2: source.int32(),
        field3: source.int32(),
        field4,
        field5: (0..4).map(|_| source.uint64()).collect(),
        field6: source.int32(),
        field7,
        field9,
        field12: true,
        field13: true,
        field14: true,
        field16: source.int32(),
        field17: true,
        field18,
        field22: source.int64(),
        field23: source.int32(),
        field24: true,
        field25: source.int32(),
        field29: source.int32(),
        field30: true,
        field59: true,
        field60: source.int32(),
        field67: source.int32(),
        field68: source.int32(),
        field78: true,
        field80: true,
        field81: true,
        field100: source.int32(),
        field101: source.int32(),
        field102,
        field103,
        field104: source.int32(),
        field128: source.int32(),
        field129,
        field130: source.int32(),
        field131: source.int32(),
        field150: source.int32(),
        field271: source.int32(),
        field272: source.int32(),
        field280: source.int32(),
    }
}

fn dto(source: &mut Source) -> PropertyDto {
    PropertyDto {
        prop1: source.guid(),
        prop2: source.guid(),
        prop3: source.guid(),
        prop4: source.int32(),
        prop5: source.int32(),
        prop6: source.int32(),
        prop7: source.double(),
        prop8: source.double(),
        prop9: source.double(),
        prop10: true,
        prop11: true,
        prop12: true,
    }
}

fn tree(source: &mut Source) -> TreeNode {
    let statuses = [Status::Active, Status::Suspended, Status::Closed];
    let contact = match source.below(2) {
        0 => Contact::Email(format!("{}@example.org", source.letters(12))),
        _ => Contact::Phone(source.uint64()),
    };
    TreeNode {
        name: source.text(24),
        digest: source.bytes(32),
        age: source.int32(),
        balance: -source.int64(),
        serial: source.uint64(),
        score: source.double(),
        ratio: source.double() as f32,
        active: true,
        status: statuses[source.below(3) as usize].into(),
        contact: Some(contact),
        left: Some(branch(source)),
        right: Some(branch(source)),
        counters: (0..4).map(|_| (source.letters(8), source.int64())).collect(),
    }
}

fn branch(source: &mut Source) -> Branch {
    let tags = 2 + source.below(3);
    Branch {
        name: source.text(16),
        id: source.uint64(),
        tags: (0..tags).map(|_| Tag { key: source.letters(6), value: source.text(18) }).collect(),
    }
}
