//! The kinds of manifest file and their keys.

use std::collections::BTreeMap;

use jiff::civil::Date;
use rpcbench_record::{ContractProtocol, Protocol};
use serde::Deserialize;
use toml::Spanned;

use super::names::{Name, Packages, Pattern, VersionNumber};
use crate::config::{FileKind, Given, Length};

/// `servers/_defaults.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    pub ready_timeout: Option<Length>,
    pub stop_timeout: Option<Length>,
    #[serde(default)]
    pub runtime: Runtime,
}

/// `servers/_missing.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissingFile {
    #[serde(default)]
    pub missing: Vec<MissingEntry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MissingEntry {
    pub language: String,
    pub protocols: Vec<Protocol>,
    pub reason: String,
}

/// `servers/<language>/_language.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Language {
    pub name: String,
    pub toolchains_of: Option<Spanned<Name>>,
    #[serde(default)]
    pub toolchain: Vec<Toolchain>,
    #[serde(default)]
    pub build: Build,
    #[serde(default)]
    pub runtime: Runtime,
    #[serde(default)]
    pub run: Run,
    pub ready_timeout: Option<Length>,
    pub stop_timeout: Option<Length>,
}

/// `servers/<language>/<library>/server.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    pub library: String,
    pub protocols: Spanned<Vec<Given<ContractProtocol>>>,
    pub tls: Option<Spanned<Tls>>,
    pub no_tls: Option<Spanned<String>>,
    #[serde(default)]
    pub toolchain: Vec<Toolchain>,
    pub lock: String,
    pub versions: BTreeMap<String, Pattern>,
    #[serde(default)]
    pub build: Build,
    #[serde(default)]
    pub runtime: Runtime,
    #[serde(default)]
    pub run: Run,
    pub variants: Option<BTreeMap<Name, Variant>>,
    #[serde(default)]
    pub plain: bool,
    pub representative: Option<Spanned<bool>>,
    pub ready_timeout: Option<Length>,
    pub stop_timeout: Option<Length>,
}

/// The protocols that are offered with TLS.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected true, or a list of protocols such as [\"grpc\"]")]
pub(super) enum Tls {
    /// All protocols, or none.
    Each(bool),
    Only(Vec<Protocol>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Toolchain {
    pub name: String,
    pub command: Spanned<Vec<String>>,
    pub version: Pattern,
    pub minimum: Option<VersionNumber>,
    pub install: String,
    #[serde(default)]
    pub apt: Vec<Packages>,
    #[serde(default)]
    pub end_of_support: BTreeMap<Name, Date>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Build {
    pub command: Option<Spanned<Vec<String>>>,
    pub lock: Option<Spanned<Vec<String>>>,
    pub inputs: Option<Vec<String>>,
    pub slow: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runtime {
    // Old names, since `compare --build` reads manifests of older revisions.
    #[serde(alias = "least_warm_up")]
    pub warmup_min: Option<Length>,
    #[serde(alias = "warm_up_cap")]
    pub warmup_max: Option<Spanned<Length>>,
    pub compiler_threads: Option<Vec<String>>,
    pub statistics: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub command: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub note: String,
    #[serde(default)]
    pub representative: bool,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub lock: Option<String>,
    pub build: Option<Build>,
    pub runtime: Option<Runtime>,
}

/// A valid line for each key.
const EXAMPLES: &[&str] = &[
    "ready_timeout = \"30s\"",
    "stop_timeout = \"5s\"",
    "[[missing]]",
    "language = \"Swift\"",
    "reason = \"its packages are on GitHub alone\"",
    "name = \"Go\"",
    "library = \"grpc-go\"",
    "protocols = [\"grpc\"]",
    "tls = true",
    "no_tls = \"the library has TLS for blocking sockets only\"",
    "toolchains_of = \"java\"",
    "[[toolchain]]",
    "version = 'go(\\d+\\.\\d+)'",
    "minimum = \"1.25\"",
    "install = \"Go 1.25 or newer from https://go.dev/dl/\"",
    "apt = [\"golang-go\"]",
    "end_of_support = { \"18\" = \"2025-04-30\" }",
    "lock = \"go.sum\"",
    "versions = { grpc-go = 'google\\.golang\\.org/grpc v(\\S+) h1' }",
    "[build]",
    "inputs = [\"../build.sh\"]",
    "slow = true",
    "[runtime]",
    "warmup_min = \"2s\"",
    "warmup_max = \"20s\"",
    "compiler_threads = [\"C2 CompilerThre\"]",
    "statistics = true",
    "[run]",
    "command = [\"{build}/server\"]",
    "env = { KEY = \"value\" }",
    "[variants.g1]",
    "note = \"G1 collector\"",
    "args = [\"-XX:+UseG1GC\"]",
    "plain = true",
    "representative = true",
];

macro_rules! manifests {
    ($($kind:ty),+) => {
        $(impl FileKind for $kind {
            const EXAMPLES: &'static [&'static str] = EXAMPLES;
        })+
    };
}
manifests!(Defaults, MissingFile, Language, Server);
