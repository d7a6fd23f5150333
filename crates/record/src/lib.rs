//! The record of a run: its plan, its machines and everything measured, typed and versioned.
//!
//! A record is a folder. `run.json` has the plan and the machines and is written before anything is measured.
//! `events.jsonl` gets a line when a server is prepared and when a trial ends, so a crash loses no finished
//! measurement. Every view is a pure function of a [`Run`].

/// Lets serde write a type as the text that it is displayed as and parsed from.
macro_rules! serialize_as_text {
    ($type:ty) => {
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = <$type as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    };
}

/// For `skip_serializing_if`: true for a value that readers of a record assume if it is absent.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

mod arrivals;
mod build;
mod call_header;
mod conceal;
mod concurrency;
mod connection_life;
mod connections;
mod content;
mod disturbance;
mod failures;
mod id;
mod interim_analysis;
mod keepalive;
mod labels;
mod machine;
mod observations;
mod opening;
mod outcome;
mod pace;
mod parallel;
mod plan;
mod preparation;
mod price;
mod printable;
mod protocol;
pub mod regular;
mod role;
mod run;
mod runtime;
pub mod schema;
mod search;
mod slicing;
mod store;
mod threshold;
mod tls;
mod trial;
pub mod units;
mod unsteady;
mod usage;
mod workload;

pub use arrivals::{Arrivals, PerSecond, Rate};
pub use build::{Age, Build};
pub use call_header::{CallHeader, REDACTED};
pub use conceal::{LaterSecrets, Secrets};
pub use concurrency::{Concurrency, Contradiction};
pub use connection_life::ConnectionLife;
pub use connections::Connections;
pub use content::{Content, DescribedCall};
pub use disturbance::Disturbance;
pub use failures::{Checks, FailedCall, FailureKind};
pub use id::RunId;
pub use interim_analysis::InterimAnalysis;
pub use keepalive::KeepAlive;
pub use labels::{Labels, Tag};
pub use machine::{Cpu, Machine, Machines, ServerMachine, Toolchain};
pub use observations::{RankedBy, observations, observe};
pub use opening::Opening;
pub use outcome::{CallError, OutcomeKind};
pub use pace::SATURATED;
pub use parallel::in_parallel;
pub use plan::{
    Limits, LoadGeneratorKind, MAX_SEED, PlacementKind, Plan, PlannedServer, PlannedTrial,
    Published, Stopping,
};
pub use preparation::{
    CheckResult, Counterpart, Isolation, IsolationMode, Preparation, Readiness, UnseenPair,
    WarmCurve, WarmSlice,
};
pub use price::Price;
pub use printable::{is_printable, printable};
pub use protocol::{ContractProtocol, Protocol, ProtocolSpec, Transport};
pub use role::Role;
pub use run::{Header, Run, Tool};
pub use runtime::{Pauses, RuntimeStatistics};
pub use search::{NotMet, Search, SearchStep, StepVerdict};
pub use slicing::Slicing;
pub use store::{Event, StoreError, Writer, read, started};
pub use threshold::{Comparison, Figure, Threshold};
pub use tls::{Tls, TlsMode};
pub use trial::{
    AddressFigures, Failure, Latency, Measured, Outcomes, Pacing, Slice, Trial, TrialResult,
    Unmeasured,
};
pub use units::ParseError;
pub use unsteady::Unsteady;
pub use usage::{ClientUsage, MachineUsage, ReferenceUsage, ServerUsage};
pub use workload::{Authority, WarmUp, Window, Workload};

/// Version of the record's shape. Records of any other version are refused.
pub const SCHEMA: u32 = 1;
