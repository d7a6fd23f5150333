//! Sources that servers are built from: folders and revisions of the repository.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use rpcbench_record::{Age, Build};

use super::{Catalog, Entry, Selection};
use crate::config::ConfigError;

/// Files of a build.
#[derive(Debug)]
pub struct Tree {
    folder: PathBuf,
    build: Build,
}

impl Tree {
    /// A folder with `servers/` in it, or a revision of the repository of `root`. A revision is unpacked to
    /// `root/build/revisions` and kept.
    pub fn find(root: &Path, age: Age, origin: &str) -> Result<Self, ConfigError> {
        if Path::new(origin).join("servers").is_dir() {
            let folder = Path::new(origin).canonicalize();
            let folder =
                folder.map_err(|source| not_unpacked(origin, Path::new(origin), source))?;
            let origin = folder.display().to_string();
            return Ok(Self { folder, build: Build { age, origin, commit: None } });
        }
        let revision = Revision { root, origin };
        let commit = revision.commit()?;
        let folder = revision.unpacked(&commit)?;
        Ok(Self { folder, build: Build { age, origin: origin.to_owned(), commit: Some(commit) } })
    }

    /// The tree of a recorded build, even if its revision's name has moved.
    pub fn again(root: &Path, build: &Build) -> Result<Self, ConfigError> {
        let origin = build.commit.as_ref().unwrap_or(&build.origin);
        let tree = Self::find(root, build.age, origin)?;
        Ok(Self { build: build.clone(), ..tree })
    }

    /// The selected entries.
    pub fn entries(&self, selection: &Selection) -> Result<Vec<Entry>, ConfigError> {
        let selected = Catalog::of(&self.folder, selection.role())
            .and_then(|catalog| catalog.into_selected(selection));
        let selected = selected.map_err(|problem| bad(&self.build.origin, problem))?;
        let of_this = |entry| Entry { build: Some(self.build.clone()), ..entry };
        Ok(selected.into_iter().map(of_this).collect())
    }
}

/// The reason why a build, as typed, has no usable servers.
fn bad(origin: &str, problem: impl Display) -> ConfigError {
    ConfigError::value(format!("--build {origin}"), problem)
}

fn not_unpacked(origin: &str, folder: &Path, problem: impl Display) -> ConfigError {
    bad(origin, format!("can't be unpacked to {}: {problem}", folder.display()))
}

struct Revision<'a> {
    root: &'a Path,
    origin: &'a str,
}

impl Revision<'_> {
    fn commit(&self) -> Result<String, ConfigError> {
        let commit = format!("{}^{{commit}}", self.origin);
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let Output { status, stdout, .. } =
            self.git(&words).output().map_err(|source| self.no_git(source))?;
        let commit = String::from_utf8_lossy(&stdout).trim().to_owned();
        match status.success() && !commit.is_empty() {
            true => Ok(commit),
            false => {
                let root = self.root.display();
                let problem = format!(
                    "neither a folder with servers/ in it nor a git revision of {root}; name one or the other"
                );
                Err(bad(self.origin, problem))
            }
        }
    }

    /// The revision's files. They are unpacked to another folder, which is then renamed, so the folder is always complete.
    fn unpacked(&self, commit: &str) -> Result<PathBuf, ConfigError> {
        let revisions = self.root.join("build/revisions");
        let folder = revisions.join(commit);
        if folder.join("servers").is_dir() {
            return Ok(folder);
        }
        let failed = |source: io::Error| not_unpacked(self.origin, &folder, source);
        let ended = |problem: String| Err(not_unpacked(self.origin, &folder, problem));
        let part = revisions.join(format!("{commit}.part"));
        let _ = fs::remove_dir_all(&part);
        fs::create_dir_all(&part).map_err(failed)?;
        let mut archive = self
            .git(&["archive", "--format=tar", commit])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| self.no_git(source))?;
        let unpacked = unpack(&mut archive, &part);
        let archived = archive.wait().map_err(failed)?;
        match unpacked {
            Err(source) => return ended(format!("tar: {source}")),
            Ok(tar) if !tar.success() => return ended(format!("tar: {tar}")),
            Ok(_) if !archived.success() => return ended(format!("git: {archived}")),
            Ok(_) => {}
        }
        fs::rename(&part, &folder).map_err(failed)?;
        Ok(folder)
    }

    fn git(&self, words: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.root).args(words).stdin(Stdio::null());
        git
    }

    fn no_git(&self, source: io::Error) -> ConfigError {
        bad(self.origin, format!("git, which unpacks a revision, can't be run: {source}"))
    }
}

fn unpack(archive: &mut Child, folder: &Path) -> io::Result<ExitStatus> {
    let files = archive.stdout.take().map_or_else(Stdio::null, Stdio::from);
    Command::new("tar").arg("-x").arg("-C").arg(folder).stdin(files).status()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, words: &[&str]) {
        let ended = Command::new("git").arg("-C").arg(folder).args(words).output().unwrap();
        assert!(ended.status.success(), "{words:?}: {ended:?}");
    }

    /// A repository in whose one commit `servers/file` says `old`, and where it says `new` by now.
    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("servers/file");
        fs::create_dir(root.path().join("servers")).unwrap();
        fs::write(&file, "old").unwrap();
        git(root.path(), &["init", "--quiet"]);
        git(root.path(), &["add", "."]);
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        git(root.path(), &[&identity[..], &["commit", "--quiet", "-m", "old"]].concat());
        fs::write(&file, "new").unwrap();
        root
    }

    fn content(tree: &Tree) -> String {
        fs::read_to_string(tree.folder.join("servers/file")).unwrap()
    }

    #[test]
    fn revision_is_unchanged_and_a_folder_is_current() {
        let root = repository();
        let old = Tree::find(root.path(), Age::Old, "HEAD").unwrap();
        let new = Tree::find(root.path(), Age::New, root.path().to_str().unwrap()).unwrap();
        assert_eq!((content(&old).as_str(), content(&new).as_str()), ("old", "new"));
        assert_eq!(old.build.commit.as_ref().map(String::len), Some(40));
        assert_eq!((new.build.age, &new.build.commit), (Age::New, &None));
    }

    #[test]
    fn recorded_revision_is_found_after_its_name_moved() {
        let root = repository();
        let first = Tree::find(root.path(), Age::Old, "HEAD").unwrap();
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        git(root.path(), &[&identity[..], &["commit", "--quiet", "-a", "-m", "new"]].concat());
        assert_eq!(content(&Tree::find(root.path(), Age::New, "HEAD").unwrap()), "new");
        let again = Tree::again(root.path(), &first.build).unwrap();
        assert_eq!((content(&again).as_str(), &again.build), ("old", &first.build));
    }

    #[test]
    fn unknown_revision_is_refused() {
        let root = repository();
        for origin in ["nothing", "--all", "HEAD:servers"] {
            let error = Tree::find(root.path(), Age::Old, origin).unwrap_err();
            assert!(error.to_string().contains("neither a folder"), "{error}");
        }
        let bare = tempfile::tempdir().unwrap();
        let error = Tree::find(bare.path(), Age::Old, "HEAD").unwrap_err();
        assert!(error.to_string().contains("neither a folder with servers/ in it"), "{error}");
    }
}
