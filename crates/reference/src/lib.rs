//! The reference server: answers calls when a client library is measured.
//!
//! It does the minimum work for a correct answer, so that the client is the limit. Each thread has one epoll loop, with one read
//! and one write per connection and turn. Messages are not decoded: the request's content is sent back under the reply's field
//! (gRPC, Connect, Thrift) or key (JSON).
//!
//! - [`ReferenceServer`] serves a protocol with threads of this process, and counts calls.
//! - [`Grpc`], [`Http1`] and [`Thrift`] are connections without sockets; [`attend()`] gives them sockets.
//! - [`http2`] has HTTP/2 frames. Nothing in it is shared with the engine, so that neither hides a bug of the other.

mod attend;
mod connect;
mod connection;
mod encoder;
mod fault;
mod grpc;
#[cfg(test)]
mod grpc_tests;
mod http1;
pub mod http2;
mod json;
mod poll;
pub mod rewrite;
mod server;
mod thrift;

pub use attend::{Close, Counts, Session, attend};
pub use fault::{Fault, Faults, MARK};
pub use grpc::Grpc;
pub use http1::{Dialect, Http1, content_length};
pub use json::{JSON, put};
pub use server::{Counted, ReferenceServer, ThreadTime, thread_time};
pub use thrift::Thrift;
