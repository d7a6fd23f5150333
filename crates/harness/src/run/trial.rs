//! One measured window.

use rpcbench_engine::Span;
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_record::{Failure, Measured, Workload};

use super::guest::{Guest, Trouble, describe};
use super::lab::Lab;
use super::warm::errors;
use crate::counters::{Counters, MachineReading};

/// Load before the window opens: caches, clocks and TCP windows after a freeze.
const SETTLE: Nanos = Nanos::from_millis(500);

/// What is read at each edge of the window.
struct Edge {
    server: Counters,
    machine: MachineReading,
}

impl Edge {
    fn read(guest: &mut Guest, lab: &Lab) -> Result<Self, Failure> {
        let (meter, group) = guest.metered();
        let server = meter.read(group).map_err(describe)?;
        let machine =
            MachineReading::read(&lab.split.server, &lab.split.client).map_err(describe)?;
        Ok(Self { server, machine })
    }
}

/// Measures a warm server over one window.
pub(super) fn measure(
    guest: &mut Guest,
    lab: &Lab,
    workload: &Workload,
) -> Result<Measured, Trouble> {
    guest.wake()?;
    guest.session()?.start();
    let start = clock::now() + SETTLE;
    let span = Span { start, end: start + Nanos::from_millis(workload.window.length_ms()) };
    guest.session()?.measure(span);
    lab.interrupt.wait_until(span.start)?;
    let first = Edge::read(guest, lab)?;
    lab.interrupt.wait_until(span.end)?;
    let last = Edge::read(guest, lab)?;
    let measurement = guest.session()?.finish().map_err(describe)?;
    guest.alive("during a trial")?;
    let before = &measurement.unmeasured;
    if before.outcomes.errors() > 0 {
        let reason = errors(&before.outcomes, "before the window", &before.examples);
        return Err(guest.blame(reason).into());
    }
    let usage = last.server.since(&first.server);
    let measured = measurement.into_measured(Some(usage), last.machine.since(&first.machine));
    if measured.outcomes.ok == 0 {
        let reason = errors(&measured.outcomes, "in the window", &measured.error_examples);
        return Err(guest.blame(reason).into());
    }
    Ok(measured)
}
