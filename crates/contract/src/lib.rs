//! The contract between rpcbench and the servers under test, in three parts: values are the content of calls, an [`Encoding`]
//! turns them into bytes, and [`cases`] check that a server handles both.
//!
//! `contract/README.md` describes the contract for server authors; a test keeps its tables in sync.

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
pub use codec::types::DESCRIPTORS;
pub use corpus::{Corpus, Passes};
pub use method::Method;
pub use nonce::{NONCE_BYTES, nonce};
pub use profile::{AfterRefusal, Need, Profile};
pub use shape::Shape;
pub use values::Mismatch;
