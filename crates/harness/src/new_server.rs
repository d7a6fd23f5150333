//! Creates the folder of a new server from its language's template, `servers/<language>/_new`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rpcbench_record::Protocol;

use crate::config::{closest, hint};
use crate::manifest::is_name;

/// Name of a language's template folder.
const TEMPLATE: &str = "_new";

/// Why a server can't be created.
#[derive(Debug, thiserror::Error)]
pub enum NewServerError {
    /// Its language has no template.
    #[error("there is no template for '{language}'{}; expected one of {}. For another language copy an existing server, or add a language: see CONTRIBUTING.md", hint(suggestion.as_deref()), known.join(", "))]
    Language {
        /// As typed.
        language: String,
        /// A similar name.
        suggestion: Option<String>,
        /// Languages with a template.
        known: Vec<String>,
    },
    /// The name is invalid.
    #[error(
        "'{0}' can't be part of a server's name: use lower-case letters, digits, '-', '_', '.' and '+', a letter or digit first"
    )]
    Name(String),
    /// It already exists.
    #[error("{}: already exists; choose another name, or edit it", .0.display())]
    Exists(PathBuf),
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A created server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewServer {
    /// `go-fiber`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its files, sorted.
    pub files: Vec<String>,
}

/// Creates `servers/<language>/<library>` below `root`. Replaces `LIBRARY` and `PROTOCOL` in the template's files.
///
/// # Errors
/// If there is no template, or the folder exists.
pub fn create(
    root: &Path,
    language: &str,
    library: &str,
    protocol: Protocol,
) -> Result<NewServer, NewServerError> {
    let known = languages(root)?;
    if !known.iter().any(|name| name == language) {
        let suggestion = closest(language, known.iter().map(String::as_str));
        let language = language.to_owned();
        return Err(NewServerError::Language { language, suggestion, known });
    }
    if !is_name(library) {
        return Err(NewServerError::Name(library.to_owned()));
    }
    let languages = root.join("servers").join(language);
    let folder = languages.join(library);
    fs::create_dir(&folder).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => NewServerError::Exists(folder.clone()),
        _ => failed(&folder, source),
    })?;
    let template = languages.join(TEMPLATE);
    let mut files = Vec::new();
    for item in fs::read_dir(&template).map_err(|source| failed(&template, source))? {
        let from = item.map_err(|source| failed(&template, source))?.path();
        let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&from).map_err(|source| failed(&from, source))?;
        let text = text.replace("LIBRARY", library).replace("PROTOCOL", &protocol.to_string());
        let to = folder.join(&name);
        fs::write(&to, text).map_err(|source| failed(&to, source))?;
        files.push(name);
    }
    files.sort();
    Ok(NewServer { name: format!("{language}-{library}"), folder, files })
}

/// Languages with a template, by name.
fn languages(root: &Path) -> Result<Vec<String>, NewServerError> {
    let folder = root.join("servers");
    let items = fs::read_dir(&folder).map_err(|source| failed(&folder, source))?;
    let with_template = items.flatten().filter(|item| item.path().join(TEMPLATE).is_dir());
    let mut names: Vec<String> =
        with_template.map(|item| item.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn failed(path: &Path, source: io::Error) -> NewServerError {
    NewServerError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Catalog;

    /// A root with all templates.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../servers");
        let servers = root.path().join("servers");
        fs::create_dir(&servers).unwrap();
        fs::copy(repository.join("_defaults.toml"), servers.join("_defaults.toml")).unwrap();
        for language in languages(&repository.join("..")).unwrap() {
            let (from, to) = (repository.join(&language), servers.join(&language));
            fs::create_dir_all(to.join(TEMPLATE)).unwrap();
            fs::copy(from.join("_language.toml"), to.join("_language.toml")).unwrap();
            for file in fs::read_dir(from.join(TEMPLATE)).unwrap().flatten() {
                fs::copy(file.path(), to.join(TEMPLATE).join(file.file_name())).unwrap();
            }
        }
        root
    }

    #[test]
    fn every_template_gives_a_server_with_a_valid_manifest() {
        let root = root();
        for language in languages(root.path()).unwrap() {
            let new = create(root.path(), &language, "my-lib", Protocol::Json).unwrap();
            assert_eq!(new.name, format!("{language}-my-lib"));
            for file in &new.files {
                let text = fs::read_to_string(new.folder.join(file)).unwrap();
                assert!(!text.contains("LIBRARY") && !text.contains("PROTOCOL"), "{file}:\n{text}");
            }
            let catalog = Catalog::load(root.path()).unwrap();
            let server = catalog.servers().iter().find(|server| server.name == new.name);
            let server = server.unwrap_or_else(|| panic!("{:?}", catalog.broken()));
            assert_eq!(server.protocols, [Protocol::Json]);
            // The lock file of C++ is written by the build.
            if !server.lock.starts_with(&server.build_folder) {
                crate::build::read_lock(server).unwrap();
            }
        }
    }

    #[test]
    fn invalid_servers_are_refused() {
        let root = root();
        let new = |language: &str, library: &str| {
            create(root.path(), language, library, Protocol::Grpc)
                .map_err(|error| error.to_string())
        };
        assert!(new("go", "fiber").is_ok());
        assert!(new("go", "fiber").unwrap_err().ends_with("or edit it"));
        assert!(new("go", "../fiber").unwrap_err().contains("can't be part of a server's name"));
        let unknown = new("pyton", "x").unwrap_err();
        assert!(
            unknown.contains(
                "did you mean 'python'?); expected one of cpp, go, java, node, python, rust"
            ),
            "{unknown}"
        );
    }
}
