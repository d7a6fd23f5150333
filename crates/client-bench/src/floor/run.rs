//! The loop: one read and one write for a connection in each turn.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rpcbench_contract::{Corpus, Shape};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::opening::{self, Opened};
use super::replies::Replies;
use super::requests::Requests;
use super::wire::{self, frame};
use super::{FloorError, opening::CALLS};
use crate::lineup::Load;
use crate::protocol::Protocol;

/// Most that one read takes, and events taken at once: as the engine's epoll driver has them.
const RECEIVE_BUFFER: usize = 256 * 1024;
const EVENTS: usize = 1024;
/// Marks the timer among the events.
const TIMER: u64 = u64::MAX;
/// How long calls in flight at the end may still be answered.
const GRACE: Duration = Duration::from_secs(5);
/// Received bytes of DATA after which the connection's window is opened again.
const REFILL: u64 = 1 << 30;

struct Connection {
    stream: TcpStream,
    sent: u64,
    answered: u64,
    received: u64,
    /// Calls answered when the window was last opened.
    refilled: u64,
}

/// Connections that keep a fixed number of calls in flight each, against a server whose replies all have
/// one size.
pub struct Floor {
    epoll: OwnedFd,
    timer: OwnedFd,
    connections: Vec<Connection>,
    requests: Requests,
    replies: Replies,
    in_flight: u32,
    /// Bytes of a reply that count against our window; `None` without windows.
    windowed: Option<u64>,
    buffer: Box<[u8]>,
    outstanding: u64,
    loading: bool,
}

