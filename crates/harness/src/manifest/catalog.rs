//! Finds and loads the manifests of all servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::ManifestError;
use super::layers::{Defaults, Language, MissingEntry, MissingFile, Server as ServerFile};
use super::matrix::{self, Matrix};
use super::resolve::Layers;
use super::{Entry, Selection, Server, select};
use crate::config;

/// All servers there are.
#[derive(Clone, Debug)]
pub struct Catalog {
    servers: Vec<Arc<Server>>,
    missing: Vec<MissingEntry>,
}

impl Catalog {
    /// Loads the manifests under `root/servers`. `root` is also where `contract/` lies and where
    /// `build/` will.
    ///
    /// A folder in `servers/` is a language if it has a `_language.toml`, and a folder in that is a server
    /// if it has a `server.toml`; other folders are left alone.
    ///
    /// # Errors
    /// The first thing wrong with any manifest, with its file, key, value and remedy.
    pub fn load(root: &Path) -> Result<Self, ManifestError> {
        let root = root.canonicalize().map_err(|source| config::unreadable(root, source))?;
        let folder = root.join("servers");
        let defaults_file = folder.join("_defaults.toml");
        let defaults: Defaults = config::read(&defaults_file)?;
        let mut servers = Vec::new();
        for language_folder in folders(&folder)? {
            let language_file = language_folder.join("_language.toml");
            let server_folders = servers_in(&language_folder)?;
            if !language_file.exists() && server_folders.is_empty() {
                continue;
            }
            let language: Language = config::read(&language_file)?;
            for folder in server_folders {
                let server_file = folder.join("server.toml");
                let server: ServerFile = config::read(&server_file)?;
                let layers = Layers {
                    root: &root,
                    folder: &folder,
                    defaults: (&defaults_file, &defaults),
                    language: (&language_file, &language),
                    server: (&server_file, &server),
                };
                servers.push(Arc::new(layers.resolve()?));
            }
        }
        if servers.is_empty() {
            return Err(ManifestError::NoServers { path: folder });
        }
        let missing_file = folder.join("_missing.toml");
        let missing = match missing_file.exists() {
            true => config::read::<MissingFile>(&missing_file)?.missing.unwrap_or_default(),
            false => Vec::new(),
        };
        Ok(Self { servers, missing })
    }

    /// All servers, by name.
    #[must_use]
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
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
    /// A pattern is a server (`go-grpc`: all its protocols and variants), one of its protocols
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
}

fn servers_in(language: &Path) -> Result<Vec<PathBuf>, ManifestError> {
    let mut found = folders(language)?;
    found.retain(|folder| folder.join("server.toml").exists());
    Ok(found)
}

/// The visible folders in `parent`, sorted.
fn folders(parent: &Path) -> Result<Vec<PathBuf>, ManifestError> {
    let refused = |source| config::unreadable(parent, source);
    let mut found = Vec::new();
    for item in fs::read_dir(parent).map_err(refused)? {
        let item = item.map_err(refused)?;
        let hidden = item.file_name().to_string_lossy().starts_with('.');
        if !hidden && item.path().is_dir() {
            found.push(item.path());
        }
    }
    found.sort();
    Ok(found)
}
