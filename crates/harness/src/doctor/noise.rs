//! How much the time of a fixed piece of work varies, by CPU.

use std::hint::black_box;
use std::io;
use std::thread;

use rpcbench_clock as clock;

use crate::host::cpus::pin_this_thread;

/// Target length of a round: long for the clock's resolution, short enough to react to an interrupt.
const ROUND_NS: u64 = 2_000_000;

/// Times of equal rounds of work on one CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuNoise {
    /// The CPU.
    pub cpu: u32,
    /// Rounds done.
    pub rounds: u32,
    /// Median time of a round, nanoseconds.
    pub median_ns: u64,
    /// Distance from the 5th to the 95th percentile as a share of the median.
    pub spread: f64,
    /// The longest round minus the median, as a share of the median.
    pub worst: f64,
}

/// Measures each CPU in turn: `rounds` of about 2 ms each, at least one.
pub fn noise(cpus: &[u32], rounds: u32) -> io::Result<Vec<CpuNoise>> {
    let measure = |cpu: u32| {
        thread::scope(|scope| {
            let work = scope.spawn(move || {
                pin_this_thread(&[cpu])?;
                Ok(summary(cpu, times(rounds.max(1))))
            });
            work.join().unwrap_or_else(|_| Err(io::Error::other("the measuring thread panicked")))
        })
    };
    cpus.iter().map(|cpu| measure(*cpu)).collect()
}

fn times(rounds: u32) -> Vec<u64> {
    let steps = calibrate();
    (0..rounds).map(|_| time_of(steps)).collect()
}

/// Doubles the work until a round is long enough.
fn calibrate() -> u64 {
    let mut steps = 1024;
    while time_of(steps) < ROUND_NS && steps < 1 << 40 {
        steps *= 2;
    }
    steps
}

fn time_of(steps: u64) -> u64 {
    let start = clock::now();
    let mut state = black_box(0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
    clock::now().since(start)
}

/// `times` has at least one element.
fn summary(cpu: u32, mut times: Vec<u64>) -> CpuNoise {
    times.sort_unstable();
    let last = times.len() - 1;
    let at = |share: f64| times[(share * last as f64).round() as usize];
    let median = at(0.5).max(1);
    let share = |distance: u64| distance as f64 / median as f64;
    CpuNoise {
        cpu,
        rounds: u32::try_from(times.len()).unwrap_or(u32::MAX),
        median_ns: median,
        spread: share(at(0.95) - at(0.05)),
        worst: share(times[last].saturating_sub(median)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_and_worst_are_shares_of_the_median() {
        let mut times: Vec<u64> = (0..101).map(|i| 950 + i).collect();
        times[100] = 3000;
        times.reverse();
        let noise = summary(4, times);
        assert_eq!((noise.cpu, noise.rounds, noise.median_ns), (4, 101, 1000));
        assert!((noise.spread - 0.09).abs() < 1e-9, "{noise:?}");
        assert!((noise.worst - 2.0).abs() < 1e-9, "{noise:?}");
    }

    #[test]
    fn every_cpu_is_measured() {
        let cpus = crate::host::cpus::Topology::read().unwrap().cpus();
        let found = noise(&cpus, 3).unwrap();
        assert_eq!(found.iter().map(|noise| noise.cpu).collect::<Vec<_>>(), cpus);
        assert!(found.iter().all(|noise| noise.median_ns > 0 && noise.rounds == 3));
        assert!(noise(&[1023], 1).is_err());
    }
}
