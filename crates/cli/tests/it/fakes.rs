//! A folder of programs that say what a test has them say.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

pub struct Fakes {
    folder: TempDir,
}

impl Fakes {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A script for sh. A separate process writes it: a file that this one has open for writing can't be run while another
    /// test forks.
    pub fn script(&self, name: &str, text: &str) -> &Self {
        let mut writer = Command::new("sh")
            .args(["-c", "cat >\"$0\" && chmod +x \"$0\""])
            .arg(self.path().join(name))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = writer.stdin.take().unwrap();
        write!(stdin, "#!/bin/sh\n{text}\n").unwrap();
        drop(stdin);
        assert!(writer.wait().unwrap().success(), "{name}");
        self
    }

    /// The program of this machine.
    pub fn real(&self, name: &str) {
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", name]).output().unwrap();
        let found = PathBuf::from(String::from_utf8(found.stdout).unwrap().trim_end());
        assert!(found.is_absolute(), "{name} is not installed");
        symlink(found, self.path().join(name)).unwrap();
    }
}
