//! JSON that preserves the order of keys, and duplicate keys.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Integer(i128),
    /// A number in a given notation; only for writing.
    Literal(String),
    Double(f64),
    Text(String),
    List(Vec<Node>),
    Object(Entries),
}

/// The keys of an object and their values.
pub(crate) type Entries = Vec<(String, Node)>;

impl Node {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Paths of all values in the node, itself first: `tree.left.tags.0.key`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let inner: Vec<(String, &Self)> = match self {
            Self::List(items) => {
                (0..).zip(items).map(|(at, item): (u32, _)| (at.to_string(), item)).collect()
            }
            Self::Object(entries) => {
                entries.iter().map(|(key, value)| (key.clone(), value)).collect()
            }
            _ => Vec::new(),
        };
        let inner = inner.into_iter().flat_map(|(step, node)| {
            let paths = node.paths().into_iter();
            paths.map(
                move |path| {
                    if path.is_empty() { step.clone() } else { format!("{step}.{path}") }
                },
            )
        });
        std::iter::once(String::new()).chain(inner).collect()
    }

    /// The value at one of [`Node::paths`].
    pub(crate) fn at(&mut self, path: &str) -> Option<&mut Self> {
        if path.is_empty() {
            return Some(self);
        }
        let (step, rest) = path.split_once('.').unwrap_or((path, ""));
        let inner = match self {
            Self::List(items) => items.get_mut(step.parse::<usize>().ok()?),
            Self::Object(entries) => {
                entries.iter_mut().find(|(key, _)| key == step).map(|(_, value)| value)
            }
            _ => None,
        };
        inner?.at(rest)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Integer(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Node::Object(object))
    }
}
