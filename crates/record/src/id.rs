//! The identifier of a run.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

/// Identifies a run, for example where rows of several runs are joined. A UUID of version 7 (RFC 9562): ids sort by the start of
/// the run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(with = "Uuid")]
pub struct RunId(Uuid);

impl RunId {
    /// The id of a run that began at `started`. The random bits are taken from the blake3 hash of `content`.
    pub fn derive(started: Timestamp, content: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&started.as_nanosecond().to_le_bytes());
        hasher.update(content);
        let mut bits = [0; 10];
        hasher.finalize_xof().fill(&mut bits);
        let milliseconds = u64::try_from(started.as_millisecond()).unwrap_or_default();
        Self(Builder::from_unix_timestamp_millis(milliseconds, &bits).into_uuid())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RunId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_id_depends_on_run() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let noon = at("2026-03-01T12:00:00Z");
        let id = RunId::derive(noon, b"one");
        assert_eq!(id, RunId::derive(noon, b"one"));
        assert_ne!(id, RunId::derive(noon, b"two"));
        assert_ne!(id, RunId::derive(at("2026-03-01T12:00:00.000000001Z"), b"one"));
        assert!(id < RunId::derive(at("2026-03-01T12:00:00.001Z"), b"one"));
        assert_eq!((id.0.get_version_num(), id.0.get_variant()), (7, uuid::Variant::RFC4122));
        assert_eq!(id.to_string().parse(), Ok(id));
    }
}
