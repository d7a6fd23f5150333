//! Servers that misbehave on purpose, for the project's own tests.
//!
//! - [`Server`] runs a [`Behaviour`] inside a test, on its own thread.
//! - The binary `rpcbench-testkit` runs the same behaviours as a server under test.
//! - [`thrift`] has Thrift's messages.
//! - [`relay_unix`] puts a Unix socket in front of a server; [`relay_in_pieces`] splits the bytes between client and server;
//!   [`relay_tls`] adds TLS; a [`Channel`] leads to a server in another process.
//! - [`workload()`] is a load for tests of plans and records.
//! - [`wait_until`] waits for other processes.
//! - [`scripted`] is a peer that follows a script of HTTP/2 frames or HTTP/1.1; [`http2`] has the frames.

mod answer;
mod behaviour;
mod channel;
mod clock;
mod cost;
mod delay;
mod dialect;
mod echo;
mod fault;
mod file_limit;
mod null;
mod plan;
mod relay;
pub mod scripted;
mod serve;
mod server;
mod skim;
mod skip;
mod swap;
pub mod thrift;
mod tls;
mod transcode;
mod wait;
mod workload;

pub use rpcbench_reference::http2;

pub use behaviour::{Behaviour, BehaviourError, FORMS, Form};
pub use channel::{Channel, End};
pub use clock::{CpuTime, process_cpu};
pub use cost::work_without_rest;
pub use file_limit::raise_file_limit;
pub use plan::Plan;
pub use relay::{relay_in_pieces, relay_unix};
pub use server::{Ended, Server};
pub use skip::skip;
pub use tls::{Records, TlsFlaw, relay_tls, tls_config};
pub use wait::{GIVE_UP, wait_until};
pub use workload::workload;
