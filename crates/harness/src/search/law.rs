//! Laws with another rate.

use rpcbench_record::{Law, Rate};

/// The same law at another rate. `None` for laws that have no one rate: closed, ramp and steps.
#[must_use]
pub fn at_rate(law: Law, rate: Rate) -> Option<Law> {
    match law {
        Law::Constant { .. } => Some(Law::Constant { rate }),
        Law::Poisson { .. } => Some(Law::Poisson { rate }),
        Law::Closed | Law::Ramp { .. } | Law::Steps { .. } => None,
    }
}
