//! Rewrites files of edition 2023 as proto2, without changing messages on the wire.
//!
//! Fields with implicit presence become optional, so a zero that a request gives is sent. Source of the features and their
//! defaults: protobuf.dev/editions/features.

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto};

use crate::SchemaError;

/// The parts of a file that `prost_types` lacks: features and where they are set.
#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(message, repeated, tag = "4")]
    messages: Vec<Kind>,
    #[prost(message, repeated, tag = "7")]
    extensions: Vec<Field>,
    #[prost(message, optional, tag = "8")]
    options: Option<FileOptions>,
    #[prost(int32, optional, tag = "14")]
    edition: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct FileOptions {
    #[prost(message, optional, tag = "50")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, Message)]
struct Kind {
    #[prost(message, repeated, tag = "2")]
    fields: Vec<Field>,
    #[prost(message, repeated, tag = "3")]
    nested: Vec<Kind>,
    #[prost(message, repeated, tag = "6")]
    extensions: Vec<Field>,
    #[prost(message, optional, tag = "7")]
    options: Option<KindOptions>,
}

#[derive(Clone, PartialEq, Message)]
struct KindOptions {
    #[prost(message, optional, tag = "12")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, Message)]
struct Field {
    #[prost(message, optional, tag = "8")]
    options: Option<RawFieldOptions>,
}

#[derive(Clone, PartialEq, Message)]
struct RawFieldOptions {
    #[prost(message, optional, tag = "21")]
    features: Option<Features>,
}

/// The parts of `google.protobuf.FeatureSet` that matter on the wire.
#[derive(Clone, Copy, PartialEq, Message)]
struct Features {
    /// 1: explicit, 2: implicit, 3: required.
    #[prost(int32, optional, tag = "1")]
    presence: Option<i32>,
    /// 1: packed, 2: expanded.
    #[prost(int32, optional, tag = "3")]
    repeated: Option<i32>,
    /// 1: length-prefixed, 2: delimited.
    #[prost(int32, optional, tag = "5")]
    message: Option<i32>,
}

const REQUIRED: i32 = 3;
const EXPANDED: i32 = 2;
const DELIMITED: i32 = 2;
/// Numbers of the editions known to have these features.
const EDITION_2023: i32 = 1000;
const EDITION_2024: i32 = 1001;

impl Features {
    /// Own features, with missing ones taken from those around them.
    fn within(own: Option<Self>, around: Self) -> Self {
        let own = own.unwrap_or_default();
        Self {
            presence: own.presence.or(around.presence),
            repeated: own.repeated.or(around.repeated),
            message: own.message.or(around.message),
        }
    }
}

/// Converts an edition's file to proto2; `bytes` are the encoded file.
pub(crate) fn as_proto2(
    mut file: FileDescriptorProto,
    bytes: &[u8],
) -> Result<FileDescriptorProto, SchemaError> {
    let invalid = |why: String| SchemaError::Invalid(format!("{}: {why}", file.name()));
    let raw = File::decode(bytes).map_err(|error| invalid(error.to_string()))?;
    let edition = raw.edition.unwrap_or_default();
    if !(EDITION_2023..=EDITION_2024).contains(&edition) {
        return Err(invalid(format!("unknown edition {edition}; 2023 and 2024 are supported")));
    }
    let features = Features::within(raw.options.and_then(|it| it.features), Features::default());
    let name = file.name().to_owned();
    for (message, raw) in file.message_type.iter_mut().zip(&raw.messages) {
        rewrite(message, raw, features, &name)?;
    }
    rewrite_fields(&mut file.extension, &raw.extensions, features, &name)?;
    file.syntax = Some("proto2".to_owned());
    Ok(file)
}

fn rewrite(
    message: &mut DescriptorProto,
    raw: &Kind,
    around: Features,
    file: &str,
) -> Result<(), SchemaError> {
    let own = raw.options.as_ref().and_then(|options| options.features);
    let features = Features::within(own, around);
    rewrite_fields(&mut message.field, &raw.fields, features, file)?;
    rewrite_fields(&mut message.extension, &raw.extensions, features, file)?;
    for (message, raw) in message.nested_type.iter_mut().zip(&raw.nested) {
        rewrite(message, raw, features, file)?;
    }
    Ok(())
}

fn rewrite_fields(
    fields: &mut [FieldDescriptorProto],
    raw: &[Field],
    around: Features,
    file: &str,
) -> Result<(), SchemaError> {
    for (field, raw) in fields.iter_mut().zip(raw) {
        let own = raw.options.as_ref().and_then(|options| options.features);
        let features = Features::within(own, around);
        let is_message = field.r#type() == Type::Message;
        if is_message && features.message == Some(DELIMITED) || field.r#type() == Type::Group {
            return Err(SchemaError::Invalid(format!(
                "{file}: field '{}' has delimited encoding, which is not supported",
                field.name()
            )));
        }
        if features.presence == Some(REQUIRED) && field.label() == Label::Optional {
            field.set_label(Label::Required);
        }
        if field.label() == Label::Repeated && is_packable(field.r#type()) {
            let packed = Some(features.repeated != Some(EXPANDED));
            let options = field.options.take().unwrap_or_default();
            field.options = Some(FieldOptions { packed, ..options });
        }
    }
    Ok(())
}

fn is_packable(kind: Type) -> bool {
    !matches!(kind, Type::String | Type::Bytes | Type::Message | Type::Group)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields of a rewritten file with these features: a list of numbers, a text and a message.
    fn rewritten(edition: i32, features: Features) -> Result<DescriptorProto, SchemaError> {
        let field = |name: &str, number, kind: Type, label: Label| FieldDescriptorProto {
            name: Some(name.to_owned()),
            number: Some(number),
            r#type: Some(kind.into()),
            label: Some(label.into()),
            type_name: (kind == Type::Message).then(|| ".A".to_owned()),
            ..FieldDescriptorProto::default()
        };
        let message = DescriptorProto {
            name: Some("A".to_owned()),
            field: vec![
                field("numbers", 1, Type::Int32, Label::Repeated),
                field("text", 2, Type::String, Label::Optional),
                field("inner", 3, Type::Message, Label::Optional),
            ],
            ..DescriptorProto::default()
        };
        let file = FileDescriptorProto {
            name: Some("a.proto".to_owned()),
            syntax: Some("editions".to_owned()),
            message_type: vec![message],
            ..FileDescriptorProto::default()
        };
        let options = Some(FileOptions { features: Some(features) });
        let more = File { edition: Some(edition), options, ..File::default() };
        let bytes = [file.encode_to_vec(), more.encode_to_vec()].concat();
        let file = crate::schema::decode(&bytes)?;
        assert_eq!(file.syntax(), "proto2");
        Ok(file.message_type[0].clone())
    }

    fn is_packed(message: &DescriptorProto) -> bool {
        message.field[0].options.as_ref().and_then(|options| options.packed).unwrap()
    }

    #[test]
    fn features_decide_packing_and_presence() {
        let plain = rewritten(EDITION_2023, Features::default()).unwrap();
        assert!(is_packed(&plain) && plain.field[1].label() == Label::Optional);
        let other = Features { presence: Some(REQUIRED), repeated: Some(EXPANDED), message: None };
        let other = rewritten(EDITION_2024, other).unwrap();
        assert!(!is_packed(&other) && other.field[1].label() == Label::Required);
        assert_eq!(other.field[0].label(), Label::Repeated);
    }

    #[test]
    fn features_without_a_proto2_equivalent_are_refused() {
        let delimited = Features { message: Some(DELIMITED), ..Features::default() };
        let refusal = rewritten(EDITION_2023, delimited).unwrap_err().to_string();
        insta::assert_snapshot!(refusal, @"a.proto: field 'inner' has delimited encoding, which is not supported");
        let refusal = rewritten(1002, Features::default()).unwrap_err().to_string();
        insta::assert_snapshot!(refusal, @"a.proto: unknown edition 1002; 2023 and 2024 are supported");
    }
}
