//! Merges the layers of one server and checks what no single layer can show.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use rpcbench_record::Protocol;

use super::error::ManifestError;
use super::layers::{self, Defaults, Language};
use super::names::{NAME_RULE, Name};
use super::{BuildSpec, Runtime, Server, ToolchainSpec, Variant};
use crate::config::{At, ConfigError, Table};

#[expect(clippy::expect_used, reason = "a constant pattern, which tests use")]
static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{([a-z_]+)\}").expect("a constant pattern"));

/// A manifest and the file that it came from.
pub(super) type Layer<'a, T> = (&'a Path, &'a T);

/// Everything that makes up one server.
pub(super) struct Layers<'a> {
    pub root: &'a Path,
    pub folder: &'a Path,
    pub defaults: Layer<'a, Defaults>,
    pub language: Layer<'a, Language>,
    /// The language that lends its toolchains.
    pub lender: Option<Layer<'a, Language>>,
    pub server: Layer<'a, layers::Server>,
}

impl Layers<'_> {
    pub(super) fn resolve(&self) -> Result<Server, ManifestError> {
        let (language_file, language) = self.language;
        let (server_file, server) = self.server;
        let language_name = name_of(language_file.parent().unwrap_or(self.root))?;
        let name = format!("{language_name}-{}", name_of(self.folder)?);
        let build_folder = self.root.join("build/servers").join(&name);
        let (lender_file, lender) = self.lender.unzip();
        let manifests = lender_file.into_iter().chain([language_file, server_file]);
        let lent = lender.map_or(&None, |lender| &lender.toolchain);
        Ok(Server {
            lock: self.path(&build_folder, &server.lock),
            language: language_name,
            language_title: language.name.clone(),
            library: server.library.clone(),
            protocols: protocols(&server.protocols)?,
            folder: self.folder.to_owned(),
            contract: self.root.join("contract"),
            manifests: manifests.map(Path::to_owned).collect(),
            toolchains: toolchains([lent, &language.toolchain, &server.toolchain])?,
            build: self.build(&build_folder)?,
            runtime: self.runtime()?,
            command: self.command()?,
            env: merged([language.run.env.as_ref(), server.run.env.as_ref()]),
            variants: server.variants.iter().flatten().map(variant).collect(),
            plain: is_plain(server),
            representative: representative(server)?,
            versions: server.versions.clone().into_iter().collect(),
            ready_timeout: self.timeout("ready_timeout", |times| times.0)?,
            stop_timeout: self.timeout("stop_timeout", |times| times.1)?,
            name,
            build_folder,
        })
    }

    fn build(&self, build_folder: &Path) -> Result<BuildSpec, ConfigError> {
        let layers = [&self.server.1.build, &self.language.1.build];
        let command = layers.iter().find_map(|build| build.command.as_ref());
        let command =
            command.ok_or_else(|| layers::Build::missing(self.language.0, "build.", "command"))?;
        check_command(command, &["build", "server"])?;
        let lock = layers.iter().find_map(|build| build.lock.as_ref());
        lock.map_or(Ok(()), |lock| check_command(lock, &["build", "server"]))?;
        let inputs = layers.iter().find_map(|build| build.inputs.as_deref()).unwrap_or_default();
        Ok(BuildSpec {
            command: command.value.clone(),
            lock: lock.map(|lock| lock.value.clone()).unwrap_or_default(),
            inputs: inputs.iter().map(|input| self.path(build_folder, input)).collect(),
        })
    }

    fn runtime(&self) -> Result<Runtime, ConfigError> {
        let layers = [&self.server.1.runtime, &self.language.1.runtime, &self.defaults.1.runtime];
        let missing = |key| layers::Runtime::missing(self.language.0, "runtime.", key);
        let least_warm_up = layers.iter().find_map(|runtime| runtime.least_warm_up);
        let least_warm_up = least_warm_up.ok_or_else(|| missing("least_warm_up"))?;
        let cap = layers.iter().find_map(|runtime| runtime.warm_up_cap.as_ref());
        let cap = cap.ok_or_else(|| missing("warm_up_cap"))?;
        if cap.value < least_warm_up {
            return Err(cap.bad("it must not be below least_warm_up"));
        }
        let threads = layers.iter().find_map(|runtime| runtime.compiler_threads.clone());
        // Judged blind, a compiler at work would pass for steadiness: that there is none must be said.
        let compiler_threads = threads.ok_or_else(|| missing("compiler_threads"))?;
        let statistics = layers.iter().find_map(|runtime| runtime.statistics).unwrap_or_default();
        Ok(Runtime { least_warm_up, warm_up_cap: cap.value, compiler_threads, statistics })
    }

    fn command(&self) -> Result<Vec<String>, ConfigError> {
        let layers = [&self.server.1.run, &self.language.1.run];
        let command = layers.iter().find_map(|run| run.command.as_ref());
        let command =
            command.ok_or_else(|| layers::Run::missing(self.server.0, "run.", "command"))?;
        check_command(command, &["build", "server", "args"])?;
        let within = |word: &&String| word.contains("{args}") && *word != "{args}";
        if let Some(word) = command.value.iter().find(within) {
            let problem = "{args} must stand alone as one element of the list";
            return Err(command.bad(format!("'{word}': {problem}")));
        }
        let alone = command.value.iter().any(|word| word == "{args}");
        let mut variants = self.server.1.variants.iter().flat_map(BTreeMap::values);
        if !alone && variants.any(|variant| variant.args.iter().flatten().next().is_some()) {
            return Err(
                command.bad("a variant has args, so that \"{args}\" must stand in the list")
            );
        }
        Ok(command.value.clone())
    }

    fn timeout(
        &self,
        key: &str,
        pick: impl Fn((Option<Duration>, Option<Duration>)) -> Option<Duration>,
    ) -> Result<Duration, ConfigError> {
        let (server, language, defaults) = (self.server.1, self.language.1, self.defaults.1);
        [
            (server.ready_timeout, server.stop_timeout),
            (language.ready_timeout, language.stop_timeout),
            (defaults.ready_timeout, defaults.stop_timeout),
        ]
        .into_iter()
        .find_map(pick)
        .ok_or_else(|| Defaults::missing(self.defaults.0, "", key))
    }

    fn path(&self, build_folder: &Path, text: &str) -> PathBuf {
        match text.strip_prefix("{build}/") {
            Some(rest) => build_folder.join(rest),
            None => self.folder.join(text),
        }
    }
}

