//! Methods and their messages as a `.proto` file has them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor};

/// Messages and enums shown at most.
const MAX_TYPES: usize = 50;

/// The method, its request and reply, and the types of their fields.
pub(crate) fn method(method: &MethodDescriptor) -> String {
    let mut out = signature(method) + "\n";
    let (mut seen, mut queue) = (BTreeSet::new(), Vec::new());
    queue.extend([Kind::Message(method.output()), Kind::Message(method.input())]);
    while let Some(kind) = queue.pop() {
        if seen.len() == MAX_TYPES || !seen.insert(name_of(&kind)) {
            continue;
        }
        match kind {
            Kind::Message(kind) if !kind.full_name().starts_with("google.protobuf.") => {
                message(&mut out, &kind);
                let kinds: Vec<Kind> = kind.fields().map(|field| field.kind()).collect();
                queue.extend(kinds.into_iter().rev().flat_map(within));
            }
            Kind::Enum(kind) => enumeration(&mut out, &kind),
            _ => {}
        }
    }
    out
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

/// The types that a field leads to: of a map, that of its values.
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

fn message(out: &mut String, kind: &MessageDescriptor) {
    // Writing to a string can't fail.
    let _ = writeln!(out, "\nmessage {} {{", kind.full_name());
    for field in kind.fields() {
        let oneof = field.containing_oneof().filter(|oneof| !oneof.is_synthetic());
        let oneof = oneof.map(|it| format!(" // one of {}", it.name())).unwrap_or_default();
        let _ =
            writeln!(out, "  {} {} = {};{oneof}", kind_of(&field), field.name(), field.number());
    }
    out.push_str("}\n");
}

fn kind_of(field: &FieldDescriptor) -> String {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            let [key, value] = [entry.map_entry_key_field(), entry.map_entry_value_field()];
            format!("map<{}, {}>", name_of(&key.kind()), name_of(&value.kind()))
        }
        kind if field.is_list() => format!("repeated {}", name_of(&kind)),
        kind => name_of(&kind),
    }
}

fn enumeration(out: &mut String, kind: &EnumDescriptor) {
    let _ = writeln!(out, "\nenum {} {{", kind.full_name());
    for value in kind.values() {
        let _ = writeln!(out, "  {} = {};", value.name(), value.number());
    }
    out.push_str("}\n");
}
