//! Messages of `grpc.reflection`, which are the same in both versions. Source: grpc/proto/grpc/reflection/v1/reflection.proto.

use std::fmt;

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request {
    #[prost(string, tag = "1")]
    pub host: String,
    #[prost(oneof = "Question", tags = "3, 4, 7")]
    pub question: Option<Question>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Question {
    #[prost(string, tag = "3")]
    FileByFilename(String),
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    #[prost(string, tag = "7")]
    ListServices(String),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Response {
    #[prost(oneof = "Answer", tags = "4, 6, 7")]
    pub answer: Option<Answer>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Answer {
    #[prost(message, tag = "4")]
    Files(FileList),
    #[prost(message, tag = "6")]
    Services(ServiceList),
    #[prost(message, tag = "7")]
    Error(ErrorAnswer),
}

/// Encoded `FileDescriptorProto`s.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FileList {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ServiceList {
    #[prost(message, repeated, tag = "1")]
    pub services: Vec<ServiceName>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ServiceName {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ErrorAnswer {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}

impl fmt::Display for ErrorAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}: {}", self.code, rpcbench_record::printable(&self.message))
    }
}
