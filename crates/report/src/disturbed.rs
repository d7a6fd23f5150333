//! Windows that show the client or the machine rather than the server.

use rpcbench_record::{Disturbance, Measured, Trial};

use crate::format::{duration_ns, percent_near, plural};
use crate::verdict::{Verdict, VerdictKind};

/// Maximum share of disturbed windows in a cell. The comparison tolerates a few.
const TOLERATED: f64 = 0.1;

/// Describes a window's disturbance, and the remedy.
pub(crate) fn describe(measured: &Measured, disturbance: Disturbance) -> String {
    let window = duration_ns(measured.window_ns as f64);
    match disturbance {
        Disturbance::ClientAbsent(ns) => format!(
            "a load thread did not run for {} (window: {window}), so calls waited for the client; free CPUs, and don't stop rpcbench",
            duration_ns(ns as f64)
        ),
        Disturbance::CountersApart(ns) => {
            let off = ns.abs_diff(measured.window_ns) as f64 / measured.window_ns.max(1) as f64;
            format!(
                "the server's CPU time was read over {}, {} off the window of {window}; free CPUs, and don't stop rpcbench",
                duration_ns(ns as f64),
                percent_near(off, &[Disturbance::INTERVAL_SHARE])
            )
        }
        Disturbance::ServerStarved(share) => format!(
            "{} not answered in time while others took {} of the time of the server's CPUs; end other programs, or \
             repeat when the machine is idle",
            plural(measured.outcomes.errors(), "call"),
            percent_near(share, &[Disturbance::STARVED_SHARE])
        ),
    }
}

/// The verdict on figures that are disturbed like this.
pub(crate) fn kind(disturbance: Disturbance) -> VerdictKind {
    match disturbance {
        Disturbance::ClientAbsent(_) => VerdictKind::GeneratorLate,
        Disturbance::CountersApart(_) | Disturbance::ServerStarved(_) => VerdictKind::Disturbed,
    }
}

/// The verdict on a cell with too many disturbed windows. `None` if few or none are.
pub(crate) fn verdict(trials: &[(&Trial, &Measured)]) -> Option<Verdict> {
    let disturbed = disturbed(trials.iter().map(|(_, measured)| *measured));
    if disturbed as f64 <= trials.len() as f64 * TOLERATED {
        return None;
    }
    trials.iter().find_map(|(trial, measured)| {
        let disturbance = measured.disturbance()?;
        let reason = format!("trial {}: {}", trial.number, describe(measured, disturbance));
        Some(Verdict::because(kind(disturbance), reason))
    })
}

/// A note on disturbed windows. `None` without such windows.
pub(crate) fn note(trials: &[&Measured]) -> Option<String> {
    let windows = plural(disturbed(trials.iter().copied()), "window");
    let first = trials.iter().find_map(|it| Some(describe(it, it.disturbance()?)))?;
    Some(format!("{windows} of {} disturbed: {first}", trials.len()))
}

fn disturbed<'a>(trials: impl Iterator<Item = &'a Measured>) -> u64 {
    trials.filter(|measured| measured.disturbance().is_some()).count() as u64
}
