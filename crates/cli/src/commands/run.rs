//! `rpcbench run`.

use std::path::{Path, PathBuf};

use anstream::eprintln;
use anyhow::{Context as _, bail};
use rpcbench_engine::clock;
use rpcbench_harness::cpus::Topology;
use rpcbench_harness::machine::fingerprint;
use rpcbench_harness::manifest::{Catalog, Entry};
use rpcbench_harness::run::{BuildState, Candidate, Ending, Interrupt, Lab, Runner, same_machine};
use rpcbench_harness::suite::{Suites, plan};
use rpcbench_record::{Header, Plan, Run, SCHEMA, StoreError, Tool, TrialResult, Writer};

use super::report::{show, write_views};
use super::{build, scene};
use crate::Verdict;
use crate::args::RunArgs;
use crate::context::Context;
use crate::progress::Progress;

pub fn run(context: &Context, args: &RunArgs) -> anyhow::Result<Verdict> {
    let interrupt = scene::interrupt()?;
    let catalog = Catalog::load(&context.root()?)?;
    match &args.resume {
        None => begin(context, args, &catalog, interrupt),
        Some(folder) => resume(context, args, &catalog, (folder, interrupt)),
    }
}

/// A new run.
fn begin(
    context: &Context,
    args: &RunArgs,
    catalog: &Catalog,
    interrupt: Interrupt,
) -> anyhow::Result<Verdict> {
    let suites = Suites::load(&context.root()?)?;
    let suite = suites.find(&args.suite)?;
    let entries = scene::entries(catalog, &args.servers)?;
    let seed = args.seed.unwrap_or_else(rand::random);
    let planned: Vec<_> = entries.iter().map(Entry::planned).collect();
    let plan = plan(suite, &args.workload.overrides(), &planned, seed)?;
    let candidates = build::prepare(context, &entries, args.no_build);
    somebody_runs(&candidates)?;
    let (lab, topology) = lab(context, &plan, interrupt)?;
    let run = blank(header(context, &lab, &topology, plan));
    let folder = new_folder(&args.results)?;
    let writer = Writer::create(&folder, &run.header)?;
    execute(context, args, Work { lab, candidates, writer, run, folder })
}

/// The rest of a run that was interrupted.
fn resume(
    context: &Context,
    args: &RunArgs,
    catalog: &Catalog,
    (folder, interrupt): (&Path, Interrupt),
) -> anyhow::Result<Verdict> {
    let run = rpcbench_record::read(folder)?;
    let patterns: Vec<String> = run
        .header
        .plan
        .servers
        .iter()
        .map(|server| server.entry.split('#').next().unwrap_or_default().to_owned())
        .collect();
    let entries = catalog.select(&patterns)?;
    let candidates = build::prepare(context, &entries, args.no_build);
    let (lab, topology) = lab(context, &run.header.plan, interrupt)?;
    same_machine(&run, &fingerprint(&topology, lab.isolation.mode()))?;
    let writer = Writer::resume(folder)?;
    execute(context, args, Work { lab, candidates, writer, run, folder: folder.to_owned() })
}

/// All that a run needs.
struct Work {
    lab: Lab,
    candidates: Vec<Candidate>,
    writer: Writer,
    run: Run,
    folder: PathBuf,
}

fn execute(context: &Context, args: &RunArgs, work: Work) -> anyhow::Result<Verdict> {
    let Work { lab, candidates, writer, run, folder } = work;
    let progress = Progress::new(context);
    let runner = Runner { lab: &lab, candidates: &candidates, writer, run, observer: &progress };
    let (run, ending) = runner.execute();
    progress.finish();
    conclude(context, args, &run, (&folder, ending))
}

/// Shows what there is, whatever went wrong.
fn conclude(
    context: &Context,
    args: &RunArgs,
    run: &Run,
    (folder, ending): (&Path, Result<Ending, StoreError>),
) -> anyhow::Result<Verdict> {
    show(context, run, args.format)?;
    let views = write_views(folder, run);
    let ending = ending.context("the record is incomplete; what was measured is shown above")?;
    views?;
    eprintln!("record: {}", folder.display());
    if ending == Ending::Interrupted {
        eprintln!("go on with: rpcbench run --resume {}", folder.display());
        return Ok(Verdict::Stopped);
    }
    let measured = run.trials.iter().any(|t| matches!(t.result, TrialResult::Measured(_)));
    Ok(if measured { Verdict::Done } else { Verdict::Against })
}

fn lab(context: &Context, plan: &Plan, interrupt: Interrupt) -> anyhow::Result<(Lab, Topology)> {
    let threads = plan.workloads.iter().map(|workload| workload.client_threads).max().unwrap_or(1);
    scene::lab(context, plan.limits, threads, (plan.seed, interrupt))
}

fn header(context: &Context, lab: &Lab, topology: &Topology, plan: Plan) -> Header {
    Header {
        schema: SCHEMA,
        tool: Tool {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("RPCBENCH_COMMIT").map(str::to_owned),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        },
        arguments: context.arguments.clone(),
        started: clock::wall(),
        machine: fingerprint(topology, lab.isolation.mode()),
        plan,
    }
}

fn blank(header: Header) -> Run {
    Run { header, preparations: Vec::new(), trials: Vec::new(), finished: None }
}

fn somebody_runs(candidates: &[Candidate]) -> anyhow::Result<()> {
    let runs = candidates.iter().any(|c| matches!(c.build, BuildState::Built(_)));
    if !runs {
        bail!("none of these servers can run here; the lines above say what is missing");
    }
    Ok(())
}

/// A folder named after the time, `-2` behind it if there is one already.
fn new_folder(results: &Path) -> anyhow::Result<PathBuf> {
    let name = clock::wall().to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%dT%H-%M-%S");
    let name = name.to_string();
    let mut names = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name}-{n}")));
    let folder = names.find_map(|name| {
        let folder = results.join(name);
        (!folder.exists()).then_some(folder)
    });
    folder.context("no free name for the run's folder")
}
