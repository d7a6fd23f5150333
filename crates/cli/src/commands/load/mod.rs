//! `rpcbench load`: a run with one server that is already running.

mod inspect;
mod live;
mod once;
mod tap;
mod watch;

use std::io::Write as _;

use anyhow::{Context as _, bail};
use rpcbench_clock::Nanos;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::run::Ending;
use rpcbench_harness::setup::{FinishedRun, LoadRequest, Setup};
use rpcbench_record::{Plan, Readiness, Run, StoreError, Trial};
use rpcbench_report::format::{plural, si};
use rpcbench_report::{Load, LoadCurve, View, cut_short, load_hdr};

use super::build::SetupProgress;
use super::calls_log::{CallsLog, drawn};
use super::out_file::OutFile;
use super::report::{OutputOptions, show, write_calls, write_views};
use super::shared;
use crate::Verdict;
use crate::args::LoadArgs;
use crate::context::{Context, variable};
use crate::print::note;
use live::Live;
use tap::LogTap;
use watch::{Intervals, Watch};

pub fn load(context: &Context, args: &LoadArgs) -> anyhow::Result<Verdict> {
    let mut workloads = args.workloads()?;
    let mut call = args.call.clone();
    let of_workloads = workloads.iter_mut().flat_map(|workload| &mut workload.headers);
    for header in of_workloads.chain(&mut call.reflect_header) {
        *header = header.expand(variable).context("--header")?;
    }
    let mut request = LoadRequest {
        address: args.address.clone(),
        call,
        connect: args.connect.clone(),
        protocol: args.protocol()?,
        tls: args.tls(context.key_log.as_deref())?,
        pid: args.pid,
        seed: args.seed,
        workloads,
        fail_if: args.results.fail_if.clone(),
        stop_if: args.results.stop_if.clone(),
        labels: args.results.labels.labels(),
        out: args.results.out.clone(),
    };
    let interrupt = shared::listen(Interrupt::ending_windows())?;
    request.authorize(&interrupt)?;
    // Opened before the load starts.
    let hdr = args.results.hdr.as_deref().map(|path| OutFile::open(path, HDR)).transpose()?;
    let (log, call_log) = args.results.log.as_ref().map(CallsLog::open).transpose()?.unzip();
    let intervals = args.results.interval_file.as_deref().map(Intervals::create).transpose()?;
    let every = Nanos::from_millis(args.results.interval.ms());
    let watch = Watch::new(every, intervals, args.results.stop_if.clone(), interrupt.clone());
    let is_quiet = args.results.quiet;
    let mut preparing = SetupProgress::new(context);
    (preparing.is_quiet, preparing.is_terse) = (is_quiet, true);
    let mut setup = Setup { call_log, ..context.setup_outside(interrupt, &mut preparing) };
    if let Some(inspection) = args.call.inspection()? {
        return inspect::inspect(&mut setup, &request, &inspection);
    }
    let prepared = setup.load(request)?;
    let plan = prepared.plan().clone();
    let tap = LogTap::new(log);
    let live = Live::new(context, is_quiet, &plan, (&tap, &watch));
    let FinishedRun { run, ending, hint, remark, .. } = prepared.execute(&live);
    live.finish();
    let verdict = conclude(context, args, &run, Done { ending, tap, hdr, watch });
    for line in hint.into_iter().chain(remark) {
        note!("rpcbench: {line}");
    }
    verdict
}

/// The first bytes of every HdrHistogram log.
const HDR: &[u8] = b"#[";

/// What a run returns besides its record.
struct Done {
    ending: Result<Ending, StoreError>,
    tap: LogTap,
    watch: Watch,
    hdr: Option<OutFile>,
}

/// The message if a file can't be written.
const SHOWN: &str = "the results above are complete, but a file could not be written";

