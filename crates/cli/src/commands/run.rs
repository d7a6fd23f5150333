//! `rpcbench run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rpcbench_clock as clock;
use rpcbench_harness::build::{BuildState, Candidate};
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::load::room;
use rpcbench_harness::manifest::{Entry, Selection, Tree};
use rpcbench_harness::placement::Site;
use rpcbench_harness::run::{
    CurrentSetup, Ending, Environment, Event, Observer, Runner, Subject, resumable,
};
use rpcbench_harness::spec::RunSpec;
use rpcbench_harness::suite::{Suite, fit, plan};
use rpcbench_record::{Age, Build, Header, MAX_SEED, Plan, Run, StoreError, Tool, Writer};
use rpcbench_report::summary;

use super::calls_log::CallFiles;
use super::report::{OutputOptions, show, write_views};
use super::{build, shared};
use crate::Verdict;
use crate::args::RunArgs;
use crate::context::Context;
use crate::print::note;
use crate::progress::Progress;

pub fn run(context: &Context, args: &RunArgs) -> anyhow::Result<Verdict> {
    let look = OutputOptions::of(args.format, &args.table)?;
    let interrupt = shared::listen(Interrupt::default())?;
    let prepared = match &args.resume {
        None => PreparedRun::begin(context, &RunRequest::of(args), interrupt)?,
        Some(folder) => PreparedRun::resume(context, folder, args.no_build, interrupt)?,
    };
    let folder = prepared.folder.clone();
    let (run, ending) = prepared.execute(context);
    let shown = show(context, &run, &look);
    // Even if the terminal is gone, the record is complete.
    let verdict = conclude(&run, &folder, ending)?;
    shown.map(|()| verdict)
}

pub struct RunRequest<'a> {
    pub selection: Selection,
    /// The old build and the new one, if builds are compared.
    pub builds: Option<[&'a str; 2]>,
    pub suite: &'a str,
    pub spec: RunSpec,
    pub scale_to_machine: bool,
    pub seed: Option<u64>,
    pub results: &'a Path,
    pub no_build: bool,
}

impl<'a> RunRequest<'a> {
    fn of(args: &'a RunArgs) -> Self {
        Self {
            selection: args.selection.clone(),
            builds: None,
            suite: &args.plan.suite,
            spec: args.spec.clone(),
            scale_to_machine: args.plan.scale_to_machine,
            seed: args.plan.seed,
            results: &args.plan.results,
            no_build: args.no_build,
        }
    }
}

/// A run that is ready to start or to resume.
pub struct PreparedRun {
    site: Box<dyn Site>,
    environment: Environment,
    candidates: Vec<Candidate>,
    writer: Writer,
    run: Run,
    pub folder: PathBuf,
    calls: Option<CallFiles>,
}

impl PreparedRun {
    /// A new run.
    pub fn begin(
        context: &Context,
        request: &RunRequest<'_>,
        interrupt: Interrupt,
    ) -> anyhow::Result<Self> {
        let root = context.root()?;
        let suite = Suite::named(&root, request.suite)?;
        let mut entries = entries(&root, request)?;
        let planned: Vec<_> = entries.iter().map(Entry::planned).collect();
        let seed = request.seed.unwrap_or_else(|| rand::random::<u64>() & MAX_SEED);
        let cpus = request.spec.limits.cpus.as_ref();
        cpus.map_or(Ok(()), |cpus| shared::check_cpus(cpus.value.0))?;
        let available = shared::available_cpus()?;
        let spec = fit(&suite, &request.spec, available, request.scale_to_machine)?;
        let plan = plan(&suite, &spec, &planned, seed)?;
        shared::check_memory(plan.limits.memory_bytes)?;
        room::check(&plan)?;
        shared::check_results(request.results)?;
        entries.retain(|entry| plan.servers.iter().any(|server| server.entry == entry.name()));
        let candidates =
            build::prepare(context, &entries, plan.placement, request.no_build, &interrupt)?;
        ensure_any_runnable(&candidates)?;
        let site = site(context, &plan)?;
        let arguments = context.arguments.clone();
        let header = Header::new(tool(), arguments, clock::wall(), site.machines(), plan);
        let run = Run::new(header);
        let folder = new_folder(request.results)?;
        let (calls, call_log) = CallFiles::of(&run.header.plan, &folder);
        let environment = shared::environment(&*site, seed, interrupt, call_log);
        let writer = Writer::create(&folder, &run.header)?;
        Ok(Self { site, environment, candidates, writer, run, folder, calls })
    }

    /// The rest of a run that was interrupted.
    fn resume(
        context: &Context,
        folder: &Path,
        no_build: bool,
        interrupt: Interrupt,
    ) -> anyhow::Result<Self> {
        let run = rpcbench_record::read(folder)?;
        if !run.header.plan.placement.starts_servers() {
            bail!(
                "{}: this is the record of a load, which can't be resumed; `rpcbench report` shows it",
                folder.display()
            );
        }
        if let Some(withheld) = run.header.plan.withheld() {
            bail!(
                "{}: the record has no {withheld}, so this run can't be resumed; start a new one",
                folder.display()
            );
        }
        let entries = planned_entries(&context.root()?, &run.header.plan)?;
        let candidates =
            build::prepare(context, &entries, run.header.plan.placement, no_build, &interrupt)?;
        let site = site(context, &run.header.plan)?;
        let machine = site.machines().client;
        let subjects = subjects(&*site, &candidates);
        resumable(&run, &CurrentSetup { tool: &tool(), machine: &machine, subjects: &subjects })?;
        drop(subjects);
        let writer = Writer::resume(folder)?;
        let folder = folder.to_owned();
        let (calls, call_log) = CallFiles::of(&run.header.plan, &folder);
        let environment = shared::environment(&*site, run.header.plan.seed, interrupt, call_log);
        Ok(Self { site, environment, candidates, writer, run, folder, calls })
    }

