//! The machine reference: a fixed piece of work, repeated on the server's CPUs next to the load. Its CPU time shows how much
//! neighbours slow these CPUs down through caches and memory, which no other counter shows, not even stolen time.
//!
//! In this crate because it is always compiled with all optimisations: the work must cost the same in every build.

use std::hint::black_box;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use rpcbench_record::ReferenceUsage;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use rpcbench_clock::{self as clock, Nanos};

/// Time from one piece of work to the next: short, because neighbours come and go within tenths of a second, but long enough
/// for the work to take less than 3 % of a CPU.
const PERIOD: Nanos = Nanos::from_millis(15);
/// Messages through a pair of sockets: system calls take most of a server's time.
const MESSAGES: usize = 20;
const MESSAGE_BYTES: usize = 128;
/// Dependent loads over more memory than a core's first-level cache holds.
const LOADS: usize = 2000;
const CACHE_LINE: usize = 64;
const LINES: usize = (256 << 10) / CACHE_LINE;
/// Steps of a random number generator: pure arithmetic.
const STEPS: usize = 10_000;

/// The running work. Dropping it stops the work.
#[derive(Debug)]
pub struct Reference {
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Vec<Piece>>>>,
}

/// One piece of work. CPU times, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Piece {
    at: Nanos,
    syscalls: u64,
    memory: u64,
    arithmetic: u64,
}

impl Reference {
    /// Starts the work in a thread that `pin` pins to the server's CPUs.
    ///
    /// # Errors
    /// If the thread can't be started. Errors in the thread are returned by [`Self::end`].
    pub fn start(pin: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopped);
        let thread = thread::Builder::new().name("reference".to_owned()).spawn(move || {
            pin()?;
            let mut work = Work::new()?;
            let (mut pieces, mut next) = (Vec::new(), clock::now());
            loop {
                pieces.push(work.piece()?);
                if stop.load(Ordering::Relaxed) {
                    return Ok(pieces);
                }
                next = next + PERIOD;
                clock::sleep_until(next);
            }
        })?;
        Ok(Self { stopped, thread: Some(thread) })
    }

    /// Stops the work. Returns the cost of the pieces started from `start` until before `end`; `None` if there were none.
    ///
    /// # Errors
    /// If pinning or the sockets failed, or the thread panicked.
    pub fn end(mut self, start: Nanos, end: Nanos) -> io::Result<Option<ReferenceUsage>> {
        self.stopped.store(true, Ordering::Relaxed);
        let pieces = self.thread.take().map_or(Ok(Ok(Vec::new())), JoinHandle::join);
        let pieces = pieces.unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))?;
        Ok(summary(pieces.iter().filter(|piece| start <= piece.at && piece.at < end)))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

fn summary<'a>(pieces: impl Iterator<Item = &'a Piece>) -> Option<ReferenceUsage> {
    let mut sum = ReferenceUsage::default();
    for piece in pieces {
        sum.pieces += 1;
        sum.syscalls_ns += piece.syscalls;
        sum.memory_ns += piece.memory;
        sum.arithmetic_ns += piece.arithmetic;
    }
    (sum.pieces > 0).then_some(sum)
}

struct Work {
    sockets: (OwnedFd, OwnedFd),
    /// Each line holds the index of the next: one cycle through all lines, in random order.
    lines: Vec<[u32; CACHE_LINE / 4]>,
    line: u32,
    random: u64,
}

impl Work {
    fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let sockets = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        Ok(Self { sockets, lines: cycle(), line: 0, random: 1 })
    }

    fn piece(&mut self) -> io::Result<Piece> {
        let (at, begin) = (clock::now(), clock::thread_cpu());
        self.exchange()?;
        let exchanged = clock::thread_cpu();
        for _ in 0..LOADS {
            self.line = self.lines[self.line as usize][0];
        }
        black_box(self.line);
        let loaded = clock::thread_cpu();
        for _ in 0..STEPS {
            self.random = step(self.random);
        }
        black_box(self.random);
        Ok(Piece {
            at,
            syscalls: exchanged.since(begin),
            memory: loaded.since(exchanged),
            arithmetic: clock::thread_cpu().since(loaded),
        })
    }

    fn exchange(&self) -> io::Result<()> {
        let mut message = [0; MESSAGE_BYTES];
        for _ in 0..MESSAGES {
            rustix::io::retry_on_intr(|| rustix::io::write(&self.sockets.0, &message))?;
            rustix::io::retry_on_intr(|| rustix::io::read(&self.sockets.1, &mut message))?;
        }
        Ok(())
    }
}

/// Marsaglia, *Xorshift RNGs*, Journal of Statistical Software 8, 2003.
fn step(mut random: u64) -> u64 {
    random ^= random << 13;
    random ^= random >> 7;
    random ^ random << 17
}

fn cycle() -> Vec<[u32; CACHE_LINE / 4]> {
    let mut order: Vec<u32> = (0..LINES as u32).collect();
    let mut random = Pcg64::seed_from_u64(1);
    for at in (1..LINES).rev() {
        order.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
    }
    let mut lines = vec![[0; CACHE_LINE / 4]; LINES];
    for (at, line) in order.iter().enumerate() {
        lines[*line as usize][0] = order[(at + 1) % LINES];
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycle_goes_through_every_line() {
        let lines = cycle();
        let (mut line, mut seen) = (0, vec![false; LINES]);
        for _ in 0..LINES {
            seen[line as usize] = true;
            line = lines[line as usize][0];
        }
        assert!(line == 0 && seen.iter().all(|seen| *seen));
    }

    #[test]
    fn only_pieces_started_in_the_window_count() {
        let piece = |at| Piece { at: Nanos(at), syscalls: at, memory: 10 * at, arithmetic: 1 };
        let pieces = [1, 2, 3].map(piece);
        let usage = |kept: &[Piece]| summary(kept.iter());
        let both = ReferenceUsage { pieces: 2, syscalls_ns: 3, memory_ns: 30, arithmetic_ns: 2 };
        assert_eq!(usage(&pieces[..2]), Some(both));
        assert_eq!(usage(&[]), None);
    }

    #[test]
    fn reference_runs_if_its_thread_can_be_pinned() {
        let nowhere = || Err(io::ErrorKind::InvalidInput.into());
        let begun = Reference::start(nowhere).map(|it| it.end(Nanos(0), Nanos::NEVER));
        assert!(begun.expect("a thread").is_err());
        let reference = Reference::start(|| Ok(())).expect("a thread");
        let usage = reference.end(Nanos(0), Nanos::NEVER).expect("work").expect("a piece");
        assert!(usage.pieces >= 1 && usage.mean_ns() > 0.0);
    }
}
