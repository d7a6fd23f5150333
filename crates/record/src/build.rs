//! The builds of a server that a run compares.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of two compared builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// Which of the two builds it is.
    pub age: Age,
    /// Folder that the build was made from, or the revision as typed.
    pub origin: String,
    /// Commit of the revision, hex. `null` for a folder.
    pub commit: Option<String>,
}

/// Which of two builds: the baseline or the new one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Age {
    /// The baseline.
    Old,
    /// The build compared with the baseline.
    New,
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Old => "old",
            Self::New => "new",
        })
    }
}

impl fmt::Display for Build {
    /// `main (4f2a9c1)`, or the folder.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = self.commit.as_deref().map(|commit| commit.get(..7).unwrap_or(commit));
        match commit.filter(|commit| !self.origin.starts_with(commit)) {
            Some(commit) => write!(f, "{} ({commit})", self.origin),
            None => f.write_str(&self.origin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(origin: &str, commit: Option<&str>) -> String {
        let (origin, commit) = (origin.to_owned(), commit.map(str::to_owned));
        Build { age: Age::Old, origin, commit }.to_string()
    }

    #[test]
    fn revision_shows_commit_unless_it_is_one() {
        let commit = Some("4f2a9c1d00aa");
        assert_eq!(shown("main", commit), "main (4f2a9c1)");
        assert_eq!(shown("4f2a9c1d0", commit), "4f2a9c1d0");
        assert_eq!(shown("/home/me/next", None), "/home/me/next");
    }
}
