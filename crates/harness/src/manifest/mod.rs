//! Servers under test, as their manifests describe them.
//!
//! Three layers, each overriding the one before it key by key: `servers/_defaults.toml`,
//! `servers/<language>/_language.toml`, `servers/<language>/<library>/server.toml`. Lists are replaced,
//! `run.env` is merged. Unknown keys are refused. `servers/_missing.toml` says which servers there can't be, and why.

mod catalog;
mod entry;
mod error;
mod layers;
mod matrix;
mod names;
mod resolve;
mod select;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::civil::Date;
use regex::Regex;
use rpcbench_record::Protocol;

pub use catalog::{Broken, Catalog};
pub use entry::{Address, Entry};
pub use error::ManifestError;
pub use matrix::{Matrix, MatrixCell, MatrixRow};
pub(crate) use names::is_name;
pub use select::Selection;
pub use tree::{Tree, TreeError};

/// One implementation under test, all layers merged.
#[derive(Clone, Debug)]
pub struct Server {
    /// `<language>-<library folder>`: `go-grpc`.
    pub name: String,
    /// Name of the language's folder: `go`.
    pub language: String,
    /// The language as people write it: `Go`.
    pub language_title: String,
    /// What readers know it by: `grpc-go`.
    pub library: String,
    /// How calls can travel to it; at least one.
    pub protocols: Vec<Protocol>,
    /// Folder of its sources, absolute.
    pub folder: PathBuf,
    /// Folder for everything that its build makes, absolute; it may not exist yet.
    pub build_folder: PathBuf,
    /// The folder `contract/`, absolute.
    pub contract: PathBuf,
    /// `_language.toml` and `server.toml`.
    pub manifests: Vec<PathBuf>,
    /// What must be installed to build and run it.
    pub toolchains: Vec<ToolchainSpec>,
    /// How it is built.
    pub build: BuildSpec,
    /// What is known of its runtime.
    pub runtime: Runtime,
    /// Command line, placeholders not yet expanded.
    pub command: Vec<String>,
    /// Environment on top of the process contract.
    pub env: BTreeMap<String, String>,
    /// Variants by name; empty where it has none.
    pub variants: BTreeMap<String, Variant>,
    /// Whether it is an entry without a variant, beside those that it has.
    pub plain: bool,
    /// Whether it stands for its language, without a variant, where nobody says which servers are meant. Variants say so
    /// themselves.
    pub representative: bool,
    /// The lock file, absolute.
    pub lock: PathBuf,
    /// Library names and the patterns whose group 1 is their version in the lock file.
    pub versions: Vec<(String, Regex)>,
    /// From start to the first right answer.
    pub ready_timeout: Duration,
    /// From SIGTERM to SIGKILL.
    pub stop_timeout: Duration,
}

/// A compiler or runtime that must be there.
#[derive(Clone, Debug)]
pub struct ToolchainSpec {
    /// `go`.
    pub name: String,
    /// Prints its version on standard output or standard error.
    pub command: Vec<String>,
    /// Group 1 is the version.
    pub version: Regex,
    /// Least version, numbers and dots.
    pub minimum: Option<String>,
    /// One line: what to install.
    pub install: String,
    /// Debian packages that have it, each as a Debian dependency: `nodejs (>= 18)`, `a | b`.
    pub apt: Vec<String>,
    /// Releases by how their versions begin, and the last day on which each had fixes. A release that is not there is supported.
    pub end_of_support: BTreeMap<String, Date>,
}

/// How a server is built.
#[derive(Clone, Debug)]
pub struct BuildSpec {
    /// Run in the server's folder, placeholders not yet expanded.
    pub command: Vec<String>,
    /// Writes the lock file anew, run as the command is. Empty: nothing does.
    pub lock: Vec<String>,
    /// Files and folders beside the server's folder and the definitions in `contract/` whose change means a rebuild.
    pub inputs: Vec<PathBuf>,
}

/// What is known of a language's runtime.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// A server is never called steady before this.
    pub least_warm_up: Duration,
    /// Warming is given up after this.
    pub warm_up_cap: Duration,
    /// Beginnings of the names of compiler threads.
    pub compiler_threads: Vec<String>,
    /// Whether the server writes what its runtime tells of itself to `RPCBENCH_RUNTIME_LOG`.
    pub statistics: bool,
}

/// One way to run a server.
#[derive(Clone, Debug)]
pub struct Variant {
    /// One line for readers.
    pub note: String,
    /// Whether it stands for its server's language.
    pub representative: bool,
    /// Stand in the command line at `{args}`.
    pub args: Vec<String>,
    /// On top of the server's environment.
    pub env: BTreeMap<String, String>,
}
