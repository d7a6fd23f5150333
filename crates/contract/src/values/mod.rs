//! Contents of calls, independent of encodings: values drawn from a seed, and their comparison.
//!
//! Messages are the generated types of `contract/echo.proto`.

mod compare;
mod content;
mod nonce;
mod random;
mod source;

use crate::shape::Shape;

pub(crate) use crate::codec::protobuf::pb::tree_node::Contact;
pub(crate) use crate::codec::protobuf::pb::{
    Branch, FlatRecord, PropertyDto, Status, Tag, TreeNode,
};
pub use compare::Mismatch;
pub(crate) use compare::{compare, describe};
pub(crate) use content::{Content, Field, Message};
pub(crate) use nonce::PatchPoint;
pub(crate) use source::Source;

use content::ToContent;

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

    pub fn shape(&self) -> Shape {
        match self {
            Self::Text(text) => Shape::Text(u32::try_from(text.len()).unwrap_or(u32::MAX)),
            Self::Record(_) => Shape::Record,
            Self::Dto(_) => Shape::Dto,
            Self::Tree(_) => Shape::Tree,
        }
    }

    /// All texts, including map keys, each with the path of its field.
    pub fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        self.content().add_texts("content", &mut texts);
        texts
    }

    /// Converts the value to a tree of fields.
    pub fn content(&self) -> Content {
        match self {
            Self::Text(text) => text.content(),
            Self::Record(record) => record.content(),
            Self::Dto(dto) => dto.content(),
            Self::Tree(tree) => tree.content(),
        }
    }
}
