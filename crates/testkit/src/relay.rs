//! Relays between a client and a server.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

const READ: usize = 64 << 10;

/// Listens at `path` until the process ends and relays to `server`.
///
/// # Errors
/// If the file exists or can't be created.
pub fn relay_unix(path: &Path, server: SocketAddr) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::spawn(move || {
        for client in listener.incoming() {
            // Either end may be gone; the other then sees its connection closed.
            let _ = client.and_then(|client| {
                let server = connect(server)?;
                let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
                pass_on(from_client, to_server, io::copy);
                pass_on(server, client, io::copy);
                Ok(())
            });
        }
    });
    Ok(())
}

/// The address of a relay to `server` that runs until the process ends and forwards pieces of 1 to `longest` bytes, each in its
/// own write.
///
/// # Errors
/// If no port is free.
pub fn relay_in_pieces(server: SocketAddr, longest: usize) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for client in listener.incoming() {
            // As above.
            let _ = client.and_then(|client| {
                let server = connect(server)?;
                client.set_nodelay(true)?;
                let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
                let cut = move |from: &mut TcpStream, to: &mut TcpStream| cut(from, to, longest);
                pass_on(from_client, to_server, cut);
                pass_on(server, client, cut);
                Ok(())
            });
        }
    });
    Ok(address)
}

fn connect(server: SocketAddr) -> io::Result<TcpStream> {
    let server = TcpStream::connect(server)?;
    server.set_nodelay(true)?;
    Ok(server)
}

/// A stream whose sending side can be closed.
trait End {
    fn end(&self);
}

impl End for TcpStream {
    fn end(&self) {
        // It may be gone already.
        let _ = self.shutdown(Shutdown::Write);
    }
}

impl End for std::os::unix::net::UnixStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

/// Relays one direction, including its end.
fn pass_on<F: Send + 'static, T: End + Send + 'static>(
    mut from: F,
    mut to: T,
    copy: impl FnOnce(&mut F, &mut T) -> io::Result<u64> + Send + 'static,
) {
    thread::spawn(move || {
        let _ = copy(&mut from, &mut to);
        to.end();
    });
}

fn cut(from: &mut TcpStream, to: &mut TcpStream, longest: usize) -> io::Result<u64> {
    let (mut buffer, mut passed) = (vec![0; READ], 0_usize);
    // Pseudo-random: multiplication by a large odd number.
    let length = |at: usize| at.wrapping_mul(0x9E37_79B9) % longest + 1;
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(passed as u64);
        }
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            let piece = rest.split_off(..length(passed).min(rest.len())).unwrap_or_default();
            to.write_all(piece)?;
            passed += piece.len();
        }
    }
}
