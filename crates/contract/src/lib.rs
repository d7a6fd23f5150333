//! The contract between rpcbench and the servers under test, in three parts: values are what a call carries,
//! an [`Encoding`] says which bytes stand for them, and [`cases`] show whether a server keeps to both.
//!
//! `contract/README.md` says the same for people who write a server; a test keeps the two together.

#![forbid(unsafe_code)]

pub mod cases;
mod codec;
mod corpus;
mod method;
mod nonce;
mod profile;
mod shape;
mod values;

pub use codec::Encoding;
pub use codec::protobuf::pb;
pub use codec::thrift::thrift_reply;
pub use corpus::Corpus;
pub use method::Method;
pub use nonce::{NONCE_BYTES, nonce};
pub use profile::{AfterRefusal, Need, Profile};
pub use shape::{Shape, ShapeError};
pub use values::Mismatch;
