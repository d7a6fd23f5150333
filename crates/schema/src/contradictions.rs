//! Finds contradictions in descriptors that prost-reflect does not report, but panics on later.

use prost_types::field_descriptor_proto::Label;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};
use rpcbench_record::printable;

use crate::SchemaError;

/// Refuses a file of an unknown syntax, with an enum without values, or with a map whose entries lack a key or a value.
pub(crate) fn refuse(file: &FileDescriptorProto) -> Result<(), SchemaError> {
    let problem = match file.syntax() {
        "" | "proto2" | "proto3" | "editions" => {
            of_enums(&file.enum_type).or_else(|| file.message_type.iter().find_map(of_message))
        }
        syntax => Some(format!("unknown syntax '{syntax}'; expected proto2, proto3 or editions")),
    };
    match problem {
        Some(problem) => {
            let text = format!("{}: {problem}", file.name());
            Err(SchemaError::Invalid(printable(&text).to_string()))
        }
        None => Ok(()),
    }
}

fn of_message(message: &DescriptorProto) -> Option<String> {
    let is_entry = message.options.as_ref().is_some_and(|options| options.map_entry());
    let has = |number| {
        let is_it = |label| matches!(label, Label::Optional | Label::Required);
        message.field.iter().any(|field| field.number() == number && is_it(field.label()))
    };
    if is_entry && !(has(1) && has(2)) {
        return Some(format!("the entries of map '{}' have no key or no value", message.name()));
    }
    of_enums(&message.enum_type).or_else(|| message.nested_type.iter().find_map(of_message))
}

fn of_enums(enums: &[EnumDescriptorProto]) -> Option<String> {
    let empty = enums.iter().find(|kind| kind.value.is_empty())?;
    Some(format!("enum '{}' has no values", empty.name()))
}

#[cfg(test)]
mod tests {
    use prost_types::{FieldDescriptorProto, MessageOptions};

    use super::*;

    #[test]
    fn contradiction_is_named_with_its_file() {
        let refusal = |file: FileDescriptorProto| {
            refuse(&FileDescriptorProto { name: Some("a.proto".to_owned()), ..file })
                .unwrap_err()
                .to_string()
        };
        let syntax = Some("proto\u{1b}9".to_owned());
        let syntax = refusal(FileDescriptorProto { syntax, ..FileDescriptorProto::default() });
        insta::assert_snapshot!(syntax, @r"a.proto: unknown syntax 'proto\u{1b}9'; expected proto2, proto3 or editions");
        let entry = DescriptorProto {
            name: Some("ItemsEntry".to_owned()),
            field: vec![FieldDescriptorProto {
                number: Some(2),
                ..FieldDescriptorProto::default()
            }],
            options: Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() }),
            enum_type: vec![EnumDescriptorProto::default()],
            ..DescriptorProto::default()
        };
        let of = |message| FileDescriptorProto {
            message_type: vec![DescriptorProto {
                nested_type: vec![message],
                ..DescriptorProto::default()
            }],
            ..FileDescriptorProto::default()
        };
        insta::assert_snapshot!(refusal(of(entry.clone())), @"a.proto: the entries of map 'ItemsEntry' have no key or no value");
        let state = EnumDescriptorProto {
            name: Some("State".to_owned()),
            ..EnumDescriptorProto::default()
        };
        let message = DescriptorProto { enum_type: vec![state], options: None, ..entry };
        insta::assert_snapshot!(refusal(of(message)), @"a.proto: enum 'State' has no values");
    }
}