    /// Runs it. Returns what was measured, even if it was interrupted.
    pub fn execute(self, context: &Context) -> (Run, Result<Ending, StoreError>) {
        let plan = self.run.header.plan.clone();
        let progress = Progress::new(context, &plan);
        let observer = Logged { progress: &progress, calls: self.calls };
        let subjects = subjects(&*self.site, &self.candidates);
        let runner =
            Runner::new(&self.environment, &subjects, Some(self.writer), self.run, &observer);
        let done = runner.execute();
        progress.finish();
        done
    }
}

fn entries(root: &Path, request: &RunRequest<'_>) -> anyhow::Result<Vec<Entry>> {
    let Some([old, new]) = request.builds else {
        return Ok(shared::catalog(root)?.into_selected(&request.selection)?);
    };
    let mut entries = Vec::new();
    for (age, origin) in [(Age::Old, old), (Age::New, new)] {
        entries.extend(Tree::find(root, age, origin)?.entries(&request.selection)?);
    }
    Ok(entries)
}

/// The entries of a plan, of each of its builds.
fn planned_entries(root: &Path, plan: &Plan) -> anyhow::Result<Vec<Entry>> {
    let mut builds: Vec<Option<&Build>> = Vec::new();
    for server in &plan.servers {
        if !builds.contains(&server.build.as_ref()) {
            builds.push(server.build.as_ref());
        }
    }
    let mut entries = Vec::new();
    for build in builds {
        let servers = plan.servers.iter().filter(|server| server.build.as_ref() == build);
        let names = servers.map(|server| server.entry.split('#').next().unwrap_or_default());
        let selection = Selection::named(names.map(str::to_owned).collect());
        entries.extend(match build {
            Some(build) => Tree::again(root, build)?.entries(&selection)?,
            None => shared::catalog(root)?.into_selected(&selection)?,
        });
    }
    Ok(entries)
}

fn subjects<'a>(site: &'a dyn Site, candidates: &'a [Candidate]) -> Vec<Subject<'a>> {
    candidates.iter().map(|it| Subject::built(it, site.place(&it.entry))).collect()
}

/// Shows a run's progress, and writes its calls if asked to.
struct Logged<'a> {
    progress: &'a Progress<'a>,
    calls: Option<CallFiles>,
}

impl Observer for Logged<'_> {
    fn event(&self, event: &Event<'_>) {
        self.progress.event(event);
        let Some(calls) = &self.calls else { return };
        match event {
            Event::Repeating { .. } => calls.forget(),
            Event::Trial(trial) => {
                if let Err(problem) = calls.write(trial) {
                    note!("rpcbench: the calls of this window are not written: {problem:#}");
                }
            }
            _ => {}
        }
    }
}

/// Writes the views and decides the verdict, after the results were shown.
pub fn conclude(
    run: &Run,
    folder: &Path,
    ending: Result<Ending, StoreError>,
) -> anyhow::Result<Verdict> {
    let views = write_views(folder, run);
    let ending = ending.context("the record is incomplete; what was measured is shown above")?;
    views?;
    note!("record: {}", folder.display());
    if ending == Ending::Interrupted {
        note!("to resume: rpcbench run --resume {}", folder.display());
        return Ok(Verdict::Stopped);
    }
    let summary = summary(run);
    let rows = summary.tables.iter().flat_map(|table| &table.rows);
    let failed: BTreeSet<&str> =
        rows.filter(|row| row.verdict.is_failed()).map(|row| &*row.server.entry).collect();
    if failed.is_empty() {
        return Ok(Verdict::Done);
    }
    note!("failed: {}", Vec::from_iter(failed).join(", "));
    Ok(Verdict::ChecksFailed)
}

fn site(context: &Context, plan: &Plan) -> anyhow::Result<Box<dyn Site>> {
    let threads = plan.workloads.iter().map(|workload| workload.client_threads).max();
    shared::open_site(context, plan.placement, |options| {
        options.limits = plan.limits;
        options.client_threads = threads.unwrap_or(1);
        options.runtime_statistics = plan.runtime_statistics;
        options.measures = true;
    })
}

pub fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("RPCBENCH_COMMIT").map(str::to_owned),
        profile: env!("RPCBENCH_PROFILE").to_owned(),
    }
}

fn ensure_any_runnable(candidates: &[Candidate]) -> anyhow::Result<()> {
    let runs = candidates.iter().any(|c| matches!(c.build, BuildState::Built(_)));
    if !runs {
        bail!("none of these servers can run here; the lines above say why");
    }
    Ok(())
}

/// A folder named after the time, with `-2` and so on if it exists.
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
