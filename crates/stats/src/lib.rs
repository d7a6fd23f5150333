//! The statistics behind every table: histograms, intervals, comparisons, steadiness. No I/O, no clock, no randomness: results
//! depend on arguments alone.

#![forbid(unsafe_code)]

mod compare;
mod histogram;
mod interval;
mod law;
mod median;
mod steady;
mod studentized_range;
mod wire;

pub use compare::{
    Change, Changes, Comparison, Drift, Estimate, Finding, Observation, Pair, Question, Range,
    RankRange, Spread, analysis_level, between_runs, compare, drift,
};
pub use histogram::Histogram;
pub use interval::{Interval, mean_interval, mean_interval_at};
pub use law::littles_law;
pub use median::{DEVIATION_PER_MAD, median};
pub use steady::{Steadiness, SteadyRule, WarmSample, assess};
pub use studentized_range::studentized_range;
pub use wire::HistogramError;
