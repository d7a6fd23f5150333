//! Merges the layers of one server and checks them together.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use regex::Regex;
use rpcbench_record::{ContractProtocol, Protocol, Role};

use toml::Spanned;

use super::layers::{self, Defaults, Language};
use super::names::Name;
use super::{BuildSpec, DOCKERFILE, Runtime, Server, ToolchainSpec, Variant};
use crate::config::{ConfigError, FileKind, Given, Length, SourceFile};

#[expect(clippy::expect_used, reason = "a constant pattern, which tests use")]
static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{([a-z_]+)\}").expect("a constant pattern"));

/// A manifest, or one of its tables, and its file.
#[derive(Debug)]
pub(super) struct Layer<'a, T> {
    pub file: &'a SourceFile,
    pub value: &'a T,
}

impl<T> Clone for Layer<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Layer<'_, T> {}

impl<'a, T> Layer<'a, T> {
    fn map<U>(self, of: impl FnOnce(&'a T) -> &'a U) -> Layer<'a, U> {
        Layer { file: self.file, value: of(self.value) }
    }

    fn get<U>(self, of: impl FnOnce(&'a T) -> Option<&'a U>) -> Option<Layer<'a, U>> {
        Some(Layer { file: self.file, value: of(self.value)? })
    }
}

impl<T> Layer<'_, Spanned<T>> {
    fn bad(&self, problem: impl std::fmt::Display) -> ConfigError {
        self.file.bad(&self.value.span(), problem)
    }
}

/// All manifests of one server.
pub(super) struct Layers<'a> {
    pub root: &'a Path,
    pub role: Role,
    pub folder: &'a Path,
    pub defaults: Layer<'a, Defaults>,
    pub language: Layer<'a, Language>,
    /// The language whose toolchains this one shares.
    pub lender: Option<Layer<'a, Language>>,
    pub server: Layer<'a, layers::Server>,
}

type Named<'a> = (&'a Name, &'a layers::Variant);

