//! Values drawn from a seed, with no field at its default.

use prost::Message;
use prost_reflect::{DynamicMessage, Kind, Value as Any};

use super::{Branch, Contact, FlatRecord, PropertyDto, Source, Status, Tag, TreeNode, Value};
use crate::codec::types;
use crate::shape::Shape;

impl Value {
    /// A value of `shape` with every field filled.
    pub fn random(shape: Shape, source: &mut Source) -> Self {
        match shape {
            Shape::Text(length) => Self::Text(source.text(length as usize)),
            Shape::Record => Self::Record(Box::new(record(source))),
            Shape::Dto => Self::Dto(Box::new(dto(source))),
            Shape::Tree => Self::Tree(Box::new(tree(source))),
        }
    }
}

/// Eight strings of 40 to 47 bytes bring the record to about 580 bytes.
fn record(source: &mut Source) -> FlatRecord {
    flat("FlatRecord", source, |source| {
        let length = 40 + source.below(8);
        source.text(length as usize)
    })
}

fn dto(source: &mut Source) -> PropertyDto {
    flat("PropertyDto", source, Source::guid)
}

/// A message without nested messages. Draws its texts first, then the other fields by type.
fn flat<M: Message + Default>(
    name: &str,
    source: &mut Source,
    text: impl Fn(&mut Source) -> String,
) -> M {
    let mut message = DynamicMessage::new(types::message(name));
    let (texts, others): (Vec<_>, Vec<_>) =
        types::message(name).fields().partition(|field| field.kind() == Kind::String);
    for field in texts {
        message.set_field(&field, Any::String(text(source)));
    }
    for field in others {
        let value = match field.kind() {
            Kind::Bool => Any::Bool(true),
            Kind::Int32 => Any::I32(source.int32()),
            Kind::Int64 => Any::I64(source.int64()),
            Kind::Double => Any::F64(source.double()),
            _ => Any::List((0..4).map(|_| Any::U64(source.uint64())).collect()),
        };
        message.set_field(&field, value);
    }
    message.transcode_to().expect("the message has the type of its descriptor")
}

fn tree(source: &mut Source) -> TreeNode {
    let statuses = [Status::Active as i32, Status::Suspended as i32, Status::Closed as i32];
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
        status: statuses[source.below(3) as usize],
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
