//! Images of servers and clients.
//!
//! Each language has one `Dockerfile`, which runs its `build.sh`; a server's own `Dockerfile` overrides it.
//! `servers/_images.toml` has the base images. An image's name ends with a hash of everything that it is built from, so an
//! existing image is up to date.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rpcbench_record::{Failure, Toolchain, regular};
use serde::Deserialize;

use super::PlacementError;
use super::context::lay_out;
use super::engine::Engine;
use super::examine::obstacle;
use crate::build::{self, BuildError, BuildState, BuildWatch, Built, ServerBuilder, stamp};
use crate::build_env::BuildEnv;
use crate::manifest::{DOCKERFILE, Server};

/// Prefix of the names of images.
const REPOSITORY: &str = "rpcbench";
/// Label of all images built by rpcbench.
pub(super) const LABEL: &str = "dev.rpcbench=build";
/// The build folder in an image.
const BUILD: &str = "/server";
/// The sources in an image: the repository's root.
const SOURCES: &str = "/rpcbench";
/// Maximum size of the table of base images, bytes.
const MAX_TABLE: u64 = 1 << 20;
/// Environment variables with a file of certificates to trust in a build; the first one set is used.
const CERTIFICATES: [&str; 4] =
    ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];

/// Messages of builds that lack BuildKit.
const NO_BUILDKIT: [&str; 4] = [
    "buildx component is missing",
    "option requires BuildKit",
    "buildx is not a docker command",
    "unknown flag: --secret",
];
pub(super) const BUILDKIT: &str = "images need BuildKit: install docker-buildx-plugin (Docker's packages) or docker-buildx (Debian, Ubuntu)";

/// The image of a server.
pub(super) struct Image {
    /// The server with paths inside the container.
    pub(super) server: Server,
    /// The server with paths on this machine, the build folder of its image, and all inputs of the image.
    pub(super) sources: Server,
    /// `None` if neither the server nor its language has one.
    dockerfile: Option<PathBuf>,
}

/// Base images of a language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bases {
    /// Image with the compilers. `None` if `run` has them.
    build: Option<String>,
    /// Image with the runtime.
    run: String,
}

impl Image {
    pub(super) fn of(server: &Server) -> Self {
        let mut sources = server.clone();
        let dockerfile =
            folders(server).map(|folder| folder.join(DOCKERFILE)).find(|file| file.is_file());
        sources.build.inputs.extend(dockerfile.clone());
        let table = table(server);
        sources.build.inputs.extend(table.is_file().then_some(table));
        let name = server.build_folder.file_name().unwrap_or_default();
        let builds = server.build_folder.parent().unwrap_or(&server.build_folder);
        sources.build_folder = builds.join("containers").join(name);
        if let Ok(lock) = server.lock.strip_prefix(&server.build_folder) {
            sources.lock = sources.build_folder.join(lock);
        }
        let mut inside = server.clone();
        let path = server.folder.strip_prefix(server.root()).unwrap_or(&server.folder);
        inside.folder = Path::new(SOURCES).join(path);
        inside.build_folder = BUILD.into();
        Self { server: inside, sources, dockerfile }
    }

    /// The image's name, with the hash of its sources.
    pub(super) fn name(&self) -> Result<String, BuildError> {
        const DIGITS: usize = 16;
        let hash = stamp::hash(&self.sources, &[])?;
        let server = self.sources.build_name().to_lowercase();
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let plain: String = server.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        Ok(format!("{REPOSITORY}/{}:{}", plain.trim_matches('-'), &hash[..DIGITS]))
    }
}

fn table(server: &Server) -> PathBuf {
    server.root().join("servers/_images.toml")
}

fn bases(server: &Server) -> Result<Option<Bases>, String> {
    let table = table(server);
    let Ok(text) = regular::read_text(&table, MAX_TABLE) else { return Ok(None) };
    let mut all: BTreeMap<String, Bases> =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", table.display()))?;
    let languages = folders(server).skip(1).filter_map(Path::file_name);
    Ok(languages.filter_map(|name| all.remove(&*name.to_string_lossy())).next())
}

