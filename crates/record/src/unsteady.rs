//! Why a server was not steady at the end of its warm-up.

use std::fmt;

use rpcbench_stats::Steadiness;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// Why a server was not steady at the end of its warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unsteady {
    /// The server was still getting faster.
    Climbing {
        /// Relative change in calls per server CPU-second over the last 3 s: 0.1 means 10 % more.
        change: f64,
    },
    /// The server was getting slower.
    Falling {
        /// Relative change in calls per server CPU-second over the last 3 s: -0.1 means 10 % fewer.
        change: f64,
    },
    /// Compiler threads of the server's runtime were still busy.
    Compiling {
        /// Share of the server's CPU time that these threads took, 0 to 1.
        share: f64,
    },
    /// The warm-up was too short to judge.
    TooShort,
    /// The server answered no calls or used no CPU time.
    Idle,
}

impl Unsteady {
    /// Converts the state at the end of the warm-up. `None` if the server was steady.
    pub fn of(steadiness: Steadiness) -> Option<Self> {
        match steadiness {
            Steadiness::Steady | Steadiness::Noisy { .. } => None,
            Steadiness::Climbing { change } => Some(Self::Climbing { change }),
            Steadiness::Falling { change } => Some(Self::Falling { change }),
            Steadiness::Compiling { share } => Some(Self::Compiling { share }),
            Steadiness::TooShort => Some(Self::TooShort),
            Steadiness::Idle => Some(Self::Idle),
        }
    }
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Climbing { change } => {
                write!(f, "calls per CPU-second still rose by {} in 3 s", units::percent(*change))
            }
            Self::Falling { change } => {
                write!(f, "calls per CPU-second still fell by {} in 3 s", units::percent(-*change))
            }
            Self::Compiling { share } => {
                write!(f, "compiler threads still took {} of its CPU time", units::percent(*share))
            }
            Self::TooShort => f.write_str("the cap left too little time to judge"),
            Self::Idle => f.write_str("it answered almost no calls"),
        }
    }
}
