//! A list of loads.

use std::fmt;
use std::str::FromStr;

use rpcbench_record::{PerSecond, Rate};

/// Maximum loads of a sweep.
const MAX_LOADS: u64 = 200;
/// Default step of shares of the capacity, percent.
const STEP: u32 = 10;

/// Evenly spaced loads from lowest to highest: `10%..90%` (in steps of 10 %), `10%..90%+5%`, `1k..10k+1k`. The last may be below
/// TO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    text: String,
    rates: Vec<Rate>,
}

impl Sweep {
    /// The loads, in order; at least one.
    pub fn rates(&self) -> &[Rate] {
        &self.rates
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || {
            format!(
                "invalid sweep '{text}'; write FROM..TO or FROM..TO+STEP, such as '10%..90%' of the measured capacity or '1k..10k+1k' calls a second"
            )
        };
        let mixed = || {
            format!(
                "'{text}' mixes shares of capacity and calls a second; write all of it in one of them"
            )
        };
        let rate = |part: &str| part.trim().parse::<Rate>().map_err(|_| form());
        let (from, rest) = text.split_once("..").ok_or_else(form)?;
        let (to, step) = match rest.split_once('+') {
            Some((to, step)) => (to, Some(rate(step)?)),
            None => (rest, None),
        };
        let (parts, make): Parts = match (rate(from)?, rate(to)?, step) {
            (Rate::OfCapacity(from), Rate::OfCapacity(to), None) => {
                ([from, to, STEP].map(u64::from), share)
            }
            (Rate::OfCapacity(from), Rate::OfCapacity(to), Some(Rate::OfCapacity(step))) => {
                ([from, to, step].map(u64::from), share)
            }
            (Rate::PerSecond(from), Rate::PerSecond(to), Some(Rate::PerSecond(step))) => {
                ([from, to, step].map(PerSecond::thousandths), absolute)
            }
            (Rate::PerSecond(_), Rate::PerSecond(_), None) => {
                return Err(format!(
                    "'{text}' has no step; write FROM..TO+STEP, such as '1k..10k+1k'"
                ));
            }
            _ => return Err(mixed()),
        };
        let [from, to, step] = parts;
        let loads = if to < from { 0 } else { (to - from) / step + 1 };
        if !(1..=MAX_LOADS).contains(&loads) {
            return Err(format!("'{text}' makes {loads} loads; expected 1 to {MAX_LOADS}"));
        }
        let rates = (0..loads).filter_map(|n| make(from + n * step)).collect();
        Ok(Self { text: text.to_owned(), rates })
    }
}

/// From, to and step, in percent or in thousandths of a call per second, and their conversion to a rate.
type Parts = ([u64; 3], fn(u64) -> Option<Rate>);

fn share(percent: u64) -> Option<Rate> {
    u32::try_from(percent).ok().map(Rate::OfCapacity)
}

fn absolute(thousandths: u64) -> Option<Rate> {
    PerSecond::new(thousandths as f64 / 1e3).map(Rate::PerSecond)
}
