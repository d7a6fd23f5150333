//! What can be wrong with a file, or with an option in its place.

use std::fmt::Display;
use std::path::Path;

use thiserror::Error;

/// Why a file, or an option in place of its values, can't be used: the place, the value and the remedy.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl ConfigError {
    /// `given`: the line of a file, or option and value. `problem`: what is wrong, and what to write instead.
    pub(crate) fn value(given: impl Display, problem: impl Display) -> Self {
        Self(format!("{given}: {problem}"))
    }

    /// Two values, as given, that exclude each other. `remedy`: why, and what to change.
    pub fn contradiction(first: String, second: String, remedy: &str) -> Self {
        Self(format!("{first} contradicts {second}: {remedy}"))
    }
}

/// The error for a file or folder that can't be read.
pub(crate) fn unreadable(path: &Path, error: std::io::Error) -> ConfigError {
    ConfigError::value(path.display(), format!("can't be read: {error}"))
}

/// ` (did you mean 'NAME'?)`, or nothing.
pub(crate) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

/// The hint at the candidate closest to `word`.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    hint(closest(word, candidates).as_deref())
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