impl Layers<'_> {
    pub(super) fn resolve(&self) -> Result<Server, ConfigError> {
        let server = self.resolve_for(None)?;
        let mut variants = BTreeMap::new();
        for (name, settings) in self.server.value.variants.iter().flatten() {
            let differs = builds_own(settings) || settings.runtime.is_some();
            let own = differs.then(|| self.resolve_for(Some((name, settings)))).transpose()?;
            variants.insert(name.0.clone(), variant(settings, own));
        }
        Ok(Server { variants, ..server })
    }

    /// The server itself, or the server as the variant `only` changes it.
    fn resolve_for(&self, only: Option<Named<'_>>) -> Result<Server, ConfigError> {
        let (language, server) = (self.language.value, self.server.value);
        let language_name = name_of(self.language.file.path.parent().unwrap_or(self.root))?;
        let name = format!("{language_name}-{}", name_of(self.folder)?);
        let build_name = match only {
            Some((variant, settings)) if builds_own(settings) => format!("{name}@{}", variant.0),
            _ => name.clone(),
        };
        let build_folder = self.root.join("build").join(self.role.plural()).join(build_name);
        let settings = only.map(|(_, settings)| settings);
        let lock = settings.and_then(|it| it.lock.as_ref()).unwrap_or(&server.lock);
        let files = self.lender.map(|lender| lender.file).into_iter();
        let files = files.chain([self.language.file, self.server.file]);
        let lent = self.lender.map(|lender| lender.map(|language| &language.toolchain));
        let own = [self.language.map(|it| &it.toolchain), self.server.map(|it| &it.toolchain)];
        Ok(Server {
            lock: self.lock(&build_folder, lock)?,
            role: self.role,
            language: language_name,
            language_title: language.name.clone(),
            library: server.library.clone(),
            protocols: self.protocols()?,
            tls: self.tls()?,
            no_tls: self.no_tls()?,
            folder: self.folder.to_owned(),
            contract: self.root.join("contract"),
            manifests: files.map(|file| file.path.clone()).collect(),
            toolchains: toolchains(lent.into_iter().chain(own))?,
            build: self.build(settings, &build_folder)?,
            runtime: self.runtime(settings)?,
            command: self.command()?,
            env: language.run.env.clone().into_iter().chain(server.run.env.clone()).collect(),
            variants: only
                .map(|(name, it)| (name.0.clone(), variant(it, None)))
                .into_iter()
                .collect(),
            plain: is_plain(server),
            representative: self.representative()?,
            versions: server.versions.iter().map(|(k, v)| (k.clone(), v.0.clone())).collect(),
            ready_timeout: self.timeout(
                "ready_timeout",
                [server.ready_timeout, language.ready_timeout, self.defaults.value.ready_timeout],
            )?,
            stop_timeout: self.timeout(
                "stop_timeout",
                [server.stop_timeout, language.stop_timeout, self.defaults.value.stop_timeout],
            )?,
            name,
            build_folder,
        })
    }

    fn build(
        &self,
        variant: Option<&layers::Variant>,
        build_folder: &Path,
    ) -> Result<BuildSpec, ConfigError> {
        let layers = [
            self.server.map(|it| variant.and_then(|own| own.build.as_ref()).unwrap_or(&it.build)),
            self.server.map(|it| &it.build),
            self.language.map(|it| &it.build),
        ];
        let command = first(layers, |build| build.command.as_ref());
        let container_only = command.is_none() && self.folder.join(DOCKERFILE).is_file();
        if command.is_none() && !container_only {
            return Err(missing(self.language, "build.command"));
        }
        command.map_or(Ok(()), |command| check_command(command, &["build", "server"]))?;
        let lock = first(layers, |build| build.lock.as_ref());
        lock.map_or(Ok(()), |lock| check_command(lock, &["build", "server"]))?;
        let inputs = first(layers, |build| build.inputs.as_ref());
        let inputs = inputs.map_or(&[][..], |inputs| inputs.value);
        Ok(BuildSpec {
            command: command.map(|it| it.value.get_ref().clone()).unwrap_or_default(),
            container_only,
            lock: lock.map(|lock| lock.value.get_ref().clone()).unwrap_or_default(),
            inputs: inputs.iter().map(|input| self.path(build_folder, input)).collect(),
            slow: first(layers, |build| build.slow.as_ref()).is_some_and(|slow| *slow.value),
        })
    }

    fn runtime(&self, variant: Option<&layers::Variant>) -> Result<Runtime, ConfigError> {
        let layers = [
            self.server
                .map(|it| variant.and_then(|own| own.runtime.as_ref()).unwrap_or(&it.runtime)),
            self.server.map(|it| &it.runtime),
            self.language.map(|it| &it.runtime),
            self.defaults.map(|it| &it.runtime),
        ];
        let missing = |key: &str| missing(self.language, &format!("runtime.{key}"));
        let least = first(layers, |runtime| runtime.warmup_min.as_ref());
        let least = *least.ok_or_else(|| missing("warmup_min"))?.value;
        let cap = first(layers, |runtime| runtime.warmup_max.as_ref());
        let cap = cap.ok_or_else(|| missing("warmup_max"))?;
        if *cap.value.get_ref() < least {
            return Err(cap.bad("must not be below warmup_min"));
        }
        let threads = first(layers, |runtime| runtime.compiler_threads.as_ref());
        // A runtime without compiler threads must say so with []: otherwise a server whose compiler is busy would pass as steady.
        let threads = threads.ok_or_else(|| missing("compiler_threads"))?;
        let statistics = first(layers, |runtime| runtime.statistics.as_ref());
        Ok(Runtime {
            warmup_min: least.0,
            warmup_max: cap.value.get_ref().0,
            compiler_threads: threads.value.clone(),
            statistics: statistics.is_some_and(|statistics| *statistics.value),
        })
    }

    fn command(&self) -> Result<Vec<String>, ConfigError> {
        let layers = [self.server.map(|it| &it.run), self.language.map(|it| &it.run)];
        let command = first(layers, |run| run.command.as_ref());
        let command = command.ok_or_else(|| missing(self.server, "run.command"))?;
        check_command(command, &["build", "server", "args"])?;
        let words = command.value.get_ref();
        let within = |word: &&String| word.contains("{args}") && *word != "{args}";
        if let Some(word) = words.iter().find(within) {
            return Err(command.bad(format!("'{word}': {{args}} must be an element by itself")));
        }
        let has_place = words.iter().any(|word| word == "{args}");
        let mut variants = self.server.value.variants.iter().flat_map(BTreeMap::values);
        if !has_place && variants.any(|variant| !variant.args.is_empty()) {
            return Err(command.bad("a variant has args; add \"{args}\" to the list"));
        }
        Ok(words.clone())
    }

    fn timeout(&self, key: &str, layers: [Option<Length>; 3]) -> Result<Duration, ConfigError> {
        let given = layers.into_iter().flatten().next();
        given.map(|length| length.0).ok_or_else(|| missing(self.defaults, key))
    }

    fn protocols(&self) -> Result<Vec<Protocol>, ConfigError> {
        let listed = self.server.map(|server| &server.protocols);
        if listed.value.get_ref().is_empty() {
            return Err(listed.bad("name at least one, such as [\"grpc\"]"));
        }
        let mut protocols = Vec::new();
        for Given { value: ContractProtocol(value), .. } in listed.value.get_ref() {
            if protocols.contains(value) {
                return Err(listed.bad(format!("{value} is listed twice; remove one")));
            }
            protocols.push(*value);
        }
        Ok(protocols)
    }

    fn tls(&self) -> Result<Vec<Protocol>, ConfigError> {
        let protocols = self.protocols()?;
        let Some(given) = self.server.get(|server| server.tls.as_ref()) else {
            return Ok(Vec::new());
        };
        match given.value.get_ref() {
            layers::Tls::Each(true) => Ok(protocols),
            layers::Tls::Each(false) => Ok(Vec::new()),
            layers::Tls::Only(listed) => {
                match listed.iter().find(|protocol| !protocols.contains(protocol)) {
                    Some(other) => Err(given.bad(format!("{other} is not one of its protocols"))),
                    None => Ok(listed.clone()),
                }
            }
        }
    }

    /// Why it has no TLS.
    fn no_tls(&self) -> Result<Option<String>, ConfigError> {
        let Some(given) = self.server.get(|server| server.no_tls.as_ref()) else { return Ok(None) };
        match self.tls()?.is_empty() {
            true => Ok(Some(given.value.get_ref().clone())),
            false => Err(given.bad("the server has TLS by the key tls; remove one of them")),
        }
    }

    fn representative(&self) -> Result<bool, ConfigError> {
        match self.server.get(|server| server.representative.as_ref()) {
            None => Ok(false),
            Some(given) if is_plain(self.server.value) => Ok(*given.value.get_ref()),
            Some(given) => Err(given.bad("this server has variants; mark one of them instead")),
        }
    }

    /// The lock file. It must be in the server's folder or its build folder, since error messages quote its lines.
    fn lock(&self, build_folder: &Path, text: &str) -> Result<PathBuf, ConfigError> {
        let inside = Path::new(text).components().all(|part| matches!(part, Component::Normal(_)));
        match inside {
            true => Ok(self.path(build_folder, text)),
            false => {
                let problem = format!(
                    "lock = '{text}' is outside of the server's folder; name a file in it, or '{{build}}/FILE'"
                );
                Err(ConfigError::value(self.server.file.path.display(), problem))
            }
        }
    }

    fn path(&self, build_folder: &Path, text: &str) -> PathBuf {
        match text.strip_prefix("{build}/") {
            Some(rest) => build_folder.join(rest),
            None => self.folder.join(text),
        }
    }
}

