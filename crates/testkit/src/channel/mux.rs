//! Many connections over one channel. Each frame has a connection's number, a length, and bytes. A frame without bytes ends a
//! direction.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::net::{Shutdown, shutdown};

const HEADER: usize = 8;
/// Maximum bytes per frame.
const LONGEST: usize = 32 << 10;
/// More than a frame, as some channels drop what a read leaves of a frame.
const BUFFER: usize = 64 << 10;

/// The connections at one end.
#[derive(Clone)]
pub(super) struct Mux {
    output: Arc<Mutex<Box<dyn Write + Send>>>,
    /// Connections that the other end has not ended.
    sockets: Arc<Mutex<HashMap<u32, Arc<File>>>>,
}

impl Mux {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self { output: Arc::new(Mutex::new(output)), sockets: Arc::default() }
    }

    /// Starts to pass on what a connection sends.
    pub(super) fn add(&self, number: u32, socket: OwnedFd) -> io::Result<()> {
        let mut from = File::from(socket);
        lock(&self.sockets).insert(number, Arc::new(from.try_clone()?));
        let output = Arc::clone(&self.output);
        thread::spawn(move || {
            let mut frame = vec![0; HEADER + LONGEST];
            frame[..4].copy_from_slice(&number.to_le_bytes());
            loop {
                // A broken connection counts as ended.
                let read = from.read(&mut frame[HEADER..]).unwrap_or(0);
                frame[4..HEADER].copy_from_slice(&(read as u32).to_le_bytes());
                let is_sent = lock(&output).write_all(&frame[..HEADER + read]).is_ok();
                if read == 0 || !is_sent {
                    return;
                }
            }
        });
        Ok(())
    }

    /// Delivers what the other end sends, until it ends. Connects new connections to `server`.
    pub(super) fn deliver(
        &self,
        input: Box<dyn Read + Send>,
        server: Option<SocketAddr>,
    ) -> io::Result<()> {
        let mut input = BufReader::with_capacity(BUFFER, input);
        loop {
            let (number, length) = (word(&mut input)?, word(&mut input)?);
            let mut bytes = vec![0; length as usize];
            input.read_exact(&mut bytes)?;
            if let Some(server) = server.filter(|_| !lock(&self.sockets).contains_key(&number)) {
                let server = TcpStream::connect(server)?;
                server.set_nodelay(true)?;
                self.add(number, server.into())?;
            }
            // The connection may be gone.
            let socket = match bytes.is_empty() {
                true => lock(&self.sockets).remove(&number),
                false => lock(&self.sockets).get(&number).map(Arc::clone),
            };
            let Some(socket) = socket else { continue };
            let _ = match bytes.is_empty() {
                true => shutdown(&*socket, Shutdown::Write).map_err(io::Error::from),
                false => (&*socket).write_all(&bytes),
            };
        }
    }
}

fn lock<T: ?Sized>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn word(input: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
