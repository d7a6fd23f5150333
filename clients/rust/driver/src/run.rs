use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use tokio::{runtime::Handle, task};

use crate::{
    Library, Outcome, Unary,
    clock::{now, sleep_until},
    load::Slot,
    wire::Wire,
};

/// How long a record may wait.
const FLUSH_EVERY: Duration = Duration::from_millis(5);

/// When a run starts and stops, and how many calls it makes.
pub struct Bounds {
    /// The instant to start at.
    at: u64,
    /// Maximum number of calls.
    limit: u64,
    claimed: AtomicU64,
    /// The instant from which no call starts.
    stop_at: AtomicU64,
    /// Notified when the instant to stop at is known.
    stopping: (Mutex<()>, Condvar),
}

impl Bounds {
    /// `at`: 0 for now. `calls`: 0 for no limit.
    pub fn new(at: u64, calls: u64) -> Self {
        Self {
            at: if at == 0 { now() } else { at },
            limit: if calls == 0 { u64::MAX } else { calls },
            claimed: AtomicU64::new(0),
            stop_at: AtomicU64::new(u64::MAX),
            stopping: Default::default(),
        }
    }

    pub fn stop(&self, at: u64) {
        let _guard = self.guard();
        self.stop_at.store(at, Relaxed);
        self.stopping.1.notify_all();
    }

    /// Takes one of a limited number of calls.
    fn claim(&self) -> bool {
        self.limit == u64::MAX || self.claimed.fetch_add(1, Relaxed) < self.limit
    }

    /// Waits for a due time. Returns false if the run stops before it.
    fn await_due(&self, instant: u64) -> bool {
        let mut guard = self.guard();
        loop {
            if instant >= self.stop_at.load(Relaxed) {
                return false;
            }
            let rest = Duration::from_nanos(instant.saturating_sub(now()));
            if rest.is_zero() {
                return true;
            }
            let woken = self.stopping.1.wait_timeout(guard, rest);
            guard = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn guard(&self) -> MutexGuard<'_, ()> {
        self.stopping.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes calls within its bounds, from a separate thread: the calls are tasks of the runtime.
pub struct Run<'a> {
    pub bounds: Arc<Bounds>,
    pub wire: &'a Arc<Wire>,
    pub handle: &'a Handle,
}

impl Run<'_> {
    /// Every slot makes one call after another. Returns the slots, and the number of calls.
    pub fn closed_loop<L: Library, U: Unary<L>>(
        &self,
        slots: Vec<Slot<L, U>>,
    ) -> (Vec<Slot<L, U>>, u64) {
        sleep_until(self.bounds.at);
        let tasks: Vec<_> = (0_u32..)
            .zip(slots)
            .map(|(number, slot)| {
                let (bounds, wire) = (self.bounds.clone(), self.wire.clone());
                self.handle.spawn(repeat(bounds, wire, number, slot))
            })
            .collect();
        let ended = tasks
            .into_iter()
            .map(|task| self.handle.block_on(task).expect("a slot does not panic"));
        let (slots, calls): (Vec<_>, Vec<u64>) = ended.unzip();
        (slots, calls.into_iter().sum())
    }

    /// Every call starts when it is due. Returns the number of calls, those not sent included.
    pub fn open_loop<L: Library, U: Unary<L>>(
        &self,
        schedule: &[u64],
        slots: Vec<Slot<L, U>>,
    ) -> u64 {
        let idle = Arc::new(Mutex::new(slots));
        let in_flight = Arc::new(AtomicUsize::new(0));
        let mut started = 0;
        for (call, offset) in (0_u32..).zip(schedule) {
            let due = self.bounds.at + offset;
            if u64::from(call) >= self.bounds.limit || !self.bounds.await_due(due) {
                break;
            }
            started += 1;
            let slot = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut slot) = slot else {
                self.wire.record(due, now(), call, Outcome::NotSent);
                continue;
            };
            in_flight.fetch_add(1, Relaxed);
            let (wire, idle, in_flight) = (self.wire.clone(), idle.clone(), in_flight.clone());
            self.handle.spawn(async move {
                let outcome = slot.call().await;
                wire.record(due, now(), call, outcome);
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
                in_flight.fetch_sub(1, Relaxed);
            });
        }
        while in_flight.load(Relaxed) > 0 {
            thread::sleep(FLUSH_EVERY);
        }
        started
    }
}

/// Makes the calls of a slot, one after another.
async fn repeat<L: Library, U: Unary<L>>(
    bounds: Arc<Bounds>,
    wire: Arc<Wire>,
    number: u32,
    mut slot: Slot<L, U>,
) -> (Slot<L, U>, u64) {
    let mut calls = 0;
    loop {
        let start = now();
        if start >= bounds.stop_at.load(Relaxed) || !bounds.claim() {
            return (slot, calls);
        }
        calls += 1;
        let outcome = slot.call().await;
        wire.record(start, now(), number, outcome);
        if outcome != Outcome::Ok {
            // Otherwise calls on a broken connection, which fail at once, would starve other tasks.
            task::yield_now().await;
        }
    }
}

/// Sends pending records every few milliseconds, until `is_over`.
pub fn flush_until(wire: &Wire, is_over: impl Fn() -> bool) {
    while !is_over() {
        thread::sleep(FLUSH_EVERY);
        wire.flush();
    }
}
