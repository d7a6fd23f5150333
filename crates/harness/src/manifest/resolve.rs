//! Merges the layers of one server and checks what no single layer can show.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use rpcbench_record::{Protocol, UnknownProtocol};

use super::error::ManifestError;
use super::layers::{self, Defaults, Language};
use super::{BuildSpec, Runtime, Server, ToolchainSpec, Variant};

static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[a-z0-9][a-z0-9._+-]*$"));
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+(\.\d+)*$"));
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{([a-z_]+)\}"));

#[expect(clippy::expect_used, reason = "the patterns are constants, and tests use each of them")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// A manifest and the file that it came from.
type Layer<'a, T> = (&'a Path, &'a T);

/// Everything that makes up one server.
pub(super) struct Layers<'a> {
    pub root: &'a Path,
    pub folder: &'a Path,
    pub defaults: Layer<'a, Defaults>,
    pub language: Layer<'a, Language>,
    pub server: Layer<'a, layers::Server>,
}

impl Layers<'_> {
    pub(super) fn resolve(&self) -> Result<Server, ManifestError> {
        let (language_file, language) = self.language;
        let (server_file, server) = self.server;
        let language_name = self.name_of(language_file.parent())?;
        let name = format!("{language_name}-{}", self.name_of(Some(self.folder))?);
        let build_folder = self.root.join("build/servers").join(&name);
        Ok(Server {
            lock: self.path(&build_folder, &server.lock),
            language: language_name,
            language_title: language.name.clone(),
            library: server.library.clone(),
            protocols: self.protocols()?,
            folder: self.folder.to_owned(),
            contract: self.root.join("contract"),
            manifests: vec![language_file.to_owned(), server_file.to_owned()],
            toolchains: self.toolchains()?,
            build: self.build(&build_folder)?,
            runtime: self.runtime()?,
            command: self.command()?,
            env: merged(&language.run.env, &server.run.env),
            variants: self.variants()?,
            versions: self.versions()?,
            ready_timeout: self.timeout("ready_timeout", "ready_timeout = \"30s\"", |l| l.0)?,
            stop_timeout: self.timeout("stop_timeout", "stop_timeout = \"5s\"", |l| l.1)?,
            name,
            build_folder,
        })
    }

    fn name_of(&self, folder: Option<&Path>) -> Result<String, ManifestError> {
        let name = folder.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        if NAME.is_match(&name) {
            return Ok(name.into_owned());
        }
        Err(bad(self.server.0, "folder", &name, NAME_RULE))
    }

    fn protocols(&self) -> Result<Vec<Protocol>, ManifestError> {
        let (file, server) = self.server;
        if server.protocols.is_empty() {
            return Err(bad(file, "protocols", "[]", "name at least one, such as [\"grpc\"]"));
        }
        let read = |name: &String| {
            let protocol: Result<Protocol, UnknownProtocol> = name.parse();
            protocol.map_err(|error| bad(file, "protocols", name, &error.to_string()))
        };
        let mut protocols = Vec::new();
        for name in &server.protocols {
            let protocol = read(name)?;
            if protocols.contains(&protocol) {
                return Err(bad(file, "protocols", name, "it stands there twice; remove one"));
            }
            protocols.push(protocol);
        }
        Ok(protocols)
    }

    fn toolchains(&self) -> Result<Vec<ToolchainSpec>, ManifestError> {
        let (file, language) = self.language;
        let read = |(i, tool): (usize, &layers::Toolchain)| {
            let key = |name: &str| format!("toolchain[{i}].{name}");
            if tool.command.is_empty() {
                return Err(bad(file, &key("command"), "[]", EMPTY_COMMAND));
            }
            if let Some(minimum) = tool.minimum.as_ref().filter(|m| !NUMBERS.is_match(m)) {
                return Err(bad(
                    file,
                    &key("minimum"),
                    minimum,
                    "write numbers and dots, such as 1.25",
                ));
            }
            Ok(ToolchainSpec {
                name: tool.name.clone(),
                command: tool.command.clone(),
                version: regex(file, &key("version"), &tool.version)?,
                minimum: tool.minimum.clone(),
                install: tool.install.clone(),
            })
        };
        language.toolchain.iter().enumerate().map(read).collect()
    }

    fn build(&self, build_folder: &Path) -> Result<BuildSpec, ManifestError> {
        let command = |build: &layers::Build| build.command.clone();
        let (file, command) = self
            .either(command(&self.language.1.build), command(&self.server.1.build))
            .ok_or_else(|| {
                missing(self.language.0, "build.command", "command = [\"sh\", \"../build.sh\"]")
            })?;
        check_command(file, "build.command", &command, &["build", "server"])?;
        let inputs = |build: &layers::Build| build.inputs.clone();
        let (_, inputs) = self
            .either(inputs(&self.language.1.build), inputs(&self.server.1.build))
            .unwrap_or((file, Vec::new()));
        let inputs = inputs.iter().map(|input| self.path(build_folder, input)).collect();
        Ok(BuildSpec { command, inputs })
    }

    fn runtime(&self) -> Result<Runtime, ManifestError> {
        let runtimes = [&self.server.1.runtime, &self.language.1.runtime, &self.defaults.1.runtime];
        let file = self.language.0;
        let least_warm_up = runtimes
            .iter()
            .find_map(|runtime| runtime.least_warm_up)
            .ok_or_else(|| missing(file, "runtime.least_warm_up", "least_warm_up = \"2s\""))?;
        let warm_up_cap = runtimes
            .iter()
            .find_map(|runtime| runtime.warm_up_cap)
            .ok_or_else(|| missing(file, "runtime.warm_up_cap", "warm_up_cap = \"20s\""))?;
        if warm_up_cap < least_warm_up {
            let value = humantime::format_duration(warm_up_cap).to_string();
            return Err(bad(
                file,
                "runtime.warm_up_cap",
                &value,
                "it must not be below least_warm_up",
            ));
        }
        let compiler_threads = runtimes
            .iter()
            .find_map(|runtime| runtime.compiler_threads.clone())
            .unwrap_or_default();
        Ok(Runtime { least_warm_up, warm_up_cap, compiler_threads })
    }

    fn command(&self) -> Result<Vec<String>, ManifestError> {
        let command = |run: &layers::Run| run.command.clone();
        let (file, command) =
            self.either(command(&self.language.1.run), command(&self.server.1.run)).ok_or_else(
                || missing(self.server.0, "run.command", "command = [\"{build}/server\"]"),
            )?;
        check_command(file, "run.command", &command, &["build", "server", "args"])?;
        let alone = command.iter().any(|word| word == "{args}");
        if let Some(word) = command.iter().find(|word| word.contains("{args}") && *word != "{args}")
        {
            return Err(bad(
                file,
                "run.command",
                word,
                "{args} must stand alone as one element of the list",
            ));
        }
        if !alone && self.server.1.variants.values().any(|variant| !variant.args.is_empty()) {
            let value = command.join(" ");
            let problem = "a variant has args, so that \"{args}\" must stand in the list";
            return Err(bad(file, "run.command", &value, problem));
        }
        Ok(command)
    }

    fn variants(&self) -> Result<BTreeMap<String, Variant>, ManifestError> {
        let (file, server) = self.server;
        let read = |(name, variant): (&String, &layers::Variant)| {
            if !NAME.is_match(name) {
                return Err(bad(file, "variants", name, NAME_RULE));
            }
            let variant = Variant {
                note: variant.note.clone(),
                args: variant.args.clone(),
                env: variant.env.clone(),
            };
            Ok((name.clone(), variant))
        };
        server.variants.iter().map(read).collect()
    }

    fn versions(&self) -> Result<Vec<(String, Regex)>, ManifestError> {
        let (file, server) = self.server;
        let read = |(name, text): (&String, &String)| {
            Ok((name.clone(), regex(file, &format!("versions.{name}"), text)?))
        };
        server.versions.iter().map(read).collect()
    }

    fn timeout(
        &self,
        key: &str,
        example: &'static str,
        pick: impl Fn((Option<Duration>, Option<Duration>)) -> Option<Duration>,
    ) -> Result<Duration, ManifestError> {
        let (server, language, defaults) = (self.server.1, self.language.1, self.defaults.1);
        [
            (server.ready_timeout, server.stop_timeout),
            (language.ready_timeout, language.stop_timeout),
            (defaults.ready_timeout, defaults.stop_timeout),
        ]
        .into_iter()
        .find_map(pick)
        .ok_or_else(|| missing(self.defaults.0, key, example))
    }

    /// The server's value or else the language's, with the file that it came from.
    fn either<T>(&self, language: Option<T>, server: Option<T>) -> Option<(&Path, T)> {
        let of = |file| move |value| (file, value);
        server.map(of(self.server.0)).or_else(|| language.map(of(self.language.0)))
    }

    fn path(&self, build_folder: &Path, text: &str) -> PathBuf {
        match text.strip_prefix("{build}/") {
            Some(rest) => build_folder.join(rest),
            None => self.folder.join(text),
        }
    }
}

