//! The queues shared with the kernel, and the buffers that it receives into. The only module with
//! unsafe code: outside of it, no misuse can let the kernel touch memory that is not its to touch.
//!
//! - A send's bytes are borrowed for the whole of [`Ring::exchange`], and sends never wait: when it
//!   returns, the kernel is done with them.
//! - A receive buffer belongs to the kernel, or to the one [`Filled`] that names it.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{BufRingEntry, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use rustix::io::Errno;

/// Requests handed over at once.
const SUBMISSIONS: u32 = 256;
/// Completions that have room; the kernel keeps those beyond.
const COMPLETIONS: u32 = 4096;
/// Receive buffers, at most; as many entries as fill one page.
const BUFFERS: u16 = 256;
/// Receive buffers, at least: one connection may get more at once than one holds.
const FEWEST: u16 = 4;
/// Room of each, bytes.
const BUFFER: usize = 16 * 1024;
/// The one group of buffers that there is.
const GROUP: u16 = 0;
const PAGE: usize = 4096;
/// `IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG`.
const ENTER: u32 = 1 | 1 << 3;

/// A request to the kernel. `tag` comes back with its completion.
pub(super) enum Request<'a> {
    /// Completes only if not all bytes were taken; never waits.
    Send { socket: BorrowedFd<'a>, bytes: &'a [u8], tag: u64 },
    /// Completes with each piece that comes, until the end.
    Receive { socket: BorrowedFd<'a>, tag: u64 },
    /// Completes once when the socket takes bytes, or failed.
    Writable { socket: BorrowedFd<'a>, tag: u64 },
    /// Completes each time there is something to read.
    Readable { file: BorrowedFd<'a>, tag: u64 },
}

/// What became of a request.
#[derive(Debug)]
pub(super) struct Completion {
    pub tag: u64,
    pub result: Result<usize, Errno>,
    /// The buffer that it filled.
    pub filled: Option<Filled>,
    /// More completions of the same request follow.
    pub more: bool,
}

/// A receive buffer with bytes in it; the kernel leaves it alone until it is given back.
#[derive(Debug)]
pub(super) struct Filled {
    buffer: u16,
    length: usize,
}

/// The ring of one thread.
pub(super) struct Ring {
    /// `None` after a failure: requests that the kernel did not take may refer to memory that is gone.
    queues: Option<IoUring>,
    buffers: Buffers,
}

impl Ring {
    /// A ring with receive buffers for so many connections. They go round: more of them would be less of the cache.
    ///
    /// # Errors
    /// EPERM where it is forbidden, ENOSYS and EINVAL where the kernel can't.
    pub fn new(connections: usize) -> io::Result<Self> {
        let queues = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_clamp()
            .setup_cqsize(COMPLETIONS)
            .build(SUBMISSIONS)?;
        let mut ring = Self { queues: Some(queues), buffers: Buffers::new() };
        let buffers = u16::try_from(connections).unwrap_or(BUFFERS).clamp(FEWEST, BUFFERS);
        for buffer in 0..buffers {
            ring.buffers.offer(buffer);
        }
        ring.buffers.publish();
        let address = ring.buffers.address();
        let submitter = ring.queues()?.submitter();
        // SAFETY: the address is that of BUFFERS entries, aligned to a page; they stay until `drop` has
        // taken them back from the kernel.
        unsafe { submitter.register_buf_ring_with_flags(address, BUFFERS, GROUP, 0)? };
        Ok(ring)
    }

    fn queues(&mut self) -> io::Result<&mut IoUring> {
        self.queues.as_mut().ok_or_else(|| io::Error::other("the ring failed before"))
    }

    /// Hands the requests over, then waits for at least `want` completions, or until `timeout` is over.
    pub fn exchange<'a>(
        &mut self,
        requests: impl Iterator<Item = Request<'a>>,
        want: u32,
        timeout: Option<Timespec>,
    ) -> io::Result<()> {
        let result = self.hand_over(requests, want, timeout);
        if result.is_err() {
            self.queues = None;
        }
        result
    }

    fn hand_over<'a>(
        &mut self,
        requests: impl Iterator<Item = Request<'a>>,
        want: u32,
        timeout: Option<Timespec>,
    ) -> io::Result<()> {
        let queues = self.queues()?;
        for request in requests {
            let entry = entry(&request);
            // SAFETY: what the entry refers to lives for 'a, so until this function returns, and then the
            // kernel has the entry and, for a send, is done with it: it may not wait. Or the function
            // fails, and the queues are closed before the kernel gets to see the entry.
            while unsafe { queues.submission().push(&entry) }.is_err() {
                enter(queues, 0, None)?;
            }
        }
        enter(queues, want, timeout)?;
        while !queues.submission().is_empty() {
            enter(queues, 0, None)?;
        }
        Ok(())
    }

    /// The next completion, if there is one.
    pub fn completed(&mut self) -> Option<Completion> {
        let queues = self.queues.as_mut()?;
        let completion = queues.completion().next()?;
        let (result, flags) = (completion.result(), completion.flags());
        let result = usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
        let length = result.unwrap_or(0).min(BUFFER);
        Some(Completion {
            tag: completion.user_data(),
            result,
            filled: cqueue::buffer_select(flags).map(|buffer| Filled { buffer, length }),
            more: cqueue::more(flags),
        })
    }

    /// Gets the completions that had no room; whether there were any.
    pub fn recover(&mut self) -> io::Result<bool> {
        let queues = self.queues()?;
        let overflown = queues.submission().cq_overflow();
        if overflown {
            enter(queues, 0, None)?;
        }
        Ok(overflown)
    }

    /// What a buffer holds.
    #[inline]
    pub fn bytes(&self, filled: &Filled) -> &[u8] {
        self.buffers.bytes(filled)
    }

    /// Gives a buffer back to the kernel.
    #[inline]
    pub fn give_back(&mut self, filled: Filled) {
        self.buffers.offer(filled.buffer);
        self.buffers.publish();
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // From then on the kernel finds no buffer to receive into.
        let taken_back = match &self.queues {
            Some(queues) => queues.submitter().unregister_buf_ring(GROUP).is_ok(),
            None => false,
        };
        if taken_back {
            self.buffers.free();
        }
    }
}

