//! Finds and loads the manifests of all servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rpcbench_record::Role;

use super::layers::{Defaults, Language, MissingEntry, MissingFile, Server as ServerFile};
use super::matrix::{self, Matrix};
use super::resolve::{Layer, Layers};
use super::{Entry, Selection, Server, select};
use crate::config::{ConfigError, FileKind, SourceFile, unreadable};

/// All servers.
#[derive(Debug)]
pub struct Catalog {
    servers: Vec<Arc<Server>>,
    broken: Vec<Broken>,
    missing: Vec<MissingEntry>,
}

/// A server, or a whole language, whose manifest can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{name} is left out: {error}")]
pub struct Broken {
    /// The server's name, `cobol-grpc`; of a language `cobol-*`.
    pub name: String,
    /// The problem.
    pub error: ConfigError,
}

impl Catalog {
    /// Loads the manifests of servers under `root/servers`. `root` is also where `contract/` lies and where
    /// `build/` will.
    ///
    /// A folder in `servers/` is a language if it has a `_language.toml`, and a folder in that is a server
    /// if it has a `server.toml`; other folders are left alone.
    ///
    /// A bad manifest does not affect other servers: see [`Self::broken`]. Fails if files that all servers share are wrong, or
    /// if there is no server.
    pub fn load(root: &Path) -> Result<Self, ConfigError> {
        Self::of(root, Role::Server)
    }

    /// Like [`Self::load`] for the entries of a role: clients are in `root/clients`, each with a `client.toml`.
    pub fn of(root: &Path, role: Role) -> Result<Self, ConfigError> {
        let root = root.canonicalize().map_err(|source| unreadable(root, source))?;
        let folder = root.join(role.plural());
        let (file, defaults) = read::<Defaults>(&root.join("servers/_defaults.toml"))?;
        let defaults = Layer { file: &file, value: &defaults };
        let (mut servers, mut broken) = (Vec::new(), Vec::new());
        for language_folder in folders(&folder)? {
            let mut reading = Reading { root: &root, role, defaults, broken: &mut broken };
            servers.extend(reading.language(&language_folder));
        }
        if servers.is_empty() && broken.is_empty() {
            let all = role.plural();
            let problem = format!(
                "no {all} found; a {role} is a folder <language>/<library> with a {role}.toml"
            );
            return Err(ConfigError::value(folder.display(), problem));
        }
        let missing_file = folder.join("_missing.toml");
        let missing = match missing_file.exists() {
            true => read::<MissingFile>(&missing_file)?.1.missing,
            false => Vec::new(),
        };
        Ok(Self { servers, broken, missing })
    }

    /// All servers, by name.
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// Servers and languages that can't be used.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// All entries: each server under each of its protocols, in each of its variants.
    pub fn entries(&self) -> Vec<Entry> {
        self.servers.iter().flat_map(Entry::of).collect()
    }

    /// The matrix of languages and protocols.
    pub fn matrix(&self) -> Matrix {
        matrix::matrix(self.servers.iter().map(Arc::as_ref), &self.missing)
    }

    /// The entries of a selection, in the order of their first mention by its patterns.
    ///
    /// A pattern is an entry (`go-grpc`), a server (`java-grpc`: all its protocols and variants), one of its protocols
    /// (`go-connect:json`), a variant (`java-grpc@zgc`), or a glob of these (`java-*`, `*@zgc`, `*@*`: all variants). An
    /// entry that is named in full twice is run twice: the second time it is `go-grpc#2`. A glob repeats nothing.
    ///
    /// Fails if a pattern selects nothing or is not a valid glob, if a language is unknown, and if the languages and protocols
    /// leave no entry.
    pub fn select(&self, selection: &Selection) -> Result<Vec<Entry>, ConfigError> {
        select::select(&self.entries(), selection)
    }

    /// Like [`Self::select`], but if a pattern names a server with a broken manifest, fails with that manifest's error.
    pub fn into_selected(mut self, selection: &Selection) -> Result<Vec<Entry>, ConfigError> {
        let is_selected =
            |broken: &Broken| selection.patterns().iter().any(|pattern| broken.is(pattern));
        if let Some(at) = self.broken.iter().position(is_selected) {
            return Err(self.broken.swap_remove(at).error);
        }
        self.select(selection)
    }
}

