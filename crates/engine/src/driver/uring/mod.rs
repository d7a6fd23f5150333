//! The io_uring driver: one ring for each load thread, one request for each connection that delivers
//! whatever comes into buffers of the ring, and one system call a turn, which sends for all connections
//! and waits.
//!
//! What is sent is taken by the kernel within that call, or not at all: so a connection has no bytes
//! on their way when it is closed. A receive request may outlive its connection; its tag tells.

mod ring;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use io_uring::types::Timespec;
use rustix::io::Errno;
use rustix::io::ioctl_fionbio;
use rustix::net::{self, SendFlags, Shutdown, sockopt};

use super::alarm::{Alarm, Wait};
use super::{Batch, Driver, Ready, Received, Waker, connecting};
use crate::clock::{self, Nanos};
use ring::{Completion, Filled, Request, Ring};

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Receive,
    Writable,
    Send,
    /// The waker, or the alarm.
    Watch,
}

/// Says whose a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    purpose: Purpose,
    /// The socket's number among all that the driver ever had.
    serial: u32,
    /// The connection; of a send, the place in the batch; of a watch, which one.
    index: u32,
}

impl Tag {
    const WAKER: Self = Self { purpose: Purpose::Watch, serial: 0, index: 0 };
    const ALARM: Self = Self { purpose: Purpose::Watch, serial: 0, index: 1 };
    const SERIALS: u32 = 1 << 30;

    fn pack(self) -> u64 {
        let serial = u64::from(self.serial % Self::SERIALS) << 32;
        (self.purpose as u64) << 62 | serial | u64::from(self.index)
    }

    fn unpack(tag: u64) -> Self {
        let purpose = match tag >> 62 {
            0 => Purpose::Receive,
            1 => Purpose::Writable,
            2 => Purpose::Send,
            _ => Purpose::Watch,
        };
        Self { purpose, serial: (tag >> 32) as u32 % Self::SERIALS, index: tag as u32 }
    }
}

struct Socket {
    fd: OwnedFd,
    serial: u32,
    connected: bool,
    /// What has come and was not received yet.
    filled: VecDeque<Filled>,
    /// What comes after that: the end, or an error.
    end: Option<Result<(), Errno>>,
}

/// Sockets on one ring.
pub(crate) struct IoUringDriver {
    ring: Ring,
    waker: Waker,
    alarm: Alarm,
    awake: Nanos,
    sockets: Vec<Option<Socket>>,
    serials: u32,
    /// Requests to be made with the next exchange.
    requests: Vec<Tag>,
    /// The buffer that was last received from.
    lent: Option<Filled>,
    /// When the last completions were there.
    at: Nanos,
}

impl IoUringDriver {
    /// Room for `connections`, numbered from 0.
    ///
    /// # Errors
    /// Where the kernel can't or does not allow it.
    pub fn new(connections: usize, waker: Waker) -> io::Result<Self> {
        Ok(Self {
            ring: Ring::new(connections)?,
            waker,
            alarm: Alarm::new()?,
            awake: Nanos(0),
            sockets: (0..connections).map(|_| None).collect(),
            serials: 0,
            requests: vec![Tag::WAKER, Tag::ALARM],
            lent: None,
            at: clock::now(),
        })
    }

