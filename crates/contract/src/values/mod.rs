//! Contents of calls, independent of encodings: values, drawn from a seed, and their comparison.
//!
//! Messages and fields are named as in `contract/echo.proto`.

mod compare;
mod content;
mod nonce;
mod random;
mod source;

use std::collections::BTreeMap;

use crate::shape::Shape;

pub use compare::Mismatch;
pub(crate) use compare::{compare, describe};
pub(crate) use content::{Content, Field, Message};
pub(crate) use nonce::NoncePlace;
pub(crate) use source::Source;

use content::{ToContent, message};

/// The content of one call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Record(Box<FlatRecord>),
    Dto(Box<PropertyDto>),
    Tree(Box<TreeNode>),
}

impl Value {
    /// A value of `shape` with every field at its default.
    pub fn empty(shape: Shape) -> Self {
        match shape {
            Shape::Text(_) => Self::Text(String::new()),
            Shape::Record => Self::Record(Box::default()),
            Shape::Dto => Self::Dto(Box::default()),
            Shape::Tree => Self::Tree(Box::default()),
        }
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Text(text) => Shape::Text(u32::try_from(text.len()).unwrap_or(u32::MAX)),
            Self::Record(_) => Shape::Record,
            Self::Dto(_) => Shape::Dto,
            Self::Tree(_) => Shape::Tree,
        }
    }

    /// Its texts, including map keys, each with the path of its field.
    pub fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        self.content().add_texts("content", &mut texts);
        texts
    }

    /// Converts it to a tree of fields.
    pub fn content(&self) -> Content {
        match self {
            Self::Text(text) => text.content(),
            Self::Record(record) => record.content(),
            Self::Dto(dto) => dto.content(),
            Self::Tree(tree) => tree.content(),
        }
    }
}

message! {
    /// 40 flat fields, about 580 bytes when filled.
    FlatRecord {
        field1: String,
        field2: i32,
        field3: i32,
        field4: String,
        field5: Vec<u64>,
        field6: i32,
        field7: String,
        field9: String,
        field12: bool,
        field13: bool,
        field14: bool,
        field16: i32,
        field17: bool,
        field18: String,
        field22: i64,
        field23: i32,
        field24: bool,
        field25: i32,
        field29: i32,
        field30: bool,
        field59: bool,
        field60: i32,
        field67: i32,
        field68: i32,
        field78: bool,
        field80: bool,
        field81: bool,
        field100: i32,
        field101: i32,
        field102: String,
        field103: String,
        field104: i32,
        field128: i32,
        field129: String,
        field130: i32,
        field131: i32,
        field150: i32,
        field271: i32,
        field272: i32,
        field280: i32,
    }
}

message! {
    /// Strings, integers, doubles and booleans, three of each.
    PropertyDto {
        prop1: String,
        prop2: String,
        prop3: String,
        prop4: i32,
        prop5: i32,
        prop6: i32,
        prop7: f64,
        prop8: f64,
        prop9: f64,
        prop10: bool,
        prop11: bool,
        prop12: bool,
    }
}

message! {
    /// A child of a child.
    Tag {
        key: String,
        value: String,
    }
}

message! {
    /// A child.
    Branch {
        name: String,
        id: u64,
        tags: Vec<Tag>,
    }
}

message! {
    /// Scalars, an enum, a oneof, children, a map.
    TreeNode {
        name: String,
        digest: Vec<u8>,
        age: i32,
        balance: i64,
        serial: u64,
        score: f64,
        ratio: f32,
        active: bool,
        status: i32,
        contact: Option<Contact>,
        left: Option<Branch>,
        right: Option<Branch>,
        counters: BTreeMap<String, i64>,
    }
}

/// The oneof of a tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Contact {
    Email(String),
    Phone(u64),
}

/// Values of the enum of a tree's `status`.
pub(crate) mod status {
    pub const UNSPECIFIED: i32 = 0;
    pub const ACTIVE: i32 = 1;
    pub const SUSPENDED: i32 = 2;
    pub const CLOSED: i32 = 3;
}
