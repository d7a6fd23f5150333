//! Compares what requests cost that a server has never seen with what the load's cost, which come again and again. A server that
//! remembers replies uses more CPU time for the former; an honest one as much.

use rpcbench_clock::Nanos;
use rpcbench_contract::{Encoding, Profile};
use rpcbench_record::{
    ConnectionLife, Content, IsolationMode, Role, UnseenPair, WarmCurve, Window, Workload,
};

use super::loaded_server::{Connecting, LoadedServer, StepError};
use super::prepare::Preparing;
use crate::load::{LoadSession, Requests};

/// Pairs of passes with the first process of an entry, and with later ones.
const FIRST_PAIRS: u32 = 8;
const LATER_PAIRS: u32 = 3;
/// Target CPU time of a pass, seconds.
const PASS_S: f64 = 0.025;
/// Calls of a pass.
const MIN_CALLS: u64 = 200;
const MAX_CALLS: u64 = 1000;
/// Maximum connections and calls in flight of a pass.
const MAX_CONNECTIONS: u32 = 10;
const MAX_IN_FLIGHT: u32 = 50;
/// Maximum bytes of requests of a process.
const MAX_BYTES: u64 = 16 << 20;

/// When calls failed, in messages.
const WHEN: &str = "with requests that it had not seen";

/// Measures pairs of passes over connections of their own. Empty where replies can't be remembered, or CPU time is not known to
/// less than the clock tick.
pub(super) fn compare_unseen(
    server: &mut LoadedServer<'_>,
    preparing: &Preparing<'_, '_>,
    warm: &WarmCurve,
) -> Result<Vec<UnseenPair>, StepError> {
    let Preparing { subject, workload, process, has_passed, .. } = *preparing;
    let is_exact = server.running.isolation().mode != IsolationMode::Affinity;
    let decodes = Profile::of(subject.protocol).encoding != Encoding::Opaque;
    if !is_exact || !decodes || subject.role == Role::Client {
        return Ok(Vec::new());
    }
    let pairs = if has_passed { LATER_PAIRS } else { FIRST_PAIRS };
    let Some(calls) = calls(warm, workload, pairs) else { return Ok(Vec::new()) };
    let own = Workload {
        connections: workload.connections.min(MAX_CONNECTIONS),
        in_flight: workload.in_flight.min(MAX_IN_FLIGHT),
        connection_life: ConnectionLife::Long,
        client_threads: 1,
        ..workload.clone()
    };
    let count = (pairs + 1) * calls as u32;
    let mut seen = server.open_load(&own, Connecting::default(), Requests::Usual)?;
    let mut unseen = server.open_load(
        &own,
        Connecting::default(),
        Requests::Fresh { number: process, count },
    )?;
    let mut measured = Vec::new();
    for pair in 0..=pairs {
        // Each kind is first in half of the pairs, in the order of Thue and Morse: what a server does every few passes, such as
        // collecting garbage, meets both alike.
        let (seen, unseen) = match pair.count_ones() % 2 {
            0 => {
                let seen = pass(server, &mut *seen, calls)?;
                (seen, pass(server, &mut *unseen, calls)?)
            }
            _ => {
                let unseen = pass(server, &mut *unseen, calls)?;
                (pass(server, &mut *seen, calls)?, unseen)
            }
        };
        // The first pair warms the connections.
        if pair > 0
            && let (Some(seen_cpu_ns), Some(unseen_cpu_ns)) = (seen, unseen)
        {
            measured.push(UnseenPair { calls, seen_cpu_ns, unseen_cpu_ns });
        }
    }
    Ok(measured)
}

/// The part of a comparison with a first process that later ones are spared.
pub(super) fn spared_later(took: Nanos) -> Nanos {
    Nanos(took.0 * u64::from(FIRST_PAIRS - LATER_PAIRS) / u64::from(FIRST_PAIRS + 1))
}

/// Calls of a pass. `None` if there would be too few.
fn calls(warm: &WarmCurve, workload: &Workload, pairs: u32) -> Option<u64> {
    let Content::Shape(shape) = &workload.content else { return None };
    let bytes = shape.strip_prefix("text:").map_or(Some(2000), |bytes| bytes.parse().ok())?;
    let slice = warm.slices.iter().rev().find(|slice| slice.server_cpu_ns > 0)?;
    let rate = slice.calls as f64 * 1e9 / slice.server_cpu_ns as f64;
    let fitting = MAX_BYTES / u64::from(pairs + 1) / u64::max(bytes, 1);
    let calls = ((rate * PASS_S) as u64).clamp(MIN_CALLS, MAX_CALLS).min(fitting);
    (calls >= MIN_CALLS && bytes >= MIN_TEXT).then_some(calls)
}

/// Texts below this length, bytes, hardly differ.
const MIN_TEXT: u64 = 8;

/// The server's CPU time for this many calls, nanoseconds. `None` if some were late.
fn pass(
    server: &mut LoadedServer<'_>,
    session: &mut dyn LoadSession,
    calls: u64,
) -> Result<Option<u64>, StepError> {
    let before = server.sample_cpu()?;
    session.measure(server.context.now(), Window::Calls { calls })?;
    let tally = session.finish()?.tally.calls;
    let used = server.sample_cpu()?.since(before).cpu_ns;
    match tally.outcomes.errors() {
        0 if used > 0 => Ok(Some(used)),
        0 => Ok(None),
        _ if tally.outcomes.is_only_late() => Ok(None),
        _ => Err(server.blame_calls(&tally.outcomes, WHEN, &tally.examples)),
    }
}
