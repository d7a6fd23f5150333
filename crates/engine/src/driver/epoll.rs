//! The epoll driver: edge-triggered, each socket registered once.

use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, Shutdown, sockopt};

use super::alarm::{Alarm, Wait};
use super::{Driver, Ready, Received, Sources, Waker, connecting, timespec};
use crate::address::ServerAddress;
use rpcbench_clock::{self as clock, Nanos, OwnClock};

/// Maximum bytes of one read: 20 replies of 10 kB.
const RECEIVE_BUFFER: usize = 256 * 1024;
/// Maximum events per wait.
const EVENTS: usize = 1024;
/// Identify the waker and the alarm among the events.
const WAKER: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;

const EVERYTHING: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

struct Socket {
    fd: OwnedFd,
    /// The peer's end of stream has arrived, maybe after more bytes; edge-triggered epoll does not report it again.
    ending: bool,
}

/// Sockets in one epoll set.
pub(crate) struct EpollDriver {
    epoll: OwnedFd,
    waker: Waker,
    alarm: Alarm,
    clock: OwnClock,
    awake: Nanos,
    sources: Sources,
    sockets: Vec<Option<Socket>>,
    buffer: Box<[u8]>,
    events: Vec<epoll::Event>,
}

impl EpollDriver {
    /// A driver for `connections`, numbered from 0, with source addresses from `sources`.
    pub fn new(connections: usize, waker: Waker, sources: Sources) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &waker, EventData::new_u64(WAKER), flags)?;
        let alarm = Alarm::new()?;
        epoll::add(&epoll, &alarm, EventData::new_u64(ALARM), flags)?;
        Ok(Self {
            epoll,
            waker,
            alarm,
            clock: OwnClock::default(),
            awake: Nanos(0),
            sources,
            sockets: (0..connections).map(|_| None).collect(),
            buffer: vec![0; RECEIVE_BUFFER].into(),
            events: Vec::with_capacity(EVENTS),
        })
    }

    /// Takes pending events, or waits for events until the timeout.
    fn poll(&mut self, timeout: Option<&Timespec>) -> io::Result<()> {
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), timeout) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Polls for events until `until`.
    fn poll_until(&mut self, until: Nanos, begin: Nanos) -> io::Result<()> {
        let mut now = begin;
        while self.events.is_empty() && now < until {
            self.poll(Some(&timespec(0)))?;
            now = clock::now();
        }
        self.awake = self.awake + (now - begin);
        Ok(())
    }

    fn socket(&self, connection: usize) -> io::Result<&Socket> {
        self.sockets[connection].as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Driver for EpollDriver {
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn set_clock(&mut self, clock: OwnClock) {
        self.clock = clock;
    }

    fn awake(&self) -> Nanos {
        self.awake
    }

    fn wake(&mut self) {
        self.waker.wake();
    }

    fn connect(&mut self, connection: usize, address: &ServerAddress) -> io::Result<()> {
        let socket = connecting(address, self.sources.next())?;
        epoll::add(&self.epoll, &socket, EventData::new_u64(connection as u64), EVERYTHING)?;
        self.sockets[connection] = Some(Socket { fd: socket, ending: false });
        Ok(())
    }

    fn connected(&mut self, connection: usize) -> io::Result<()> {
        Ok(sockopt::socket_error(&self.socket(connection)?.fd)??)
    }

    fn renumber(&mut self, from: usize, to: usize) -> io::Result<()> {
        let Some(socket) = self.sockets[from].take() else { return Ok(()) };
        epoll::modify(&self.epoll, &socket.fd, EventData::new_u64(to as u64), EVERYTHING)?;
        if self.sockets.len() <= to {
            self.sockets.resize_with(to + 1, || None);
        }
        self.sockets[to] = Some(socket);
        Ok(())
    }

    fn finish(&mut self, connection: usize) -> io::Result<()> {
        Ok(net::shutdown(&self.socket(connection)?.fd, Shutdown::Write)?)
    }

    fn close(&mut self, connection: usize) {
        self.sockets[connection] = None;
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        self.events.clear();
        let until = self.clock.real(until);
        match self.alarm.wait(until, clock::now)? {
            Wait::Asleep(timeout) => self.poll(timeout.as_ref())?,
            Wait::Awake { since } => self.poll_until(until, since)?,
        }
        const END: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP);
        const READ: EventFlags = EventFlags::IN.union(END);
        for event in &self.events {
            let flags = event.flags;
            let connection = match event.data.u64() {
                WAKER => {
                    self.waker.clear()?;
                    continue;
                }
                ALARM => {
                    self.alarm.clear();
                    continue;
                }
                connection => connection as usize,
            };
            if flags.intersects(END)
                && let Some(socket) = &mut self.sockets[connection]
            {
                socket.ending = true;
            }
            let failed = flags.contains(EventFlags::ERR);
            ready.push(Ready {
                connection,
                readable: failed || flags.intersects(READ),
                writable: failed || flags.contains(EventFlags::OUT),
            });
        }
        Ok(())
    }

    // Without LTO, the compiler would not inline it.
    #[inline(always)]
    fn receive(&mut self, connection: usize) -> io::Result<Received<'_>> {
        let Some(socket) = &self.sockets[connection] else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let (read, _) = net::recv(&socket.fd, &mut *self.buffer, RecvFlags::empty())?;
        let more = read == self.buffer.len() || socket.ending;
        Ok(Received { bytes: &mut self.buffer[..read], more, at: self.clock.now() })
    }

    #[inline]
    fn received(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    #[inline]
    fn send(&mut self, connection: usize, bytes: &[u8]) -> io::Result<usize> {
        Ok(net::send(&self.socket(connection)?.fd, bytes, SendFlags::NOSIGNAL)?)
    }
}
