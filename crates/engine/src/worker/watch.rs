//! Detects when the client noticed due calls late.

use std::collections::VecDeque;

use rpcbench_clock::Nanos;

/// A call of an open loop is late if the client noticed it more than this after its due time.
const LATE: Nanos = Nanos::from_millis(1);
/// How often the client checks while nothing can be sent. Without these checks, it could not tell its own absence from a silent
/// server. Half of the lateness limit leaves the other half for waking.
const CHECK_INTERVAL: Nanos = Nanos(LATE.0 / 2);

/// When the client checked for due calls, as far back as needed for unsent calls.
#[derive(Debug)]
pub(super) struct Watch {
    /// When it last checked; 0 before the first time.
    checked_at: Nanos,
    /// Stretches of time in which due calls are late, in order.
    absences: VecDeque<Absence>,
}

/// Calls that came due after `from` and before `until` are late.
#[derive(Clone, Copy, Debug)]
struct Absence {
    from: Nanos,
    until: Nanos,
}

impl Watch {
    pub fn new() -> Self {
        Self { checked_at: Nanos(0), absences: VecDeque::new() }
    }

    /// Notes that the client checks now; the first unsent call came due at `first`, or will come due then.
    #[inline]
    pub fn check(&mut self, now: Nanos, first: Option<Nanos>) {
        let (from, until) = (self.checked_at, now - LATE);
        self.checked_at = now;
        if from < until && first.is_some_and(|first| first < until) {
            self.absences.push_back(Absence { from, until });
        }
    }

    /// When to check again while no connection has room.
    pub fn next_check(&self) -> Nanos {
        self.checked_at + CHECK_INTERVAL
    }

    /// True if a call that came due at `due` is late. Due times must not decrease from call to call.
    #[inline]
    pub fn missed(&mut self, due: Nanos) -> bool {
        while self.absences.front().is_some_and(|absence| absence.until <= due) {
            self.absences.pop_front();
        }
        self.absences.front().is_some_and(|absence| absence.from < due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 us.
    const US: u64 = 1000;

    fn missed(checks_us: &[u64], dues_us: &[u64]) -> Vec<u64> {
        let mut watch = Watch::new();
        let first = dues_us.first().map(|due| Nanos(due * US));
        checks_us.iter().for_each(|check| watch.check(Nanos(check * US), first));
        dues_us.iter().copied().filter(|due| watch.missed(Nanos(due * US))).collect()
    }

    #[test]
    fn call_is_late_if_noticed_more_than_a_millisecond_after_it_was_due() {
        let dues: Vec<u64> = (1..=60).map(|n| n * 100).collect();
        assert_eq!(missed(&[50, 950, 1900, 2900, 3900, 4900, 6000], &dues), [4950][..0]);
        // No check from 1 ms to 4 ms: calls due in the last millisecond of it are on time.
        let late: Vec<u64> = (11..30).map(|n| n * 100).collect();
        assert_eq!(missed(&[50, 1000, 4000, 5000, 6000], &dues), late);
        // The client never checked before.
        assert_eq!(missed(&[3000], &[1000, 1999, 2000, 2500]), [1000, 1999]);
    }

    #[test]
    fn absences_without_due_calls_are_not_stored() {
        let mut watch = Watch::new();
        for second in 1..1000 {
            watch.check(Nanos(second * 1_000_000_000), Some(Nanos::NEVER));
            watch.check(Nanos(second * 1_000_000_000 + 5), None);
        }
        assert!(watch.absences.is_empty());
    }
}
