//! Values as trees of named fields. Replies in every encoding decode to these.

use std::collections::BTreeMap;

use super::{Branch, Contact, FlatRecord, PropertyDto, Tag, TreeNode};

/// A value of any type.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bool(bool),
    /// An integer of any width, signed or unsigned, or the number of an enum.
    Integer(i128),
    Single(f32),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Content>),
    Map(BTreeMap<String, Content>),
    Message(Message),
}

impl Content {
    /// Appends all texts, including map keys, each with the path of its field.
    pub fn add_texts(&self, path: &str, to: &mut Vec<(String, String)>) {
        match self {
            Self::Text(text) => to.push((path.to_owned(), text.clone())),
            Self::List(items) => items.iter().for_each(|item| item.add_texts(path, to)),
            Self::Map(entries) => {
                to.extend(entries.keys().map(|key| (format!("a key of {path}"), key.clone())));
            }
            Self::Message(message) => {
                for Field { name, content } in &message.fields {
                    let content = content.iter();
                    content.for_each(|content| content.add_texts(&format!("{path}.{name}"), to));
                }
            }
            _ => {}
        }
    }

    /// Removes unknown fields at every level.
    fn remove_unknown(&mut self) {
        match self {
            Self::Message(message) => {
                message.unknown.clear();
                message
                    .fields
                    .iter_mut()
                    .filter_map(|field| field.content.as_mut())
                    .for_each(Self::remove_unknown);
            }
            Self::List(items) => items.iter_mut().for_each(Self::remove_unknown),
            _ => {}
        }
    }
}

/// A message with all fields of its type, present or absent, in the type's order.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// The type's name, without a package.
    pub name: String,
    pub fields: Vec<Field>,
    /// Names or numbers of unknown fields.
    pub unknown: Vec<String>,
}

/// A field of a message. A member of a oneof is a field of the message around it.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    /// `None` if absent, which differs from a present default.
    pub content: Option<Content>,
}

impl Message {
    /// A message without unknown fields.
    pub fn of(name: &str, fields: Vec<Field>) -> Self {
        Self { name: name.to_owned(), fields, unknown: Vec::new() }
    }

    /// Removes the unknown fields of nested messages.
    pub fn without_nested_unknown(mut self) -> Self {
        self.fields
            .iter_mut()
            .filter_map(|field| field.content.as_mut())
            .for_each(Content::remove_unknown);
        self
    }

    pub fn field(&self, name: &str) -> Option<&Content> {
        self.fields.iter().find(|field| field.name == name)?.content.as_ref()
    }
}

impl Field {
    pub fn new(name: &str, content: Option<Content>) -> Self {
        Self { name: name.to_owned(), content }
    }
}

/// A type whose values are always present.
pub(super) trait ToContent {
    fn content(&self) -> Content;
}

/// A type of message fields.
pub(super) trait Member {
    /// Appends its field or fields.
    fn add(&self, name: &str, to: &mut Vec<Field>);
}

impl<T: ToContent> Member for T {
    fn add(&self, name: &str, to: &mut Vec<Field>) {
        to.push(Field::new(name, Some(self.content())));
    }
}

impl Member for Option<Branch> {
    fn add(&self, name: &str, to: &mut Vec<Field>) {
        to.push(Field::new(name, self.as_ref().map(ToContent::content)));
    }
}

impl Member for Option<Contact> {
    fn add(&self, _name: &str, to: &mut Vec<Field>) {
        let (email, phone) = match self {
            Some(Contact::Email(email)) => (Some(email.content()), None),
            Some(Contact::Phone(phone)) => (None, Some(phone.content())),
            None => (None, None),
        };
        to.extend([Field::new("email", email), Field::new("phone", phone)]);
    }
}

/// Converts messages with these fields, in the order of their type.
macro_rules! messages {
    ($($name:ident { $($field:ident)* })*) => {
        $(impl ToContent for $name {
            fn content(&self) -> Content {
                let mut fields = Vec::new();
                $(self.$field.add(stringify!($field), &mut fields);)*
                Content::Message(Message::of(stringify!($name), fields))
            }
        })*
    };
}

messages! {
    FlatRecord {
        field1 field2 field3 field4 field5 field6 field7 field9 field12 field13 field14 field16 field17 field18
        field22 field23 field24 field25 field29 field30 field59 field60 field67 field68 field78 field80 field81
        field100 field101 field102 field103 field104 field128 field129 field130 field131 field150 field271
        field272 field280
    }
    PropertyDto { prop1 prop2 prop3 prop4 prop5 prop6 prop7 prop8 prop9 prop10 prop11 prop12 }
    Tag { key value }
    Branch { name id tags }
    TreeNode { name digest age balance serial score ratio active status contact left right counters }
}

macro_rules! to_content {
    ($($type:ty => $content:ident),* $(,)?) => {
        $(impl ToContent for $type {
            fn content(&self) -> Content {
                Content::$content(self.clone().into())
            }
        })*
    };
}

to_content! {
    bool => Bool,
    i32 => Integer,
    i64 => Integer,
    u64 => Integer,
    f32 => Single,
    f64 => Double,
    String => Text,
    Vec<u8> => Bytes,
}

impl<T: ToContent> ToContent for Vec<T> {
    fn content(&self) -> Content {
        Content::List(self.iter().map(ToContent::content).collect())
    }
}

impl ToContent for BTreeMap<String, i64> {
    fn content(&self) -> Content {
        Content::Map(self.iter().map(|(key, value)| (key.clone(), value.content())).collect())
    }
}
