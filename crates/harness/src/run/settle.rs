//! Loads a server after its rest, until a window may begin.

use rpcbench_engine::clock::Nanos;

use super::context::Context;
use super::interrupt::StopNow;
use super::target::{StepError, Target};
use super::warm::COMPILER_SHARE;

/// Longest time that a closed loop runs before its window beyond `settle`: a Node.js server takes up to a second until its
/// rate is back.
const LONGEST: Nanos = Nanos::from_millis(2000);
/// Slices in which the load before a window is judged.
const SLICE: Nanos = Nanos::from_millis(100);
/// Slices in which compiler threads must have been quiet: compilations come in bursts.
const COMPILER_SLICES: usize = 5;
/// Share below its level at which a server counts as back: the machine alone changes a slice by as much.
const BELOW: f64 = 0.1;
/// Rise from two slices to the next two that counts as none.
const RISE: f64 = 0.05;

/// Loads a server after its rest until it is back at its level, or has stopped getting faster, and its compiler is quiet. A
/// closed loop starts all its calls at once; by the window they must be as spread out as at any other time, which takes one
/// and a half times as long as answering all of them once. A server that was not steady at the end of its warm-up is given
/// what is left of its longest one.
pub(super) fn settle_by_slices(
    target: &mut Target,
    context: &Context<'_>,
    begin: Nanos,
) -> Result<(), StepError> {
    let interrupt = &context.environment.interrupt;
    let cycle = target.load()?.cycle().unwrap_or(Nanos(0));
    let least = Nanos::from_millis(context.workload.settle_ms).max(Nanos(cycle.0 / 2 * 3));
    let usual = Nanos::from_millis(context.workload.settle_ms).max(LONGEST);
    let longest = usual + target.warm_up_left;
    let mut slices: Vec<f64> = Vec::new();
    let mut readings = vec![target.sample_cpu()?];
    let mut ended = target.load()?.progress()?.ended;
    target.load()?.start()?;
    loop {
        if interrupt.wait_or_cut(interrupt.now() + SLICE)? {
            return Err(StopNow.into());
        }
        let (cpu, before) = (target.sample_cpu()?, ended);
        ended = target.load()?.progress()?.ended;
        let used = cpu.since(readings[readings.len() - 1]).cpu_ns;
        slices.push((ended - before) as f64 / used.max(1) as f64);
        let recent = cpu.since(readings[readings.len().saturating_sub(COMPILER_SLICES)]);
        readings.push(cpu);
        let is_quiet = recent.compiler_ns as f64 <= recent.cpu_ns as f64 * COMPILER_SHARE;
        let elapsed = interrupt.now() - begin;
        let settled = is_quiet && is_settled(&slices, target.level);
        if elapsed >= longest || elapsed >= least && settled {
            target.warm_up_left = target.warm_up_left - (elapsed - usual);
            return Ok(());
        }
    }
}

/// Whether calls per CPU-second, oldest slice first, are back at their level, or no longer rise: the machine may be slower
/// than before.
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
    fn a_server_is_settled_at_its_level_or_when_it_no_longer_rises() {
        assert!(!is_settled(&[], Some(1.0)));
        assert!(is_settled(&[0.5, 0.91], Some(1.0)));
        assert!(!is_settled(&[0.5, 0.89], Some(1.0)) && !is_settled(&[0.96, 0.97], None));
        assert!(is_settled(&[0.5, 0.8, 0.8, 0.52, 0.83], Some(1.0)));
        assert!(!is_settled(&[0.4, 0.5, 0.6, 0.7], Some(1.0)));
        assert!(!is_settled(&[0.0, 0.0, 0.0, 0.0], Some(1.0)), "a server that answers nothing yet");
    }
}
