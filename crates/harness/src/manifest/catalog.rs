//! Finds and loads the manifests of all servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::ManifestError;
use super::layers::{Defaults, Language, MissingEntry, MissingFile, Server as ServerFile};
use super::matrix::{self, Matrix};
use super::resolve::{Layer, Layers};
use super::{Entry, Selection, Server, select};
use crate::config::{self, ConfigError};

/// All servers there are.
#[derive(Debug)]
pub struct Catalog {
    servers: Vec<Arc<Server>>,
    broken: Vec<Broken>,
    missing: Vec<MissingEntry>,
}

/// A server, or a whole language, whose manifest can't be used.
#[derive(Debug)]
pub struct Broken {
    /// The server's name, `cobol-grpc`; of a language `cobol-*`.
    pub name: String,
    /// What is wrong.
    pub error: ManifestError,
}

impl Catalog {
    /// Loads the manifests under `root/servers`. `root` is also where `contract/` lies and where
    /// `build/` will.
    ///
    /// A folder in `servers/` is a language if it has a `_language.toml`, and a folder in that is a server
    /// if it has a `server.toml`; other folders are left alone.
    ///
    /// One bad manifest is in nobody else's way: see [`Self::broken`].
    ///
    /// # Errors
    /// What is wrong with the files that all servers share, and where there is no server at all.
    pub fn load(root: &Path) -> Result<Self, ManifestError> {
        let root = root.canonicalize().map_err(|source| config::unreadable(root, source))?;
        let folder = root.join("servers");
        let defaults_file = folder.join("_defaults.toml");
        let defaults: Defaults = config::read(&defaults_file)?;
        let (mut servers, mut broken) = (Vec::new(), Vec::new());
        for language_folder in folders(&folder)? {
            let mut reading =
                Reading { root: &root, defaults: (&defaults_file, &defaults), broken: &mut broken };
            servers.extend(reading.language(&language_folder));
        }
        if servers.is_empty() && broken.is_empty() {
            return Err(ManifestError::NoServers { path: folder });
        }
        let missing_file = folder.join("_missing.toml");
        let missing = match missing_file.exists() {
            true => config::read::<MissingFile>(&missing_file)?.missing.unwrap_or_default(),
            false => Vec::new(),
        };
        Ok(Self { servers, broken, missing })
    }

    /// All servers, by name.
    #[must_use]
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// What can't be used of `servers/`.
    #[must_use]
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// Every entry there is: each server under each of its protocols, in each of its variants.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.servers.iter().flat_map(Entry::of).collect()
    }

    /// Languages against protocols.
    #[must_use]
    pub fn matrix(&self) -> Matrix {
        matrix::matrix(self.servers.iter().map(Arc::as_ref), &self.missing)
    }

    /// The entries of a selection, in the order of their first mention by its patterns.
    ///
    /// A pattern is an entry (`go-grpc`), a server (`java-grpc`: all its protocols and variants), one of its protocols
    /// (`go-connect:json`), a variant (`java-grpc@zgc`), or a glob of these (`java-*`, `*@zgc`, `*@*`: whatever has
    /// variants). An entry that is named in full more than once
    /// is run as often: the second time it is `go-grpc#2`. What a glob selects again is not repeated.
    ///
    /// # Errors
    /// [`ManifestError::NoMatch`] for a pattern that selects nothing, [`ManifestError::BadPattern`] for
    /// one that is no glob, [`ManifestError::NoLanguage`] for a language that no server is written in, and
    /// [`ManifestError::NothingLeft`] where languages and protocols leave nothing.
    pub fn select(&self, selection: &Selection) -> Result<Vec<Entry>, ManifestError> {
        select::select(&self.entries(), selection)
    }

    /// As [`Self::select`]; what is asked for by its name and can't be used is refused for the reason why.
    ///
    /// # Errors
    /// As [`Self::select`], and what is wrong with the manifest of a server that is asked for.
    pub fn into_selected(mut self, selection: &Selection) -> Result<Vec<Entry>, ManifestError> {
        let is_meant =
            |broken: &Broken| selection.patterns.iter().any(|pattern| broken.is(pattern));
        if let Some(at) = self.broken.iter().position(is_meant) {
            return Err(self.broken.swap_remove(at).error);
        }
        self.select(selection)
    }
}

impl Broken {
    /// Whether a pattern names it, and not just anything.
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
    defaults: (&'a Path, &'a Defaults),
    broken: &'a mut Vec<Broken>,
}

impl Reading<'_> {
    fn language(&mut self, folder: &Path) -> Vec<Arc<Server>> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = folder.join("_language.toml");
        let servers = match servers_in(folder) {
            Ok(servers) if servers.is_empty() && !file.exists() => return Vec::new(),
            Ok(servers) => servers,
            Err(error) => return self.breaks(format!("{name}-*"), error),
        };
        let language: Language = match config::read(&file) {
            Ok(language) => language,
            Err(error) => return self.breaks(format!("{name}-*"), error.into()),
        };
        let lender = match self.lender(&language) {
            Ok(lender) => lender,
            Err(error) => return self.breaks(format!("{name}-*"), error.into()),
        };
        let lender = lender.as_ref().map(|(file, language)| (file.as_path(), language));
        let mut found = Vec::new();
        for server in servers {
            let library = server.file_name().unwrap_or_default().to_string_lossy();
            match self.server((&file, &language), lender, &server) {
                Ok(server) => found.push(Arc::new(server)),
                Err(error) => found.extend(self.breaks(format!("{name}-{library}"), error)),
            }
        }
        found
    }

    /// The language whose toolchains this one has.
    fn lender(&self, language: &Language) -> Result<Option<(PathBuf, Language)>, ConfigError> {
        let Some(name) = &language.toolchains_of else { return Ok(None) };
        let file = self.root.join("servers").join(&name.value.0).join("_language.toml");
        if !file.exists() {
            return Err(name.bad(format!("there is no {}", file.display())));
        }
        let lender = config::read(&file)?;
        Ok(Some((file, lender)))
    }

    fn server(
        &self,
        language: Layer<'_, Language>,
        lender: Option<Layer<'_, Language>>,
        folder: &Path,
    ) -> Result<Server, ManifestError> {
        let file = folder.join("server.toml");
        let server: ServerFile = config::read(&file)?;
        let (root, defaults) = (self.root, self.defaults);
        Layers { root, folder, defaults, language, lender, server: (&file, &server) }.resolve()
    }

    fn breaks(&mut self, name: String, error: ManifestError) -> Vec<Arc<Server>> {
        self.broken.push(Broken { name, error });
        Vec::new()
    }
}

fn servers_in(language: &Path) -> Result<Vec<PathBuf>, ManifestError> {
    let mut found = folders(language)?;
    found.retain(|folder| folder.join("server.toml").exists());
    Ok(found)
}

/// The visible folders in `parent`, sorted; what begins with `_` is no server.
fn folders(parent: &Path) -> Result<Vec<PathBuf>, ManifestError> {
    let refused = |source| config::unreadable(parent, source);
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