/// Shows all results, then reports files that could not be written.
fn conclude(context: &Context, args: &LoadArgs, run: &Run, done: Done) -> anyhow::Result<Verdict> {
    let view = View::of(run);
    if matches!(view, View::Run(_)) {
        bail!(why_nothing(run));
    }
    show(context, run, &OutputOptions::whole(args.results.format))?;
    let verdict = match &view {
        View::Load(load) if done.watch.broken().is_some() => {
            report_verdict(load);
            Verdict::GaveUp
        }
        View::Load(load) => report_verdict(load),
        View::Curve(curve) => report_curve(curve, &done.ending),
        View::Run(_) => Verdict::Stopped,
    };
    done.ending.context(SHOWN)?;
    let logged = match &view {
        View::Load(load) => done.tap.finish(load.measured.outcomes.total()),
        View::Curve(_) | View::Run(_) => Ok(None),
    };
    if let Some(folder) = &args.results.out {
        let calls = logged.as_ref().ok().and_then(Option::as_ref);
        let calls = calls.and_then(|calls| Some(drawn(run.trials.last()?, calls.clone())));
        write_calls(folder, calls.as_ref())
            .and_then(|()| write_views(folder, run))
            .context(SHOWN)?;
    }
    if let View::Load(load) = &view {
        write_hdr(done.hdr, load)?;
    }
    logged.context(SHOWN)?;
    done.watch.finish().context(SHOWN)?;
    Ok(verdict)
}

fn write_hdr(file: Option<OutFile>, load: &Load) -> anyhow::Result<()> {
    let Some(mut file) = file else { return Ok(()) };
    file.write_all(load_hdr(load).as_bytes())
        .with_context(|| file.path().display().to_string())
        .and_then(|()| file.commit())
        .context(SHOWN)
}

/// Explains why there is nothing to show.
fn why_nothing(run: &Run) -> String {
    let failed = run.preparations.iter().find_map(|preparation| match &preparation.readiness {
        Readiness::Failed(failure) => Some(failure.reason.clone()),
        Readiness::Ready | Readiness::Skipped { .. } => None,
    });
    let failed = failed.or_else(|| run.trials.iter().find_map(Trial::failure).map(str::to_owned));
    failed
        .or_else(|| without_capacity(&run.header.plan, run))
        .unwrap_or_else(|| "stopped before anything was measured".to_owned())
}

/// Explains why a share of the capacity can't be converted to a rate. `None` if it can, or if the capacity was not measured.
fn without_capacity(plan: &Plan, run: &Run) -> Option<String> {
    let load = plan.loads().find(|load| load.arrivals.needs_capacity())?;
    let found = run.capacity(&plan.servers.first()?.entry, &load.name, None)?;
    load.arrivals.resolve(found).is_none().then(|| match found > 0.0 {
        true => format!(
            "--arrivals {}: no rate is this share of {} calls/s, the measured capacity",
            load.arrivals,
            si(found)
        ),
        false => "no call succeeded, so there is no capacity to take a share of".to_owned(),
    })
}

/// Prints the problems of a load to standard error.
fn report_verdict(load: &Load) -> Verdict {
    for line in load.complaints() {
        note!("rpcbench: {line}");
    }
    match (cut_short(load).is_some(), load.checks_failed()) {
        (true, _) => Verdict::Stopped,
        (false, true) => Verdict::ChecksFailed,
        (false, false) => Verdict::Done,
    }
}

/// Prints the problems of a sweep or a search to standard error.
fn report_curve(curve: &LoadCurve, ending: &Result<Ending, StoreError>) -> Verdict {
    if matches!(ending, Ok(Ending::Interrupted)) {
        let loads = plural(curve.points.len() as u64, "load");
        note!("rpcbench: stopped after {loads}; the results up to then are above");
        return Verdict::Stopped;
    }
    let complaint = curve.complaint();
    if let Some(why) = &complaint {
        note!("rpcbench: {why}");
    }
    if complaint.is_some() { Verdict::ChecksFailed } else { Verdict::Done }
}
