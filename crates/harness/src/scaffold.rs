//! Creates the folder of a new server or client from its language's template, `servers/<language>/_new`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rpcbench_record::{Protocol, Role};

use crate::config::did_you_mean;
use crate::error::about;
use crate::manifest::{NAME_RULE, is_name};

/// Name of a language's template folder.
const TEMPLATE: &str = "_new";

/// What to create.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Whether it is a server or a client.
    pub role: Role,
    /// A folder with a template.
    pub language: &'a str,
    /// Names the new folder.
    pub library: &'a str,
    /// How its calls travel.
    pub protocol: Protocol,
}

/// A created server or client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// `go-fiber`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its files, sorted.
    pub files: Vec<String>,
}

/// Creates `servers/<language>/<library>` below `root`, or the same in `clients`. Replaces `LIBRARY` and `PROTOCOL` in the
/// template's files.
///
/// # Errors
/// If the language has no template, the name is invalid, the folder exists, or a file can't be read or written.
pub fn create(root: &Path, wanted: Wanted<'_>) -> io::Result<Created> {
    let Wanted { role, language, library, protocol } = wanted;
    let known = languages(root, role)?;
    if !known.iter().any(|name| name == language) {
        let hint = did_you_mean(language, known.iter().map(String::as_str));
        return Err(io::Error::other(format!(
            "there is no template for '{language}'{hint}; expected one of {}. For another language copy an existing {role}, or add a language: see {}",
            known.join(", "),
            page(role)
        )));
    }
    if !is_name(library) {
        return Err(io::Error::other(format!(
            "'{library}' can't be part of a {role}'s name: {NAME_RULE}"
        )));
    }
    let languages = root.join(role.plural()).join(language);
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
    Ok(Created { name: format!("{language}-{library}"), folder, files })
}

/// The page that explains the next steps.
pub fn page(role: Role) -> &'static str {
    match role {
        Role::Server => "CONTRIBUTING.md",
        Role::Client => "clients/README.md",
    }
}

/// Languages with a template, by name.
fn languages(root: &Path, role: Role) -> io::Result<Vec<String>> {
    let folder = root.join(role.plural());
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

    /// A root with all templates of a role.
    fn root(role: Role) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (from, to) = (repository.join(role.plural()), root.path().join(role.plural()));
        fs::create_dir(&to).unwrap();
        let defaults = root.path().join("servers");
        fs::create_dir_all(&defaults).unwrap();
        let file = "_defaults.toml";
        fs::copy(repository.join("servers").join(file), defaults.join(file)).unwrap();
        for language in languages(&repository, role).unwrap() {
            let (from, to) = (from.join(&language), to.join(&language));
            fs::create_dir_all(to.join(TEMPLATE)).unwrap();
            fs::copy(from.join("_language.toml"), to.join("_language.toml")).unwrap();
            for file in fs::read_dir(from.join(TEMPLATE)).unwrap().flatten() {
                fs::copy(file.path(), to.join(TEMPLATE).join(file.file_name())).unwrap();
            }
        }
        root
    }

    #[test]
    fn every_template_has_a_valid_manifest() {
        for role in [Role::Server, Role::Client] {
            let root = root(role);
            for language in languages(root.path(), role).unwrap() {
                let protocol = Protocol::Json;
                let wanted = Wanted { role, language: &language, library: "my-lib", protocol };
                let new = create(root.path(), wanted).unwrap();
                assert_eq!(new.name, format!("{language}-my-lib"));
                for file in &new.files {
                    let text = fs::read_to_string(new.folder.join(file)).unwrap();
                    let is_filled = !text.contains("LIBRARY") && !text.contains("PROTOCOL");
                    assert!(is_filled, "{file}:\n{text}");
                }
                let catalog = Catalog::of(root.path(), role).unwrap();
                let server = catalog.servers().iter().find(|server| server.name == new.name);
                let server = server.unwrap_or_else(|| panic!("{:?}", catalog.broken()));
                assert_eq!(server.protocols, [protocol]);
                // The lock file of C++ is written by the build.
                if !server.lock.starts_with(&server.build_folder) {
                    crate::build::read_lock(server).unwrap();
                }
            }
        }
    }

    #[test]
    fn invalid_servers_are_refused() {
        let (role, protocol) = (Role::Server, Protocol::Grpc);
        let root = root(role);
        let new = |language: &str, library: &str| {
            create(root.path(), Wanted { role, language, library, protocol })
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
