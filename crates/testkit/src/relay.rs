//! A Unix socket in front of a server that listens at a port.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

/// Listens at `path` for as long as the process lives, and passes on what comes from there to `server`, and back.
///
/// # Errors
/// If there is a file already, or its folder can't be written.
pub fn relay_unix(path: &Path, server: SocketAddr) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::spawn(move || {
        for client in listener.incoming() {
            // Either end may be gone by now; the other sees its connection closed.
            let _ = client.and_then(|client| pass_on(client, server));
        }
    });
    Ok(())
}

fn pass_on(client: UnixStream, server: SocketAddr) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    server.set_nodelay(true)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Write);
    });
    let (mut from_server, mut to_client) = (server, client);
    thread::spawn(move || {
        let _ = io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Write);
    });
    Ok(())
}
