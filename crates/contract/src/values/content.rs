//! A value as a tree of named fields. Every encoding's replies can be read into one, whatever is in them.

use std::collections::BTreeMap;

use super::Contact;

/// A value of any type.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bool(bool),
    /// Any width, signed or not; also the number of an enum.
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
    /// Appends the texts in it, keys of maps among them, each with the path of the field that holds it.
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

    /// Forgets fields that their types do not have.
    fn forget(&mut self) {
        match self {
            Self::Message(message) => {
                message.unknown.clear();
                message
                    .fields
                    .iter_mut()
                    .filter_map(|field| field.content.as_mut())
                    .for_each(Self::forget);
            }
            Self::List(items) => items.iter_mut().for_each(Self::forget),
            _ => {}
        }
    }
}

/// A message with all fields of its type, in the type's order, whether they are there or not.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// The type's name, without a package.
    pub name: String,
    pub fields: Vec<Field>,
    /// Names or numbers of fields that the type does not have.
    pub unknown: Vec<String>,
}

/// A field of a message. A member of a oneof is a field of the message around it.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    /// `None`: it is not there, which is not the same as being there at its default.
    pub content: Option<Content>,
}

impl Message {
    /// A message of the fields that its type has, and no others.
    pub fn of(name: &str, fields: Vec<Field>) -> Self {
        Self { name: name.to_owned(), fields, unknown: Vec::new() }
    }

    /// Itself as if the messages in it held no fields that their types do not have.
    pub fn without_unknown_inside(mut self) -> Self {
        self.fields.iter_mut().filter_map(|field| field.content.as_mut()).for_each(Content::forget);
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

/// Declares a message, and how it becomes [`Content`].
macro_rules! message {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $name {
            $(pub $field: $type,)*
        }

        impl $crate::values::content::Described for $name {
            fn content(&self) -> $crate::values::Content {
                use $crate::values::content::Member as _;
                let mut fields = Vec::new();
                $(self.$field.add(stringify!($field), &mut fields);)*
                $crate::values::Content::Message(
                    $crate::values::Message::of(stringify!($name), fields),
                )
            }
        }
    };
}
pub(super) use message;

/// What is always there.
pub(super) trait Described {
    fn content(&self) -> Content;
}

/// What a message is made of.
pub(super) trait Member {
    /// Appends the field or fields that it is.
    fn add(&self, name: &str, to: &mut Vec<Field>);
}

impl<T: Described> Member for T {
    fn add(&self, name: &str, to: &mut Vec<Field>) {
        to.push(Field::new(name, Some(self.content())));
    }
}

impl Member for Option<super::Branch> {
    fn add(&self, name: &str, to: &mut Vec<Field>) {
        to.push(Field::new(name, self.as_ref().map(Described::content)));
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

macro_rules! described {
    ($($type:ty => $content:ident),* $(,)?) => {
        $(impl Described for $type {
            fn content(&self) -> Content {
                Content::$content(self.clone().into())
            }
        })*
    };
}

described! {
    bool => Bool,
    i32 => Integer,
    i64 => Integer,
    u64 => Integer,
    f32 => Single,
    f64 => Double,
    String => Text,
    Vec<u8> => Bytes,
}

impl Described for Vec<u64> {
    fn content(&self) -> Content {
        Content::List(self.iter().map(Described::content).collect())
    }
}

impl Described for Vec<super::Tag> {
    fn content(&self) -> Content {
        Content::List(self.iter().map(Described::content).collect())
    }
}

impl Described for BTreeMap<String, i64> {
    fn content(&self) -> Content {
        Content::Map(self.iter().map(|(key, value)| (key.clone(), value.content())).collect())
    }
}
