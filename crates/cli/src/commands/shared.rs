//! What several commands share: checks before they start, and this machine.

use std::io;
use std::path::Path;
use std::thread;

use anyhow::{Context as _, bail};
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_engine::CallLog;
use rpcbench_harness::host::cpus::Topology;
use rpcbench_harness::host::fingerprint::memory_bytes;
use rpcbench_harness::host::process::is_ignored;
use rpcbench_harness::interrupt::{Interrupt, Raised};
use rpcbench_harness::load::InProcess;
use rpcbench_harness::manifest::{Catalog, Selection};
use rpcbench_harness::placement::{self, Site, SiteOptions};
use rpcbench_harness::run::Environment;
use rpcbench_record::{Limits, PlacementKind, units};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::context::Context;
use crate::print::note;

/// Handles Ctrl-C, SIGTERM and SIGHUP, except those that were ignored when the program started: under `nohup` it outlives its
/// terminal, and in the background of a script Ctrl-C is meant for others. During a trial the first lets it finish (a load ends its window) and the second stops
/// at once; outside trials the first stops at once. If nothing reacts any more, the program exits: its servers die with it, and
/// files are complete or absent.
#[expect(clippy::exit, reason = "the main thread no longer reacts to signals")]
pub fn listen(interrupt: Interrupt) -> anyhow::Result<Interrupt> {
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
    let mut signals = Signals::new(handled).context("signal handlers")?;
    let signalled = interrupt.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            let raised = signalled.raise();
            note!("\nrpcbench: {}", what_follows(raised, signalled.ends_window(), clock::now()));
            if raised == Raised::Ignored {
                std::process::exit(2);
            }
        }
    });
    Ok(interrupt)
}

fn what_follows(raised: Raised, ends_window: bool, now: Nanos) -> String {
    match raised {
        Raised::AfterTrial(_) if ends_window => {
            "ending the window here; once more to stop now".to_owned()
        }
        Raised::AfterTrial(trial) => {
            let left = trial.ends.map(|ends| (ends - now).as_secs_f64().ceil());
            let left = left.map(|seconds| format!(", which ends in {seconds:.0} s"));
            format!("stopping after this trial{}; once more to stop now", left.unwrap_or_default())
        }
        Raised::Now => "stopping now; once more to quit at once".to_owned(),
        Raised::Ignored => "ended before everything was written".to_owned(),
    }
}

/// The servers under `root`. A broken manifest is reported and left out.
pub fn catalog(root: &Path) -> anyhow::Result<Catalog> {
    let catalog = Catalog::load(root)?;
    for broken in catalog.broken() {
        note!("rpcbench: {} is left out: {}", broken.name, broken.error);
    }
    Ok(catalog)
}

/// Whether a name where a file or folder is expected is that of a server or entry, and of no file.
pub fn is_server(context: &Context, name: &str) -> bool {
    let named = || {
        let catalog = Catalog::load(&context.root().ok()?).ok()?;
        catalog.select(&Selection::named(vec![name.to_owned()])).ok()
    };
    !Path::new(name).exists() && named().is_some()
}

/// Refuses more `--cpus` than are available.
pub fn check_cpus(typed: u32) -> anyhow::Result<()> {
    let there = available_cpus()?;
    if typed > there {
        bail!("--cpus {typed}: only {there} are available, including the client's; use fewer");
    }
    Ok(())
}

/// Refuses a memory limit above the machine's memory, which would limit nothing.
pub fn check_memory(limit: Option<u64>) -> anyhow::Result<()> {
    match (limit, memory_bytes()) {
        (Some(limit), Some(there)) if limit > there => bail!(
            "a memory limit of {}: this machine has {}; use less with --memory",
            units::bytes(limit),
            units::bytes(there)
        ),
        _ => Ok(()),
    }
}

/// Refuses a folder in which runs can't be created.
pub fn check_results(folder: &Path) -> anyhow::Result<()> {
    let refused = || format!("--results {}: can't be written", folder.display());
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    if !there.is_dir() {
        let what = if there == folder { "it".to_owned() } else { there.display().to_string() };
        bail!("--results {}: {what} is a file; name a folder", folder.display());
    }
    let made = tempfile::Builder::new().prefix(".rpcbench-").tempdir_in(there);
    // Without the temporary name.
    made.map(drop).map_err(|error| io::Error::from(error.kind())).with_context(refused)
}

pub fn available_cpus() -> anyhow::Result<u32> {
    let cpus = Topology::read().context("CPUs available to this process")?.cpus().len();
    Ok(u32::try_from(cpus).unwrap_or(u32::MAX))
}

/// Opens the place where the servers of a command run, and prints what the user should know about it.
pub fn open_site(
    context: &Context,
    kind: PlacementKind,
    change: impl FnOnce(&mut SiteOptions),
) -> anyhow::Result<Box<dyn Site>> {
    let mut options = SiteOptions {
        limits: Limits { cpus: 1, memory_bytes: None },
        client_threads: 1,
        base_env: context.base_env.clone(),
        logs: context.root()?.join("build/logs"),
        runtime_statistics: false,
        port: None,
        measures: false,
    };
    change(&mut options);
    let site = placement::open(kind, options)?;
    for notice in site.notices() {
        note!("rpcbench: {notice}");
    }
    Ok(site)
}

/// The client that loads servers on that site from this process.
pub fn environment(
    site: &dyn Site,
    seed: u64,
    interrupt: Interrupt,
    call_log: Option<CallLog>,
) -> Environment {
    let generator = InProcess { cpus: site.client_cpus().to_vec(), call_log };
    Environment { seed, interrupt, generator: Box::new(generator) }
}

#[cfg(test)]
mod tests {
    use rpcbench_harness::interrupt::CurrentTrial;

    use super::*;

    #[test]
    fn a_signal_is_answered_with_what_follows() {
        let now = Nanos::from_millis(1000);
        let trial = |ends| Raised::AfterTrial(CurrentTrial { ends });
        let said = |raised| what_follows(raised, false, now);
        let known = said(trial(Some(Nanos::from_millis(4200))));
        assert_eq!(known, "stopping after this trial, which ends in 4 s; once more to stop now");
        assert_eq!(said(trial(None)), "stopping after this trial; once more to stop now");
        assert_eq!(said(Raised::Now), "stopping now; once more to quit at once");
        let load = what_follows(trial(None), true, now);
        assert_eq!(load, "ending the window here; once more to stop now");
    }
}
