//! Whether a server was still warming up while it was measured.

use std::fmt;

use rpcbench_record::{Measured, Preparation, ServerUsage, Trial, Unsteady, WarmUp};

use crate::format;

/// Growth of calls per server CPU-second from the first trial to the last above which a kept
/// process was not warm. A steady server repeats this figure within a few percent; a JIT caught
/// half-way grows by tens.
pub const CLIMB: f64 = 0.10;

/// Share of the server's CPU time that its runtime's compiler threads may use within a window.
/// Twice what a steady JVM spends on the occasional recompilation.
pub const COMPILER_SHARE: f64 = 0.05;

/// Why a server was still warming.
#[derive(Clone, Debug, PartialEq)]
pub enum Warming {
    /// The warm-up ended at its cap, or the server stopped settling before.
    NotSteady {
        /// What the warm-up saw last. `None` where the record does not say.
        why: Option<Unsteady>,
    },
    /// Calls per server CPU-second grew over the trials of one process.
    Climbing {
        /// Relative growth from the first trial to the last.
        change: f64,
    },
    /// Compiler threads were busy within a window.
    Compiling {
        /// Largest share of the server's CPU time.
        share: f64,
    },
}

impl fmt::Display for Warming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSteady { why: Some(why) } => {
                write!(f, "not steady when its warm-up ended: {why}")
            }
            Self::NotSteady { why: None } => f.write_str("not steady when its warm-up ended"),
            Self::Climbing { change } => write!(
                f,
                "calls per server CPU-second grew by {} from the first trial to the last",
                format::percent(*change)
            ),
            Self::Compiling { share } => write!(
                f,
                "compiler threads used {} of the server's CPU time while it was measured",
                format::percent(*share)
            ),
        }
    }
}

/// The first reason for which a cell was still warming.
#[must_use]
pub fn warming(
    warm_up: WarmUp,
    preparations: &[&Preparation],
    trials: &[(&Trial, &Measured)],
) -> Option<Warming> {
    unsteady(warm_up, preparations)
        .or_else(|| trials.iter().filter_map(|(_, t)| t.server.as_ref()).find_map(compiling))
        .or_else(|| {
            let processes = trials.chunk_by(|(a, _), (b, _)| a.process == b.process);
            let efficiencies =
                |of: &[(_, &Measured)]| of.iter().map(|(_, t)| t.ok_per_server_cpu_s()).collect();
            processes.map(efficiencies).find_map(|own: Vec<_>| climbing(&own))
        })
}

/// The first preparation that did not end steady: all that can be told of windows below capacity, where CPU time
/// for each call depends on the load.
pub(crate) fn unsteady(warm_up: WarmUp, preparations: &[&Preparation]) -> Option<Warming> {
    preparations.iter().find_map(|p| not_steady(warm_up, p))
}

fn not_steady(warm_up: WarmUp, preparation: &Preparation) -> Option<Warming> {
    let WarmUp::UntilSteady { .. } = warm_up else { return None };
    let curve = preparation.warm.as_ref()?;
    match curve.steady_after_ms {
        Some(_) => None,
        None => Some(Warming::NotSteady { why: curve.unsteady.clone() }),
    }
}

fn compiling(server: &ServerUsage) -> Option<Warming> {
    let total = server.cpu_user_ns + server.cpu_system_ns;
    let share = if total == 0 { 0.0 } else { server.compiler_cpu_ns as f64 / total as f64 };
    (share > COMPILER_SHARE).then_some(Warming::Compiling { share })
}

fn climbing(efficiencies: &[Option<f64>]) -> Option<Warming> {
    let (first, last) = (efficiencies.first().copied()??, efficiencies.last().copied()??);
    let change = last / first - 1.0;
    (change > CLIMB).then_some(Warming::Climbing { change })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_of_a_tenth_is_the_edge() {
        assert_eq!(climbing(&[Some(100.0), Some(109.9)]), None);
        assert!(matches!(
            climbing(&[Some(100.0), Some(90.0), Some(110.2)]),
            Some(Warming::Climbing { change }) if (change - 0.102).abs() < 1e-9
        ));
    }

    #[test]
    fn falling_or_unknown_is_not_climbing() {
        assert_eq!(climbing(&[Some(100.0), Some(50.0)]), None);
        assert_eq!(climbing(&[None, Some(50.0)]), None);
        assert_eq!(climbing(&[Some(100.0)]), None);
        assert_eq!(climbing(&[]), None);
    }

    #[test]
    fn a_twentieth_of_the_cpu_time_is_the_edge_for_compilers() {
        let usage = |compiler_cpu_ns| ServerUsage {
            cpu_user_ns: 800,
            cpu_system_ns: 200,
            compiler_cpu_ns,
            ..ServerUsage::default()
        };
        assert_eq!(compiling(&usage(50)), None);
        assert_eq!(compiling(&usage(51)), Some(Warming::Compiling { share: 0.051 }));
        assert_eq!(compiling(&ServerUsage::default()), None);
    }
}
