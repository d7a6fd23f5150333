//! `rpcbench build`, and building before other commands.

use std::collections::BTreeSet;
use std::time::Duration;

use indicatif::ProgressBar;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_harness::build;
use rpcbench_harness::build::{BuildEvent, BuildState, Builder, Building, Candidate};
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::manifest::{Entry, Server};
use rpcbench_harness::{placement, toolchain};
use rpcbench_record::PlacementKind;

use super::shared;
use crate::Verdict;
use crate::args::BuildArgs;
use crate::context::Context;
use crate::live;
use crate::print::{note, out};

pub fn build(context: &Context, args: &BuildArgs) -> anyhow::Result<Verdict> {
    let interrupt = shared::listen(Interrupt::default())?;
    let catalog = shared::catalog(&context.root()?)?;
    let entries = catalog.into_selected(&args.selection)?;
    if args.lock {
        return lock(context, &entries, &interrupt);
    }
    let built =
        run(context, &entries, (args.placement, Building::Changed), &interrupt, Say::Everything)?;
    let failed = built.iter().any(|candidate| matches!(candidate.build, BuildState::Failed(_)));
    Ok(if failed { Verdict::Stopped } else { Verdict::Done })
}

/// Writes lock files again.
fn lock(context: &Context, entries: &[Entry], interrupt: &Interrupt) -> anyhow::Result<Verdict> {
    let mut servers: Vec<&Server> = entries.iter().map(|entry| &*entry.server).collect();
    servers.dedup_by_key(|server| &server.build_folder);
    for server in servers {
        note!("{:<16} locking", server.build_name());
        let locked = build::lock(server, &context.build_env, &mut || interrupt.check().is_ok());
        interrupt.check()?;
        locked?;
        out!("{}", server.lock.display())?;
    }
    Ok(Verdict::Done)
}

/// Builds the servers of `entries`, with progress on standard error.
pub fn prepare(
    context: &Context,
    entries: &[Entry],
    placement: PlacementKind,
    no_build: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Candidate>> {
    let building = if no_build { Building::Never } else { Building::Changed };
    let say = if context.verbose > 0 { Say::Everything } else { Say::News };
    run(context, entries, (placement, building), interrupt, say)
}

/// Which builds are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Say {
    /// Those that did something or failed.
    News,
    /// Also servers that are up to date.
    Everything,
}

fn run(
    context: &Context,
    entries: &[Entry],
    (placement, building): (PlacementKind, Building),
    interrupt: &Interrupt,
    say: Say,
) -> anyhow::Result<Vec<Candidate>> {
    let builds = placement::builder(placement, &context.build_env)?;
    let jobs = shared::available_cpus()? as usize;
    let builder = Builder { builds: &*builds, building, jobs, interrupt };
    let mut progress = BuildProgress::new(context, entries, say);
    let candidates = builder.candidates(entries, &mut |event| progress.event(event));
    progress.bar.finish_and_clear();
    let candidates = candidates?;
    warn_of_ended_support(&candidates);
    Ok(candidates)
}

/// Names the toolchains past their end of life with which servers run. `doctor` names all.
fn warn_of_ended_support(candidates: &[Candidate]) {
    let today = toolchain::today();
    let run = candidates.iter().filter(|it| matches!(it.build, BuildState::Built(_)));
    let lines = run.flat_map(|candidate| {
        toolchain::unsupported(&candidate.entry.server, &candidate.toolchains, today)
    });
    let lines: BTreeSet<String> = lines.collect();
    lines.iter().for_each(|line| note!("rpcbench: {line}"));
}

/// Shows how building goes: a line that is redrawn on a terminal, and lines that stay everywhere.
struct BuildProgress {
    bar: ProgressBar,
    live: bool,
    say: Say,
    /// Finished servers, and all of them.
    position: (usize, usize),
    /// Names of the current builds, and when each began. The line is about the first.
    current: Vec<(String, Nanos)>,
}

impl BuildProgress {
    fn new(context: &Context, entries: &[Entry], say: Say) -> Self {
        // wide_msg is cut to the width of the terminal.
        let bar = live::line(context, "{spinner} {wide_msg}");
        let folders: BTreeSet<_> = entries.iter().map(|entry| &entry.server.build_folder).collect();
        Self { bar, live: context.live, say, position: (0, folders.len()), current: Vec::new() }
    }

    fn event(&mut self, event: &BuildEvent<'_>) {
        match event {
            BuildEvent::Building(server) => {
                self.current.push((server.build_name().into_owned(), clock::now()));
                let log = server.build_folder.join("build.log");
                self.keep(&format!("{:<16} building; log: {}", server.build_name(), log.display()));
                self.waiting(server);
            }
            BuildEvent::Waiting(server) => self.waiting(server),
            BuildEvent::Done(server, state) => {
                self.position.0 += 1;
                self.done(server, state);
                self.current.retain(|(name, _)| *name != server.build_name());
            }
        }
    }

    fn waiting(&self, server: &Server) {
        if !self.live || self.current.first().is_some_and(|(name, _)| *name != server.build_name())
        {
            return;
        }
        let (done, all) = self.position;
        let seconds = self.taken(server).as_secs_f64();
        let line = build::log_tail(server, 1).pop().unwrap_or_default();
        let left = live::left(done, all, self.bar.elapsed());
        let now = format!(
            "building {} of {all}: {}, {seconds:.0} s{left}: {line}",
            done + 1,
            server.build_name()
        );
        self.bar.set_message(now);
        self.bar.tick();
    }

    fn done(&self, server: &Server, state: &BuildState) {
        let name = server.build_name();
        match state {
            BuildState::Built(built) if built.rebuilt || self.say == Say::Everything => {
                let versions: Vec<String> = built
                    .versions
                    .iter()
                    .map(|(name, version)| format!("{name} {version}"))
                    .collect();
                let took = self.taken(server).as_secs();
                let state = match built.rebuilt {
                    true => format!("built in {took} s"),
                    false => "up to date".to_owned(),
                };
                let all = versions.iter().map(|version| format!(", {version}")).collect::<String>();
                self.keep(&format!("{name:<16} {state}{all}"));
            }
            BuildState::Built(_) => {}
            BuildState::Skipped { reason } => self.keep(&format!("{name:<16} skipped: {reason}")),
            BuildState::Failed(failure) => {
                self.keep(&format!("{name:<16} failed: {}", failure.reason));
                failure.log_tail.iter().for_each(|line| self.keep(&format!("    {line}")));
            }
        }
    }

    /// How long its build takes so far.
    fn taken(&self, server: &Server) -> Duration {
        let began = self.current.iter().find(|(name, _)| *name == server.build_name());
        began.map_or(Duration::ZERO, |(_, began)| Duration::from_nanos(clock::now().since(*began)))
    }

    fn keep(&self, line: &str) {
        self.bar.suspend(|| note!("{line}"));
    }
}
