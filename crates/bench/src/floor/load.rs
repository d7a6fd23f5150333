//! The loop: one read and one write per connection and turn.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use rpcbench_contract::Shape;
use rpcbench_record::Protocol;
use rpcbench_testkit::http2::Frame;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::opening::{self, CALLS, Opened};
use super::replies::Replies;
use super::requests::Requests;
use super::wire;

/// Bytes of a read and events of a turn, as in the engine's epoll driver.
const RECEIVE_BUFFER: usize = 256 * 1024;
const EVENTS: usize = 1024;
/// Marks the timer among the events.
const TIMER: u64 = u64::MAX;
/// How long to wait for the last replies.
const GRACE: Duration = Duration::from_secs(5);
/// Received bytes of DATA after which the connection's window is opened again.
const REFILL: u64 = 1 << 30;

#[derive(Clone, Copy)]
pub(super) struct Load {
    pub connections: u32,
    /// On each connection.
    pub in_flight: u32,
}

struct Connection {
    stream: TcpStream,
    sent: u64,
    answered: u64,
    received: u64,
    /// Calls answered when the window was last opened.
    refilled: u64,
}

/// Connections that keep a fixed number of calls in flight each, to a server whose replies all have one size.
pub(super) struct Floor {
    epoll: OwnedFd,
    timer: OwnedFd,
    connections: Vec<Connection>,
    requests: Requests,
    replies: Replies,
    in_flight: u32,
    /// Bytes of a reply that count against our window. `None` without windows.
    windowed: Option<u64>,
    buffer: Box<[u8]>,
    outstanding: u64,
    loading: bool,
}

impl Floor {
    /// Opens the connections of `load` and makes three checked calls on each. Fails if replies differ in size.
    pub fn open(
        address: SocketAddr,
        protocol: Protocol,
        load: Load,
        shape: &Shape,
    ) -> anyhow::Result<Self> {
        let Load { connections, in_flight } = load;
        let (wire, corpus) = wire::of(protocol, shape, address)?;
        let requests = Requests::new(&corpus, &*wire, in_flight as usize)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("epoll_create")?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)
            .context("timerfd_create")?;
        add(&epoll, &timer, TIMER, EventFlags::IN | EventFlags::ET)?;
        let opened = (0..connections)
            .map(|_| opening::open(address, &*wire, &corpus))
            .collect::<anyhow::Result<Vec<Opened>>>()?;
        let size = opened.first().map_or(1, |opened| opened.reply);
        if let Some(other) = opened.iter().find(|opened| opened.reply != size) {
            bail!("replies of {size} and of {} bytes", other.reply);
        }
        // A reply carries the content of its request.
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

    /// Keeps calls in flight for `length`, waits for the last replies, and returns the number of calls. Fails if a connection
    /// is lost or the bytes are not those of the replies.
    pub fn run(&mut self, length: Duration) -> anyhow::Result<u64> {
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
                bail!(
                    "{} calls unanswered {} s after the last was sent",
                    self.outstanding,
                    GRACE.as_secs()
                );
            }
        }
        self.account()?;
        Ok(self.answered() - before)
    }

    fn answered(&self) -> u64 {
        self.connections.iter().map(|connection| connection.answered).sum()
    }

    /// Checks that all bytes received are replies to calls.
    fn account(&self) -> anyhow::Result<()> {
        for connection in &self.connections {
            let Connection { sent, answered, received, .. } = *connection;
            ensure!(
                answered == sent && received == self.replies.bytes(sent),
                self.wrong_bytes(connection)
            );
        }
        Ok(())
    }

    fn ring_after(&self, length: Duration) -> anyhow::Result<()> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let it_value = Timespec {
            tv_sec: length.as_secs() as i64,
            tv_nsec: i64::from(length.subsec_nanos()) as _,
        };
        let times = Itimerspec { it_interval: never, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &times)
            .context("timerfd_settime")?;
        Ok(())
    }

    /// Waits for events and handles them. True if the timer rang.
    fn turn(&mut self, events: &mut Vec<Event>) -> anyhow::Result<bool> {
        events.clear();
        match epoll::wait(&self.epoll, spare_capacity(events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno).context("epoll_wait"),
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

    /// Reads what has arrived, and sends as many calls as were answered.
    fn exchange(&mut self, index: usize) -> anyhow::Result<()> {
        loop {
            let connection = &mut self.connections[index];
            let read = match net::recv(&connection.stream, &mut *self.buffer, RecvFlags::empty()) {
                Ok((0, _)) => {
                    bail!("the server closed a connection after {} calls", connection.answered)
                }
                Ok((read, _)) => read,
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno).context("recv"),
            };
            connection.received += read as u64;
            let answered = self.replies.answered(connection.received);
            let ended = answered - connection.answered;
            connection.answered = answered;
            if answered > connection.sent {
                bail!(self.wrong_bytes(&self.connections[index]));
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
    fn wrong_bytes(&self, connection: &Connection) -> String {
        let &Connection { sent, received, .. } = connection;
        format!(
            "{received} bytes received for {sent} calls on a connection, expected {}: replies differ in size, or \
             the server sent something else in between",
            self.replies.bytes(sent)
        )
    }

    fn send(&mut self, index: usize, count: u64) -> anyhow::Result<()> {
        let connection = &mut self.connections[index];
        let requests = self.requests.take(count as usize, connection.sent);
        put(
            &connection.stream,
            requests
                .context("a connection ran out of numbers for calls; run for a shorter time")?,
        )?;
        connection.sent += count;
        self.outstanding += count;
        Ok(())
    }

    /// Opens the connection's window by the bytes received since it was last opened, once there are many. A reply counts for
    /// `windowed` bytes.
    fn refill(&mut self, index: usize, windowed: u64) -> anyhow::Result<()> {
        let connection = &mut self.connections[index];
        let bytes = (connection.answered - connection.refilled) * windowed;
        if bytes < REFILL {
            return Ok(());
        }
        connection.refilled = connection.answered;
        put(&connection.stream, &Frame::window_update(0, bytes as u32).encode())
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
) -> anyhow::Result<()> {
    epoll::add(epoll, source, EventData::new_u64(data), flags).context("epoll_ctl")
}

fn put(stream: &TcpStream, bytes: &[u8]) -> anyhow::Result<()> {
    let taken = net::send(stream, bytes, SendFlags::NOSIGNAL).context("send")?;
    ensure!(
        taken == bytes.len(),
        "the kernel took {taken} of {} bytes; use fewer calls in flight",
        bytes.len()
    );
    Ok(())
}
