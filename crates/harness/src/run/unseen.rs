//! Compares the cost of requests that a server has never seen with that of the load's requests, which repeat. A server that
//! caches replies uses more CPU time for unseen requests; an honest one uses the same.

use rpcbench_clock::Nanos;
use rpcbench_contract::{Encoding, Passes, Profile};
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
/// Minimum and maximum calls of a pass.
const MIN_CALLS: u64 = 200;
const MAX_CALLS: u64 = 1000;
/// Maximum connections and calls in flight of a pass.
const MAX_CONNECTIONS: u32 = 10;
const MAX_IN_FLIGHT: u32 = 50;
/// Maximum bytes of unseen requests per process.
const MAX_BYTES: u64 = 16 << 20;

/// Describes in messages when calls failed.
const WHEN: &str = "with requests that it had not seen";

/// Measures pairs of passes over connections of their own. Empty if replies can't be cached, or if CPU time is only known to the
/// clock tick.
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
    // The first pair warms the connections. Both kinds share one session: its connections cost alike, and so does the memory of
    // its requests. Another session's might be served by another thread.
    let passes = Passes { number: process, pairs: pairs + 1, calls: calls as u32 };
    let mut session = server.open_load(&own, Connecting::default(), Requests::Passes(passes))?;
    let mut measured = Vec::new();
    for pair in 0..passes.pairs {
        let mut cpu_ns = [pass(server, &mut *session, calls)?, pass(server, &mut *session, calls)?];
        if Passes::unseen_is_first(pair) {
            cpu_ns.reverse();
        }
        if let (1.., [Some(seen_cpu_ns), Some(unseen_cpu_ns)]) = (pair, cpu_ns) {
            measured.push(UnseenPair { calls, seen_cpu_ns, unseen_cpu_ns });
        }
    }
    Ok(measured)
}

/// The part of a first process's comparison that later processes are spared.
pub(super) fn spared_later(took: Nanos) -> Nanos {
    Nanos(took.0 * u64::from(FIRST_PAIRS - LATER_PAIRS) / u64::from(FIRST_PAIRS + 1))
}

/// Number of calls in a pass. `None` if too few fit, or if requests can't differ enough.
fn calls(warm: &WarmCurve, workload: &Workload, pairs: u32) -> Option<u64> {
    let Content::Shape(shape) = &workload.content else { return None };
    let bytes = shape.strip_prefix("text:").map_or(Some(2000), |bytes| bytes.parse().ok())?;
    let slice = warm.slices.iter().rev().find(|slice| slice.server_cpu_ns > 0)?;
    let rate = slice.calls as f64 * 1e9 / slice.server_cpu_ns as f64;
    let fitting = MAX_BYTES / u64::from(pairs + 1) / u64::max(bytes, 1);
    let calls = ((rate * PASS_S) as u64).clamp(MIN_CALLS, MAX_CALLS).min(fitting);
    (calls >= MIN_CALLS && bytes >= MIN_TEXT).then_some(calls)
}

/// Minimum length of a text, bytes: shorter ones hardly differ.
const MIN_TEXT: u64 = 8;

/// The server's CPU time for this many calls, nanoseconds. `None` if some calls were late, or if no CPU time was counted.
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
