//! What can be wrong with a configuration file.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Where something stands, or belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1. `None`: no line in particular.
    pub line: Option<usize>,
    /// The key with the tables around it: `toolchain[0].command`. Empty: the file as a whole.
    pub key: String,
}

/// File and line, as compilers write them.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// Why a configuration file can't be used. Each message names the file, the line, the key, the value and the remedy.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file or folder that must be there can't be read.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not TOML.
    #[error("{place}: not valid TOML: {message}")]
    Syntax {
        /// The line.
        place: Box<Place>,
        /// What is wrong, as the parser says it.
        message: String,
    },
    /// A key that means nothing here.
    #[error("{place}: unknown key '{}'{}; allowed here: {}", place.key, hint(suggestion.as_deref()), allowed.join(", "))]
    UnknownKey {
        /// The key.
        place: Box<Place>,
        /// The key that was perhaps meant.
        suggestion: Option<String>,
        /// Keys that may stand in this place.
        allowed: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("{place}: '{}' is {found}, but must be {expected}, such as {example}", place.key)]
    WrongType {
        /// The key.
        place: Box<Place>,
        /// What stands there: `the integer 5`.
        found: String,
        /// What must stand there: `a list of strings`.
        expected: String,
        /// A line that would do.
        example: &'static str,
    },
    /// A value of the right type that can't be used.
    #[error("{place}: {} = {value}: {problem}", place.key)]
    BadValue {
        /// The key.
        place: Box<Place>,
        /// The value as written.
        value: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A key that must be there is not.
    #[error("{place}: '{}' is missing; add a line such as {example}", place.key)]
    MissingKey {
        /// The table to which it belongs, and the key.
        place: Box<Place>,
        /// A line that would do.
        example: &'static str,
    },
}

/// ` (did you mean 'NAME'?)`, or nothing.
pub(crate) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

/// The candidate closest to `word`, if it is close enough to be what was meant.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    /// Similarity (Jaro-Winkler) from which a name may have been meant.
    const LEAST: f64 = 0.8;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= LEAST)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}
