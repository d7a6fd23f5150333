//! One hash of everything that a server is built from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use blake3::Hasher;
use ignore::WalkBuilder;
use rpcbench_record::{Toolchain, regular};

use super::BuildError;
use crate::manifest::Server;

/// Files of `contract/` that servers are built from. The others are documentation.
const DEFINITIONS: &[&str] = &["echo.proto", "echo.thrift"];

/// Hashes the build command, the toolchains, and the [files] with paths and execute permission.
pub(crate) fn hash(server: &Server, toolchains: &[Toolchain]) -> Result<String, BuildError> {
    let mut hasher = Hasher::new();
    for word in server.build_command() {
        part(&mut hasher, word.as_bytes());
    }
    for tool in toolchains {
        part(&mut hasher, tool.name.as_bytes());
        part(&mut hasher, tool.version.as_bytes());
    }
    let root = server.root();
    for file in files(server)? {
        let name = file.strip_prefix(root).unwrap_or(&file);
        part(&mut hasher, name.as_os_str().as_encoded_bytes());
        content(&mut hasher, &file)?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The files that a server is built and started from: the contract's definitions, its manifests, its sources except those that
/// git ignores, its inputs, and the scripts of its command line.
pub(crate) fn files(server: &Server) -> Result<Vec<PathBuf>, BuildError> {
    let definitions = DEFINITIONS.iter().map(|name| server.contract.join(name));
    let mut files: Vec<PathBuf> = definitions.filter(|file| file.exists()).collect();
    files.extend(server.manifests.iter().cloned());
    files.extend(below(&server.folder)?);
    for input in &server.build.inputs {
        if !input.exists() {
            let input = input.display();
            let problem = format!(
                "the build input {input} does not exist; correct 'build.inputs' in its manifest"
            );
            return Err(BuildError::of(server, problem));
        }
        files.extend(below(input)?);
    }
    files.extend(launchers(server));
    Ok(files)
}

/// Files that start the server without being part of a build: those next to a script of its command line.
fn launchers(server: &Server) -> Vec<PathBuf> {
    let words = server.command.iter().filter_map(|word| word.strip_prefix("{server}/"));
    let folders = words.filter_map(|word| {
        server.folder.join(word).canonicalize().ok()?.parent().map(Path::to_owned)
    });
    let mut folders: Vec<PathBuf> = folders.collect();
    if !folders.is_empty() {
        folders.push(server.root().join("servers"));
        folders.push(server.root().join("servers/nginx"));
    }
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "sh" || kind == "conf"));
    files.sort();
    files
}

/// Hashes the length first, so that different splits into parts differ.
fn part(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// A file, or all files in a folder, sorted.
fn below(top: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = Vec::new();
    let walk = WalkBuilder::new(top)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for entry in walk {
        let entry = entry.map_err(|error| BuildError::file(top)(io::Error::other(error)))?;
        if entry.file_type().is_some_and(|kind| !kind.is_dir()) {
            files.push(entry.into_path());
        }
    }
    files.sort();
    Ok(files)
}

fn content(hasher: &mut Hasher, path: &Path) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt;
    let refused = BuildError::file(path);
    let is_link = fs::symlink_metadata(path).map_err(&refused)?.is_symlink();
    if is_link {
        let target = fs::read_link(path).map_err(&refused)?;
        part(hasher, target.as_os_str().as_encoded_bytes());
    }
    // Metadata of the file that a link points to.
    let about = match fs::metadata(path) {
        Ok(about) if !is_link || about.is_file() => about,
        Err(error) if !is_link => return Err(refused(error)),
        _ => return Ok(()),
    };
    hasher.update(&about.len().to_le_bytes());
    hasher.update(&[u8::from(about.permissions().mode() & 0o111 != 0)]);
    let mut file = regular::open(path).map_err(&refused)?;
    io::copy(&mut file, hasher).map_err(&refused)?;
    Ok(())
}
