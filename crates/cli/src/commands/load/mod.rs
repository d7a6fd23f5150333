//! `rpcbench load`: a run of one server that is already running.

mod live;
mod plan;
mod tap;

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rpcbench_clock as clock;
use rpcbench_engine::CallLog;
use rpcbench_harness::host::cpus::Topology;
use rpcbench_harness::host::fingerprint::fingerprint;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::load::{InProcess, room};
use rpcbench_harness::placement::Unmanaged;
use rpcbench_harness::reach;
use rpcbench_harness::run::{Ending, Environment, Runner, Subject};
use rpcbench_record::{
    Header, IsolationMode, Machines, Plan, Readiness, Run, ServerMachine, StoreError, Trial, Writer,
};
use rpcbench_report::format::{plural, si};
use rpcbench_report::{Load, LoadCurve, View, cut_short, load_hdr};

use super::calls_log::{CallsLog, drawn};
use super::out_file::OutFile;
use super::report::{OutputOptions, show, write_calls, write_views};
use super::run::tool;
use super::shared;
use crate::Verdict;
use crate::args::{LoadArgs, ResultArgs};
use crate::context::Context;
use crate::print::note;
use live::Live;
use tap::LogTap;

pub fn load(context: &Context, args: &LoadArgs) -> anyhow::Result<Verdict> {
    let topology = Topology::read().context("CPUs that this process may use")?;
    let cpus = topology.cpus();
    let addresses = plan::resolve(&args.address)?;
    let endpoint = plan::endpoint(args, &addresses);
    let placement = Unmanaged::new(endpoint, args.pid, cpus.clone())?;
    let server_cpus = placement.server_cpus().map_or(cpus.len(), <[u32]>::len);
    let plan = plan::plan(args, u32::try_from(server_cpus).unwrap_or(u32::MAX))?;
    room::check(&plan)?;
    let server =
        if placement.is_local() { ServerMachine::SameAsClient } else { ServerMachine::Unknown };
    let machines =
        Machines { client: fingerprint(&topology, IsolationMode::Unmanaged), server, engine: None };
    let header = Header::new(tool(), context.arguments.clone(), clock::wall(), machines, plan);
    let interrupt = shared::listen(Interrupt::ending_windows())?;
    let found = addresses.len();
    let address = plan::reach(&header.plan, addresses, &interrupt)?;
    if let Some(chosen) = plan::chosen(&args.address, found, &address)
        && !args.results.quiet
    {
        note!("rpcbench: {chosen}");
    }
    let placement = placement.at(address.clone());
    let files = Files::open(&args.results, &header)?;
    let (log, call_log) = files.log.unzip();
    let tap = LogTap::new(log);
    let generator = Box::new(InProcess { cpus: Vec::new(), call_log });
    let environment = Environment { seed: args.seed, interrupt, generator };
    let entry = args.address.to_string();
    let subject = Subject::existing(entry, args.protocol, Box::new(placement));
    let plan = header.plan.clone();
    let live = Live::new(context, args.results.quiet, &plan, &tap);
    let run = Run::new(header);
    let subjects = [subject];
    let runner = Runner::new(&environment, &subjects, files.out, run, &live);
    let (run, ending) = runner.execute();
    live.finish();
    // The log of calls ends when its last sender is dropped.
    drop(environment);
    let verdict = conclude(context, args, &run, Done { ending, tap, hdr: files.hdr });
    if no_call_was_answered(&run)
        && let Some(what) = reach::detect_protocol(&address, args.protocol, DETECT_TIMEOUT)
    {
        note!("rpcbench: {address}: {what}");
    }
    verdict
}

/// How long the server of a failed load has to show what it speaks.
const DETECT_TIMEOUT: Duration = Duration::from_secs(1);

fn no_call_was_answered(run: &Run) -> bool {
    let measured = run.trials.iter().filter_map(Trial::measured);
    !run.trials.is_empty() && measured.map(|window| window.outcomes.ok).sum::<u64>() == 0
}

/// How every log of HdrHistogram begins.
const HDR: &[u8] = b"#[";

/// Output files, opened before the load starts.
struct Files {
    out: Option<Writer>,
    hdr: Option<OutFile>,
    log: Option<(CallsLog, CallLog)>,
}

impl Files {
    fn open(results: &ResultArgs, header: &Header) -> anyhow::Result<Self> {
        let hdr = results.hdr.as_deref().map(|path| OutFile::open(path, HDR)).transpose()?;
        let log = results.log.as_ref().map(CallsLog::open).transpose()?;
        let create =
            |folder| Writer::create(folder, header).context("--out: the record can't be written");
        let out = results.out.as_deref().map(create).transpose()?;
        Ok(Self { out, hdr, log })
    }
}

/// What a run returns besides its record.
struct Done {
    ending: Result<Ending, StoreError>,
    tap: LogTap,
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
    Ok(verdict)
}

fn write_hdr(file: Option<OutFile>, load: &Load) -> anyhow::Result<()> {
    let Some(mut file) = file else { return Ok(()) };
    file.write_all(load_hdr(load).as_bytes())
        .with_context(|| file.path().display().to_string())
        .and_then(|()| file.commit())
        .context(SHOWN)
}

/// Why there is nothing to show.
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

/// Why a share of the capacity is no rate. `None` if it is one, or the capacity was not measured.
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

/// Prints what is wrong with a load on standard error.
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

/// Prints what is wrong with a sweep or a search on standard error.
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
