//! The record of a run: everything that was planned, found and measured, typed and versioned.
//!
//! A record is a folder. `run.json` holds the plan and the machine and is written before anything is
//! measured; `events.jsonl` grows by one line whenever a server is prepared or a trial ends, so that a
//! run that dies loses nothing that was measured. Every view is a pure function of a [`Run`].

mod arrivals;
mod build;
mod connection_life;
mod connections;
mod id;
mod machine;
mod observations;
mod outcome;
mod pace;
mod plan;
mod preparation;
mod printable;
mod protocol;
mod run;
mod runtime;
pub mod schema;
mod search;
mod store;
mod threshold;
mod trial;
pub mod units;
mod unsteady;
mod upgrade;

pub use arrivals::{Arrivals, ArrivalsError, PerSecond, Rate};
pub use build::{Age, Build};
pub use connection_life::{ConnectionLife, ConnectionLifeError};
pub use connections::Connections;
pub use id::RunId;
pub use machine::{Cpu, Machine, Machines, ServerMachine, Toolchain};
pub use observations::{Look, RankedBy, observations, observe};
pub use outcome::OutcomeKind;
pub use pace::SATURATED;
pub use plan::{
    Limits, MOST_SEED, PlacementKind, Plan, PlannedServer, PlannedTrial, Published, Stopping,
    WarmUp, Window, Workload,
};
pub use preparation::{
    CheckResult, Isolation, IsolationMode, Preparation, Readiness, WarmCurve, WarmSlice,
};
pub use printable::{is_printable, printable};
pub use protocol::{Protocol, ProtocolSpec, Transport, UnknownProtocol};
pub use run::{Header, Run, Tool};
pub use runtime::{Pauses, RuntimeStatistics};
pub use search::{NotMet, Search, SearchStep, StepVerdict};
pub use store::{Event, StoreError, Writer, read};
pub use threshold::{Comparison, Figure, Threshold, ThresholdError};
pub use trial::{
    ClientUsage, Failure, Latency, MachineUsage, Measured, Outcomes, Pacing, ReferenceUsage,
    ServerUsage, Slice, Trial, TrialResult, Unmeasured,
};

pub use unsteady::Unsteady;

/// Version of the record's shape. What is older is read and brought to it; what is newer is refused.
pub const SCHEMA: u32 = 2;
