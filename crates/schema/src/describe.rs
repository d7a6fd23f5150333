//! Services, methods and types as in a `.proto` file.

use std::collections::BTreeSet;

use prost_reflect::{
    EnumDescriptor, EnumValueDescriptor, FieldDescriptor, Kind, MessageDescriptor,
    MethodDescriptor, OneofDescriptor, ServiceDescriptor, Syntax,
};

use crate::Method;

/// Maximum messages and enums shown.
const MAX_TYPES: usize = 50;

/// A method, a service or a type, as in a `.proto` file.
#[derive(Clone, Debug)]
pub struct Description {
    /// The text of the item and of the types that it refers to, each once.
    pub text: String,
    /// The methods of the described service, or the described method.
    pub methods: Vec<Method>,
}

impl Description {
    pub(crate) fn of_service(service: &ServiceDescriptor) -> Self {
        let methods: Vec<MethodDescriptor> = service.methods().collect();
        let signatures: String =
            methods.iter().map(|it| format!("  {}\n", signature(it))).collect();
        let text = format!("service {} {{\n{signatures}}}\n", service.full_name());
        Self::of_methods(text, methods)
    }

    pub(crate) fn of_method(method: MethodDescriptor) -> Self {
        Self::of_methods(signature(&method) + "\n", vec![method])
    }

    fn of_methods(signatures: String, methods: Vec<MethodDescriptor>) -> Self {
        let messages = methods.iter().flat_map(|method| [method.input(), method.output()]);
        let text = format!("{signatures}\n{}", types(messages.map(Kind::Message).collect()));
        Self { text, methods: methods.into_iter().map(Method::new).collect() }
    }

    pub(crate) fn of_type(kind: Kind) -> Self {
        Self { text: types(vec![kind]), methods: Vec::new() }
    }
}

/// The text of these types and of those of their fields.
fn types(mut queue: Vec<Kind>) -> String {
    let (mut seen, mut shown) = (BTreeSet::new(), Vec::new());
    queue.reverse();
    while let Some(kind) = queue.pop() {
        if seen.len() == MAX_TYPES || !seen.insert(name_of(&kind)) {
            continue;
        }
        match kind {
            Kind::Message(kind) if !is_well_known(&kind) => {
                shown.push(message(&kind));
                let kinds: Vec<Kind> = kind.fields().map(|field| field.kind()).collect();
                queue.extend(kinds.into_iter().rev().flat_map(within));
            }
            Kind::Enum(kind) => shown.push(enumeration(&kind)),
            _ => {}
        }
    }
    shown.join("\n")
}

/// `rpc Get(shop.v1.GetRequest) returns (shop.v1.Order);`
pub(crate) fn signature(method: &MethodDescriptor) -> String {
    let part = |streams: bool, kind: &MessageDescriptor| {
        format!("({}{})", if streams { "stream " } else { "" }, kind.full_name())
    };
    let request = part(method.is_client_streaming(), &method.input());
    let reply = part(method.is_server_streaming(), &method.output());
    format!("rpc {}{request} returns {reply};", method.name())
}

/// The type that a field refers to; for a map, that of its values.
fn within(kind: Kind) -> Option<Kind> {
    match kind {
        Kind::Message(entry) if entry.is_map_entry() => {
            within(entry.map_entry_value_field().kind())
        }
        kind @ (Kind::Message(_) | Kind::Enum(_)) => Some(kind),
        _ => None,
    }
}

pub(crate) fn name_of(kind: &Kind) -> String {
    match kind {
        Kind::Message(kind) => kind.full_name().to_owned(),
        Kind::Enum(kind) => kind.full_name().to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

fn message(kind: &MessageDescriptor) -> String {
    let fields: String =
        kind.fields().map(|field| format!("  {}\n", declaration(&field))).collect();
    format!("message {} {{\n{fields}}}\n", kind.full_name())
}

/// `required int32 size = 3 [default = 7]; // one of kind`
fn declaration(field: &FieldDescriptor) -> String {
    let oneof = written_oneof(field);
    let is_proto2 = field.parent_file().syntax() == Syntax::Proto2;
    let is_single = field.supports_presence() && oneof.is_none();
    let is_message = field.kind().as_message().is_some();
    let label = match field.is_required() {
        true => "required ",
        false if is_single && (is_proto2 || !is_message) => "optional ",
        false => "",
    };
    let group = if field.is_group() { "group " } else { "" };
    let default = field.field_descriptor_proto().default_value.as_ref().map(|value| {
        let is_text = matches!(field.kind(), Kind::String | Kind::Bytes);
        let value = if is_text { format!("{value:?}") } else { value.clone() };
        format!(" [default = {value}]")
    });
    let default = default.unwrap_or_default();
    let oneof = oneof.map(|it| format!(" // one of {}", it.name())).unwrap_or_default();
    let (kind, name, number) = (kind_of(field), field.name(), field.number());
    format!("{label}{group}{kind} {name} = {number}{default};{oneof}")
}

/// The oneof that a field was written in. An optional field is alone in a oneof that was not written.
pub(crate) fn written_oneof(field: &FieldDescriptor) -> Option<OneofDescriptor> {
    field.containing_oneof().filter(|oneof| !oneof.is_synthetic())
}

fn kind_of(field: &FieldDescriptor) -> String {
    if let Some([key, value]) = map_kinds(field) {
        return format!("map<{}, {}>", name_of(&key), name_of(&value));
    }
    match field.kind() {
        kind if field.is_list() => format!("repeated {}", name_of(&kind)),
        kind => name_of(&kind),
    }
}

/// The kinds of a map's keys and values. `None` if the field is not a map.
pub(crate) fn map_kinds(field: &FieldDescriptor) -> Option<[Kind; 2]> {
    let kind = field.kind();
    let entry = kind.as_message().filter(|_| field.is_map())?;
    Some([entry.map_entry_key_field(), entry.map_entry_value_field()].map(|part| part.kind()))
}

/// True for one of protobuf's own types.
pub(crate) fn is_well_known(kind: &MessageDescriptor) -> bool {
    kind.full_name().starts_with("google.protobuf.")
}

fn enumeration(kind: &EnumDescriptor) -> String {
    let value = |value: EnumValueDescriptor| format!("  {} = {};\n", value.name(), value.number());
    let values: String = kind.values().map(value).collect();
    format!("enum {} {{\n{values}}}\n", kind.full_name())
}
