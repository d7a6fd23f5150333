//! What can be wrong with a file.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a file can't be used. Each message names the file, the line, the key, the value and the remedy.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file or folder can't be read.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Something in a file can't be used.
    #[error("{place}: {problem}")]
    Invalid {
        /// File and line, and the line as written.
        place: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
}

/// ` (did you mean 'NAME'?)`, or nothing.
pub(crate) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

/// The candidate closest to `word`, if it is close enough to be a typo of it.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    /// Lowest similarity (Jaro-Winkler) of a typo.
    const LEAST: f64 = 0.8;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= LEAST)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}
