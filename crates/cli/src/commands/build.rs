//! `rpcbench build`, and how other commands build first.

use std::time::Duration;

use indicatif::ProgressBar;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_harness::build::{self, BuildEvent, BuildState, Building};
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::manifest::{Entry, Server};
use rpcbench_harness::setup::{SetupEvent, SetupObserver};

use super::shared;
use crate::Verdict;
use crate::args::BuildArgs;
use crate::context::Context;
use crate::live;
use crate::print::{note, out};

pub fn build(context: &Context, args: &BuildArgs) -> anyhow::Result<Verdict> {
    let interrupt = shared::listen(Interrupt::default())?;
    if args.lock {
        let catalog = shared::catalog(&context.root()?, args.selection.role())?;
        return lock(context, &catalog.into_selected(&args.selection)?, &interrupt);
    }
    let mut progress = SetupProgress { is_terse: false, ..SetupProgress::new(context) };
    let mut setup = context.setup(interrupt, &mut progress)?;
    let built = setup.candidates(&args.selection, args.placement, Building::Changed)?;
    let failed = built.iter().any(|candidate| matches!(candidate.build, BuildState::Failed(_)));
    Ok(if failed { Verdict::Stopped } else { Verdict::Done })
}

/// Which servers to build before a command that starts them.
pub fn building(no_build: bool) -> Building {
    if no_build { Building::Never } else { Building::Changed }
}

/// Regenerates lock files.
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

/// Shows how a request is prepared: a line that is redrawn on a terminal, and lines that remain.
pub struct SetupProgress {
    bar: ProgressBar,
    live: bool,
    /// Leaves out servers that are up to date.
    pub is_terse: bool,
    /// Leaves out notices, not warnings.
    pub is_quiet: bool,
    /// Number of finished servers, and of all servers.
    position: (usize, usize),
    /// Names of the current builds, with the time when each began. The line shows the first.
    current: Vec<(String, Nanos)>,
}

impl SetupObserver for SetupProgress {
    fn event(&mut self, event: &SetupEvent<'_>) {
        match event {
            SetupEvent::Notice(_) if self.is_quiet => {}
            SetupEvent::Notice(line) | SetupEvent::Warning(line) => note!("rpcbench: {line}"),
            SetupEvent::Building(servers) => self.position = (0, *servers),
            SetupEvent::Build(event) => self.build(event),
            SetupEvent::Built => self.bar.finish_and_clear(),
        }
    }
}

impl SetupProgress {
    pub fn new(context: &Context) -> Self {
        Self {
            // wide_msg is cut to the width of the terminal.
            bar: live::line(context, "{spinner} {wide_msg}"),
            live: context.live,
            is_terse: context.verbose == 0,
            is_quiet: false,
            position: (0, 0),
            current: Vec::new(),
        }
    }

    fn build(&mut self, event: &BuildEvent<'_>) {
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
            BuildState::Built(built) if built.rebuilt || !self.is_terse => {
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

    /// How long the server's build has taken so far.
    fn taken(&self, server: &Server) -> Duration {
        let began = self.current.iter().find(|(name, _)| *name == server.build_name());
        began.map_or(Duration::ZERO, |(_, began)| Duration::from_nanos(clock::now().since(*began)))
    }

    fn keep(&self, line: &str) {
        self.bar.suspend(|| note!("{line}"));
    }
}
