//! What stands between a client and a server, and passes on what either says.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

const READ: usize = 64 << 10;

/// Listens at `path` for as long as the process lives, and passes on what comes from there to `server`, and back.
///
/// # Errors
/// If there is a file already, or its folder can't be written.
pub fn relay_unix(path: &Path, server: SocketAddr) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::spawn(move || {
        for client in listener.incoming() {
            // Either end may be gone by now; the other sees its connection closed.
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

/// A port that passes on what comes there to `server`, and back, for as long as the process lives: in pieces of 1 to
/// `longest` bytes, each of which goes out by itself.
///
/// # Errors
/// If no port can be had.
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

/// A stream whose other end is told that nothing more comes.
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

/// Passes on in one direction, until its end, which is passed on too.
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
    // As if at random: a product with an odd number of many bits.
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
