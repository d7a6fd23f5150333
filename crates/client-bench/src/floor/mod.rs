//! The floor: a client that only writes and reads the bytes of calls, and parses nothing.
//!
//! It makes the same system calls as the engine's epoll driver: for each connection one read and one write a
//! turn. Requests are bytes made beforehand, in which the call's number is patched where its protocol has one.
//! Replies are counted by their number of bytes; it works against a server whose replies all have one size, such
//! as the testkit's null servers. Nothing is decoded, compared or timed, so no client that does can be cheaper.

mod error;
mod opening;
mod peer;
mod replies;
mod requests;
mod run;
mod wire;

pub use error::FloorError;
pub use run::Floor;