fn name_of(folder: &Path) -> Result<String, ManifestError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.parse()
        .map(|Name(name)| name)
        .map_err(|_| ManifestError::Folder { path: folder.to_owned(), rule: NAME_RULE })
}

fn protocols(listed: &At<Vec<At<Protocol>>>) -> Result<Vec<Protocol>, ConfigError> {
    if listed.value.is_empty() {
        return Err(listed.bad("name at least one, such as [\"grpc\"]"));
    }
    let mut protocols = Vec::new();
    for protocol in &listed.value {
        if protocols.contains(&protocol.value) {
            return Err(protocol.bad("it stands there twice; remove one"));
        }
        protocols.push(protocol.value);
    }
    Ok(protocols)
}

/// Those of the language that lends its own, of the language, then those that the server alone needs.
fn toolchains(
    layers: [&Option<Vec<layers::Toolchain>>; 3],
) -> Result<Vec<ToolchainSpec>, ConfigError> {
    let read = |tool: &layers::Toolchain| {
        check_command(&tool.command, &[])?;
        Ok(ToolchainSpec {
            name: tool.name.clone(),
            command: tool.command.value.clone(),
            version: tool.version.clone(),
            minimum: tool.minimum.clone().map(|minimum| minimum.0),
            install: tool.install.clone(),
            apt: tool.apt.iter().flatten().map(|packages| packages.0.clone()).collect(),
            end_of_support: tool
                .end_of_support
                .iter()
                .flatten()
                .map(|(release, day)| (release.0.clone(), *day))
                .collect(),
        })
    };
    layers.into_iter().flatten().flatten().map(read).collect()
}

fn is_plain(server: &layers::Server) -> bool {
    server.variants.is_none() || server.plain.unwrap_or_default()
}

fn representative(server: &layers::Server) -> Result<bool, ConfigError> {
    match &server.representative {
        None => Ok(false),
        Some(given) if is_plain(server) => Ok(given.value),
        Some(given) => Err(given.bad("this server has variants; say so of one of them")),
    }
}

fn variant((name, variant): (&Name, &layers::Variant)) -> (String, Variant) {
    let variant = Variant {
        note: variant.note.clone(),
        representative: variant.representative.unwrap_or_default(),
        args: variant.args.clone().unwrap_or_default(),
        env: variant.env.clone().unwrap_or_default(),
    };
    (name.0.clone(), variant)
}

/// Refuses an empty command, and placeholders other than `allowed`; any word will do where none are.
fn check_command(command: &At<Vec<String>>, allowed: &[&str]) -> Result<(), ConfigError> {
    if command.value.is_empty() {
        return Err(command.bad("name at least the program"));
    }
    if allowed.is_empty() {
        return Ok(());
    }
    let words = command.value.iter();
    let mut names =
        words.flat_map(|word| PLACEHOLDER.captures_iter(word)).map(|found| found[1].to_owned());
    let Some(name) = names.find(|name| !allowed.contains(&name.as_str())) else { return Ok(()) };
    let known: Vec<String> = allowed.iter().map(|name| format!("{{{name}}}")).collect();
    Err(command.bad(format!("{{{name}}} stands for nothing; there are {}", known.join(", "))))
}

fn merged<const N: usize>(
    layers: [Option<&BTreeMap<String, String>>; N],
) -> BTreeMap<String, String> {
    let all = layers.into_iter().flatten().flatten();
    all.map(|(key, value)| (key.clone(), value.clone())).collect()
}
