//! When calls come due, from the options that say so together: `--arrivals`, `--rate`, `--find-max`, `--sweep`.

use rpcbench_harness::search::Sweep;
use rpcbench_record::{Arrivals, Rate, Threshold};

use super::load::{LoadError, contradiction};
use super::values::ArrivalsArg;

/// Where a search begins.
const HALF: Rate = Rate::OfCapacity(50);

/// The options as typed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub arrivals: Option<ArrivalsArg>,
    pub rate: Option<Rate>,
    pub find_max: Option<Threshold>,
    pub sweep: Option<&'a Sweep>,
}

impl Asked<'_> {
    /// Whether any of them was given.
    pub fn is_any(&self) -> bool {
        self.arrivals.is_some() || self.rate.is_some() || self.first().is_some()
    }

    /// The arrival process that they mean together; of a sweep the first, of a search how it begins.
    ///
    /// # Errors
    /// If they contradict each other.
    pub fn arrivals(&self) -> Result<Arrivals, LoadError> {
        self.check()?;
        let several = self.first();
        match (self.arrivals, self.rate.or(several)) {
            (None, None) => Ok(Arrivals::Closed),
            (None, Some(rate)) if several.is_some() => Ok(Arrivals::Poisson { rate }),
            (None, Some(rate)) => Ok(Arrivals::Constant { rate }),
            (Some(ArrivalsArg::Kind(kind)), Some(rate)) => Ok(kind.at(rate)),
            (Some(ArrivalsArg::Kind(kind)), None) => Err(LoadError::Value {
                given: format!("--arrivals {kind}"),
                problem: format!("needs a rate: write --arrivals {kind}:RATE, or add --rate RATE"),
            }),
            (Some(ArrivalsArg::Whole(arrivals)), _) => self.whole(arrivals),
        }
    }

    /// The rate of the first load of several. `None`: there is one load.
    fn first(&self) -> Option<Rate> {
        let swept = self.sweep.and_then(|sweep| sweep.rates().first().copied());
        swept.or(self.find_max.map(|_| HALF))
    }

    fn check(&self) -> Result<(), LoadError> {
        match self.find_max {
            Some(limit) if !limit.bounds_load() => Err(LoadError::Value {
                given: format!("--find-max {limit}"),
                problem: "only a response time or errors below a limit have a highest rate, such as 'p99<10ms'"
                    .to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// An arrival process that leaves nothing open.
    fn whole(&self, arrivals: Arrivals) -> Result<Arrivals, LoadError> {
        let one_rate = matches!(arrivals, Arrivals::Constant { .. } | Arrivals::Poisson { .. });
        let (first, remedy) = match (self.rate, self.sweep, self.find_max) {
            (Some(rate), _, _) if arrivals == Arrivals::Closed => (
                format!("--rate {rate}"),
                "a closed loop has no rate of its own; leave one of them out",
            ),
            (Some(rate), _, _) => {
                (format!("--rate {rate}"), "it has its rate already; leave one of them out")
            }
            (None, Some(sweep), _) => (
                format!("--sweep {sweep}"),
                "a sweep sets the rates; write --arrivals poisson or --arrivals constant",
            ),
            (None, None, Some(limit)) if !one_rate => (
                format!("--find-max {limit}"),
                "a search needs one rate; write --arrivals poisson or --arrivals constant",
            ),
            _ => return Ok(arrivals),
        };
        Err(contradiction(first, format!("--arrivals {arrivals}"), remedy))
    }
}
