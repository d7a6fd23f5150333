//! One hash of everything that a server is built from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use blake3::Hasher;
use ignore::WalkBuilder;
use rpcbench_record::{Toolchain, regular};

use super::BuildError;
use crate::manifest::Server;

/// Files of `contract/` that servers are built from; the others are for readers.
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
    let root = server.contract.parent().unwrap_or(&server.contract);
    for file in files(server)? {
        let name = file.strip_prefix(root).unwrap_or(&file);
        part(&mut hasher, name.as_os_str().as_encoded_bytes());
        content(&mut hasher, &file)?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The files that a server is built from: the contract's definitions, its manifests, its sources without files that git ignores,
/// and its inputs.
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
    Ok(files)
}

/// Adds the length first, so that different lists of parts differ.
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
    let about = fs::symlink_metadata(path).map_err(&refused)?;
    if about.is_symlink() {
        let target = fs::read_link(path).map_err(&refused)?;
        part(hasher, target.as_os_str().as_encoded_bytes());
        return Ok(());
    }
    hasher.update(&about.len().to_le_bytes());
    hasher.update(&[u8::from(about.permissions().mode() & 0o111 != 0)]);
    let mut file = regular::open(path).map_err(&refused)?;
    io::copy(&mut file, hasher).map_err(&refused)?;
    Ok(())
}
