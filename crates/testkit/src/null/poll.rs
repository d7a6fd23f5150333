//! epoll, level-triggered, with descriptors as tokens.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const EVENTS: usize = 1024;

pub(super) struct Poll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    Read,
    Write,
}

impl Poll {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers; its result is checked below.
        let raw = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `raw` was just made by the kernel and nothing else owns it.
        let epoll = unsafe { OwnedFd::from_raw_fd(raw) };
        Ok(Self { epoll, events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS] })
    }

    pub(super) fn add(&self, descriptor: RawFd, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, descriptor, interest)
    }

    pub(super) fn change(&self, descriptor: RawFd, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, descriptor, interest)
    }

    /// Waits for ready descriptors and returns their number.
    pub(super) fn wait(&mut self) -> io::Result<usize> {
        loop {
            // SAFETY: `events` has room for EVENTS entries and outlives the call.
            let count = unsafe {
                libc::epoll_wait(
                    self.epoll.as_raw_fd(),
                    self.events.as_mut_ptr(),
                    EVENTS as libc::c_int,
                    -1,
                )
            };
            if let Ok(count) = usize::try_from(count) {
                return Ok(count);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// A ready descriptor by index.
    pub(super) fn ready(&self, index: usize) -> RawFd {
        self.events[index].u64 as RawFd
    }

    fn control(
        &self,
        operation: libc::c_int,
        descriptor: RawFd,
        interest: Interest,
    ) -> io::Result<()> {
        let events = match interest {
            Interest::Read => libc::EPOLLIN,
            Interest::Write => libc::EPOLLOUT,
        };
        let mut event = libc::epoll_event {
            events: events.cast_unsigned(),
            u64: u64::from(descriptor.unsigned_abs()),
        };
        // SAFETY: `event` is valid and outlives the call; a stale descriptor is an error, not undefined.
        let result =
            unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, descriptor, &mut event) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
