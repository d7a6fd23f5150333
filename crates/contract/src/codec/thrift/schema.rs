//! The types of `contract/echo.thrift`; a test keeps them in sync.

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
    /// A struct with at most one field. In [`Message`](crate::values::Message) its members are fields of the parent.
    Union(&'static Struct),
    List(&'static Kind),
    /// A map from texts to i64.
    Map,
}

/// A struct or a union.
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
    pub fn field(&self, number: i16) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}

/// A request of `shape`'s method.
pub(super) fn request(shape: Shape) -> &'static Struct {
    match shape {
        Shape::Text(_) => &TEXT_REQUEST,
        Shape::Record => &RECORD_REQUEST,
        Shape::Dto => &DTO_REQUEST,
        Shape::Tree => &TREE_REQUEST,
    }
}

/// A reply of `shape`'s method.
pub(super) fn reply(shape: Shape) -> &'static Struct {
    match shape {
        Shape::Text(_) => &TEXT_REPLY,
        Shape::Record => &RECORD_REPLY,
        Shape::Dto => &DTO_REPLY,
        Shape::Tree => &TREE_REPLY,
    }
}

const fn field(number: i16, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind }
}

static TEXT_REQUEST: Struct =
    Struct { name: "TextRequest", fields: &[field(1, "text", Kind::Text)] };
static TEXT_REPLY: Struct = Struct { name: "TextReply", fields: &[field(2, "echo", Kind::Text)] };

static RECORD_REQUEST: Struct =
    Struct { name: "RecordRequest", fields: &[field(1, "record", Kind::Struct(&FLAT_RECORD))] };
static RECORD_REPLY: Struct =
    Struct { name: "RecordReply", fields: &[field(2, "echo", Kind::Struct(&FLAT_RECORD))] };

static DTO_REQUEST: Struct =
    Struct { name: "DtoRequest", fields: &[field(1, "dto", Kind::Struct(&PROPERTY_DTO))] };
static DTO_REPLY: Struct =
    Struct { name: "DtoReply", fields: &[field(2, "echo", Kind::Struct(&PROPERTY_DTO))] };

static TREE_REQUEST: Struct =
    Struct { name: "TreeRequest", fields: &[field(1, "tree", Kind::Struct(&TREE_NODE))] };
static TREE_REPLY: Struct =
    Struct { name: "TreeReply", fields: &[field(2, "echo", Kind::Struct(&TREE_NODE))] };

static FLAT_RECORD: Struct = Struct {
    name: "FlatRecord",
    fields: &[
        field(1, "field1", Kind::Text),
        field(2, "field2", Kind::I32),
        field(3, "field3", Kind::I32),
        field(4, "field4", Kind::Text),
        field(5, "field5", Kind::List(&Kind::U64)),
        field(6, "field6", Kind::I32),
        field(7, "field7", Kind::Text),
        field(9, "field9", Kind::Text),
        field(12, "field12", Kind::Bool),
        field(13, "field13", Kind::Bool),
        field(14, "field14", Kind::Bool),
        field(16, "field16", Kind::I32),
        field(17, "field17", Kind::Bool),
        field(18, "field18", Kind::Text),
        field(22, "field22", Kind::I64),
        field(23, "field23", Kind::I32),
        field(24, "field24", Kind::Bool),
        field(25, "field25", Kind::I32),
        field(29, "field29", Kind::I32),
        field(30, "field30", Kind::Bool),
        field(59, "field59", Kind::Bool),
        field(60, "field60", Kind::I32),
        field(67, "field67", Kind::I32),
        field(68, "field68", Kind::I32),
        field(78, "field78", Kind::Bool),
        field(80, "field80", Kind::Bool),
        field(81, "field81", Kind::Bool),
        field(100, "field100", Kind::I32),
        field(101, "field101", Kind::I32),
        field(102, "field102", Kind::Text),
        field(103, "field103", Kind::Text),
        field(104, "field104", Kind::I32),
        field(128, "field128", Kind::I32),
        field(129, "field129", Kind::Text),
        field(130, "field130", Kind::I32),
        field(131, "field131", Kind::I32),
        field(150, "field150", Kind::I32),
        field(271, "field271", Kind::I32),
        field(272, "field272", Kind::I32),
        field(280, "field280", Kind::I32),
    ],
};

