//! epoll, level-triggered, with descriptors as tokens.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData};
use rustix::io::Errno;

pub(crate) use rustix::event::epoll::EventFlags as Interest;

const EVENTS: usize = 1024;

pub(crate) struct Poll {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poll {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS) })
    }

    pub(crate) fn add(&self, source: impl AsFd, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, &source, token(&source), interest)?)
    }

    pub(crate) fn change(&self, source: impl AsFd, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, &source, token(&source), interest)?)
    }

    /// Waits for ready descriptors and returns their number.
    pub(crate) fn wait(&mut self) -> io::Result<usize> {
        loop {
            self.events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut self.events), None) {
                Err(Errno::INTR) => {}
                count => return Ok(count?),
            }
        }
    }

    pub(crate) fn ready(&self, index: usize) -> RawFd {
        self.events[index].data.u64() as RawFd
    }
}

fn token(source: &impl AsFd) -> EventData {
    EventData::new_u64(u64::from(source.as_fd().as_raw_fd().unsigned_abs()))
}
