//! Whether windows begin before their server is back at its level: then it is faster in their second half.

use std::collections::BTreeMap;

use rpcbench_record::{Run, Slice};

/// How much faster the second half may be. Chance makes it 3 %, with ten windows of each entry that vary by 10 %.
pub const BAR: f64 = 0.1;

/// Calls of an entry in both halves of all its windows; a slice in the middle is in neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HalfWindows {
    pub windows: usize,
    pub first: u64,
    pub second: u64,
}

impl HalfWindows {
    fn add(&mut self, window: &[Slice]) {
        let calls = |half: &[Slice]| -> u64 {
            half.iter().map(|slice| slice.ok + slice.errors + slice.carried_in).sum()
        };
        let half = window.len() / 2;
        self.windows += 1;
        self.first += calls(&window[..half]);
        self.second += calls(&window[window.len() - half..]);
    }

    /// The second half relative to the first.
    pub fn ratio(&self) -> f64 {
        self.second as f64 / self.first as f64
    }

    pub fn is_met(&self) -> bool {
        self.ratio() <= 1.0 + BAR
    }
}

/// The halves of all windows of runs, by entry.
pub fn halves<'a>(runs: impl Iterator<Item = &'a Run>) -> BTreeMap<String, HalfWindows> {
    let mut halves: BTreeMap<String, HalfWindows> = BTreeMap::new();
    for trial in runs.flat_map(|run| &run.trials) {
        if let Some(window) = trial.measured().filter(|window| window.series.len() > 1) {
            halves.entry(trial.entry.clone()).or_default().add(&window.series);
        }
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_begins_too_early_is_faster_in_its_second_half() {
        let slice = |ok, carried_in| Slice { ok, carried_in, ..Slice::default() };
        let mut halves = HalfWindows::default();
        halves.add(&[slice(0, 400), slice(500, 0), slice(700, 0), slice(500, 0), slice(470, 0)]);
        assert_eq!(halves, HalfWindows { windows: 1, first: 900, second: 970 });
        assert!(halves.is_met());
        halves.add(&[slice(0, 400), slice(500, 0)]);
        assert_eq!(halves, HalfWindows { windows: 2, first: 1300, second: 1470 });
        assert!(!halves.is_met());
    }
}