    /// Whether it is possible here.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn probe() -> io::Result<()> {
        Ring::new(1).map(drop)
    }

    fn give_back(&mut self) {
        if let Some(lent) = self.lent.take() {
            self.ring.give_back(lent);
        }
    }

    /// Sees to everything that has completed.
    fn reap(&mut self, batch: &mut Batch, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        self.at = clock::now();
        loop {
            while let Some(completion) = self.ring.completed() {
                let tag = Tag::unpack(completion.tag);
                match tag.purpose {
                    Purpose::Receive => self.on_received(tag, completion, ready),
                    Purpose::Writable => self.on_writable(tag, ready)?,
                    Purpose::Send => self.on_refused(tag, completion.result, batch),
                    Purpose::Watch => self.on_watched(tag, completion.more)?,
                }
            }
            if !self.ring.recover()? {
                return Ok(());
            }
        }
    }

    /// Looks for completions again and again.
    fn look_until(
        &mut self,
        until: Nanos,
        (batch, ready): (&mut Batch, &mut Vec<Ready>),
    ) -> io::Result<()> {
        let begin = self.at;
        while ready.is_empty() && self.at < until {
            self.ring.exchange(std::iter::empty(), 0, None)?;
            self.reap(batch, ready)?;
        }
        self.awake = self.awake + (self.at - begin);
        Ok(())
    }

    /// The socket that a completion belongs to, unless that is closed.
    fn socket(&mut self, tag: Tag) -> Option<&mut Socket> {
        let socket = self.sockets[tag.index as usize].as_mut();
        socket.filter(|socket| socket.serial == tag.serial)
    }

    #[inline]
    fn on_received(&mut self, tag: Tag, completion: Completion, ready: &mut Vec<Ready>) {
        let Completion { result, filled, more, .. } = completion;
        let Some(socket) =
            self.sockets[tag.index as usize].as_mut().filter(|socket| socket.serial == tag.serial)
        else {
            if let Some(filled) = filled {
                self.ring.give_back(filled);
            }
            return;
        };
        match (result, filled) {
            (Ok(1..), Some(filled)) => socket.filled.push_back(filled),
            // Every buffer holds something that is yet to be received.
            (Err(Errno::NOBUFS), _) => {}
            (result, filled) => {
                socket.end = Some(result.map(|_| ()));
                if let Some(filled) = filled {
                    self.ring.give_back(filled);
                }
            }
        }
        if !more && socket.end.is_none() {
            self.requests.push(tag);
        }
        if result != Err(Errno::NOBUFS) {
            let connection = tag.index as usize;
            ready.push(Ready { connection, readable: true, writable: false });
        }
    }

    fn on_writable(&mut self, tag: Tag, ready: &mut Vec<Ready>) -> io::Result<()> {
        let Some(socket) = self.socket(tag) else { return Ok(()) };
        let connection = tag.index as usize;
        if !std::mem::replace(&mut socket.connected, true) {
            if let Err(error) = sockopt::socket_error(&socket.fd)? {
                socket.end = Some(Err(error));
                ready.push(Ready { connection, readable: true, writable: false });
                return Ok(());
            }
            // A socket that does not block would never be waited for.
            ioctl_fionbio(&socket.fd, false)?;
            self.requests.push(Tag { purpose: Purpose::Receive, ..tag });
        }
        ready.push(Ready { connection, readable: false, writable: true });
        Ok(())
    }

    /// The kernel did not take all that a connection had to send.
    #[cold]
    fn on_refused(&mut self, tag: Tag, result: Result<usize, Errno>, batch: &mut Batch) {
        let index = tag.index as usize;
        batch.results[index] = result.map_err(io::Error::from);
        let connection = batch.connections[index];
        if let (Some(socket), Ok(_) | Err(Errno::AGAIN)) = (&self.sockets[connection], result) {
            let index = connection as u32;
            let serial = socket.serial;
            self.requests.push(Tag { purpose: Purpose::Writable, serial, index });
        }
    }

    fn on_watched(&mut self, tag: Tag, more: bool) -> io::Result<()> {
        if !more {
            self.requests.push(tag);
        }
        if tag == Tag::ALARM {
            self.alarm.clear();
            return Ok(());
        }
        self.waker.clear()
    }
}

/// How many completions to wait for, and how long.
fn asleep(timeout: Option<rustix::event::Timespec>) -> (u32, Option<Timespec>) {
    let want = u32::from(timeout.is_none_or(|left| left.tv_sec + left.tv_nsec > 0));
    let timeout =
        timeout.map(|left| Timespec::new().sec(left.tv_sec as u64).nsec(left.tv_nsec as u32));
    (want, timeout)
}

impl Driver for IoUringDriver {
    const BATCHES: bool = true;

    fn now(&self) -> Nanos {
        clock::now()
    }

    fn awake(&self) -> Nanos {
        self.awake
    }

