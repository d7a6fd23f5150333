//! What can be wrong with a suite, or with values put in place of its own.

use std::path::PathBuf;

use rpcbench_record::Protocol;
use thiserror::Error;

use crate::config::{ConfigError, closest, hint};

/// Why a suite can't be used. Each message names the place, the key, the value and the remedy.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// A file that can't be read, or something in it that can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no suite at all.
    #[error("{}: no suites found; a suite is a file NAME.toml in this folder", folder.display())]
    None {
        /// The folder searched.
        folder: PathBuf,
    },
    /// No suite of that name.
    #[error("there is no suite '{name}'{}; there are: {}; a file of your own ends in .toml", hint(suggestion.as_deref()), known.join(", "))]
    Unknown {
        /// As typed.
        name: String,
        /// The name that was perhaps meant.
        suggestion: Option<String>,
        /// Every suite there is.
        known: Vec<String>,
    },
    /// A value that can't be used.
    #[error("{given}: {problem}")]
    Value {
        /// File, key and value, or option and value.
        given: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Two values that can't both be.
    #[error("{first} contradicts {second}: {remedy}")]
    Contradiction {
        /// Place and value.
        first: String,
        /// Place and value.
        second: String,
        /// Why, and what to change.
        remedy: &'static str,
    },
    /// No entry speaks a protocol that is wanted.
    #[error(
        "none of these servers speaks {}, and the suite takes nothing else; name others, or another --suite (`rpcbench list --matrix` shows what there is)",
        names(protocols)
    )]
    NoEntries {
        /// The protocols that the suite takes.
        protocols: Vec<Protocol>,
    },
    /// A server is to have more CPUs than there are.
    #[error(
        "suite '{suite}' gives a server {wanted} CPUs, and there are {cpus}: add --scale-to-machine to give it {room}, which leaves the client its own and marks the record"
    )]
    TooFewCpus {
        /// The suite.
        suite: String,
        /// CPUs that a server is to have.
        wanted: u32,
        /// CPUs of this machine.
        cpus: u32,
        /// What a server would get.
        room: u32,
    },
    /// Two entries of one name.
    #[error(
        "'{entry}' is entered twice under one name; every entry of a plan needs a name of its own"
    )]
    Twice {
        /// The name.
        entry: String,
    },
}

fn names(protocols: &[Protocol]) -> String {
    protocols.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// The error for a name that no suite has.
pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> SuiteError {
    let known: Vec<String> = known.map(str::to_owned).collect();
    let suggestion = closest(name, known.iter().map(String::as_str));
    SuiteError::Unknown { name: name.to_owned(), suggestion, known }
}