/// Lets the kernel take what is queued and wait for `want` completions.
fn enter(queues: &mut IoUring, want: u32, timeout: Option<Timespec>) -> io::Result<()> {
    let queued = queues.submission().len();
    let arguments = SubmitArgs::new();
    let arguments = match &timeout {
        Some(timeout) => arguments.timespec(timeout),
        None => arguments,
    };
    // SAFETY: requests are as `hand_over` says; with EXT_ARG the kernel reads the arguments, which outlive the call.
    let entered = unsafe { queues.submitter().enter(queued as u32, want, ENTER, Some(&arguments)) };
    match entered.map_err(|error| (Errno::from_io_error(&error), error)) {
        // It is no failure that nothing happened, that a signal came, or that completions are to be
        // taken first.
        Ok(_) | Err((Some(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN), _)) => Ok(()),
        Err((_, error)) => Err(error),
    }
}

fn entry(request: &Request<'_>) -> Entry {
    let fd = |file: &BorrowedFd<'_>| Fd(file.as_raw_fd());
    match request {
        Request::Send { socket, bytes, tag } => {
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            // All of it and without waiting: what it can't take now is an error with the number of bytes
            // that it took.
            let flags = libc::MSG_DONTWAIT | libc::MSG_WAITALL | libc::MSG_NOSIGNAL;
            opcode::Send::new(fd(socket), bytes.as_ptr(), length)
                .flags(flags)
                .build()
                .flags(Flags::SKIP_SUCCESS)
                .user_data(*tag)
        }
        Request::Receive { socket, tag } => {
            opcode::RecvMulti::new(fd(socket), GROUP).build().user_data(*tag)
        }
        Request::Writable { socket, tag } => {
            opcode::PollAdd::new(fd(socket), libc::POLLOUT as u32).build().user_data(*tag)
        }
        Request::Readable { file, tag } => {
            opcode::PollAdd::new(fd(file), libc::POLLIN as u32).multi(true).build().user_data(*tag)
        }
    }
}

/// A ring of buffers: a page of entries, and the buffers behind it.
struct Buffers {
    memory: NonNull<u8>,
    tail: u16,
}

impl Buffers {
    const LAYOUT: Layout = match Layout::from_size_align(PAGE + BUFFERS as usize * BUFFER, PAGE) {
        Ok(layout) => layout,
        Err(_) => panic!("not a layout"),
    };

    fn new() -> Self {
        const { assert!(BUFFERS as usize * size_of::<BufRingEntry>() == PAGE) };
        // SAFETY: the layout has a size.
        let memory = unsafe { alloc_zeroed(Self::LAYOUT) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(Self::LAYOUT) };
        Self { memory, tail: 0 }
    }

    fn address(&self) -> u64 {
        self.memory.as_ptr() as u64
    }

    fn entries(&self) -> *mut BufRingEntry {
        self.memory.as_ptr().cast()
    }

    fn buffer(&self, number: u16) -> *mut u8 {
        assert!(number < BUFFERS);
        // SAFETY: that is within the allocation.
        unsafe { self.memory.as_ptr().add(PAGE + number as usize * BUFFER) }
    }

    #[inline]
    fn bytes(&self, filled: &Filled) -> &[u8] {
        // SAFETY: `length` is at most BUFFER, and the kernel leaves the buffer alone while `filled` lives.
        unsafe { std::slice::from_raw_parts(self.buffer(filled.buffer), filled.length) }
    }

    /// Puts a buffer into the ring, unseen by the kernel until it is published.
    #[inline]
    fn offer(&mut self, number: u16) {
        let at = usize::from(self.tail % BUFFERS);
        // SAFETY: `at` is the number of an entry in the page. The kernel reads no entry at or behind the
        // tail, and there are never more buffers in the ring than entries.
        let entry = unsafe { &mut *self.entries().add(at) };
        entry.set_addr(self.buffer(number) as u64);
        entry.set_len(BUFFER as u32);
        entry.set_bid(number);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Lets the kernel see what was offered.
    #[inline]
    fn publish(&self) {
        // SAFETY: the tail lies in the first entry, is aligned, and is written by atomic stores only.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.entries()).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn free(&mut self) {
        // SAFETY: it was allocated with this layout, and this is called once, by `Ring::drop`.
        unsafe { dealloc(self.memory.as_ptr(), Self::LAYOUT) };
    }
}
