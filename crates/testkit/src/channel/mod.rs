//! Channels through which the front of a server passes its connections to another process.

mod datagram;
mod descriptor;
mod memory;
mod mux;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::str::FromStr;
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

use crate::relay::relay;
use mux::Mux;

/// The kind of connection between a server and another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A TCP connection.
    Tcp,
    /// A pair of Unix sockets.
    Unix,
    /// Connected UDP sockets.
    Udp,
    /// Unconnected UDP sockets.
    UdpUnconnected,
    /// Two pipes.
    Pipe,
    /// Two named pipes whose names were removed.
    NamedPipe,
    /// Both sides of a pseudo-terminal.
    Terminal,
    /// Memory mapped by both processes.
    Memory,
    /// A pair of Unix sockets that carry the descriptors of connections.
    Descriptor,
}

/// The open files of one end of a channel.
#[derive(Debug)]
pub struct End {
    /// The file to read from.
    pub input: OwnedFd,
    /// The file to write to.
    pub output: OwnedFd,
}

impl End {
    /// The end that this process received as standard input and output.
    pub fn of_this_process() -> io::Result<Self> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self { input, output: io::stdout().as_fd().try_clone_to_owned()? })
    }

    fn of(both: impl Into<OwnedFd>) -> io::Result<Self> {
        let input = both.into();
        Ok(Self { output: input.try_clone()?, input })
    }
}

impl Channel {
    /// All channels with their names.
    pub const ALL: [(Self, &str); 9] = [
        (Self::Tcp, "tcp"),
        (Self::Unix, "unix"),
        (Self::Udp, "udp"),
        (Self::UdpUnconnected, "udp-unconnected"),
        (Self::Pipe, "pipe"),
        (Self::NamedPipe, "named-pipe"),
        (Self::Terminal, "terminal"),
        (Self::Memory, "memory"),
        (Self::Descriptor, "descriptor"),
    ];

    /// The channel's name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(channel, _)| *channel == self).map_or("", |(_, name)| name)
    }

    /// Opens the channel. Returns the front's end and the other end.
    pub fn open(self) -> io::Result<[End; 2]> {
        match self {
            Self::Tcp => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                let front = TcpStream::connect(listener.local_addr()?)?;
                let (back, _) = listener.accept()?;
                front.set_nodelay(true)?;
                back.set_nodelay(true)?;
                Ok([End::of(front)?, End::of(back)?])
            }
            Self::Unix | Self::Descriptor => {
                let (front, back) = UnixStream::pair()?;
                Ok([End::of(front)?, End::of(back)?])
            }
            Self::Udp => crossed(|| datagram::pair(true)),
            Self::UdpUnconnected => crossed(|| datagram::pair(false)),
            Self::Pipe => crossed(|| {
                let (input, output) = io::pipe()?;
                Ok(End { input: input.into(), output: output.into() })
            }),
            Self::NamedPipe => crossed(named_pipe),
            Self::Terminal => terminal(),
            Self::Memory => {
                let memory = memory::create()?;
                Ok([End::of(memory.try_clone()?)?, End::of(memory)?])
            }
        }
    }

    /// Accepts connections and passes them on until the process ends.
    pub fn pass_on(self, listener: &TcpListener, end: End) -> io::Result<()> {
        if self == Self::Descriptor {
            let mut clients = listener.incoming();
            return clients.try_for_each(|client| descriptor::send(&end.output, client?.as_fd()));
        }
        let (mux, input) = (Mux::new(self.writer(&end, 0)?), self.reader(&end, 1)?);
        let others = mux.clone();
        thread::spawn(move || others.deliver(input, None));
        for (number, client) in (0..).zip(listener.incoming()) {
            let client = client?;
            client.set_nodelay(true)?;
            mux.add(number, client.into())?;
        }
        Ok(())
    }

    /// Starts to pass connections from the front to a server, until the process ends.
    pub fn serve(self, end: End, server: SocketAddr) -> io::Result<()> {
        if self == Self::Descriptor {
            thread::spawn(move || {
                while let Ok(Some(client)) = descriptor::receive(&end.input) {
                    // The client may be gone.
                    let _ = relay(client, server, io::copy);
                }
            });
            return Ok(());
        }
        let (mux, input) = (Mux::new(self.writer(&end, 1)?), self.reader(&end, 0)?);
        thread::spawn(move || mux.deliver(input, Some(server)));
        Ok(())
    }

    /// A reader of the end; `piece` is the piece of shared memory.
    fn reader(self, end: &End, piece: usize) -> io::Result<Box<dyn Read + Send>> {
        let input = end.input.try_clone()?;
        Ok(match self {
            Self::Udp | Self::UdpUnconnected => Box::new(datagram::Receiver(input.into())),
            Self::Memory => Box::new(memory::Receiver::of(&input, piece)?),
            _ => Box::new(File::from(input)),
        })
    }

    /// A writer to the end, with `piece` as in [`Self::reader`].
    fn writer(self, end: &End, piece: usize) -> io::Result<Box<dyn Write + Send>> {
        let output = end.output.try_clone()?;
        Ok(match self {
            Self::Udp | Self::UdpUnconnected => Box::new(datagram::Sender(output.into())),
            Self::Memory => Box::new(memory::Sender::of(&output, piece)?),
            _ => Box::new(File::from(output)),
        })
    }
}

impl FromStr for Channel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text);
        known.map(|(channel, _)| *channel).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name)| name);
            format!("unknown channel '{text}'; expected one of {}", names.join(", "))
        })
    }
}

/// Combines two one-way channels into both ends of a two-way channel.
fn crossed(one_way: impl Fn() -> io::Result<End>) -> io::Result<[End; 2]> {
    let (there, back) = (one_way()?, one_way()?);
    Ok([
        End { input: back.input, output: there.output },
        End { input: there.input, output: back.output },
    ])
}

fn named_pipe() -> io::Result<End> {
    let name = format!("rpcbench-testkit-{}-pipe", std::process::id());
    let path = std::env::temp_dir().join(name);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    // If opened for one direction, it would wait for the other.
    let open = || File::options().read(true).write(true).open(&path);
    let end = End { input: open()?.into(), output: open()?.into() };
    fs::remove_file(&path)?;
    Ok(end)
}

fn terminal() -> io::Result<[End; 2]> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let front = openpt(flags)?;
    grantpt(&front)?;
    unlockpt(&front)?;
    let back = ioctl_tiocgptpeer(&front, flags)?;
    let mut settings = tcgetattr(&back)?;
    settings.make_raw();
    tcsetattr(&back, OptionalActions::Now, &settings)?;
    Ok([End::of(front)?, End::of(back)?])
}