/// The folders of the server, of its language, and of the language whose toolchains it uses.
fn folders(server: &Server) -> impl Iterator<Item = &Path> {
    server.manifests.iter().rev().filter_map(|manifest| manifest.parent())
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Builds images.
pub(in crate::placement) struct ImageBuilder<'a> {
    engine: Engine,
    env: &'a BuildEnv,
    /// Held while an image is built. A build uses all CPUs, and two at a time would need the memory of both.
    turn: Mutex<()>,
}

impl<'a> ImageBuilder<'a> {
    /// # Errors
    /// If no engine answers, or it can't run servers.
    pub(super) fn open(engine: Engine, env: &'a BuildEnv) -> Result<Self, PlacementError> {
        engine.version()?;
        if let Some(obstacle) = obstacle(&engine) {
            return Err(PlacementError(obstacle));
        }
        Ok(Self { engine, env, turn: Mutex::new(()) })
    }

    /// The state of the image of a server, which is built if it does not exist.
    fn state(
        &self,
        image: &Image,
        may_build: bool,
        watch: &mut BuildWatch<'_>,
    ) -> Result<BuildState, BuildError> {
        let Some(dockerfile) = &image.dockerfile else {
            let folder = image.sources.folder.parent().unwrap_or(&image.sources.folder);
            let reason = format!("no {DOCKERFILE} in {}", folder.display());
            return Ok(BuildState::Skipped { reason });
        };
        let name = image.name()?;
        let exists = self.id(&name).is_ok();
        if !exists && !may_build {
            let reason = "its image was not built since it changed; run without --no-build";
            let failure = Failure { reason: reason.to_owned(), log_tail: Vec::new() };
            return Ok(BuildState::Failed(failure));
        }
        self.build_image(image, (dockerfile, &name), exists, watch).map(BuildState::Built)
    }

    /// The id of an image.
    ///
    /// # Errors
    /// If the engine has no image of that name.
    fn id(&self, name: &str) -> Result<String, PlacementError> {
        self.engine.run(&["image", "inspect", "--format", "{{.Id}}", name])
    }

    fn build_image(
        &self,
        image: &Image,
        (dockerfile, name): (&Path, &str),
        exists: bool,
        watch: &mut BuildWatch<'_>,
    ) -> Result<Built, BuildError> {
        let server = &image.sources;
        let words = self.command(image, dockerfile, name)?;
        if !exists {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            watch(server);
            lay_out(server, &server.build_folder.join("context"))?;
            let env = self.env.with("DOCKER_BUILDKIT", "1");
            let env = env.with(REGISTRIES, &registries(self.env));
            build::run(server, &words, &env, &mut || watch(server)).map_err(explained)?;
        }
        let image_error = |error: PlacementError| BuildError::of(server, error);
        let source_hash = self.id(name).map_err(|_| BuildError::of(server, no_image(name)))?;
        if server.lock.starts_with(&server.build_folder) {
            self.fetch_lock(image, name).map_err(image_error)?;
        }
        let (versions, lock_hash) = build::read_lock(server)?;
        let log = server.build_folder.join(build::LOG);
        let env = self.env.names();
        let command = words.join(" ");
        Ok(Built { rebuilt: !exists, command, env, versions, lock_hash, source_hash, log })
    }

    /// Copies the lock file from the image, for builds that write the versions they found.
    fn fetch_lock(&self, image: &Image, name: &str) -> Result<(), PlacementError> {
        let server = &image.sources;
        let path = server.lock.strip_prefix(&server.build_folder).unwrap_or(&server.lock);
        let inside = Path::new(BUILD).join(path);
        let (limits, inside) = (self.engine.own_limits(), inside.to_string_lossy());
        let mut words = vec!["run", "--rm", "--pull", "never", "--network", "none"];
        words.extend(limits.iter().flat_map(|limit| ["--ulimit", limit]));
        words.extend(["--entrypoint", "cat", name, &*inside]);
        let text = self.engine.run(&words)?;
        std::fs::create_dir_all(&server.build_folder)?;
        Ok(std::fs::write(&server.lock, text + "\n")?)
    }

