//! The message types of `contract/echo.proto`, for the encodings based on them.

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};

use crate::shape::Shape;

/// `contract/echo.proto`, compiled: a `google.protobuf.FileDescriptorSet`.
pub const DESCRIPTORS: &[u8] = include_bytes!("../../generated/echo.binpb");

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).expect("generated/echo.binpb is valid"));

/// Request type of `shape`'s method.
pub(super) fn request(shape: Shape) -> MessageDescriptor {
    method(shape).input()
}

/// Reply type of `shape`'s method.
pub(super) fn reply(shape: Shape) -> MessageDescriptor {
    method(shape).output()
}

/// A message type by its name without package.
pub(crate) fn message(name: &str) -> MessageDescriptor {
    let found = POOL.get_message_by_name(&format!("rpcbench.v1.{name}"));
    found.expect("contract/echo.proto has this message")
}

/// Full name of the reply type of `shape`'s method.
pub(super) fn reply_name(shape: Shape) -> String {
    reply(shape).full_name().to_owned()
}

fn method(shape: Shape) -> MethodDescriptor {
    let method = shape.method();
    let service = POOL.get_service_by_name(method.service());
    let found = service.and_then(|it| it.methods().find(|it| it.name() == method.name()));
    found.expect("contract/echo.proto has a method per shape")
}
