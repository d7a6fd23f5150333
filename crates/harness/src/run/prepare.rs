//! From an entry of the plan to a warm server.

use rpcbench_record::{CheckResult, Preparation, Readiness, WarmUp, Workload};

use super::context::Context;
use super::interrupt::StopNow;
use super::loaded_server::{LoadedServer, StepError};
use super::warm::{warm, warm_by_calls};
use crate::placement::{PlacementError, Running};

/// Makes the started server, process number `process` of its entry, ready for a workload: checked, connected, warm. The
/// preparation says how far it got, and a server that is ready is returned.
pub(super) fn prepare(
    context: &Context<'_>,
    process: u32,
    server: Option<Result<Box<dyn Running>, PlacementError>>,
) -> Result<(Preparation, Option<LoadedServer>), StopNow> {
    let mut preparation = context.subject.preparation(context.workload, process);
    let Some(server) = server else { return Ok((preparation, None)) };
    match get_ready(context, &mut preparation, server) {
        Ok(target) => Ok((preparation, Some(target))),
        Err(StepError::Server(failure)) => {
            preparation.readiness = Readiness::Failed(failure);
            Ok((preparation, None))
        }
        Err(StepError::Stop(stop)) => Err(stop),
    }
}

fn get_ready(
    context: &Context<'_>,
    preparation: &mut Preparation,
    server: Result<Box<dyn Running>, PlacementError>,
) -> Result<LoadedServer, StepError> {
    let Context { environment, subject, workload, .. } = *context;
    let begin = environment.interrupt.now();
    let mut target = LoadedServer::start(environment, subject, workload.into(), server)?;
    preparation.isolation = target.isolation();
    if context.is_proven() && !context.is_checked {
        check(context, &mut target, &mut preparation.check)?;
    }
    if let WarmUp::Calls { calls, clients } = workload.warm_up {
        let own = Workload { connections: clients, in_flight: clients, ..workload.clone() };
        target.connect(context, &own, false)?;
        preparation.warm = Some(warm_by_calls(&mut target, context, calls)?);
    }
    target.connect(context, workload, true)?;
    if preparation.warm.is_none() {
        preparation.warm = warm(&mut target, context, begin)?;
        if preparation.warm.is_some() && context.is_proven() {
            target.spot_check(&environment.interrupt, true)?;
        }
    }
    Ok(target)
}

/// Tries the conformance cases, all of which must pass.
fn check(
    context: &Context<'_>,
    target: &mut LoadedServer,
    result: &mut CheckResult,
) -> Result<(), StepError> {
    let report = target.check(context.environment)?;
    result.passed = report.passed;
    result.failed = report.failed.iter().map(ToString::to_string).collect();
    let Some(first) = result.failed.first() else { return Ok(()) };
    let failed = result.failed.len();
    let all = failed + report.passed as usize;
    let reason = format!("{failed} of {all} conformance cases failed, the first: {first}");
    Err(target.explain(reason).into())
}
