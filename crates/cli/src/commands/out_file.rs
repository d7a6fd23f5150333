//! Files that appear only when complete.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tempfile::NamedTempFile;

/// Permissions of a new file, before the umask.
const RIGHTS: u32 = 0o666;

/// An output file: opened before the measurement, and put in place once it is complete.
pub struct OutFile {
    path: PathBuf,
    to: Target,
}

enum Target {
    /// Replaces the file once it is complete.
    New(NamedTempFile),
    /// A pipe or a device: written directly.
    Stream(File),
}

impl OutFile {
    /// Opens the file. An existing file stays untouched until [`Self::commit`]. It is replaced only if it is empty or `begins`
    /// like a file of this kind.
    pub fn open(path: &Path, begins: &[u8]) -> anyhow::Result<Self> {
        Self::try_open(path, begins)
            .with_context(|| format!("{}: can't be written", path.display()))
    }

    fn try_open(path: &Path, begins: &[u8]) -> anyhow::Result<Self> {
        if path.as_os_str().as_bytes().ends_with(b"/") {
            bail!("it ends in '/', so it is a folder; name a file");
        }
        let there = match fs::metadata(path) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if there.as_ref().is_some_and(fs::Metadata::is_dir) {
            bail!("it is a folder; name a file");
        }
        if let Some(there) = &there {
            let file = OpenOptions::new().write(true).open(path)?;
            if !there.is_file() {
                return Ok(Self { path: path.to_owned(), to: Target::Stream(file) });
            }
            if !is_own(path, begins)? {
                bail!(
                    "it is a file of another kind, which would be lost; name another, or remove it"
                );
            }
        }
        // A link remains, and points to the new file.
        let place = if there.is_some() { path.canonicalize()? } else { path.to_owned() };
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::metadata(folder)?;
        let rights =
            there.map_or_else(|| Permissions::from_mode(RIGHTS), |there| there.permissions());
        let file = tempfile::Builder::new()
            .prefix(".rpcbench-")
            .permissions(rights)
            .tempfile_in(folder)
            // The error without the temporary name.
            .map_err(|error| io::Error::from(error.kind()))?;
        Ok(Self { path: place, to: Target::New(file) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in place.
    pub fn commit(self) -> anyhow::Result<()> {
        let path = self.path;
        let kept = match self.to {
            Target::New(file) => file
                .as_file()
                .sync_all()
                .and_then(|()| file.persist(&path).map(drop).map_err(|refused| refused.error)),
            Target::Stream(mut file) => file.flush(),
        };
        kept.with_context(|| path.display().to_string())
    }
}

/// True if a file is empty or begins with these bytes.
fn is_own(path: &Path, begins: &[u8]) -> io::Result<bool> {
    let mut first = Vec::new();
    File::open(path)?.take(begins.len() as u64).read_to_end(&mut first)?;
    Ok(first.is_empty() || first == begins)
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Target::New(file) => file.write(bytes),
            Target::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Target::New(file) => file.flush(),
            Target::Stream(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_replaced_only_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, "old").unwrap();
        let mut given_up = OutFile::open(&path, b"old").unwrap();
        given_up.write_all(b"half").unwrap();
        drop(given_up);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let mut file = OutFile::open(&path, b"old").unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        file.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["real", "link"].map(|name| folder.path().join(name));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut file = OutFile::open(&link, b"old").unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn unwritable_path_is_refused_on_opening() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            let error = OutFile::open(path, b"").map(drop).unwrap_err();
            format!("{error:#}").replace(&folder.path().display().to_string(), "F")
        };
        assert_eq!(refused(folder.path()), "F: can't be written: it is a folder; name a file");
        let missing = refused(&folder.path().join("no/run.json"));
        let why = "F/no/run.json: can't be written: No such file or directory (os error 2)";
        assert_eq!(missing, why);
        let slash = "F/new/: can't be written: it ends in '/', so it is a folder; name a file";
        assert_eq!(refused(&folder.path().join("new/")), slash);
    }

    #[test]
    fn files_of_another_kind_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("README.md");
        for (there, begins, replaced) in [
            ("# Read me", "PAR1", false),
            ("PAR1...", "PAR1", true),
            ("", "PAR1", true),
            ("P", "PAR1", false),
        ] {
            fs::write(&path, there).unwrap();
            let opened = OutFile::open(&path, begins.as_bytes());
            assert_eq!(opened.is_ok(), replaced, "{there}");
        }
    }

    #[test]
    fn device_stays_a_device() {
        let mut file = OutFile::open(Path::new("/dev/null"), b"PAR1").unwrap();
        file.write_all(b"gone").unwrap();
        file.commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
