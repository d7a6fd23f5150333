//! Creates the folder of a new server from its language's template, `servers/<language>/_new`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rpcbench_record::Protocol;

use crate::config::did_you_mean;
use crate::error::about;
use crate::manifest::{NAME_RULE, is_name};

/// Name of a language's template folder.
const TEMPLATE: &str = "_new";

/// A created server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewServer {
    /// `go-fiber`.
    pub name: String,
    /// The server's folder.
    pub folder: PathBuf,
    /// The server's files, sorted.
    pub files: Vec<String>,
}

/// Creates `servers/<language>/<library>` below `root`. Replaces `LIBRARY` and `PROTOCOL` in the template's files.
pub fn create(
    root: &Path,
    language: &str,
    library: &str,
    protocol: Protocol,
) -> io::Result<NewServer> {
    let known = languages(root)?;
    if !known.iter().any(|name| name == language) {
        let hint = did_you_mean(language, known.iter().map(String::as_str));
        return Err(io::Error::other(format!(
            "there is no template for '{language}'{hint}; expected one of {}. For another language copy an existing server, or add a language: see CONTRIBUTING.md",
            known.join(", ")
        )));
    }
    if !is_name(library) {
        return Err(io::Error::other(format!(
            "'{library}' can't be part of a server's name: {NAME_RULE}"
        )));
    }
    let languages = root.join("servers").join(language);
    let folder = languages.join(library);
    fs::create_dir(&folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::other(format!(
            "{}: already exists; choose another name, or edit it",
            folder.display()
        )),
        _ => about(folder.display())(error),
    })?;
    let template = languages.join(TEMPLATE);
    let mut files = Vec::new();
    for item in fs::read_dir(&template).map_err(about(template.display()))? {
        let from = item.map_err(about(template.display()))?.path();
        let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&from).map_err(about(from.display()))?;
        let text = text.replace("LIBRARY", library).replace("PROTOCOL", &protocol.to_string());
        let to = folder.join(&name);
        fs::write(&to, text).map_err(about(to.display()))?;
        files.push(name);
    }
    files.sort();
    Ok(NewServer { name: format!("{language}-{library}"), folder, files })
}

/// Languages with a template, by name.
fn languages(root: &Path) -> io::Result<Vec<String>> {
    let folder = root.join("servers");
    let items = fs::read_dir(&folder).map_err(about(folder.display()))?;
    let with_template = items.flatten().filter(|item| item.path().join(TEMPLATE).is_dir());
    let mut names: Vec<String> =
        with_template.map(|item| item.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
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