impl Broken {
    /// True if a pattern names it.
    fn is(&self, pattern: &str) -> bool {
        let server = pattern.split(['@', ':']).next().unwrap_or_default();
        match self.name.strip_suffix('*') {
            Some(language) => server.starts_with(language),
            None => server == self.name,
        }
    }
}

/// Reads the manifests of one language.
struct Reading<'a> {
    root: &'a Path,
    role: Role,
    defaults: Layer<'a, Defaults>,
    broken: &'a mut Vec<Broken>,
}

impl Reading<'_> {
    fn language(&mut self, folder: &Path) -> Vec<Arc<Server>> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        self.servers(&name, folder).unwrap_or_else(|error| {
            self.broken.push(Broken { name: format!("{name}-*"), error });
            Vec::new()
        })
    }

    fn servers(&mut self, name: &str, folder: &Path) -> Result<Vec<Arc<Server>>, ConfigError> {
        let file = folder.join("_language.toml");
        let servers = self.servers_in(folder)?;
        if servers.is_empty() && !file.exists() {
            return Ok(Vec::new());
        }
        let (language_file, language) = read::<Language>(&file)?;
        let language = Layer { file: &language_file, value: &language };
        let lender = self.lender(language)?;
        let lender = lender.as_ref().map(|(file, value)| Layer { file, value });
        let mut found = Vec::new();
        for server in servers {
            let library = server.file_name().unwrap_or_default().to_string_lossy();
            match self.server(language, lender, &server) {
                Ok(server) => found.push(Arc::new(server)),
                Err(error) => self.broken.push(Broken { name: format!("{name}-{library}"), error }),
            }
        }
        Ok(found)
    }

    fn servers_in(&self, language: &Path) -> Result<Vec<PathBuf>, ConfigError> {
        let mut found = folders(language)?;
        let manifests = [Role::Server, Role::Client].map(manifest);
        found.retain(|folder| manifests.iter().any(|name| folder.join(name).exists()));
        Ok(found)
    }

    /// The language whose toolchains this one shares.
    fn lender(
        &self,
        language: Layer<'_, Language>,
    ) -> Result<Option<(SourceFile, Language)>, ConfigError> {
        let Some(name) = &language.value.toolchains_of else { return Ok(None) };
        let file =
            self.root.join(self.role.plural()).join(&name.get_ref().0).join("_language.toml");
        if !file.exists() {
            return Err(language
                .file
                .bad(&name.span(), format!("no such file: {}", file.display())));
        }
        read(&file).map(Some)
    }

    fn server(
        &self,
        language: Layer<'_, Language>,
        lender: Option<Layer<'_, Language>>,
        folder: &Path,
    ) -> Result<Server, ConfigError> {
        let (file, server) = read::<ServerFile>(&folder.join(manifest(self.role)))?;
        if let Some(other) = other_manifest(self.role, folder) {
            let problem = format!(
                "a folder has one role, and this one has a {other} too; move that to {}/",
                other.trim_end_matches(".toml").to_owned() + "s"
            );
            return Err(ConfigError::value(folder.display(), problem));
        }
        let (root, role, defaults) = (self.root, self.role, self.defaults);
        let server = Layer { file: &file, value: &server };
        Layers { root, role, folder, defaults, language, lender, server }.resolve()
    }
}

fn read<T: FileKind>(path: &Path) -> Result<(SourceFile, T), ConfigError> {
    let file = SourceFile::read(path)?;
    let value = file.parse()?;
    Ok((file, value))
}

/// Name of the manifest of a role's entry.
fn manifest(role: Role) -> String {
    format!("{role}.toml")
}

/// The manifest of the other role, if the folder has it too.
fn other_manifest(role: Role, folder: &Path) -> Option<String> {
    let other = manifest(match role {
        Role::Server => Role::Client,
        Role::Client => Role::Server,
    });
    folder.join(&other).exists().then_some(other)
}

/// The visible folders in `parent`, sorted, except those whose names begin with `_`.
fn folders(parent: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    let refused = |source| unreadable(parent, source);
    let mut found = Vec::new();
    for item in fs::read_dir(parent).map_err(refused)? {
        let item = item.map_err(refused)?;
        let hidden = item.file_name().to_string_lossy().starts_with(['.', '_']);
        if !hidden && item.path().is_dir() {
            found.push(item.path());
        }
    }
    found.sort();
    Ok(found)
}
