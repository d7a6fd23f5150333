//! Servers that misbehave in exactly one way each, for the project's own tests.
//!
//! - [`Server`] runs a [`Behaviour`] inside a test, on a thread of its own.
//! - The binary `rpcbench-testkit` runs the same behaviours as an ordinary server under test.
//! - [`thrift`] has Thrift's messages.
//! - [`relay_unix`] puts a Unix socket in front of a server.
//! - [`scripted`] is a peer that follows a script of raw HTTP/2 frames or HTTP/1.1, and [`http2`] has the frames.

mod answer;
mod behaviour;
mod clock;
mod cost;
mod delay;
mod echo;
mod fault;
mod file_limit;
pub mod http2;
mod null;
mod plan;
pub mod scripted;
mod serve;
mod serve_json;
mod server;
mod skim;
mod swap;
pub mod thrift;
mod transcode;
mod unix_relay;

pub use behaviour::{Behaviour, BehaviourError, FORMS, Form};
pub use clock::{CpuTime, process_cpu};
pub use file_limit::raise_file_limit;
pub use plan::{Plan, PlanError};
pub use server::{Ended, Server, StartError};
pub use unix_relay::relay_unix;
