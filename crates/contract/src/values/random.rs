//! Values drawn from a seed, with no field at its default.

use super::{Branch, Contact, FlatRecord, PropertyDto, Source, Status, Tag, TreeNode, Value};
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