const NAME_RULE: &str =
    "use lower-case letters, digits, '-', '_', '.' and '+', a letter or digit first";
const EMPTY_COMMAND: &str = "name at least the program";

fn check_command(
    file: &Path,
    key: &str,
    command: &[String],
    allowed: &[&str],
) -> Result<(), ManifestError> {
    if command.is_empty() {
        return Err(bad(file, key, "[]", EMPTY_COMMAND));
    }
    for word in command {
        let mut names = PLACEHOLDER.captures_iter(word).map(|found| found[1].to_owned());
        if let Some(name) = names.find(|name| !allowed.contains(&name.as_str())) {
            let known: Vec<String> = allowed.iter().map(|name| format!("{{{name}}}")).collect();
            let problem = format!("{{{name}}} stands for nothing; there are {}", known.join(", "));
            return Err(bad(file, key, word, &problem));
        }
    }
    Ok(())
}

fn merged(
    below: &BTreeMap<String, String>,
    above: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    below.iter().chain(above).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn regex(file: &Path, key: &str, text: &str) -> Result<Regex, ManifestError> {
    Regex::new(text).map_err(|error| bad(file, key, text, &error.to_string()))
}

fn bad(file: &Path, key: &str, value: &str, problem: &str) -> ManifestError {
    ManifestError::BadValue {
        path: file.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        problem: problem.to_owned(),
    }
}

fn missing(file: &Path, key: &str, example: &'static str) -> ManifestError {
    ManifestError::MissingKey { path: file.to_owned(), key: key.to_owned(), example }
}
