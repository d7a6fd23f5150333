//! The three kinds of manifest file: what may stand in each, and how it is read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};

use super::error::ManifestError;
use super::schema::{Key, Kind, check};
use crate::units;

const READY: Key = Key::may("ready_timeout", Kind::Duration, "ready_timeout = \"30s\"");
const STOP: Key = Key::may("stop_timeout", Kind::Duration, "stop_timeout = \"5s\"");
const BUILD: Key = Key::may("build", Kind::Table(BUILD_KEYS), "[build]");
const RUNTIME: Key = Key::may("runtime", Kind::Table(RUNTIME_KEYS), "[runtime]");
const RUN: Key = Key::may("run", Kind::Table(RUN_KEYS), "[run]");

const BUILD_KEYS: &[Key] = &[
    Key::may("command", Kind::Strings, "command = [\"sh\", \"../build.sh\"]"),
    Key::may("inputs", Kind::Strings, "inputs = [\"../build.sh\"]"),
];

const RUNTIME_KEYS: &[Key] = &[
    Key::may("least_warm_up", Kind::Duration, "least_warm_up = \"2s\""),
    Key::may("warm_up_cap", Kind::Duration, "warm_up_cap = \"20s\""),
    Key::may("compiler_threads", Kind::Strings, "compiler_threads = [\"C2 CompilerThre\"]"),
];

const RUN_KEYS: &[Key] = &[
    Key::may("command", Kind::Strings, "command = [\"{build}/server\"]"),
    Key::may("env", Kind::Texts, "env = { KEY = \"value\" }"),
];

const TOOLCHAIN_KEYS: &[Key] = &[
    Key::must("name", Kind::Text, "name = \"go\""),
    Key::must("command", Kind::Strings, "command = [\"go\", \"version\"]"),
    Key::must("version", Kind::Pattern, "version = 'go(\\d+\\.\\d+)'"),
    Key::may("minimum", Kind::Text, "minimum = \"1.25\""),
    Key::must("install", Kind::Text, "install = \"Go 1.25 or newer from https://go.dev/dl/\""),
];

const VARIANT_KEYS: &[Key] = &[
    Key::must("note", Kind::Text, "note = \"G1 collector\""),
    Key::may("args", Kind::Strings, "args = [\"-XX:+UseG1GC\"]"),
    Key::may("env", Kind::Texts, "env = { KEY = \"value\" }"),
];

const DEFAULTS: &[Key] = &[READY, STOP, RUNTIME];

const LANGUAGE: &[Key] = &[
    Key::must("name", Kind::Text, "name = \"Go\""),
    Key::may("toolchain", Kind::Tables(TOOLCHAIN_KEYS), "[[toolchain]]"),
    BUILD,
    RUNTIME,
    RUN,
    READY,
    STOP,
];

const SERVER: &[Key] = &[
    Key::must("library", Kind::Text, "library = \"grpc-go\""),
    Key::must("protocols", Kind::Strings, "protocols = [\"grpc\"]"),
    Key::must("lock", Kind::Text, "lock = \"go.sum\""),
    Key::must("versions", Kind::Patterns, "grpc-go = 'google\\.golang\\.org/grpc v(\\S+) h1'"),
    BUILD,
    RUNTIME,
    RUN,
    Key::may("variants", Kind::Named(VARIANT_KEYS), "[variants.g1]"),
    READY,
    STOP,
];

/// `servers/_defaults.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    #[serde(default, deserialize_with = "duration")]
    pub ready_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub stop_timeout: Option<Duration>,
    #[serde(default)]
    pub runtime: Runtime,
}

/// `servers/<language>/_language.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Language {
    pub name: String,
    #[serde(default)]
    pub toolchain: Vec<Toolchain>,
    #[serde(default)]
    pub build: Build,
    #[serde(default)]
    pub runtime: Runtime,
    #[serde(default)]
    pub run: Run,
    #[serde(default, deserialize_with = "duration")]
    pub ready_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub stop_timeout: Option<Duration>,
}

/// `servers/<language>/<library>/server.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    pub library: String,
    pub protocols: Vec<String>,
    pub lock: String,
    pub versions: BTreeMap<String, String>,
    #[serde(default)]
    pub build: Build,
    #[serde(default)]
    pub runtime: Runtime,
    #[serde(default)]
    pub run: Run,
    #[serde(default)]
    pub variants: BTreeMap<String, Variant>,
    #[serde(default, deserialize_with = "duration")]
    pub ready_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub stop_timeout: Option<Duration>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Toolchain {
    pub name: String,
    pub command: Vec<String>,
    pub version: String,
    pub minimum: Option<String>,
    pub install: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Build {
    pub command: Option<Vec<String>>,
    pub inputs: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runtime {
    #[serde(default, deserialize_with = "duration")]
    pub least_warm_up: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub warm_up_cap: Option<Duration>,
    pub compiler_threads: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub command: Option<Vec<String>>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub note: String,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    units::duration(&text).map(Some).map_err(de::Error::custom)
}

impl Defaults {
    pub(super) fn read(file: &Path) -> Result<Self, ManifestError> {
        read(file, DEFAULTS)
    }
}

impl Language {
    pub(super) fn read(file: &Path) -> Result<Self, ManifestError> {
        read(file, LANGUAGE)
    }
}

impl Server {
    pub(super) fn read(file: &Path) -> Result<Self, ManifestError> {
        read(file, SERVER)
    }
}

fn read<T: DeserializeOwned>(file: &Path, keys: &[Key]) -> Result<T, ManifestError> {
    let text = fs::read_to_string(file)
        .map_err(|source| ManifestError::Read { path: file.to_owned(), source })?;
    let syntax = |error: toml::de::Error| ManifestError::Syntax {
        path: file.to_owned(),
        message: place(&text, &error),
    };
    let table: toml::Table = text.parse().map_err(syntax)?;
    check(file, &table, keys)?;
    table.try_into().map_err(syntax)
}

/// The parser's message on one line, with the number of the line it speaks of.
fn place(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', ", ");
    match error.span() {
        None => message,
        Some(span) => {
            let line = 1 + text[..span.start.min(text.len())].matches('\n').count();
            format!("line {line}: {message}")
        }
    }
}
