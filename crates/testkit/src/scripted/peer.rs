//! The thread that a script runs on.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::wire::{ScriptError, Wire, failed};

/// A listener whose connections follow a script.
#[derive(Debug)]
pub struct ScriptedPeer {
    address: SocketAddr,
    script: JoinHandle<Result<(), ScriptError>>,
}

/// The source of connections for a script with several.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
}

impl Listener {
    /// The next connection. Waits up to 20 s for it.
    pub fn accept(&self) -> Result<Wire, ScriptError> {
        wait_readable(&self.listener)
            .and_then(|()| self.listener.accept())
            .and_then(|(stream, _)| Wire::new(stream))
            .map_err(failed("a connection"))
    }
}

fn wait_readable(listener: &TcpListener) -> io::Result<()> {
    let timeout = Timespec { tv_sec: 20, tv_nsec: 0 };
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&timeout))? {
        0 => Err(io::ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

impl ScriptedPeer {
    /// A peer on a free port of 127.0.0.1 that takes one connection and runs `script` on it.
    pub fn start<S>(script: S) -> io::Result<Self>
    where
        S: FnOnce(&mut Wire) -> Result<(), ScriptError> + Send + 'static,
    {
        Self::start_many(move |listener| script(&mut listener.accept()?))
    }

    /// A peer on a free port of 127.0.0.1 whose script accepts connections itself.
    pub fn start_many<S>(script: S) -> io::Result<Self>
    where
        S: FnOnce(&Listener) -> Result<(), ScriptError> + Send + 'static,
    {
        let listener = Listener { listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))? };
        let address = listener.listener.local_addr()?;
        let script = std::thread::Builder::new()
            .name("scripted-peer".to_owned())
            .spawn(move || script(&listener))?;
        Ok(Self { address, script })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the end of the script. Returns the step that failed, if any.
    pub fn finish(self) -> Result<(), ScriptError> {
        self.script.join().unwrap_or_else(|_| Err(io::Error::other("the script panicked")))
    }
}
