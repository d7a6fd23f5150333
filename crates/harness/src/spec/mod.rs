//! The keys of a suite and the options of the command line, which have the same names.
//!
//! Each key is one field of [`WorkloadSpec`], [`SuiteSpec`] or [`LimitsSpec`]. clap reads it from the command line,
//! serde from a file, both by the value's `FromStr`. Layers (defaults, then file, then command line) are merged field
//! by field; the result is checked and resolved once. Every value remembers where it was given, so that an error
//! names it.
//!
//! To add a key of a workload, add the field to [`rpcbench_record::Workload`], and here its field and its lines in `layered_on`
//! and `resolve` in `workload.rs`. Limits that concern several keys are in `resolve.rs`.

mod arrivals;
mod resolve;
mod suite;
mod values;
mod workload;

pub(crate) use arrivals::rate_shown;
pub use resolve::load_workloads;
pub(crate) use resolve::{CAPACITY, SpecSource, with_capacity};
pub use suite::{LimitsSpec, RunSpec, SuiteSpec};
pub use values::{ArrivalsValue, RateValue, WarmUpValue, WorkloadName};
pub use workload::{TlsOption, WarmUpOptions, WorkloadSpec};

pub use crate::config::{Calls, ConfigError, Count, Given, Length, Memory, NonZeroLength, Share};

/// The upper layer's value if given, otherwise the lower layer's.
fn or<T: Clone>(above: &Option<T>, below: &Option<T>) -> Option<T> {
    above.as_ref().or(below.as_ref()).cloned()
}
