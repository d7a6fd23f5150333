//! Waits for sockets and for the end of a load.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use anyhow::Context as _;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// Maximum events per turn, as in the engine's epoll driver.
const EVENTS: usize = 1024;
/// Marks the timer among the events.
const TIMER: u64 = u64::MAX;

pub(super) struct Events {
    epoll: OwnedFd,
    timer: OwnedFd,
    found: Vec<Event>,
}

impl Events {
    pub fn new() -> anyhow::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).context("epoll_create")?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)
            .context("timerfd_create")?;
        let events = Self { epoll, timer, found: Vec::with_capacity(EVENTS) };
        events.add(&events.timer, TIMER, EventFlags::IN | EventFlags::ET)?;
        Ok(events)
    }

    /// Reports when a socket, by this number, becomes readable or writable, once each time.
    pub fn add_socket(&self, socket: impl AsFd, number: usize) -> anyhow::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        self.add(socket, number as u64, flags)
    }

    fn add(&self, source: impl AsFd, data: u64, flags: EventFlags) -> anyhow::Result<()> {
        epoll::add(&self.epoll, source, EventData::new_u64(data), flags).context("epoll_ctl")
    }

    pub fn ring_after(&self, length: Duration) -> anyhow::Result<()> {
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

    /// Waits for events and returns how many there are.
    pub fn wait(&mut self) -> anyhow::Result<usize> {
        self.found.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.found), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno).context("epoll_wait"),
        }
        Ok(self.found.len())
    }

    /// The source of the last wait's event `index`.
    pub fn source(&self, index: usize) -> Source {
        let Event { flags, data } = self.found[index];
        match data.u64() {
            TIMER => Source::Timer,
            number if flags == EventFlags::OUT => Source::Writable(number as usize),
            number => Source::Readable(number as usize),
        }
    }
}

/// What an event comes from.
pub(super) enum Source {
    Timer,
    /// A socket that can be read, by its number.
    Readable(usize),
    /// A socket that is only writable, by its number.
    Writable(usize),
}