    fn connect(&mut self, connection: usize, address: SocketAddr) -> io::Result<()> {
        let fd = connecting(address)?;
        self.serials = (self.serials + 1) % Tag::SERIALS;
        let serial = self.serials;
        let filled = VecDeque::new();
        self.sockets[connection] = Some(Socket { fd, serial, connected: false, filled, end: None });
        let index = connection as u32;
        self.requests.push(Tag { purpose: Purpose::Writable, serial, index });
        Ok(())
    }

    fn close(&mut self, connection: usize) {
        if let Some(socket) = self.sockets[connection].take() {
            for filled in socket.filled {
                self.ring.give_back(filled);
            }
            // Its receive request holds the socket open; this ends it. What the peer has not read yet must not
            // keep the connection alive. Both fail if it is over already.
            let _ = sockopt::set_socket_linger(&socket.fd, Some(Duration::ZERO));
            let _ = net::shutdown(&socket.fd, Shutdown::Both);
        }
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.exchange(&mut Batch::default(), |_| &[], until, ready)
    }

    #[inline]
    fn receive(&mut self, connection: usize) -> io::Result<Received<'_>> {
        self.give_back();
        let socket = self.sockets[connection]
            .as_mut()
            .ok_or(io::Error::from(io::ErrorKind::NotConnected))?;
        if let Some(filled) = socket.filled.pop_front() {
            let filled = self.lent.insert(filled);
            // Each piece has its own `Ready`.
            return Ok(Received { bytes: self.ring.bytes(filled), more: false, at: self.at });
        }
        match socket.end {
            Some(Ok(())) => Ok(Received { bytes: &[], more: false, at: self.at }),
            Some(Err(error)) => Err(error.into()),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn send(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize> {
        let socket = self.sockets[connection]
            .as_ref()
            .ok_or(io::Error::from(io::ErrorKind::NotConnected))?;
        Ok(net::send(&socket.fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?)
    }

    fn exchange<'a>(
        &mut self,
        batch: &mut Batch,
        output: impl Fn(usize) -> &'a [u8],
        until: Nanos,
        ready: &mut Vec<Ready>,
    ) -> io::Result<()> {
        self.give_back();
        let wait = self.alarm.wait(until, clock::now())?;
        let (sockets, waker, alarm) = (&self.sockets, &self.waker, &self.alarm);
        let requests = self.requests.drain(..).filter_map(|tag| {
            let packed = tag.pack();
            if tag.purpose == Purpose::Watch {
                let file = if tag == Tag::ALARM { alarm.as_fd() } else { waker.as_fd() };
                return Some(Request::Readable { file, tag: packed });
            }
            let socket = sockets[tag.index as usize].as_ref();
            let socket = socket.filter(|it| it.serial == tag.serial)?.fd.as_fd();
            Some(match tag.purpose {
                Purpose::Receive => Request::Receive { socket, tag: packed },
                _ => Request::Writable { socket, tag: packed },
            })
        });
        let (connections, results) = (&batch.connections, &mut batch.results);
        let sends = connections.iter().enumerate().filter_map(|(index, connection)| {
            let Some(socket) = &sockets[*connection] else {
                results.push(Err(io::ErrorKind::NotConnected.into()));
                return None;
            };
            let bytes = output(*connection);
            results.push(Ok(bytes.len()));
            let tag = Tag { purpose: Purpose::Send, serial: 0, index: index as u32 };
            Some(Request::Send { socket: socket.fd.as_fd(), bytes, tag: tag.pack() })
        });
        let (want, timeout) = match wait {
            Wait::Awake => (0, None),
            Wait::Asleep(timeout) => asleep(timeout),
        };
        self.ring.exchange(requests.chain(sends), want, timeout)?;
        self.reap(batch, ready)?;
        match wait {
            Wait::Awake => self.look_until(until, (batch, ready)),
            Wait::Asleep(_) => Ok(()),
        }
    }
}

impl Drop for IoUringDriver {
    fn drop(&mut self) {
        for connection in 0..self.sockets.len() {
            self.close(connection);
        }
    }
}