    fn command(
        &self,
        image: &Image,
        dockerfile: &Path,
        name: &str,
    ) -> Result<Vec<String>, BuildError> {
        let server = &image.sources;
        let below = |path: &Path| {
            path.strip_prefix(server.root()).unwrap_or(path).to_string_lossy().into_owned()
        };
        let context = server.build_folder.join("context");
        let mut words: Vec<String> =
            [self.engine.program(), "build", "--network", "host"].map(str::to_owned).into();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        option("--label", LABEL.to_owned());
        option("--tag", name.to_owned());
        option("--file", context.join(below(dockerfile)).to_string_lossy().into_owned());
        option("--build-arg", format!("SERVER={}", below(&server.folder)));
        let build: Vec<String> =
            image.server.build_command().iter().map(|word| quoted(word)).collect();
        option("--build-arg", format!("BUILD_COMMAND={}", build.join(" ")));
        let bases = bases(server).map_err(|reason| BuildError::of(server, reason))?;
        if let Some(Bases { build, run }) = bases {
            if let Some(build) = build {
                option("--build-arg", format!("BUILD_IMAGE={build}"));
            }
            option("--build-arg", format!("RUN_IMAGE={run}"));
        }
        option("--secret", format!("id=registries,env={REGISTRIES}"));
        if let Some(file) = CERTIFICATES.iter().find_map(|name| self.env.value(name)) {
            option("--secret", format!("id=ca,src={file}"));
        }
        words.push(context.to_string_lossy().into_owned());
        Ok(words)
    }
}

impl ServerBuilder for ImageBuilder<'_> {
    /// Builds the image, which includes the toolchains.
    fn build(
        &self,
        server: &Server,
        may_build: bool,
        watch: &mut BuildWatch<'_>,
    ) -> (Vec<Toolchain>, BuildState) {
        let state = self.state(&Image::of(server), may_build, watch);
        (Vec::new(), state.unwrap_or_else(|error| BuildState::Failed(error.into())))
    }
}

/// The variable that passes the user's registries to the engine's command.
const REGISTRIES: &str = "RPCBENCH_REGISTRIES";

/// Shell commands that point a build in an image to the user's registries. Their certificates have a different path there.
fn registries(env: &BuildEnv) -> String {
    const INSIDE: &str = "/run/secrets/ca";
    let is_certificate = |name: &str| {
        CERTIFICATES.contains(&name)
            || ["_CERT", "_CAFILE", "_CAINFO"].iter().any(|end| name.ends_with(end))
    };
    let line = |(name, value): (&str, &str)| {
        let value = if is_certificate(name) { INSIDE } else { value };
        format!("export {name}={}\n", quoted(value))
    };
    let is_here = |value: &str| value.starts_with('/');
    let elsewhere = |(name, value): &(&str, &str)| is_certificate(name) || !is_here(value);
    env.registries().filter(elsewhere).map(line).collect()
}

/// The error for a successful build without an image.
fn no_image(name: &str) -> String {
    format!(
        "the build left no image {name}; build with the engine's own driver (docker buildx use default), which keeps images \
         where containers are started"
    )
}

/// Appends the remedy to the log of a failed build.
fn explained(mut error: BuildError) -> BuildError {
    if let Some((_, log)) = error.0.split_once('\n') {
        let needs_buildkit = NO_BUILDKIT.iter().any(|text| log.contains(text));
        let remedy = if needs_buildkit { Some(BUILDKIT) } else { super::engine::remedy(log) };
        let remedy = remedy.map(|remedy| format!("\n{remedy}"));
        error.0.extend(remedy);
    }
    error
}

#[cfg(test)]
mod tests;
