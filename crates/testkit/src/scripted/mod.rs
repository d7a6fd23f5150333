//! A peer that follows a script of raw bytes, HTTP/2 or HTTP/1.1, for tests of a client's wire behaviour.
//!
//! A script is a closure over a [`Wire`] that expects frames and sends frames step by step. The first step that fails ends it,
//! and [`ScriptedPeer::finish`] returns why.
//!
//! ```no_run
//! use rpcbench_testkit::scripted::{Frame, ScriptedPeer};
//!
//! let peer = ScriptedPeer::start(|wire| {
//!     wire.handshake(&[])?;
//!     wire.send(&Frame::ping(*b"are you?"))?;
//!     wire.skip_until("the PING's answer", |frame| *frame == Frame::pong(*b"are you?"))?;
//!     wire.close()
//! })?;
//! peer.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod grpc;
mod http1;
mod peer;
mod wire;

pub use crate::http2::{Frame, FrameType, flag, hpack, setting};
pub use grpc::{Request, Requests};
pub use http1::HttpRequest;
pub use peer::{Listener, ScriptedPeer};
pub use wire::{ScriptError, Wire};
