//! What can be wrong with a workload, a suite or the options that replace its values.

use std::path::PathBuf;

use rpcbench_record::Protocol;
use thiserror::Error;

use crate::config::{ConfigError, closest, hint};

/// Why nothing can be planned. Each message names the place, the value and the remedy.
#[derive(Debug, Error)]
pub enum SpecError {
    /// A file that can't be read, or something in it that can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A folder without suites.
    #[error("{}: no suites found; a suite is a file NAME.toml in this folder", folder.display())]
    None {
        /// The folder searched.
        folder: PathBuf,
    },
    /// No suite of that name.
    #[error("unknown suite '{name}'{}; expected one of {}, or a file such as mine.toml", hint(suggestion.as_deref()), known.join(", "))]
    Unknown {
        /// As typed.
        name: String,
        /// The closest name.
        suggestion: Option<String>,
        /// All suites.
        known: Vec<String>,
    },
    /// A value that can't be used.
    #[error("{given}: {problem}")]
    Value {
        /// As given: the line of a file, or option and value.
        given: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// Two values that exclude each other.
    #[error("{first} contradicts {second}: {remedy}")]
    Contradiction {
        /// As given.
        first: String,
        /// As given.
        second: String,
        /// Why, and what to change.
        remedy: &'static str,
    },
    /// No entry speaks a protocol of the suite.
    #[error(
        "the suite takes only {}, which none of these servers speaks; name others, or another --suite (see `rpcbench list --matrix`)",
        names(protocols)
    )]
    NoEntries {
        /// The suite's protocols.
        protocols: Vec<Protocol>,
    },
    /// More CPUs for a server than the machine has.
    #[error(
        "suite '{suite}' gives a server {wanted} CPUs, but this machine has {cpus}: add --scale-to-machine to give it {room} and keep the rest for the client; the record says so"
    )]
    TooFewCpus {
        /// The suite.
        suite: String,
        /// CPUs that the suite gives a server.
        wanted: u32,
        /// CPUs of this machine.
        cpus: u32,
        /// CPUs for a server after scaling.
        room: u32,
    },
    /// Two entries of one name.
    #[error("'{entry}' is entered twice under one name; give every entry a different name")]
    Twice {
        /// The name.
        entry: String,
    },
}

fn names(protocols: &[Protocol]) -> String {
    protocols.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

impl SpecError {
    pub(crate) fn value(given: String, problem: impl ToString) -> Self {
        Self::Value { given, problem: problem.to_string() }
    }

    /// Two values that exclude each other.
    #[must_use]
    pub fn contradiction(first: String, second: String, remedy: &'static str) -> Self {
        Self::Contradiction { first, second, remedy }
    }
}

/// The error for a name that no suite has.
pub(crate) fn unknown_suite<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> SpecError {
    let known: Vec<String> = known.map(str::to_owned).collect();
    let suggestion = closest(name, known.iter().map(String::as_str));
    SpecError::Unknown { name: name.to_owned(), suggestion, known }
}
