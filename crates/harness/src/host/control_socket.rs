//! The socket that controls a client program, and the files that the program reads.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rpcbench_clock::{self as clock, Nanos};
use tempfile::TempDir;

use super::isolation::Owner;
use crate::error::about;

/// Name of the socket in its folder.
const SOCKET: &str = "control";

/// A folder with files for a program. A program in a container may see it at a different path.
#[derive(Clone, Debug)]
pub struct SharedFolder {
    here: PathBuf,
    there: PathBuf,
}

impl SharedFolder {
    /// Path of the folder on this machine.
    pub fn here(&self) -> &Path {
        &self.here
    }

    /// Path of the folder as the program sees it.
    pub fn there(&self) -> &Path {
        &self.there
    }

    /// Writes a file, and returns its path as the program sees it.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let file = self.here.join(name);
        fs::write(&file, bytes)
            .and_then(|()| permit(&file, 0o644))
            .map_err(about(file.display()))?;
        Ok(self.there.join(name))
    }
}

/// Containers may run as users other than this one.
fn permit(file: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(file, Permissions::from_mode(mode))
}

/// A socket that a program connects to, in a folder that also has the files for the program. Dropping it removes both.
#[derive(Debug)]
pub struct ControlSocket {
    folder: SharedFolder,
    listener: UnixListener,
    created: Nanos,
    /// The parent of the folder, which only this user can enter. A container gets just the folder.
    _private: TempDir,
}

impl ControlSocket {
    /// The environment variable with the socket's path.
    pub const VARIABLE: &str = "RPCBENCH_SOCKET";

    /// A new socket, which other users can't reach, in a new folder in `parent`. The program sees the folder at `there`. `None`:
    /// at the same path, which must be short, since a socket's path has at most 107 bytes.
    pub fn create(parent: &Path, there: Option<&Path>) -> io::Result<Self> {
        let owner = Owner::this_process().map_err(io::Error::other)?;
        sweep(parent, owner);
        let private = tempfile::Builder::new()
            .prefix(&owner.name("client"))
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        let here = private.path().join("files");
        fs::create_dir(&here).and_then(|()| permit(&here, 0o755)).map_err(about(here.display()))?;
        let listener = bind(&here).map_err(about(here.display()))?;
        listener.set_nonblocking(true)?;
        let there = there.unwrap_or(&here).to_owned();
        let folder = SharedFolder { here, there };
        Ok(Self { folder, listener, created: clock::now(), _private: private })
    }

    /// The socket's path as the program sees it.
    pub fn path(&self) -> PathBuf {
        self.folder.there.join(SOCKET)
    }

    /// The folder of the socket and the program's files.
    pub fn folder(&self) -> &SharedFolder {
        &self.folder
    }

    /// When it was created, which is before the program was started.
    pub fn created(&self) -> Nanos {
        self.created
    }

    /// Accepts the program's connection. `None` if it has not connected yet.
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

/// Binds the socket by a path through `/proc`, since the folder's own path may be too long for a socket.
fn bind(folder: &Path) -> io::Result<UnixListener> {
    let open = File::open(folder)?;
    let listener = UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", open.as_raw_fd()))?;
    permit(&folder.join(SOCKET), 0o666)?;
    Ok(listener)
}

/// Removes the folders of killed processes.
fn sweep(parent: &Path, this: Owner) {
    let Ok(items) = fs::read_dir(parent) else { return };
    for path in items.flatten().map(|item| item.path()) {
        if Owner::of_folder(&path).is_some_and(|owner| owner.is_dead(this)) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folder_is_private_and_goes_with_its_socket() {
        let parent = tempfile::tempdir().unwrap();
        let control = ControlSocket::create(parent.path(), None).unwrap();
        let folder = control.folder().here().parent().unwrap().to_owned();
        assert_eq!(mode(&folder), 0o700);
        assert!(control.accept().unwrap().is_none());
        let _program = UnixStream::connect(control.path()).unwrap();
        assert!(control.accept().unwrap().is_some());
        drop(control);
        assert!(!folder.exists());
    }

    /// Like in a container, which gets only the inner folder.
    #[test]
    fn other_users_can_access_the_inner_folder() {
        let parent = tempfile::tempdir().unwrap();
        let long = parent.path().join("x".repeat(107));
        fs::create_dir(&long).unwrap();
        let control = ControlSocket::create(&long, Some(Path::new("/inside"))).unwrap();
        let folder = control.folder();
        assert_eq!(control.path(), Path::new("/inside/control"));
        assert_eq!(folder.write("requests", b"x").unwrap(), Path::new("/inside/requests"));
        let modes = ["", "control", "requests"].map(|name| mode(&folder.here().join(name)));
        assert_eq!(modes, [0o755, 0o666, 0o644]);
    }

    #[test]
    fn folders_of_killed_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let this = Owner::this_process().unwrap();
        let living = this.name("client");
        let namespace = living.split('-').nth(1).unwrap();
        let dead = format!("rpcbench-{namespace}-{}-1-1-client", i32::MAX);
        let names = [&*dead, &*living, "other"];
        names.iter().for_each(|name| fs::create_dir(parent.path().join(name)).unwrap());
        sweep(parent.path(), this);
        let left = names.map(|name| parent.path().join(name).exists());
        assert_eq!(left, [false, true, true]);
    }
}
