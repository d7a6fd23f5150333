//! A stream in memory mapped by two processes: a piece per direction, which is full or empty.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::futex;

/// Bytes of a piece. A reader must take the whole content at once.
const LONGEST: usize = 64 << 10;
const EMPTY: u32 = 0;
const FULL: u32 = 1;

#[repr(C)]
struct Piece {
    state: AtomicU32,
    length: AtomicU32,
    bytes: [AtomicU8; LONGEST],
}

/// Fills a piece.
pub(super) struct Sender(&'static Piece);

/// Empties a piece.
pub(super) struct Receiver(&'static Piece);

/// Creates memory for two empty pieces.
pub(super) fn create() -> io::Result<OwnedFd> {
    let memory = memfd_create("rpcbench-testkit", MemfdFlags::CLOEXEC)?;
    ftruncate(&memory, size_of::<[Piece; 2]>() as u64)?;
    Ok(memory)
}

fn map(memory: &OwnedFd) -> io::Result<&'static [Piece; 2]> {
    let (length, access) = (size_of::<[Piece; 2]>(), ProtFlags::READ | ProtFlags::WRITE);
    // SAFETY: the kernel chooses the address, at a page's start, and nothing unmaps it. The file has this length, any bytes are
    // valid pieces, and all processes access them by atomic operations only.
    unsafe {
        let address = mmap(null_mut(), length, access, MapFlags::SHARED, memory, 0)?;
        Ok(&*address.cast())
    }
}

impl Piece {
    fn await_state(&self, wanted: u32) {
        while self.state.load(Ordering::Acquire) != wanted {
            // Returns immediately if the state has changed, and may return spuriously.
            let _ = futex::wait(&self.state, futex::Flags::empty(), FULL - wanted, None);
        }
    }

    fn set(&self, state: u32) -> io::Result<()> {
        self.state.store(state, Ordering::Release);
        futex::wake(&self.state, futex::Flags::empty(), 1)?;
        Ok(())
    }
}

impl Sender {
    pub(super) fn of(memory: &OwnedFd, piece: usize) -> io::Result<Self> {
        Ok(Self(&map(memory)?[piece]))
    }
}

impl Receiver {
    pub(super) fn of(memory: &OwnedFd, piece: usize) -> io::Result<Self> {
        Ok(Self(&map(memory)?[piece]))
    }
}

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self(piece) = self;
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        piece.await_state(EMPTY);
        piece.bytes.iter().zip(bytes).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        piece.length.store(bytes.len() as u32, Ordering::Relaxed);
        piece.set(FULL)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Receiver {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self(piece) = self;
        piece.await_state(FULL);
        let length = piece.length.load(Ordering::Relaxed) as usize;
        let bytes = &piece.bytes[..length];
        buffer.iter_mut().zip(bytes).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
        piece.set(EMPTY)?;
        Ok(length)
    }
}
