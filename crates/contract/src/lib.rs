//! The contract between the harness and the servers under test: what a call carries, what the right
//! reply is, and the cases that show whether a server gives it.
//!
//! `contract/README.md` says the same for people who write a server; a test keeps the two together.

#![forbid(unsafe_code)]

pub mod conformance;
mod corpus;
mod payload;
pub mod pb;
mod reply;
mod shape;
mod source;

pub use corpus::Corpus;
pub use reply::Mismatch;
pub use shape::{Shape, ShapeError};
