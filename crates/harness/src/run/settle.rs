//! Loads a server after its rest, until a window may begin.

use rpcbench_clock::Nanos;
use rpcbench_record::Workload;

use super::loaded_server::{LoadedServer, StepError};
use super::warm::COMPILER_SHARE;
use crate::interrupt::StopNow;

/// Maximum time that a closed loop runs before its window, unless `settle` is longer: a Node.js server takes up to a second
/// until its rate is back.
const MAX_LEN: Nanos = Nanos::from_millis(2000);
/// Minimum length of a slice in which the load before a window is judged.
const SLICE: Nanos = Nanos::from_millis(100);
/// Interval of checks whether a slice is over.
const POLL: Nanos = Nanos::from_millis(5);
/// Slices in which compiler threads must have been quiet: compilations come in bursts.
const COMPILER_SLICES: usize = 5;
/// A server may be this share below its level and count as back: the machine alone changes a slice by as much.
const BELOW: f64 = 0.1;
/// Rise from two slices to the next two that still counts as flat.
const RISE: f64 = 0.05;

/// Loads a server after its rest until it is back at its level, or no longer gets faster, and its compiler is quiet. A
/// closed loop starts all its calls at once. They must spread out before the window, which takes one and a half times as
/// long as answering all of them once. A server whose warm-up was cut short, or whose runtime compiles again (checks after
/// the warm-up can cause that), also gets what is left of its maximum warm-up.
pub(super) fn settle_by_slices(
    server: &mut LoadedServer<'_>,
    workload: &Workload,
    begin: Nanos,
) -> Result<(), StepError> {
    let context = server.context;
    let cycle = server.load()?.cycle().unwrap_or(Nanos(0));
    let settle = Nanos::from_millis(workload.settle_ms);
    let min = settle.max(Nanos(cycle.0 / 2 * 3));
    let usual = settle.max(MAX_LEN);
    let mut slices: Vec<f64> = Vec::new();
    let mut readings = vec![server.sample_cpu()?];
    let in_flight = workload.in_flight.into();
    let mut slice = Slice::begin(context.now(), server.load()?.progress()?.ended, in_flight);
    server.load()?.start()?;
    loop {
        if context.interrupt().wait_or_cut(context.now() + POLL)? {
            return Err(StopNow.into());
        }
        let (now, ended) = (context.now(), server.load()?.progress()?.ended);
        if !slice.is_over(now, ended) {
            continue;
        }
        let cpu = server.sample_cpu()?;
        let used = cpu.since(readings[readings.len() - 1]).cpu_ns;
        slices.push((ended - slice.first) as f64 / used.max(1) as f64);
        slice = Slice::begin(now, ended, in_flight);
        let recent = cpu.since(readings[readings.len().saturating_sub(COMPILER_SLICES)]);
        readings.push(cpu);
        let is_quiet = recent.compiler_ns as f64 <= recent.cpu_ns as f64 * COMPILER_SHARE;
        let elapsed = now - begin;
        let is_warm = is_quiet && server.is_steady;
        let max = if is_warm { usual } else { usual + server.warm_up_left };
        let has_settled = is_quiet && is_settled(&slices, server.level);
        if elapsed >= max || elapsed >= min && has_settled {
            server.warm_up_left = server.warm_up_left - (elapsed - usual);
            return Ok(());
        }
    }
}

/// A slice of the load. It ends when all calls in flight have been answered a whole number of times, or when that takes too long.
/// With other lengths, a server that answers all of them at once would seem to change its rate.
struct Slice {
    begin: Nanos,
    /// Calls that had ended when it began.
    first: u64,
    /// Cycles that were over at the last check.
    cycles: u64,
    in_flight: u64,
}

impl Slice {
    fn begin(begin: Nanos, ended: u64, in_flight: u64) -> Self {
        Self { begin, first: ended, cycles: 0, in_flight }
    }

    fn is_over(&mut self, now: Nanos, ended: u64) -> bool {
        let cycles = (ended - self.first) / self.in_flight;
        let ends_cycle = cycles > std::mem::replace(&mut self.cycles, cycles);
        let length = now - self.begin;
        ends_cycle && length >= SLICE || length >= MAX_LEN
    }
}

/// True if calls per CPU time, oldest slice first, are back at their level, or no longer rise: the machine may have become
/// slower.
fn is_settled(slices: &[f64], level: Option<f64>) -> bool {
    let flat = match slices {
        [.., a, b, c, d] => *a > 0.0 && *b > 0.0 && c + d <= (a + b) * (1.0 + RISE),
        _ => false,
    };
    let Some(last) = slices.last() else { return false };
    flat || level.is_some_and(|level| *last >= level * (1.0 - BELOW))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slice_ends_after_whole_cycles() {
        let mut lengths = Vec::new();
        let mut slice = Slice::begin(Nanos(0), 0, 1000);
        // All calls in flight are answered at once, every 70 ms; those of the fourth cycle in two parts.
        let ended = |ms: u64| match ms {
            280..285 => 3940,
            _ => ms / 70 * 1000,
        };
        for ms in (5..=700).step_by(5) {
            let (now, ended) = (Nanos::from_millis(ms), ended(ms));
            if slice.is_over(now, ended) {
                lengths.push(((now - slice.begin).0 / 1_000_000, ended - slice.first));
                slice = Slice::begin(now, ended, 1000);
            }
        }
        assert_eq!(lengths[0], (140, 2000));
        assert!(lengths.iter().all(|(_, calls)| calls % 1000 == 0), "{lengths:?}");
        assert!(lengths.iter().all(|(ms, calls)| (ms + 5) / 70 * 1000 == *calls), "{lengths:?}");
        let mut silent = Slice::begin(Nanos(0), 0, 1000);
        assert!(!silent.is_over(Nanos::from_millis(1995), 0));
        assert!(silent.is_over(Nanos::from_millis(2000), 0));
    }

    #[test]
    fn server_settles_at_its_level_or_when_its_rate_stops_rising() {
        assert!(!is_settled(&[], Some(1.0)));
        assert!(is_settled(&[0.5, 0.91], Some(1.0)));
        assert!(!is_settled(&[0.5, 0.89], Some(1.0)) && !is_settled(&[0.96, 0.97], None));
        assert!(is_settled(&[0.5, 0.8, 0.8, 0.52, 0.83], Some(1.0)));
        assert!(!is_settled(&[0.4, 0.5, 0.6, 0.7], Some(1.0)));
        assert!(!is_settled(&[0.0, 0.0, 0.0, 0.0], Some(1.0)), "a server that answers nothing yet");
    }
}
