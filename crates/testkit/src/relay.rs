//! Relays between a client and a server.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

const READ: usize = 64 << 10;

/// Listens at `path` and relays to `server` until the process ends.
pub fn relay_unix(path: &Path, server: SocketAddr) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::spawn(move || {
        for client in listener.incoming() {
            // Either end may be gone. The other one then sees its connection closed.
            let _ = client.and_then(|client| relay(client.into(), server, io::copy));
        }
    });
    Ok(())
}

/// Starts a relay to `server` that runs until the process ends. It forwards pieces of 1 to `longest` bytes, each with its own
/// write. Returns its address.
pub fn relay_in_pieces(server: SocketAddr, longest: usize) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let copy = move |from: &mut File, to: &mut File| cut(from, to, longest);
    thread::spawn(move || {
        for client in listener.incoming() {
            // Either end may be gone. The other one then sees its connection closed.
            let _ = client.and_then(|client| {
                client.set_nodelay(true)?;
                relay(client.into(), server, copy)
            });
        }
    });
    Ok(address)
}

/// Connects to `server` and relays both directions until they end.
pub(crate) fn relay(
    client: OwnedFd,
    server: SocketAddr,
    copy: impl Fn(&mut File, &mut File) -> io::Result<u64> + Copy + Send + 'static,
) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    server.set_nodelay(true)?;
    // Files read and write any kind of socket.
    let (client, server) = (File::from(client), File::from(OwnedFd::from(server)));
    for (mut from, mut to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        thread::spawn(move || {
            let _ = copy(&mut from, &mut to);
            // The socket may be gone already.
            let _ = rustix::net::shutdown(&to, rustix::net::Shutdown::Write);
        });
    }
    Ok(())
}

fn cut(from: &mut File, to: &mut File, longest: usize) -> io::Result<u64> {
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
