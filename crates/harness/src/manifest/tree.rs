//! Sources that servers are built from: folders, and revisions of the repository.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rpcbench_record::{Age, Build};

use super::{Catalog, Entry, Selection};
use crate::config::ConfigError;
use crate::interrupt::{Interrupt, StopNow};
use crate::task::{Output, Task};

/// Time limit of git and tar.
const LIMIT: Duration = Duration::from_secs(600);

/// The reason why a tree can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// There are no usable servers.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Ctrl-C.
    #[error(transparent)]
    Stopped(#[from] StopNow),
}

/// The sources of a build.
#[derive(Debug)]
pub struct Tree {
    folder: PathBuf,
    build: Build,
}

impl Tree {
    /// Finds a folder that contains `servers/`, or else a revision of the repository of `root`, which is unpacked to
    /// `root/build/revisions` and kept.
    pub fn find(
        root: &Path,
        age: Age,
        origin: &str,
        interrupt: &Interrupt,
    ) -> Result<Self, TreeError> {
        if Path::new(origin).join("servers").is_dir() {
            let folder = Path::new(origin).canonicalize();
            let folder =
                folder.map_err(|source| not_unpacked(origin, Path::new(origin), source))?;
            let origin = folder.display().to_string();
            return Ok(Self { folder, build: Build { age, origin, commit: None } });
        }
        let revision = Revision { root, origin, interrupt };
        let commit = revision.commit()?;
        let folder = revision.unpacked(&commit)?;
        Ok(Self { folder, build: Build { age, origin: origin.to_owned(), commit: Some(commit) } })
    }

    /// The tree of a recorded build, even if the name of its revision points elsewhere by now.
    pub fn again(root: &Path, build: &Build, interrupt: &Interrupt) -> Result<Self, TreeError> {
        let origin = build.commit.as_ref().unwrap_or(&build.origin);
        let tree = Self::find(root, build.age, origin, interrupt)?;
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

/// The error for a `--build` option without usable servers.
fn bad(origin: &str, problem: impl Display) -> ConfigError {
    ConfigError::value(format!("--build {origin}"), problem)
}

fn not_unpacked(origin: &str, folder: &Path, problem: impl Display) -> ConfigError {
    bad(origin, format!("can't be unpacked to {}: {problem}", folder.display()))
}

struct Revision<'a> {
    root: &'a Path,
    origin: &'a str,
    interrupt: &'a Interrupt,
}

impl Revision<'_> {
    fn commit(&self) -> Result<String, TreeError> {
        let commit = format!("{}^{{commit}}", self.origin);
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let Output { success, out, .. } = self.output(self.git().args(words))?;
        let commit = out.trim().to_owned();
        match success && !commit.is_empty() {
            true => Ok(commit),
            false => {
                let root = self.root.display();
                let problem = format!(
                    "neither a folder with servers/ in it nor a git revision of {root}; name one or the other"
                );
                Err(bad(self.origin, problem).into())
            }
        }
    }

    /// Unpacks the revision's files to a temporary folder and renames that, so the final folder is always complete.
    fn unpacked(&self, commit: &str) -> Result<PathBuf, TreeError> {
        let revisions = self.root.join("build/revisions");
        let folder = revisions.join(commit);
        if folder.join("servers").is_dir() {
            return Ok(folder);
        }
        let failed = |source: io::Error| not_unpacked(self.origin, &folder, source);
        let part = revisions.join(format!("{commit}.part"));
        let archive = revisions.join(format!("{commit}.tar"));
        let _ = fs::remove_dir_all(&part);
        fs::create_dir_all(&part).map_err(failed)?;
        let mut pack = self.git();
        pack.args(["archive", "--format=tar", "--output"]).arg(&archive).arg(commit);
        let mut unpack = Command::new("tar");
        unpack.arg("-x").arg("-C").arg(&part).arg("-f").arg(&archive);
        for (program, command) in [("git", &mut pack), ("tar", &mut unpack)] {
            let Output { success, err, .. } = self.output(command)?;
            if !success {
                let problem = format!("{program}: {}", err.trim());
                return Err(not_unpacked(self.origin, &folder, problem).into());
            }
        }
        fs::remove_file(&archive).map_err(failed)?;
        fs::rename(&part, &folder).map_err(failed)?;
        Ok(folder)
    }

    /// The output of a command. Ctrl-C stops it.
    fn output(&self, command: &mut Command) -> Result<Output, TreeError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |problem: String| {
            bad(self.origin, format!("{program}, which unpacks a revision, {problem}"))
        };
        let task = Task::ask(command).map_err(|error| failed(format!("can't be run: {error}")))?;
        let ended = task.output(LIMIT, || self.interrupt.check().is_ok());
        self.interrupt.check()?;
        let ended = ended.map_err(|error| failed(format!("can't be waited for: {error}")))?;
        Ok(ended.ok_or_else(|| failed(format!("did not end within {} s", LIMIT.as_secs())))?)
    }

    fn git(&self) -> Command {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.root);
        git
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, words: &[&str]) {
        let ended = Command::new("git").arg("-C").arg(folder).args(words).output().unwrap();
        assert!(ended.status.success(), "{words:?}: {ended:?}");
    }

    /// A repository whose only commit has `old` in `servers/file`, where the working tree has `new`.
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

    fn find(root: &Path, age: Age, origin: &str) -> Result<Tree, TreeError> {
        Tree::find(root, age, origin, &Interrupt::default())
    }

    fn content(tree: &Tree) -> String {
        fs::read_to_string(tree.folder.join("servers/file")).unwrap()
    }

    #[test]
    fn revision_is_unchanged_and_a_folder_is_current() {
        let root = repository();
        let old = find(root.path(), Age::Old, "HEAD").unwrap();
        let new = find(root.path(), Age::New, root.path().to_str().unwrap()).unwrap();
        assert_eq!((content(&old).as_str(), content(&new).as_str()), ("old", "new"));
        assert_eq!(old.build.commit.as_ref().map(String::len), Some(40));
        assert_eq!((new.build.age, &new.build.commit), (Age::New, &None));
    }

    #[test]
    fn recorded_revision_is_found_after_its_name_moved() {
        let root = repository();
        let first = find(root.path(), Age::Old, "HEAD").unwrap();
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        git(root.path(), &[&identity[..], &["commit", "--quiet", "-a", "-m", "new"]].concat());
        assert_eq!(content(&find(root.path(), Age::New, "HEAD").unwrap()), "new");
        let again = Tree::again(root.path(), &first.build, &Interrupt::default()).unwrap();
        assert_eq!((content(&again).as_str(), &again.build), ("old", &first.build));
    }

    /// Like a Ctrl-C while git waits for a disk that hangs.
    #[test]
    fn interrupt_stops_the_search_for_a_revision() {
        let (root, interrupt) = (repository(), Interrupt::default());
        interrupt.raise();
        let stopped = Tree::find(root.path(), Age::Old, "HEAD", &interrupt);
        assert!(matches!(stopped, Err(TreeError::Stopped(_))), "{stopped:?}");
    }

    #[test]
    fn unknown_revision_is_refused() {
        let root = repository();
        for origin in ["nothing", "--all", "HEAD:servers"] {
            let error = find(root.path(), Age::Old, origin).unwrap_err();
            assert!(error.to_string().contains("neither a folder"), "{error}");
        }
        let bare = tempfile::tempdir().unwrap();
        let error = find(bare.path(), Age::Old, "HEAD").unwrap_err();
        assert!(error.to_string().contains("neither a folder with servers/ in it"), "{error}");
    }
}
