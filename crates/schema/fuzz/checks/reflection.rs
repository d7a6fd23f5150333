//! A server that answers questions of reflection as the fuzzer says.

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
    ServiceDescriptorProto,
};
use rpcbench_engine::CallError;

use crate::Reflection;
use crate::reflection::wire::{Answer, ErrorAnswer, FileList, Response, ServiceList, ServiceName};

/// Names of files, of packages and of types.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "google/protobuf/any.proto", ""];

/// Choices read from the fuzzer's bytes; 0 after the end.
struct Choices(Vec<u8>);

impl Choices {
    fn next(&mut self) -> u8 {
        self.0.pop().unwrap_or(0)
    }

    fn name(&mut self) -> String {
        NAMES[usize::from(self.next()) % NAMES.len()].to_owned()
    }

    fn several<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.next() % 4).map(|_| one(self)).collect()
    }

    fn bytes(&mut self) -> Vec<u8> {
        let count = usize::from(self.next()).min(self.0.len());
        self.0.split_off(self.0.len() - count)
    }

    fn type_name(&mut self) -> String {
        format!(".{}.{}", self.name(), self.name())
    }

    fn field(&mut self) -> FieldDescriptorProto {
        let kind = Type::try_from(i32::from(self.next() % 20)).unwrap_or(Type::Message);
        let is_named = matches!(kind, Type::Message | Type::Enum | Type::Group);
        FieldDescriptorProto {
            name: Some(self.name()),
            number: Some(i32::from(self.next())),
            r#type: Some(kind.into()),
            label: Some(Label::Optional.into()),
            type_name: is_named.then(|| self.type_name()),
            ..FieldDescriptorProto::default()
        }
    }

    fn message(&mut self) -> DescriptorProto {
        DescriptorProto {
            name: Some(self.name()),
            field: self.several(Self::field),
            ..DescriptorProto::default()
        }
    }

    fn service(&mut self) -> ServiceDescriptorProto {
        let method = |choices: &mut Self| MethodDescriptorProto {
            name: Some(choices.name()),
            input_type: Some(choices.type_name()),
            output_type: Some(choices.type_name()),
            ..MethodDescriptorProto::default()
        };
        ServiceDescriptorProto {
            name: Some(self.name()),
            method: self.several(method),
            ..ServiceDescriptorProto::default()
        }
    }

    fn file(&mut self) -> Vec<u8> {
        if self.next() >= 0xf0 {
            return self.bytes();
        }
        let file = FileDescriptorProto {
            name: Some(self.name()),
            package: Some(self.name()),
            dependency: self.several(Self::name),
            public_dependency: self.several(|choices| i32::from(choices.next() % 4)),
            message_type: self.several(Self::message),
            service: self.several(Self::service),
            syntax: Some("proto3".to_owned()),
            ..FileDescriptorProto::default()
        };
        file.encode_to_vec()
    }

    fn answer(&mut self) -> Result<Vec<u8>, CallError> {
        let answer = match self.next() % 8 {
            0 => Answer::Error(ErrorAnswer { code: 5, message: self.name() }),
            1 => return Err(CallError::Timeout),
            2 => return Ok(self.bytes()),
            3 | 4 => Answer::Services(ServiceList {
                services: self.several(|choices| ServiceName {
                    name: format!("{}.{}", choices.name(), choices.name()),
                }),
            }),
            _ => Answer::Files(FileList { files: self.several(Self::file) }),
        };
        Ok(Response { answer: Some(answer) }.encode_to_vec())
    }
}

/// Reads a schema from a server that lies.
///
/// # Panics
/// If the schema can't be written and read again.
pub fn reflection(bytes: &[u8]) {
    for call in [None, Some("a.b/c")] {
        let mut choices = Choices(bytes.iter().rev().copied().collect());
        let mut server = Reflection::of_answers(Box::new(move |_, _| choices.answer()));
        let Ok(schema) = server.schema(call) else { continue };
        let again = crate::Schema::of_protoset(&schema.to_protoset());
        assert_eq!(again.expect("it was accepted before").methods(), schema.methods());
    }
}