static PROPERTY_DTO: Struct = Struct {
    name: "PropertyDto",
    fields: &[
        field(1, "prop1", Kind::Text),
        field(2, "prop2", Kind::Text),
        field(3, "prop3", Kind::Text),
        field(4, "prop4", Kind::I32),
        field(5, "prop5", Kind::I32),
        field(6, "prop6", Kind::I32),
        field(7, "prop7", Kind::Double),
        field(8, "prop8", Kind::Double),
        field(9, "prop9", Kind::Double),
        field(10, "prop10", Kind::Bool),
        field(11, "prop11", Kind::Bool),
        field(12, "prop12", Kind::Bool),
    ],
};

static TAG: Struct =
    Struct { name: "Tag", fields: &[field(1, "key", Kind::Text), field(2, "value", Kind::Text)] };

static BRANCH: Struct = Struct {
    name: "Branch",
    fields: &[
        field(1, "name", Kind::Text),
        field(2, "id", Kind::U64),
        field(3, "tags", Kind::List(&Kind::Struct(&TAG))),
    ],
};

static CONTACT: Struct = Struct {
    name: "Contact",
    fields: &[field(10, "email", Kind::Text), field(11, "phone", Kind::U64)],
};

static TREE_NODE: Struct = Struct {
    name: "TreeNode",
    fields: &[
        field(1, "name", Kind::Text),
        field(2, "digest", Kind::Bytes),
        field(3, "age", Kind::I32),
        field(4, "balance", Kind::I64),
        field(5, "serial", Kind::U64),
        field(6, "score", Kind::Double),
        field(7, "ratio", Kind::Double),
        field(8, "active", Kind::Bool),
        field(9, "status", Kind::I32),
        field(10, "contact", Kind::Union(&CONTACT)),
        field(12, "left", Kind::Struct(&BRANCH)),
        field(13, "right", Kind::Struct(&BRANCH)),
        field(14, "counters", Kind::Map),
    ],
};

#[cfg(test)]
mod tests {
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
            Kind::Struct(inner) | Kind::Union(inner) => inner.name.to_owned(),
            Kind::List(item) => format!("list<{}>", type_name(*item)),
            Kind::Map => "map<string, i64>".to_owned(),
        }
    }

    const TYPES: [&Struct; 14] = [
        &FLAT_RECORD,
        &PROPERTY_DTO,
        &TAG,
        &BRANCH,
        &CONTACT,
        &TREE_NODE,
        &TEXT_REQUEST,
        &TEXT_REPLY,
        &RECORD_REQUEST,
        &RECORD_REPLY,
        &DTO_REQUEST,
        &DTO_REPLY,
        &TREE_REQUEST,
        &TREE_REPLY,
    ];

    /// As written in the IDL, where fields of `TreeNode` with a struct or union are optional and one is an enum.
    fn declaration(of: &Struct) -> String {
        let line = |field: &Field| {
            let inside = matches!(field.kind, Kind::Struct(_) | Kind::Union(_));
            let presence = if inside && of.name == "TreeNode" { "optional " } else { "" };
            let enumeration = (of.name, field.name) == ("TreeNode", "status");
            let kind = if enumeration { "Status".to_owned() } else { type_name(field.kind) };
            format!("  {}: {presence}{kind} {}\n", field.number, field.name)
        };
        let word = if of.name == "Contact" { "union" } else { "struct" };
        format!("{word} {} {{\n{}}}\n", of.name, of.fields.iter().map(line).collect::<String>())
    }

    #[test]
    fn the_types_are_those_of_the_idl() {
        for declaration in TYPES.map(declaration) {
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
        for of in TYPES {
            assert!(of.fields.is_sorted_by_key(|field| field.number), "{}", of.name);
        }
    }
}
