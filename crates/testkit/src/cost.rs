//! The cost of a call before its answer: time, CPU or memory.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use crate::clock;
use crate::delay::DelayQueue;
use crate::plan::Cost;

/// CPU cost of a call after the step of `warm-step`.
const WARM_COST: Duration = Duration::from_micros(50);
/// The compiler thread is busy for `COMPILE_TIME` of every `COMPILE_PERIOD` of the process's CPU time.
const COMPILE_PERIOD: Duration = Duration::from_millis(10);
const COMPILE_TIME: Duration = Duration::from_millis(2);
/// Number of calls between payments of a costlier server. Reading two clocks on every call would cost more than the difference.
const CALLS_PER_PAYMENT: u64 = 64;
/// Maximum memory that a server takes, so that a forgotten limit does not bring down the machine.
const MEMORY_CAP: usize = 2 << 30;
/// Time without running or waiting for a CPU after which a server considers itself frozen, and how long it then behaves that way.
const BREAK: Duration = Duration::from_millis(250);
const AFTER_BREAK: Duration = Duration::from_secs(2);
/// Interval at which the thread checks for breaks.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

pub(crate) struct Spender {
    cost: Cost,
    delays: Rc<DelayQueue>,
    compiler: Option<Compiler>,
    hog: RefCell<MemoryHog>,
    /// Extra CPU time spent so far by a costlier server.
    burnt: Cell<Duration>,
    breaks: Option<Breaks>,
}

impl Spender {
    /// Must be called inside the serving `LocalSet`.
    pub(crate) fn start(cost: Cost) -> io::Result<Self> {
        let compiler = match cost {
            Cost::WarmStep { .. } => Some(Compiler::start()?),
            _ => None,
        };
        let breaks = match cost {
            Cost::BusyUnlessFrozen(_) => Some(Breaks::watch()?),
            _ => None,
        };
        Ok(Self {
            cost,
            delays: DelayQueue::start()?,
            compiler,
            hog: RefCell::default(),
            burnt: Cell::default(),
            breaks,
        })
    }

    pub(crate) async fn spend(&self, number: u64) {
        match self.cost {
            Cost::Nothing => {}
            Cost::Delay(delay) => self.delays.wait(delay).await,
            Cost::DelayOnce(every, delay) if number.is_multiple_of(every.get()) => {
                self.delays.wait(delay).await
            }
            Cost::DelayOnce(..) => {}
            Cost::Busy(cost) => clock::burn(cost),
            Cost::BusyUnlessFrozen(cost) => match &self.breaks {
                Some(breaks) if breaks.had_one_lately() => {}
                _ => clock::burn(cost),
            },
            Cost::Costlier(share) if number.is_multiple_of(CALLS_PER_PAYMENT) => self.pay(share),
            Cost::Costlier(_) => {}
            Cost::WarmStep { seconds, factor } => self.warm_up(seconds, factor),
            Cost::Memory(bytes) => self.hog.borrow_mut().take(bytes),
        }
    }

    fn pay(&self, share: f64) {
        let before = clock::this_process();
        clock::burn(debt(before, self.burnt.get(), share));
        self.burnt.set(self.burnt.get() + (clock::this_process() - before));
    }

    /// Measured by the server's own CPU time, so that the step comes after the same amount of work on a busy machine.
    fn warm_up(&self, seconds: f64, factor: f64) {
        let used = clock::this_process();
        if used.as_secs_f64() >= seconds {
            return clock::burn(WARM_COST);
        }
        if let Some(compiler) = &self.compiler {
            compiler.work_at(used);
        }
        clock::burn(WARM_COST.mul_f64(factor));
    }
}

/// Breaks in which this process did not run although a CPU was free: it was frozen.
struct Breaks {
    /// When the last break ended, monotonic, nanoseconds. 0 before the first.
    ended: Arc<AtomicU64>,
}

impl Breaks {
    /// Starts the thread that watches for breaks.
    fn watch() -> io::Result<Self> {
        let ended = Arc::new(AtomicU64::new(0));
        let last = Arc::clone(&ended);
        let watch = move || {
            loop {
                let (began, waited) = (clock::monotonic(), clock::run_delay());
                std::thread::park_timeout(CHECK_INTERVAL);
                let now = clock::monotonic();
                if now - began >= BREAK + clock::run_delay().saturating_sub(waited) {
                    last.store(now.as_nanos() as u64, Ordering::Relaxed);
                }
            }
        };
        std::thread::Builder::new().name("breaks".to_owned()).spawn(watch)?;
        Ok(Self { ended })
    }

    fn had_one_lately(&self) -> bool {
        let ended = Duration::from_nanos(self.ended.load(Ordering::Relaxed));
        !ended.is_zero() && clock::monotonic() < ended + AFTER_BREAK
    }
}

/// CPU time to spend until the extra time is this share of all other CPU time. `all` includes `burnt`.
fn debt(all: Duration, burnt: Duration, share: f64) -> Duration {
    all.saturating_sub(burnt).mul_f64(share).saturating_sub(burnt)
}

/// Uses a fifth of a CPU until the process ends.
pub fn work_without_rest() {
    loop {
        clock::burn(Duration::from_millis(20));
        std::thread::park_timeout(Duration::from_millis(80));
    }
}

/// A thread named like a just-in-time compiler's, busy while it has work.
struct Compiler {
    work: SyncSender<()>,
    next: Cell<Duration>,
}

impl Compiler {
    fn start() -> io::Result<Self> {
        let (work, queue) = sync_channel(1);
        std::thread::Builder::new()
            .name("jit-compiler".to_owned())
            .spawn(move || compile(&queue))?;
        Ok(Self { work, next: Cell::default() })
    }

    fn work_at(&self, used: Duration) {
        if used >= self.next.get() {
            self.next.set(used + COMPILE_PERIOD);
            // If the queue is full, the thread is already busy.
            let _ = self.work.try_send(());
        }
    }
}

fn compile(queue: &Receiver<()>) {
    while queue.recv().is_ok() {
        clock::burn(COMPILE_TIME);
    }
}

#[derive(Default)]
pub(crate) struct MemoryHog {
    pieces: Vec<Vec<u8>>,
    total: usize,
}

impl MemoryHog {
    /// Allocates and touches this many bytes, up to a total of 2 GiB.
    pub(crate) fn take(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(MEMORY_CAP - self.total);
        self.total += bytes;
        self.pieces.push(vec![0xA5; bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debt_is_paid_once() {
        let millis = Duration::from_millis;
        assert_eq!(debt(millis(1_000), millis(0), 0.05), millis(50));
        assert_eq!(debt(millis(1_050), millis(50), 0.05), millis(0));
        assert_eq!(debt(millis(1_550), millis(50), 0.05), millis(25));
        assert_eq!(debt(millis(1_000), millis(100), 0.05), millis(0));
    }

    #[test]
    fn memory_hog_has_a_cap() {
        let mut hog = MemoryHog { pieces: Vec::new(), total: MEMORY_CAP - 10 };
        hog.take(u64::MAX);
        hog.take(u64::MAX);
        assert_eq!(hog.pieces.iter().map(Vec::len).sum::<usize>(), 10);
    }
}