impl Floor {
    /// Opens the connections of `load`, and makes three checked calls on each.
    ///
    /// # Errors
    /// If a connection can't be opened, or what comes back is nothing that the floor can count: see
    /// [`FloorError`].
    pub fn open(
        address: SocketAddr,
        protocol: Protocol,
        load: Load,
        shape: &Shape,
    ) -> Result<Self, FloorError> {
        let Load { connections, in_flight } = load;
        let corpus = Corpus::plain(shape, 1, protocol.encoding());
        let wire = wire::of(protocol, corpus.method(), address);
        let requests = Requests::new(&corpus, &*wire, in_flight as usize)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(FloorError::kernel("epoll_create"))?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)
            .map_err(FloorError::kernel("timerfd_create"))?;
        add(&epoll, &timer, TIMER, EventFlags::IN | EventFlags::ET)?;
        let opened = (0..connections)
            .map(|_| opening::open(address, &*wire, &corpus))
            .collect::<Result<Vec<Opened>, _>>()?;
        let size = opened.first().map_or(1, |opened| opened.reply);
        if let Some(other) = opened.iter().find(|opened| opened.reply != size) {
            let problem = format!("replies of {size} and of {} bytes", other.reply);
            return Err(FloorError::Opening(problem));
        }
        // The reply carries what the request did, so that it counts for as much.
        let windowed = wire.windowed(corpus.request(0));
        let replies = Replies::new(size as u64, windowed);
        let connections: Vec<Connection> =
            opened.into_iter().map(|opened| Connection::new(opened.stream, replies)).collect();
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        for (index, connection) in connections.iter().enumerate() {
            add(&epoll, &connection.stream, index as u64, flags)?;
        }
        Ok(Self {
            epoll,
            timer,
            connections,
            requests,
            replies,
            in_flight,
            windowed,
            buffer: vec![0; RECEIVE_BUFFER].into(),
            outstanding: 0,
            loading: false,
        })
    }

    /// Keeps calls in flight for `length`, awaits those in flight at its end, and returns how many were
    /// answered.
    ///
    /// # Errors
    /// If a connection is lost, or what came is not the replies to the calls: see [`FloorError`].
    pub fn run(&mut self, length: Duration) -> Result<u64, FloorError> {
        let before: u64 = self.answered();
        self.loading = true;
        self.ring_after(length)?;
        for index in 0..self.connections.len() {
            self.send(index, u64::from(self.in_flight))?;
        }
        let mut events = Vec::with_capacity(EVENTS);
        while !self.turn(&mut events)? {}
        self.loading = false;
        self.ring_after(GRACE)?;
        while self.outstanding > 0 {
            if self.turn(&mut events)? && self.outstanding > 0 {
                let (calls, grace_s) = (self.outstanding, GRACE.as_secs());
                return Err(FloorError::Unanswered { calls, grace_s });
            }
        }
        self.account()?;
        Ok(self.answered() - before)
    }

    fn answered(&self) -> u64 {
        self.connections.iter().map(|connection| connection.answered).sum()
    }

    /// Every byte that came belongs to a reply to a call that was made.
    fn account(&self) -> Result<(), FloorError> {
        for &Connection { sent, answered, received, .. } in &self.connections {
            let expected = self.replies.bytes(sent);
            if answered != sent || received != expected {
                return Err(FloorError::Bytes { bytes: received, calls: sent, expected });
            }
        }
        Ok(())
    }

    fn ring_after(&self, length: Duration) -> Result<(), FloorError> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let it_value = Timespec {
            tv_sec: length.as_secs() as i64,
            tv_nsec: i64::from(length.subsec_nanos()) as _,
        };
        let times = Itimerspec { it_interval: never, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &times)
            .map_err(FloorError::kernel("timerfd_settime"))?;
        Ok(())
    }

    /// Waits until something happens and sees to it; whether the timer rang.
    fn turn(&mut self, events: &mut Vec<Event>) -> Result<bool, FloorError> {
        events.clear();
        match epoll::wait(&self.epoll, spare_capacity(events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(FloorError::kernel("epoll_wait")(errno)),
        }
        let mut rang = false;
        for event in events.iter() {
            let (source, flags) = (event.data.u64(), event.flags);
            if source == TIMER {
                rang = true;
            } else if flags != EventFlags::OUT {
                self.exchange(source as usize)?;
            }
        }
        Ok(rang)
    }

    /// Reads what there is, and sends as many calls as were answered.
    fn exchange(&mut self, index: usize) -> Result<(), FloorError> {
        loop {
            let connection = &mut self.connections[index];
            let read = match net::recv(&connection.stream, &mut *self.buffer, RecvFlags::empty()) {
                Ok((0, _)) => return Err(FloorError::Closed { calls: connection.answered }),
                Ok((read, _)) => read,
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(FloorError::kernel("recv")(errno)),
            };
            connection.received += read as u64;
            let answered = self.replies.answered(connection.received);
            let ended = answered - connection.answered;
            connection.answered = answered;
            if answered > connection.sent {
                return Err(self.too_much(index));
            }
            self.outstanding -= ended;
            if let Some(bytes) = self.windowed {
                self.refill(index, bytes)?;
            }
            if self.loading && ended > 0 {
                self.send(index, ended)?;
            }
            if read < self.buffer.len() {
                return Ok(());
            }
        }
    }

    #[cold]
    fn too_much(&self, index: usize) -> FloorError {
        let &Connection { sent, received, .. } = &self.connections[index];
        FloorError::Bytes { bytes: received, calls: sent, expected: self.replies.bytes(sent) }
    }

    fn send(&mut self, index: usize, count: u64) -> Result<(), FloorError> {
        let connection = &mut self.connections[index];
        let requests = self.requests.take(count as usize, connection.sent);
        put(&connection.stream, requests.ok_or(FloorError::Numbers)?)?;
        connection.sent += count;
        self.outstanding += count;
        Ok(())
    }

    /// Opens the connection's window by what came since it was last opened, if that is much; a reply has
    /// `windowed` bytes of it.
    fn refill(&mut self, index: usize, windowed: u64) -> Result<(), FloorError> {
        let connection = &mut self.connections[index];
        let bytes = (connection.answered - connection.refilled) * windowed;
        if bytes < REFILL {
            return Ok(());
        }
        connection.refilled = connection.answered;
        let mut out = Vec::new();
        frame::put(&mut out, frame::WINDOW_UPDATE, 0, 0, &(bytes as u32).to_be_bytes());
        put(&connection.stream, &out)
    }
}

impl Connection {
    fn new(stream: TcpStream, replies: Replies) -> Self {
        let calls = u64::from(CALLS);
        Self { stream, sent: calls, answered: calls, received: replies.bytes(calls), refilled: 0 }
    }
}

fn add(
    epoll: &OwnedFd,
    source: impl std::os::fd::AsFd,
    data: u64,
    flags: EventFlags,
) -> Result<(), FloorError> {
    epoll::add(epoll, source, EventData::new_u64(data), flags)
        .map_err(FloorError::kernel("epoll_ctl"))
}

fn put(stream: &TcpStream, bytes: &[u8]) -> Result<(), FloorError> {
    let taken =
        net::send(stream, bytes, SendFlags::NOSIGNAL).map_err(FloorError::kernel("send"))?;
    if taken < bytes.len() {
        return Err(FloorError::ShortWrite { taken, bytes: bytes.len() });
    }
    Ok(())
}
