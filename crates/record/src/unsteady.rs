//! Why a warm-up did not end steady, and its words.

use std::fmt;

use rpcbench_stats::Steadiness;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units;

/// Why a server was not steady when its warm-up ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Unsteady {
    /// It was still getting faster.
    Climbing {
        /// Change of calls per server CPU-second over the latest 5 s: 0.1 for 10 % more.
        change: f64,
    },
    /// It was getting slower.
    Falling {
        /// Change of calls per server CPU-second over the latest 5 s, negative.
        change: f64,
    },
    /// Compiler threads were still at work.
    Compiling {
        /// Their share of the server's CPU time.
        share: f64,
    },
    /// The warm-up was too short to tell.
    TooShort,
    /// The server answered nothing, or used no CPU time.
    Idle,
    /// Something else, in the words of an older record.
    Other {
        /// One line.
        words: String,
    },
}

impl Unsteady {
    /// What a warm-up looked like when it ended. `None` where it was steady.
    #[must_use]
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

    /// From the sentence that schema 1 stored. Rounded as it was written there.
    #[must_use]
    pub(crate) fn from_words(words: &str) -> Self {
        let between = |before: &str, after: &str| -> Option<f64> {
            let percent = words.strip_prefix(before)?.strip_suffix(after)?.parse::<f64>().ok()?;
            Some(percent / 100.0)
        };
        let rose = between("calls per CPU-second still rose by ", " % in 5 s");
        let fell = between("calls per CPU-second still fell by ", " % in 5 s");
        let compiled = between("compiler threads still took ", " % of its CPU time");
        match (rose, fell, compiled, words) {
            (Some(change), ..) => Self::Climbing { change },
            (_, Some(change), ..) => Self::Falling { change: -change },
            (_, _, Some(share), _) => Self::Compiling { share },
            (.., "the cap left no time to tell") => Self::TooShort,
            (.., "it answered next to nothing") => Self::Idle,
            _ => Self::Other { words: words.to_owned() },
        }
    }
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Climbing { change } => {
                write!(f, "calls per CPU-second still rose by {} in 5 s", units::percent(*change))
            }
            Self::Falling { change } => {
                write!(f, "calls per CPU-second still fell by {} in 5 s", units::percent(-*change))
            }
            Self::Compiling { share } => {
                write!(f, "compiler threads still took {} of its CPU time", units::percent(*share))
            }
            Self::TooShort => f.write_str("the cap left no time to tell"),
            Self::Idle => f.write_str("it answered next to nothing"),
            Self::Other { words } => f.write_str(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_schema_1_become_what_they_say() {
        for (words, expected) in [
            ("calls per CPU-second still rose by 12 % in 5 s", Unsteady::Climbing { change: 0.12 }),
            ("calls per CPU-second still fell by 30 % in 5 s", Unsteady::Falling { change: -0.3 }),
            (
                "compiler threads still took 25 % of its CPU time",
                Unsteady::Compiling { share: 0.25 },
            ),
            ("the cap left no time to tell", Unsteady::TooShort),
            ("it answered next to nothing", Unsteady::Idle),
            ("no reason", Unsteady::Other { words: "no reason".to_owned() }),
        ] {
            let read = Unsteady::from_words(words);
            assert_eq!((read.to_string().as_str(), &read), (words, &expected));
        }
    }
}
