//! The record of a run: everything that was planned, found and measured, typed and versioned.
//!
//! A record is a folder. `run.json` holds the plan and the machine and is written before anything is
//! measured; `events.jsonl` grows by one line whenever a server is prepared or a trial ends, so that a
//! run that dies loses nothing that was measured. Every view is a pure function of a [`Run`].

mod machine;
mod plan;
mod preparation;
mod run;
mod status;
mod store;
mod trial;

pub use machine::{Cpu, Machine, Toolchain};
pub use plan::{
    Fresh, Law, Limits, Plan, PlannedServer, PlannedTrial, Protocol, WarmUp, Window, Workload,
};
pub use preparation::{
    CheckResult, Isolation, IsolationMode, Preparation, Readiness, WarmCurve, WarmSlice,
};
pub use run::{Header, Run, Tool};
pub use status::status_name;
pub use store::{Event, StoreError, Writer, read};
pub use trial::{
    ClientUsage, Failure, Latency, MachineUsage, Measured, Outcomes, ServerUsage, Slice, Trial,
    TrialResult,
};

/// Version of the record's shape. Readers refuse any other.
pub const SCHEMA: u32 = 1;
