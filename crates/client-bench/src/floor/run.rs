//! The loop: one read and one write for a connection in each turn.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rpcbench_contract::Corpus;
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
use super::requests::{Requests, frame, wire};
use super::{FloorError, opening::CALLS};

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
    next_stream: u32,
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
    /// Calls after which a connection's window is opened again.
    refill_calls: u64,
    buffer: Box<[u8]>,
    outstanding: u64,
    loading: bool,
}

impl Floor {
    /// Opens `connections` connections, of which each will keep `in_flight` calls in flight, and makes
    /// three checked calls on each.
    ///
    /// # Errors
    /// If a connection can't be opened, or what comes back is nothing that the floor can count: see
    /// [`FloorError`].
    pub fn open(
        address: SocketAddr,
        connections: u32,
        in_flight: u32,
        corpus: &Corpus,
    ) -> Result<Self, FloorError> {
        let requests = Requests::new(corpus, &address.to_string(), in_flight as usize)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(FloorError::kernel("epoll_create"))?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)
            .map_err(FloorError::kernel("timerfd_create"))?;
        add(&epoll, &timer, TIMER, EventFlags::IN | EventFlags::ET)?;
        let opened = (0..connections)
            .map(|_| opening::open(address, &requests, corpus))
            .collect::<Result<Vec<Opened>, _>>()?;
        let size = opened.first().map_or(1, |opened| opened.reply);
        if let Some(other) = opened.iter().find(|opened| opened.reply != size) {
            let problem = format!("replies of {size} and of {} bytes", other.reply);
            return Err(FloorError::Opening(problem));
        }
        let replies = Replies::new(size as u64, requests.data() as u64);
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
            refill_calls: REFILL / requests.data() as u64,
            requests,
            replies,
            in_flight,
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
            if answered - connection.refilled >= self.refill_calls {
                self.refill(index)?;
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
        let requests = self.requests.take(count as usize, connection.next_stream);
        put(&connection.stream, requests.ok_or(FloorError::Streams)?)?;
        connection.next_stream += 2 * count as u32;
        connection.sent += count;
        self.outstanding += count;
        Ok(())
    }

    /// Opens the connection's window by what came since it was last opened.
    #[cold]
    fn refill(&mut self, index: usize) -> Result<(), FloorError> {
        let connection = &mut self.connections[index];
        let calls = connection.answered - connection.refilled;
        connection.refilled = connection.answered;
        let bytes = calls * self.requests.data() as u64;
        let mut out = Vec::new();
        frame(&mut out, wire::WINDOW_UPDATE, 0, 0, &(bytes as u32).to_be_bytes());
        put(&connection.stream, &out)
    }
}

impl Connection {
    fn new(stream: TcpStream, replies: Replies) -> Self {
        let calls = u64::from(CALLS);
        Self {
            stream,
            next_stream: 2 * CALLS + 1,
            sent: calls,
            answered: calls,
            received: replies.bytes(calls),
            refilled: 0,
        }
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
