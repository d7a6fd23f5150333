//! The build context of an image: all files that the server is built from, at their paths relative to the root.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::build::{BuildError, stamp};
use crate::manifest::Server;

/// Copies everything that `server` is built from into `folder`, replacing its contents.
pub(super) fn lay_out(server: &Server, folder: &Path) -> Result<(), BuildError> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(BuildError::file(folder))?;
    }
    let root = server.root();
    for file in stamp::files(server)? {
        let Some(path) = below(root, &file) else { continue };
        let to = folder.join(path);
        let parent = to.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(BuildError::file(parent))?;
        copy(&file, &to).map_err(BuildError::file(&file))?;
    }
    Ok(())
}

/// The path of `file` relative to `root`. Resolves `..`, which could leave the context or follow links to the sources. `None` if
/// `file` is not below `root`.
fn below(root: &Path, file: &Path) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in file.strip_prefix(root).ok()?.components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            other => path.push(other),
        }
    }
    Some(path)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_of_the_root_are_left_out() {
        let at = |file: &str| below(Path::new("/r"), Path::new(file));
        assert_eq!(at("/r/servers/go/x/../build.sh"), Some("servers/go/build.sh".into()));
        assert_eq!(at("/r/servers/../../src/lib.rs"), None);
        assert_eq!(at("/r/../src/lib.rs"), None);
        assert_eq!(at("/src/lib.rs"), None);
    }
}
