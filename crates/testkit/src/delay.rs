//! Delays as exact as the kernel's timer. Those of the runtime are rounded to milliseconds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

use crate::clock;

/// One kernel timer for any number of waiting calls.
pub(crate) struct DelayQueue {
    timer: AsyncFd<OwnedFd>,
    waiting: RefCell<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Waiting calls by due time, and a number that makes the key unique.
    calls: BTreeMap<(Duration, u64), oneshot::Sender<()>>,
    next_number: u64,
}

impl DelayQueue {
    /// A queue whose timer runs as a task of the current `LocalSet`.
    pub(crate) fn start() -> io::Result<Rc<Self>> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: an OwnedFd is the same descriptor, and open, until it is dropped.
        let timer = unsafe { AsyncFd::register(timer) }?;
        let queue = Rc::new(Self { timer, waiting: RefCell::default() });
        let runner = Rc::clone(&queue);
        tokio::task::spawn_local(async move { runner.run().await });
        Ok(queue)
    }

    pub(crate) async fn wait(&self, delay: Duration) {
        let (wake, woken) = oneshot::channel();
        let due = clock::monotonic() + delay;
        let is_first = {
            let mut waiting = self.waiting.borrow_mut();
            let key = (due, waiting.next_number);
            waiting.next_number += 1;
            waiting.calls.insert(key, wake);
            waiting.calls.first_key_value().is_some_and(|(first, _)| *first == key)
        };
        if is_first {
            self.arm(due);
        }
        // The sender lives until it sends, or until the server is dropped along with this call.
        let _ = woken.await;
    }

    async fn run(&self) {
        while let Ok(mut ready) = self.timer.readable().await {
            ready.clear_ready();
            if let Some(next) = self.wake_due() {
                self.arm(next);
            }
        }
    }

    fn wake_due(&self) -> Option<Duration> {
        let mut waiting = self.waiting.borrow_mut();
        let now = clock::monotonic();
        while let Some(first) = waiting.calls.first_entry() {
            let (due, _) = *first.key();
            if due > now {
                return Some(due);
            }
            // The call may have ended with its connection.
            let _ = first.remove().send(());
        }
        None
    }

    fn arm(&self, due: Duration) {
        let it_value =
            Timespec { tv_sec: due.as_secs().cast_signed(), tv_nsec: due.subsec_nanos().into() };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let times = Itimerspec { it_interval, it_value };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &times)
            .expect("the timer exists and the time is valid");
    }
}