fn name_of(folder: &Path) -> Result<String, ConfigError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.parse().map(|Name(name)| name).map_err(|rule| {
        ConfigError::value(folder.display(), format!("a folder of a server {rule}"))
    })
}

/// The value from the nearest layer that has one.
fn first<'a, T, U, const N: usize>(
    layers: [Layer<'a, T>; N],
    of: impl Fn(&'a T) -> Option<&'a U>,
) -> Option<Layer<'a, U>> {
    layers.into_iter().find_map(|layer| layer.get(&of))
}

fn missing<T: FileKind>(layer: Layer<'_, T>, path: &str) -> ConfigError {
    layer.file.missing::<T>(None, path)
}

/// The toolchains of all layers. One of the same name in a later layer replaces the earlier.
fn toolchains<'a>(
    layers: impl Iterator<Item = Layer<'a, Vec<layers::Toolchain>>>,
) -> Result<Vec<ToolchainSpec>, ConfigError> {
    let tools = layers.flat_map(|Layer { file, value }| value.iter().map(move |it| (file, it)));
    let read = |(file, tool): (&SourceFile, &layers::Toolchain)| {
        check_command(Layer { file, value: &tool.command }, &[])?;
        Ok(ToolchainSpec {
            name: tool.name.clone(),
            command: tool.command.get_ref().clone(),
            version: tool.version.0.clone(),
            minimum: tool.minimum.clone().map(|minimum| minimum.0),
            install: tool.install.clone(),
            apt: tool.apt.iter().map(|packages| packages.0.clone()).collect(),
            end_of_support: tool
                .end_of_support
                .iter()
                .map(|(release, day)| (release.0.clone(), *day))
                .collect(),
        })
    };
    let mut found: Vec<ToolchainSpec> = Vec::new();
    for tool in tools.map(read) {
        let tool = tool?;
        match found.iter_mut().find(|earlier| earlier.name == tool.name) {
            Some(earlier) => *earlier = tool,
            None => found.push(tool),
        }
    }
    Ok(found)
}

fn is_plain(server: &layers::Server) -> bool {
    server.variants.is_none() || server.plain
}

/// True if the variant has its own build. A different lock file means different libraries.
fn builds_own(variant: &layers::Variant) -> bool {
    variant.build.is_some() || variant.lock.is_some()
}

fn variant(variant: &layers::Variant, server: Option<Server>) -> Variant {
    Variant {
        note: variant.note.clone(),
        representative: variant.representative,
        args: variant.args.clone(),
        env: variant.env.clone(),
        server: server.map(Arc::new),
    }
}

/// Refuses an empty command, and unknown placeholders if any are allowed.
fn check_command(
    command: Layer<'_, Spanned<Vec<String>>>,
    allowed: &[&str],
) -> Result<(), ConfigError> {
    let words = command.value.get_ref();
    if words.is_empty() {
        return Err(command.bad("name at least the program"));
    }
    if allowed.is_empty() {
        return Ok(());
    }
    let found = words.iter().flat_map(|word| PLACEHOLDER.captures_iter(word));
    let mut names = found.map(|found| found[1].to_owned());
    let Some(name) = names.find(|name| !allowed.contains(&name.as_str())) else { return Ok(()) };
    let known: Vec<String> = allowed.iter().map(|name| format!("{{{name}}}")).collect();
    Err(command.bad(format!("unknown placeholder {{{name}}}; expected {}", known.join(", "))))
}
