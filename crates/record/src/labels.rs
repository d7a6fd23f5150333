//! What a user calls a run.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::ParseError;

/// Name and tags that the user gave the run. They have no effect on the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Labels {
    /// Name of the run. Absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Tags of the run: keys and values. Absent if empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// A tag, written `KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag(pub String, pub String);

/// `nightly (branch=main, cluster=b)`. Empty without any.
impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tags: Vec<String> =
            self.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let tags = Some(tags.join(", ")).filter(|tags| !tags.is_empty());
        f.pad(&match (self.name.clone(), tags) {
            (Some(name), Some(tags)) => format!("{name} ({tags})"),
            (Some(text), None) | (None, Some(text)) => text,
            (None, None) => String::new(),
        })
    }
}

impl FromStr for Tag {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let tag = text.split_once('=').filter(|(key, _)| !key.trim().is_empty());
        let tag = tag.map(|(key, value)| Self(key.trim().to_owned(), value.trim().to_owned()));
        tag.ok_or_else(|| ParseError("write KEY=VALUE, such as branch=main".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_shown_in_one_phrase() {
        let tags = ["b=2", "a = 1"].map(|tag| tag.parse::<Tag>().unwrap());
        let tags = tags.into_iter().map(|Tag(key, value)| (key, value)).collect();
        let labels = Labels { name: Some("nightly".to_owned()), tags };
        assert_eq!(labels.to_string(), "nightly (a=1, b=2)");
        assert_eq!(Labels { name: None, ..labels }.to_string(), "a=1, b=2");
        assert!("=1".parse::<Tag>().is_err() && "a".parse::<Tag>().is_err());
    }
}
