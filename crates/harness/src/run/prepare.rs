//! Prepares a process of a subject until it is warm.

use rpcbench_clock::Nanos;
use rpcbench_contract::Method;
use rpcbench_record::{CheckResult, Preparation, Readiness, WarmCurve, WarmUp, Workload};

use super::context::Context;
use super::loaded_server::{Connecting, LoadedServer, StepError};
use super::subject::Subject;
use super::unseen::{compare_unseen, spared_later};
use super::warm::{warm, warm_by_calls};
use crate::interrupt::StopNow;
use crate::placement::{PlacementError, Running};

/// The process to prepare.
#[derive(Clone, Copy)]
pub(super) struct Preparing<'a, 'w> {
    pub subject: &'a Subject<'a>,
    pub workload: &'w Workload,
    pub process: u32,
    /// Warm-up that earlier processes of the entry needed. `None` if unknown.
    pub known_warm_up: Option<Nanos>,
    /// True if an earlier process of the entry has passed the conformance check.
    pub has_passed: bool,
    /// Methods that the run calls.
    pub methods: &'w [Method],
    /// True if it may be frozen between slices of its windows.
    pub takes_turns: bool,
    /// Time limit of a preparation whose warm-up lasts until steady. A server that is still cold then warms up before its
    /// windows.
    pub limit: Option<Nanos>,
}

/// Checks, connects and warms a started process for a workload. Returns how far the preparation got, and the process if it is
/// ready. `running` is `None` if the subject can't be started.
pub(super) fn prepare<'a>(
    context: Context<'a>,
    preparing: &Preparing<'a, '_>,
    running: Option<Result<Box<dyn Running>, PlacementError>>,
) -> Result<(Preparation, Option<LoadedServer<'a>>), StopNow> {
    let mut preparation = preparing.subject.preparation(preparing.workload, preparing.process);
    let Some(running) = running else { return Ok((preparation, None)) };
    match get_ready(context, preparing, &mut preparation, running) {
        Ok(server) => Ok((preparation, Some(server))),
        Err(StepError::Server(failure)) => {
            // A step that the interrupt stopped has not failed.
            context.interrupt().check()?;
            preparation.readiness = Readiness::Failed(failure);
            Ok((preparation, None))
        }
        Err(StepError::Stop(stop)) => Err(stop),
    }
}

fn get_ready<'a>(
    context: Context<'a>,
    preparing: &Preparing<'a, '_>,
    preparation: &mut Preparation,
    running: Result<Box<dyn Running>, PlacementError>,
) -> Result<LoadedServer<'a>, StepError> {
    let Preparing { subject, workload, process, .. } = *preparing;
    let begin = context.now();
    let mut server = LoadedServer::start(context, (subject, process), workload.into(), running)?;
    preparation.isolation = server.running.isolation();
    preparation.reply_checks = server.reply_checks();
    match load(&mut server, preparing, preparation, begin) {
        Ok(()) => Ok(server),
        Err(StepError::Server(failure)) => Err(server.explained(failure).into()),
        Err(stop) => Err(stop),
    }
}

/// Checks, connects and warms a process that is ready for calls. `begin`: when its preparation began.
fn load(
    server: &mut LoadedServer<'_>,
    preparing: &Preparing<'_, '_>,
    preparation: &mut Preparation,
    begin: Nanos,
) -> Result<(), StepError> {
    let Preparing { subject, workload, has_passed, methods, .. } = *preparing;
    let many = if has_passed { &[] } else { methods };
    if may_spread(workload.warm_up) {
        server.running.add_spare_cpu()?;
    }
    let checks = server.context.now();
    if subject.is_proven() {
        check(server, many, &mut preparation.check)?;
    }
    let called = server.counterpart.as_mut();
    if let Some(called) = called.filter(|called| called.subject.is_proven()) {
        let checked = check(called, many, &mut preparation.check);
        checked.map_err(|error| error.of_server(called.subject))?;
    }
    if !has_passed {
        // Later processes are spared nearly all calls of the check.
        preparation.first_only_ns += (server.context.now() - checks).0;
    }
    if let WarmUp::Calls { calls, clients } = workload.warm_up {
        let own = Workload { connections: clients, in_flight: clients, ..workload.clone() };
        server.connect(&own, Connecting::default())?;
        preparation.warm = Some(warm_by_calls(server, workload.warm_up, calls)?);
    }
    server.connect(workload, Connecting { logged: true, takes_turns: preparing.takes_turns })?;
    preparation.tls = server.load()?.tls();
    if preparation.warm.is_none() {
        preparation.warm = warm(server, preparing, begin)?;
        server.running.pin_to_server_cpus()?;
        if let Some(warm) = preparation.warm.as_ref().filter(|_| subject.is_proven()) {
            server.spot_check(true)?;
            let compares = server.context.now();
            preparation.unseen = compare_unseen(server, preparing, warm)?;
            if !has_passed {
                preparation.first_only_ns += spared_later(server.context.now() - compares).0;
            }
        }
        let spared_ms = preparation.warm.as_ref().map_or(0, WarmCurve::spared_later_ms);
        preparation.first_only_ns += Nanos::from_millis(spared_ms).0;
    }
    Ok(())
}

/// True if a runtime that compiles may use a spare CPU until the server is warm. A server that is measured cold, or after a
/// number of calls, stays on its own CPUs.
fn may_spread(warm_up: WarmUp) -> bool {
    match warm_up {
        WarmUp::UntilSteady { .. } => true,
        WarmUp::Fixed { length_ms } => length_ms > 0,
        WarmUp::Calls { .. } => false,
    }
}

/// Tries the conformance cases, and those with many requests only for the methods in `many`. Fails if a case fails.
fn check(
    server: &mut LoadedServer<'_>,
    many: &[Method],
    result: &mut CheckResult,
) -> Result<(), StepError> {
    let report = server.check(many)?;
    result.passed += report.passed;
    result.failed.extend(report.failed.iter().map(ToString::to_string));
    let Some(first) = result.failed.first() else { return Ok(()) };
    let failed = result.failed.len();
    let all = failed + report.passed as usize;
    let reason = format!("{failed} of {all} conformance cases failed, the first: {first}");
    Err(server.explain(reason).into())
}
