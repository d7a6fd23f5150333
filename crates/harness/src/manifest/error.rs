//! What can be wrong with a manifest, or with the naming of a server.

use std::path::PathBuf;

use rpcbench_record::Protocol;
use thiserror::Error;

use crate::config::{ConfigError, hint};

/// Why the manifests can't be used. Each message names the file, the key, the value and the remedy.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// A file that can't be read, or something in it that can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A folder whose name can't be part of a server's.
    #[error("{}: a folder of a server {rule}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What it must be called.
        rule: &'static str,
    },
    /// There is no server at all.
    #[error("{}: no servers found; a server is a folder <language>/<library> with a server.toml", path.display())]
    NoServers {
        /// The folder searched.
        path: PathBuf,
    },
    /// A pattern that selects nothing.
    #[error("no server matches '{pattern}'{}; `rpcbench list servers` shows all", any_of(similar))]
    NoMatch {
        /// As typed.
        pattern: String,
        /// Names that were perhaps meant, the closest first.
        similar: Vec<String>,
    },
    /// A language that no server is written in.
    #[error("no server is written in '{language}'{}; there are: {}", hint(suggestion.as_deref()), known.join(", "))]
    NoLanguage {
        /// As typed.
        language: String,
        /// The language that was perhaps meant.
        suggestion: Option<String>,
        /// Every language there is.
        known: Vec<String>,
    },
    /// Languages and protocols that no entry has.
    #[error(
        "no server{}{}; `rpcbench list --matrix` shows which there are",
        clause(" in ", languages),
        clause(" speaks ", protocols)
    )]
    NothingLeft {
        /// As typed; may be empty.
        protocols: Vec<Protocol>,
        /// As typed; may be empty.
        languages: Vec<String>,
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

/// ` (did you mean 'go-grpc' or 'go-gin'?)`, or nothing.
fn any_of(names: &[String]) -> String {
    hint((!names.is_empty()).then(|| names.join("' or '")).as_deref())
}

/// ` in go or java`; nothing where there are no names.
fn clause(begin: &str, names: &[impl ToString]) -> String {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!("{begin}{}", names.join(" or ")) }
}
