//! Arrivals, resolved from the keys that define them together: `arrivals`, `rate`, `sweep`, `find_max`.

use rpcbench_record::{Arrivals, Rate, Threshold, Workload};

use super::resolve::SpecSource;
use super::values::ArrivalsValue;
use super::workload::WorkloadSpec;
use crate::config::{ConfigError, Given};
use crate::search::{Sweep, UNBOUNDED};

/// First rate of a search. Most servers meet the threshold there, and the limit is only a few steps away.
const HALF: Rate = Rate::OfCapacity(50);

/// A single load, or the loads of a sweep or a search.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// Those of the first load of a sweep or search.
    pub arrivals: Arrivals,
    pub find_max: Option<Threshold>,
    sweep: Option<Sweep>,
}

impl Loads {
    pub fn of(spec: &WorkloadSpec, setting: SpecSource<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            arrivals: arrivals(spec, setting)?,
            find_max: spec.find_max.as_ref().map(|given| given.value),
            sweep: spec.sweep.as_ref().map(|given| given.value.clone()),
        })
    }

    /// The workload itself, or one workload for each rate of the sweep.
    pub fn each(&self, load: Workload) -> Vec<Workload> {
        let Some(sweep) = &self.sweep else { return vec![load] };
        let at = |rate: &Rate| {
            let name = format!("{}-{}", load.name, rate.to_string().trim_end_matches('%'));
            Some(Workload { name, arrivals: self.arrivals.at_rate(*rate)?, ..load.clone() })
        };
        sweep.rates().iter().filter_map(at).collect()
    }
}

/// The key that sets the rate, as given. `None` in a closed loop.
pub(crate) fn rate_shown(spec: &WorkloadSpec, setting: SpecSource<'_>) -> Option<String> {
    let sweep = spec.sweep.as_ref().map(|given| setting.shown(given));
    let rate = || spec.rate.as_ref().map(|given| setting.shown(given));
    let whole = |given: &&Given<_>| matches!(given.value, ArrivalsValue::Whole(_));
    let arrivals = || spec.arrivals.as_ref().filter(whole).map(|given| setting.shown(given));
    let find_max = || spec.find_max.as_ref().map(|given| setting.shown(given));
    sweep.or_else(rate).or_else(arrivals).or_else(find_max)
}

fn arrivals(spec: &WorkloadSpec, setting: SpecSource<'_>) -> Result<Arrivals, ConfigError> {
    if let Some(limit) = spec.find_max.as_ref().filter(|limit| !limit.value.bounds_load()) {
        return Err(ConfigError::value(setting.shown(limit), UNBOUNDED));
    }
    if let (Some(sweep), Some(find_max)) = (&spec.sweep, &spec.find_max) {
        let remedy = "a workload has one of them; make it two workloads";
        return Err(setting.contradiction(sweep, find_max, remedy));
    }
    if let (Some(rate), Some(sweep)) = (&spec.rate, &spec.sweep) {
        let remedy = "a sweep sets the rates; leave one of them out";
        return Err(setting.contradiction(rate, sweep, remedy));
    }
    let swept = spec.sweep.as_ref().and_then(|sweep| sweep.value.rates().first().copied());
    let several = swept.or(spec.find_max.as_ref().map(|_| HALF));
    let rate = spec.rate.as_ref().map(|rate| rate.value.0).or(several);
    match (&spec.arrivals, rate) {
        (None, None) => Ok(Arrivals::Closed),
        (None, Some(rate)) if several.is_some() => Ok(Arrivals::Poisson { rate }),
        (None, Some(rate)) => Ok(Arrivals::Constant { rate }),
        (Some(given), rate) => match (given.value, rate) {
            (ArrivalsValue::Whole(arrivals), _) => {
                check_whole(spec, setting, arrivals, setting.shown(given))
            }
            (ArrivalsValue::Constant, Some(rate)) => Ok(Arrivals::Constant { rate }),
            (ArrivalsValue::Poisson, Some(rate)) => Ok(Arrivals::Poisson { rate }),
            (ArrivalsValue::Constant | ArrivalsValue::Poisson, None) => {
                let problem = "needs a rate: write it behind a colon, as in poisson:5k or poisson:40%, or give a rate too";
                Err(ConfigError::value(setting.shown(given), problem))
            }
        },
    }
}

/// Refuses a second rate if the arrivals already have one or can't have one.
fn check_whole(
    spec: &WorkloadSpec,
    setting: SpecSource<'_>,
    arrivals: Arrivals,
    shown: String,
) -> Result<Arrivals, ConfigError> {
    let (first, remedy) = match (&spec.rate, &spec.sweep, &spec.find_max) {
        (Some(rate), _, _) if arrivals == Arrivals::Closed => {
            (setting.shown(rate), "a closed loop has no rate; leave one of them out")
        }
        (Some(rate), _, _) => {
            (setting.shown(rate), "the arrivals have a rate already; leave one of them out")
        }
        (None, Some(sweep), _) => (
            setting.shown(sweep),
            "a sweep sets the rates; give poisson or constant arrivals without a rate",
        ),
        (None, None, Some(limit)) if arrivals.rate().is_none() => {
            (setting.shown(limit), "a search needs one rate; give poisson or constant arrivals")
        }
        _ => return Ok(arrivals),
    };
    Err(ConfigError::contradiction(first, shown, remedy))
}
