//! The types of `contract/echo.thrift`, derived from the messages of `contract/echo.proto`: names and numbers are the same. A
//! test compares them with the file.

use std::sync::LazyLock;

use prost_reflect::{FieldDescriptor, Kind as ProtoKind, MessageDescriptor};

use crate::codec::types;
use crate::shape::Shape;

/// Type of a field, including how to interpret its value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Bool,
    I32,
    I64,
    /// An unsigned number, sent as an i64 with the same bits.
    U64,
    Double,
    Text,
    Bytes,
    Struct(&'static Struct),
    /// A struct with at most one field: a oneof. In [`Message`](crate::values::Message) its members are fields of the parent.
    Union(&'static Struct),
    List(&'static Kind),
    /// A map from texts to i64.
    Map,
}

#[derive(Debug)]
pub(super) struct Struct {
    pub name: &'static str,
    /// Sorted by number.
    pub fields: &'static [Field],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub number: i16,
    pub name: &'static str,
    pub kind: Kind,
}

impl Struct {
    /// The type of a message. It is leaked, so it lives as long as the process.
    fn of(message: &MessageDescriptor) -> &'static Self {
        let single = message.fields().filter(|field| field.containing_oneof().is_none());
        let unions = message.oneofs().map(|oneof| {
            let members: Vec<Field> = oneof.fields().map(|member| Field::of(&member)).collect();
            let number = members.iter().map(|member| member.number).min().unwrap_or_default();
            let union = Self::leaked(oneof.name(), members);
            Field { number, name: union.name, kind: Kind::Union(union) }
        });
        Self::leaked(message.name(), single.map(|field| Field::of(&field)).chain(unions).collect())
    }

    fn leaked(name: &str, mut fields: Vec<Field>) -> &'static Self {
        fields.sort_by_key(|field| field.number);
        Box::leak(Box::new(Self { name: name.to_owned().leak(), fields: fields.leak() }))
    }

    pub fn field(&self, number: i16) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}

impl Field {
    fn of(field: &FieldDescriptor) -> Self {
        let kind = match field.kind() {
            _ if field.is_map() => Kind::Map,
            ProtoKind::Bool => Kind::Bool,
            ProtoKind::Int32 | ProtoKind::Enum(_) => Kind::I32,
            ProtoKind::Int64 => Kind::I64,
            ProtoKind::Uint64 | ProtoKind::Fixed64 => Kind::U64,
            ProtoKind::Float | ProtoKind::Double => Kind::Double,
            ProtoKind::String => Kind::Text,
            ProtoKind::Bytes => Kind::Bytes,
            ProtoKind::Message(message) => Kind::Struct(Struct::of(&message)),
            other => unreachable!("contract/echo.proto has no field of type {other:?}"),
        };
        let kind = if field.is_list() { Kind::List(Box::leak(Box::new(kind))) } else { kind };
        Self { number: field.number() as i16, name: field.name().to_owned().leak(), kind }
    }
}

/// Request and reply of each shape's method.
static METHODS: LazyLock<[[&'static Struct; 2]; 4]> = LazyLock::new(|| {
    [Shape::Text(0), Shape::Record, Shape::Dto, Shape::Tree]
        .map(|shape| [types::request(shape), types::reply(shape)].map(|of| Struct::of(&of)))
});

/// A request of `shape`'s method.
pub(super) fn request(shape: Shape) -> &'static Struct {
    METHODS[shape.method() as usize][0]
}

/// A reply of `shape`'s method.
pub(super) fn reply(shape: Shape) -> &'static Struct {
    METHODS[shape.method() as usize][1]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const IDL: &str = include_str!("../../../../../contract/echo.thrift");

    fn type_name(kind: Kind) -> String {
        match kind {
            Kind::Bool => "bool".to_owned(),
            Kind::I32 => "i32".to_owned(),
            Kind::I64 | Kind::U64 => "i64".to_owned(),
            Kind::Double => "double".to_owned(),
            Kind::Text => "string".to_owned(),
            Kind::Bytes => "binary".to_owned(),
            Kind::Struct(inner) => inner.name.to_owned(),
            // Thrift's union is named like protobuf's oneof, capitalized.
            Kind::Union(_) => "Contact".to_owned(),
            Kind::List(item) => format!("list<{}>", type_name(*item)),
            Kind::Map => "map<string, i64>".to_owned(),
        }
    }

    /// All types, with duplicates.
    fn types() -> Vec<&'static Struct> {
        let mut types: Vec<&Struct> = METHODS.as_flattened().to_vec();
        let mut at = 0;
        while let Some(of) = types.get(at) {
            let inner = of.fields.iter().filter_map(|field| match field.kind {
                Kind::Struct(of) | Kind::Union(of) => Some(of),
                Kind::List(Kind::Struct(of)) => Some(*of),
                _ => None,
            });
            types.extend(inner.collect::<Vec<_>>());
            at += 1;
        }
        types
    }

    /// The declaration as in the IDL, where fields of `TreeNode` with a struct or union are optional and one is an enum.
    fn declaration(of: &Struct) -> String {
        let line = |field: &Field| {
            let inside = matches!(field.kind, Kind::Struct(_) | Kind::Union(_));
            let presence = if inside && of.name == "TreeNode" { "optional " } else { "" };
            let enumeration = (of.name, field.name) == ("TreeNode", "status");
            let kind = if enumeration { "Status".to_owned() } else { type_name(field.kind) };
            format!("  {}: {presence}{kind} {}\n", field.number, field.name)
        };
        let (word, name) =
            if of.name == "contact" { ("union", "Contact") } else { ("struct", of.name) };
        format!("{word} {name} {{\n{}}}\n", of.fields.iter().map(line).collect::<String>())
    }

    #[test]
    fn types_are_those_of_the_idl() {
        let types = types();
        let names: HashSet<_> = types.iter().map(|of| of.name).collect();
        assert_eq!(names.len(), 14);
        for declaration in types.into_iter().map(declaration) {
            assert!(IDL.contains(&declaration), "contract/echo.thrift lacks\n{declaration}");
        }
        for shape in [Shape::Text(0), Shape::Record, Shape::Dto, Shape::Tree] {
            let method = shape.method().name();
            let (request, reply) = (request(shape).name, reply(shape).name);
            let call = format!("  {reply} {method}(1: {request} request)\n");
            assert!(IDL.contains(&call), "contract/echo.thrift lacks\n{call}");
        }
    }

    #[test]
    fn fields_are_sorted_by_number() {
        for of in types() {
            assert!(of.fields.is_sorted_by_key(|field| field.number), "{}", of.name);
        }
    }
}
