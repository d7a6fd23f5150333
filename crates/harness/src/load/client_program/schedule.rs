//! Due times of an open loop, as a file for the program.

use rpcbench_clock::{Nanos, Span};
use rpcbench_engine::Schedule;
use rpcbench_record::{Arrivals, Pacing, Slice};

/// The arrivals of a load: first those while it settles, then those in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct DueTimes {
    pub arrivals: Arrivals,
    pub seed: u64,
    /// When the load begins.
    pub begin: Nanos,
    /// The window, whose end is also the end of the load.
    pub window: Span,
}

impl DueTimes {
    /// The file for the program, with offsets from the load's start, and the due times themselves.
    pub fn schedule(&self) -> (Vec<u8>, Vec<Nanos>) {
        let Self { arrivals, seed, begin, window } = *self;
        let (settle, length) = (window.start - begin, window.end - window.start);
        // A different seed, so that the window does not repeat the arrivals of settling.
        let before = Schedule::new(arrivals, !seed).take_while(|due| *due < settle);
        let within = Schedule::new(arrivals, seed).take_while(|due| *due < length);
        let all: Vec<Nanos> = before.chain(within.map(|due| settle + due)).collect();
        let file = all.iter().flat_map(|due| due.0.to_le_bytes()).collect();
        (file, all.into_iter().map(|due| begin + due).collect())
    }

    /// Pacing figures of a window of `length` with `slices` of its series.
    pub fn pacing(&self, length: Nanos, slices: usize) -> Pacing {
        let due_before = |end| Schedule::new(self.arrivals, self.seed).due_before(end);
        let due = due_before(length);
        let middle = Nanos(Slice::middle_ns(slices)).min(length);
        Pacing { due, due_second_half: due - due_before(middle), late: 0, held_back: 0 }
    }
}

#[cfg(test)]
mod tests {
    use rpcbench_record::{PerSecond, Rate};

    use super::*;

    #[test]
    fn settling_precedes_the_window_in_one_file() {
        let rate = Rate::PerSecond(PerSecond::new(10.0).unwrap());
        let window = Span { start: Nanos::from_millis(1250), end: Nanos::from_millis(2250) };
        let begin = Nanos::from_millis(1000);
        let times = DueTimes { arrivals: Arrivals::Constant { rate }, seed: 1, begin, window };
        let (file, all) = times.schedule();
        let (due, []) = file.as_chunks() else { panic!("{} bytes", file.len()) };
        let due: Vec<u64> = due.iter().map(|due| u64::from_le_bytes(*due) / 1_000_000).collect();
        assert_eq!(due, [0, 100, 200, 250, 350, 450, 550, 650, 750, 850, 950, 1050, 1150]);
        let instants: Vec<u64> = all.iter().map(|due| due.0 / 1_000_000 - 1000).collect();
        assert_eq!(instants, due);
        let pacing = times.pacing(Nanos::from_millis(1000), 10);
        assert_eq!((pacing.due, pacing.due_second_half), (10, 5));
    }
}
