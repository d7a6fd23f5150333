//! The socket by which a client program is controlled.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rpcbench_clock::{self as clock, Nanos};

use crate::error::about;

/// Where the folder of a socket is: a socket's path has at most 107 bytes, and a repository's can be longer.
const PARENT: &str = "/tmp";

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
        let folder = Path::new(PARENT).join(format!("rpcbench-{}-{number}", std::process::id()));
        // Of a process with the same number that was killed.
        let _ = fs::remove_dir_all(&folder);
        DirBuilder::new().mode(0o700).create(&folder).map_err(about(folder.display()))?;
        let path = folder.join("control");
        let listener = UnixListener::bind(&path).map_err(about(path.display()))?;
        listener.set_nonblocking(true)?;
        Ok(Self { folder, path, listener, created: clock::now() })
    }

    /// Its path.
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

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
