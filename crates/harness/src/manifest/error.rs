//! What can be wrong with a manifest, or with the naming of a server.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why the manifests can't be used. Each message names the file, the key, the value and the remedy.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// A file or folder that must be there can't be read.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not TOML.
    #[error("{}: not valid TOML: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and what, as the parser says it.
        message: String,
    },
    /// A key that means nothing here.
    #[error("{}: unknown key '{key}'{}; allowed here: {}", path.display(), hint(suggestion.as_deref()), allowed.join(", "))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key with the tables around it.
        key: String,
        /// The key that was perhaps meant.
        suggestion: Option<String>,
        /// Keys that may stand in this place.
        allowed: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("{}: '{key}' is {found}, but must be {expected}, such as {example}", path.display())]
    WrongType {
        /// The file.
        path: PathBuf,
        /// The key with the tables around it.
        key: String,
        /// What stands there: `the integer 5`.
        found: String,
        /// What must stand there: `a list of strings`.
        expected: &'static str,
        /// A line that would do.
        example: &'static str,
    },
    /// A value of the right type that can't be used.
    #[error("{}: '{key}' = '{value}': {problem}", path.display())]
    BadValue {
        /// The file.
        path: PathBuf,
        /// The key with the tables around it.
        key: String,
        /// What stands there.
        value: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A key that must be there is not.
    #[error("{}: '{key}' is missing; add a line such as {example}", path.display())]
    MissingKey {
        /// The file to which it belongs.
        path: PathBuf,
        /// The key with the tables around it.
        key: String,
        /// A line that would do.
        example: &'static str,
    },
    /// There is no server at all.
    #[error("{}: no servers found; a server is a folder <language>/<library> with a server.toml", path.display())]
    NoServers {
        /// The folder searched.
        path: PathBuf,
    },
    /// A pattern that selects nothing.
    #[error("no server matches '{pattern}'{}; there are: {}", hint(suggestion.as_deref()), known.join(", "))]
    NoMatch {
        /// As typed.
        pattern: String,
        /// The name that was perhaps meant.
        suggestion: Option<String>,
        /// Every entry there is.
        known: Vec<String>,
    },
    /// A pattern that is not a glob.
    #[error(
        "'{pattern}' is not a pattern: {message}; write a server's name, or a glob such as 'java-*' or 'java-grpc@*'"
    )]
    BadPattern {
        /// As typed.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

/// The candidate closest to `word`, if it is close enough to be what was meant.
pub(super) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    const LEAST: f64 = 0.8;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= LEAST)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}
