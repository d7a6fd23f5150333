//! Changes the rate of arrivals.

use rpcbench_record::{Arrivals, Rate};

/// The same arrival process at another rate. `None` for processes without a single rate: closed, ramp and steps.
pub fn at_rate(arrivals: Arrivals, rate: Rate) -> Option<Arrivals> {
    match arrivals {
        Arrivals::Constant { .. } => Some(Arrivals::Constant { rate }),
        Arrivals::Poisson { .. } => Some(Arrivals::Poisson { rate }),
        Arrivals::Closed | Arrivals::Ramp { .. } | Arrivals::Steps { .. } => None,
    }
}
