//! The kinds of manifest file: what may stand in each.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::civil::Date;
use regex::Regex;
use rpcbench_record::Protocol;

use super::names::{Name, Packages, VersionNumber};
use crate::config::{At, table, texts};

texts!(Date, Protocol);

table! {
    /// `servers/_defaults.toml`.
    pub(super) struct Defaults {
        ready_timeout: Option<Duration> = "ready_timeout = \"30s\"",
        stop_timeout: Option<Duration> = "stop_timeout = \"5s\"",
        runtime: Runtime = "[runtime]",
    }
}

table! {
    /// `servers/_missing.toml`.
    pub(super) struct MissingFile {
        missing: Option<Vec<MissingEntry>> = "[[missing]]",
    }
}

table! {
    pub(super) struct MissingEntry {
        language: String = "language = \"Swift\"",
        protocols: Vec<Protocol> = "protocols = [\"grpc\"]",
        reason: String = "reason = \"its packages are on GitHub alone\"",
    }
}

table! {
    /// `servers/<language>/_language.toml`.
    pub(super) struct Language {
        name: String = "name = \"Go\"",
        toolchains_of: Option<At<Name>> = "toolchains_of = \"java\"",
        toolchain: Option<Vec<Toolchain>> = "[[toolchain]]",
        build: Build = "[build]",
        runtime: Runtime = "[runtime]",
        run: Run = "[run]",
        ready_timeout: Option<Duration> = "ready_timeout = \"30s\"",
        stop_timeout: Option<Duration> = "stop_timeout = \"5s\"",
    }
}

table! {
    /// `servers/<language>/<library>/server.toml`.
    pub(super) struct Server {
        library: String = "library = \"grpc-go\"",
        protocols: At<Vec<At<Protocol>>> = "protocols = [\"grpc\"]",
        toolchain: Option<Vec<Toolchain>> = "[[toolchain]]",
        lock: String = "lock = \"go.sum\"",
        versions: BTreeMap<String, Regex> = "versions = { grpc-go = 'google\\.golang\\.org/grpc v(\\S+) h1' }",
        build: Build = "[build]",
        runtime: Runtime = "[runtime]",
        run: Run = "[run]",
        variants: Option<BTreeMap<Name, Variant>> = "[variants.g1]",
        plain: Option<bool> = "plain = true",
        representative: Option<At<bool>> = "representative = true",
        ready_timeout: Option<Duration> = "ready_timeout = \"30s\"",
        stop_timeout: Option<Duration> = "stop_timeout = \"5s\"",
    }
}

table! {
    pub(super) struct Toolchain {
        name: String = "name = \"go\"",
        command: At<Vec<String>> = "command = [\"go\", \"version\"]",
        version: Regex = "version = 'go(\\d+\\.\\d+)'",
        minimum: Option<VersionNumber> = "minimum = \"1.25\"",
        install: String = "install = \"Go 1.25 or newer from https://go.dev/dl/\"",
        apt: Option<Vec<Packages>> = "apt = [\"golang-go\"]",
        end_of_support: Option<BTreeMap<Name, Date>> = "end_of_support = { \"18\" = \"2025-04-30\" }",
    }
}

table! {
    pub(super) struct Build {
        command: Option<At<Vec<String>>> = "command = [\"sh\", \"../build.sh\"]",
        lock: Option<At<Vec<String>>> = "lock = [\"sh\", \"../build.sh\", \"lock\"]",
        inputs: Option<Vec<String>> = "inputs = [\"../build.sh\"]",
    }
}

table! {
    pub(super) struct Runtime {
        least_warm_up: Option<Duration> = "least_warm_up = \"2s\"",
        warm_up_cap: Option<At<Duration>> = "warm_up_cap = \"20s\"",
        compiler_threads: Option<Vec<String>> = "compiler_threads = [\"C2 CompilerThre\"]",
        statistics: Option<bool> = "statistics = true",
    }
}

table! {
    pub(super) struct Run {
        command: Option<At<Vec<String>>> = "command = [\"{build}/server\"]",
        env: Option<BTreeMap<String, String>> = "env = { KEY = \"value\" }",
    }
}

table! {
    pub(super) struct Variant {
        note: String = "note = \"G1 collector\"",
        representative: Option<bool> = "representative = true",
        args: Option<Vec<String>> = "args = [\"-XX:+UseG1GC\"]",
        env: Option<BTreeMap<String, String>> = "env = { KEY = \"value\" }",
    }
}
