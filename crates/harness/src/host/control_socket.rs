//! The socket by which a client program is controlled.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rpcbench_clock::{self as clock, Nanos};

use crate::error::about;

/// Parent of a socket's folder: a socket's path has at most 107 bytes, and a repository's can be longer.
const PARENT: &str = "/tmp";
/// Prefix of the folder's name, before the process and a number.
const PREFIX: &str = "rpcbench-client";

/// Number of the next socket of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A socket that a program connects to, in a folder for it and for files that the program reads. Dropping it removes both.
#[derive(Debug)]
pub struct ControlSocket {
    folder: PathBuf,
    path: PathBuf,
    listener: UnixListener,
    created: Nanos,
}

impl ControlSocket {
    /// The environment variable with its path.
    pub const VARIABLE: &str = "RPCBENCH_SOCKET";

    /// A new socket, which only this user can reach.
    pub fn create() -> io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        sweep(Path::new(PARENT), |process| Path::new("/proc").join(process).exists());
        let name = format!("{PREFIX}-{}-{number}", std::process::id());
        let folder = Path::new(PARENT).join(name);
        // A killed process with the same number may have left one.
        let _ = fs::remove_dir_all(&folder);
        DirBuilder::new().mode(0o700).create(&folder).map_err(about(folder.display()))?;
        let path = folder.join("control");
        let listener = UnixListener::bind(&path).map_err(about(path.display()))?;
        listener.set_nonblocking(true)?;
        Ok(Self { folder, path, listener, created: clock::now() })
    }

    /// The socket's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder for files that the program reads.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// When it was created: before the program was started.
    pub fn created(&self) -> Nanos {
        self.created
    }

    /// The connection of the program. `None`: it has not connected yet.
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                Ok(Some(stream))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Removes folders that killed processes have left.
fn sweep(parent: &Path, runs: impl Fn(&str) -> bool) {
    let Ok(items) = fs::read_dir(parent) else { return };
    for item in items.flatten() {
        let name = item.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_prefix('-'));
        let process = process.and_then(|rest| rest.split_once('-')).map(|(process, _)| process);
        if process.is_some_and(|process| process.parse::<u32>().is_ok() && !runs(process)) {
            let _ = fs::remove_dir_all(item.path());
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_private_and_goes_with_its_socket() {
        use std::os::unix::fs::PermissionsExt as _;

        let control = ControlSocket::create().unwrap();
        let folder = control.folder().to_owned();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(control.accept().unwrap().is_none());
        let _program = UnixStream::connect(control.path()).unwrap();
        assert!(control.accept().unwrap().is_some());
        drop(control);
        assert!(!folder.exists());
    }

    #[test]
    fn folders_of_killed_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let names =
            ["rpcbench-client-7-0", "rpcbench-client-8-1", "rpcbench-client-x-1", "other-7-0"];
        names.iter().for_each(|name| fs::create_dir(parent.path().join(name)).unwrap());
        sweep(parent.path(), |process| process == "8");
        let left = names.map(|name| parent.path().join(name).exists());
        assert_eq!(left, [false, true, true, true]);
    }
}
