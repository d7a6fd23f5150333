//! The message types of `contract/echo.proto`, for the encodings based on them.

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, MessageDescriptor};

use crate::shape::Shape;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(include_bytes!(concat!(env!("OUT_DIR"), "/echo.binpb")).as_slice())
        .expect("the build script wrote a valid descriptor set")
});

/// Request type of `shape`'s method.
pub(super) fn request(shape: Shape) -> MessageDescriptor {
    named(match shape {
        Shape::Text(_) => "rpcbench.v1.TextRequest",
        Shape::Record => "rpcbench.v1.RecordRequest",
        Shape::Dto => "rpcbench.v1.DtoRequest",
        Shape::Tree => "rpcbench.v1.TreeRequest",
    })
}

/// Full name of the reply type of `shape`'s method.
pub(super) fn reply_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Text(_) => "rpcbench.v1.TextReply",
        Shape::Record => "rpcbench.v1.RecordReply",
        Shape::Dto => "rpcbench.v1.DtoReply",
        Shape::Tree => "rpcbench.v1.TreeReply",
    }
}

/// Reply type of `shape`'s method.
pub(super) fn reply(shape: Shape) -> MessageDescriptor {
    named(reply_name(shape))
}

fn named(name: &str) -> MessageDescriptor {
    POOL.get_message_by_name(name).expect("contract/echo.proto has a request and a reply per shape")
}
