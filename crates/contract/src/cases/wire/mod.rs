//! Cases that build the bytes of one encoding by hand.

pub(super) mod json;
pub(super) mod json_malformed;
pub(super) mod malformed;
pub(super) mod non_canonical;
pub(super) mod opaque;
pub(super) mod protobuf;
pub(super) mod thrift;
