//! The numbers behind every table: histograms, intervals, ranks, steadiness. No input or output, no
//! clock, no randomness: each function's result depends on its arguments alone.

#![forbid(unsafe_code)]

mod histogram;
mod interval;
mod law;
mod rank;
mod steady;
mod wire;

pub use histogram::Histogram;
pub use interval::{Interval, mean_interval};
pub use law::littles_law;
pub use rank::{Rank, ranks};
pub use steady::{Steadiness, SteadyRule, WarmSample, assess, change};
pub use wire::HistogramError;
