//! The load engine.
//!
//! Thread per core: each load thread has its connections, its calls and its counters, and shares
//! nothing with the others while calls are in flight. A connection is a state machine without I/O
//! (`protocol`), a `driver` moves its bytes, and the worker between them decides which call is due
//! and with which outcome each one ended.

#![forbid(unsafe_code)]

mod address;
mod call;
mod call_counter;
mod client;
mod counted;
mod driver;
#[cfg(test)]
mod echo_payload;
mod failures;
pub mod file_limit;
mod gzip;
mod log;
mod measured;
mod nonce;
mod opening;
mod outcome;
mod pacing;
mod patch;
mod payload;
mod plan;
mod protocol;
mod recorder;
mod reference;
mod renewal;
mod session;
mod slot;
mod tally;
mod target;
mod thread;
mod tls;
mod worker;

pub use address::ServerAddress;
pub use call_counter::{CallCounter, EndedCall};
pub use client::{CallError, CallPosition, Client, Greeting, Transcript, greet};
pub use driver::source_addresses;
pub use failures::Failures;
pub use file_limit::FileLimit;
pub use gzip::{Gunzip, GzipError, gzip};
pub use log::{CallLog, Ended, LoggedCall, call_log};
pub use opening::OpeningTimes;
pub use pacing::Schedule;
pub use patch::{Patch, PatchSource};
pub use payload::{MAX_REPLY, Payload, ReplyCheck, SpotChecks};
pub use plan::{ConnectionOptions, LoadPlan, PlanError};
pub use protocol::Broken;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use protocol::fuzzing;
pub use protocol::http2::HpackError;
pub use reference::Reference;
pub use renewal::Renewal;
pub use session::{Measurement, Progress, Sample, Session, SessionError};
pub use tally::{Tally, WindowTally};
pub use target::{Scheme, Target};
pub use tls::{
    ClientIdentity, Cryptography, TlsClient, TlsError, TlsSettings, TlsSettingsError, TlsVersion,
    Trust,
};
