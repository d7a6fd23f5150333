//! How long connections live.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::ParseError;

/// Calls that a connection carries before the client closes it: `long` (all calls), `short` (one) or `calls:100`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub enum ConnectionLife {
    /// All calls: the connection closes at the end of the load.
    #[default]
    Long,
    /// This many calls. One is written `short`.
    Calls(NonZeroU32),
}

impl ConnectionLife {
    /// One call on each connection.
    pub const SHORT: Self = Self::Calls(NonZeroU32::MIN);

    /// True if connections stay open until the end of the load.
    pub fn is_long(&self) -> bool {
        *self == Self::Long
    }

    /// Calls per connection. `None` without a limit.
    pub fn calls(self) -> Option<u32> {
        match self {
            Self::Long => None,
            Self::Calls(calls) => Some(calls.get()),
        }
    }
}

impl fmt::Display for ConnectionLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Long => f.pad("long"),
            Self::SHORT => f.pad("short"),
            Self::Calls(calls) => f.pad(&format!("calls:{calls}")),
        }
    }
}

impl FromStr for ConnectionLife {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let calls = || text.strip_prefix("calls:")?.parse().ok().map(Self::Calls);
        match text {
            "long" => Ok(Self::Long),
            "short" => Ok(Self::SHORT),
            _ => calls().ok_or_else(|| {
                ParseError(format!(
                    "'{text}' is not a connection life; expected long (a connection carries all calls), short (one \
                     call each) or calls:N (N calls each)"
                ))
            }),
        }
    }
}

serialize_as_text!(ConnectionLife);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_life_round_trips_and_rejects_other_text() {
        for text in ["long", "short", "calls:2", "calls:4294967295"] {
            let life: ConnectionLife = text.parse().unwrap();
            assert_eq!(life.to_string(), text);
        }
        assert_eq!("calls:1".parse(), Ok(ConnectionLife::SHORT));
        for text in ["", "100", "calls:0", "calls:-1", "calls:4294967296", "Short"] {
            let error = text.parse::<ConnectionLife>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("'{text}' is not a connection life; expected long")),
                "{error}"
            );
        }
    }
}
