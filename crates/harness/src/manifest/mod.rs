//! Servers under test, as their manifests describe them.
//!
//! Clients have the same kind of manifests, in `clients/` and named `client.toml`. They share the defaults of servers.
//!
//! Three layers, each overriding the one before it key by key: `servers/_defaults.toml`,
//! `servers/<language>/_language.toml`, `servers/<language>/<library>/server.toml`. Lists are replaced,
//! `run.env` is merged. Unknown keys are refused. `servers/_missing.toml` lists servers that are impossible, and why.

mod catalog;
mod entry;
mod layers;
mod matrix;
mod names;
mod pairs;
mod resolve;
mod select;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use regex::Regex;
use rpcbench_record::{Protocol, Role};

pub use catalog::{Broken, Catalog};
pub use entry::Entry;
pub use matrix::{Matrix, MatrixCell, MatrixRow};
pub(crate) use names::{NAME_RULE, is_name};
pub use pairs::{Partners, pairs};
pub use select::Selection;
pub use tree::{Tree, TreeError};

/// Builds an image. One in a server's folder is for that server, one in a language's folder for the other servers of the
/// language.
pub(crate) const DOCKERFILE: &str = "Dockerfile";

/// One implementation under test, all layers merged. For a server that the user runs, only name and protocol are known.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// `<language>-<library folder>`: `go-grpc`.
    pub name: String,
    /// Whether it is a server or a client.
    pub role: Role,
    /// Name of the language's folder: `go`.
    pub language: String,
    /// The language as people write it: `Go`.
    pub language_title: String,
    /// Name of the library, for readers: `grpc-go`.
    pub library: String,
    /// Protocols that it speaks; at least one.
    pub protocols: Vec<Protocol>,
    /// Protocols that it can speak over TLS.
    pub tls: Vec<Protocol>,
    /// Why it has no TLS, if known.
    pub no_tls: Option<String>,
    /// Folder of its sources, absolute.
    pub folder: PathBuf,
    /// Folder of all build results, absolute. It may not exist yet.
    pub build_folder: PathBuf,
    /// The folder `contract/`, absolute.
    pub contract: PathBuf,
    /// `_language.toml` and `server.toml`.
    pub manifests: Vec<PathBuf>,
    /// Tools required to build and run it.
    pub toolchains: Vec<ToolchainSpec>,
    /// How it is built.
    pub build: BuildSpec,
    /// Its runtime.
    pub runtime: Runtime,
    /// Command line, placeholders not yet expanded.
    pub command: Vec<String>,
    /// Environment on top of the process contract.
    pub env: BTreeMap<String, String>,
    /// Variants by name; may be empty.
    pub variants: BTreeMap<String, Variant>,
    /// Whether the server without a variant is an entry too.
    pub plain: bool,
    /// Whether it represents its language, without a variant, if no servers are named. Variants have their own flag.
    pub representative: bool,
    /// The lock file, absolute.
    pub lock: PathBuf,
    /// Library names and the patterns whose group 1 is their version in the lock file.
    pub versions: Vec<(String, Regex)>,
    /// Time from start to the first correct answer.
    pub ready_timeout: Duration,
    /// Time from SIGTERM to SIGKILL.
    pub stop_timeout: Duration,
}

/// A required compiler or runtime.
#[derive(Clone, Debug)]
pub struct ToolchainSpec {
    /// `go`.
    pub name: String,
    /// Prints its version on standard output or standard error.
    pub command: Vec<String>,
    /// Group 1 is the version.
    pub version: Regex,
    /// Minimum version, numbers and dots.
    pub minimum: Option<String>,
    /// How to install it, one line.
    pub install: String,
    /// Debian packages that provide it, each as a Debian dependency: `nodejs (>= 18)`, `a | b`.
    pub apt: Vec<String>,
    /// Last day of support by release; releases are prefixes of versions. Others count as supported.
    pub end_of_support: BTreeMap<String, Date>,
}

/// How a server is built.
#[derive(Clone, Debug, Default)]
pub struct BuildSpec {
    /// Run in the server's folder, placeholders not yet expanded. Empty: see `container_only`.
    pub command: Vec<String>,
    /// Whether only its own Dockerfile builds it.
    pub container_only: bool,
    /// Writes the lock file, run like `command`. Empty if nothing does.
    pub lock: Vec<String>,
    /// Files and folders whose change requires a rebuild, besides the server's folder and the definitions in `contract/`.
    pub inputs: Vec<PathBuf>,
    /// Takes a minute or more, so it starts before the others.
    pub slow: bool,
}

/// A language's runtime.
#[derive(Clone, Debug, Default)]
pub struct Runtime {
    /// Minimum warm-up time.
    pub warmup_min: Duration,
    /// Maximum warm-up time.
    pub warmup_max: Duration,
    /// Prefixes of the names of compiler threads.
    pub compiler_threads: Vec<String>,
    /// Whether the server writes runtime statistics to `RPCBENCH_RUNTIME_LOG`.
    pub statistics: bool,
}

/// One way to run a server.
#[derive(Clone, Debug)]
pub struct Variant {
    /// One line for readers.
    pub note: String,
    /// Whether it represents its server's language.
    pub representative: bool,
    /// Replaces `{args}` in the command line.
    pub args: Vec<String>,
    /// Added to the server's environment.
    pub env: BTreeMap<String, String>,
    /// The server with this variant's own build or runtime. `None` if it has neither.
    pub server: Option<Arc<Server>>,
}
