//! Errors about a key in a file, or an option that replaces it.

use std::fmt::Display;
use std::path::Path;

use thiserror::Error;

/// Why a file, an option or an argument can't be used: the location, the value and the remedy.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl ConfigError {
    /// `given`: the line of a file, or an option with its value. `problem`: what is wrong, and what to write instead.
    pub fn value(given: impl Display, problem: impl Display) -> Self {
        Self(format!("{given}: {problem}"))
    }

    /// The error for two values, as given, that exclude each other. `remedy`: why, and what to change.
    pub fn contradiction(first: String, second: String, remedy: &str) -> Self {
        Self(format!("{first} contradicts {second}: {remedy}"))
    }
}

/// The error for a file or folder that can't be read.
pub(crate) fn unreadable(path: &Path, error: std::io::Error) -> ConfigError {
    ConfigError::value(path.display(), format!("can't be read: {error}"))
}

/// ` (did you mean 'NAME'?)`, or empty without a suggestion.
pub(crate) fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

/// A hint with the candidate closest to `word`.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    hint(closest(word, candidates).as_deref())
}

/// The candidate closest to `word`, if `word` may be a typo of it.
pub(crate) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    near(word, candidates).into_iter().next()
}

/// The candidates that `word` may be a typo of, closest first.
pub(crate) fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    /// Minimum similarity of a typo.
    const MIN: f64 = 0.8;
    /// Maximum difference in similarity to the closest candidate.
    const ALSO: f64 = 0.05;
    let mut near: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (similarity(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity >= MIN)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = near.first().map_or(0.0, |(similarity, _)| *similarity);
    near.retain(|(similarity, _)| *similarity >= best - ALSO);
    near.into_iter().map(|(_, candidate)| candidate.to_owned()).collect()
}

/// Similarity of two names (Jaro-Winkler), 0..=1. The order of their words hardly matters: `grpc-go` is almost `go-grpc`.
fn similarity(one: &str, other: &str) -> f64 {
    /// Below 1, so that a candidate in the same order wins.
    const OTHER_ORDER: f64 = 0.99;
    let sorted = |name: &str| {
        let mut words: Vec<&str> = name.split(['-', '_']).collect();
        words.sort_unstable();
        words.join("-")
    };
    let reordered = strsim::jaro_winkler(&sorted(one), &sorted(other));
    strsim::jaro_winkler(one, other).max(OTHER_ORDER * reordered)
}
