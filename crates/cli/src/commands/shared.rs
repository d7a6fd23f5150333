//! What several commands share: signals, and the servers under the root.

use std::path::Path;
use std::thread;

use anyhow::Context as _;
use rpcbench_clock::{self as clock, Nanos};
use rpcbench_harness::host::process::is_ignored;
use rpcbench_harness::interrupt::{Interrupt, Raised};
use rpcbench_harness::manifest::{Catalog, Selection};
use rpcbench_record::Role;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::context::Context;
use crate::print::note;

/// Handles Ctrl-C, SIGTERM and SIGHUP, except signals that were ignored when the program started: under `nohup` it outlives its
/// terminal, and in the background of a script Ctrl-C is meant for others. During a trial the first signal lets it finish (a load
/// ends its window) and the second stops at once; outside trials the first stops at once. If nothing reacts any more, the program
/// exits: its servers die with it, and files are complete or absent.
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
            format!(
                "stopping after the current measurement{}; once more to stop now",
                left.unwrap_or_default()
            )
        }
        Raised::Now => "stopping now; once more to quit at once".to_owned(),
        Raised::Ignored => "ended before everything was written".to_owned(),
    }
}

/// The servers or clients under `root`. Broken manifests are reported and skipped.
pub fn catalog(root: &Path, role: Role) -> anyhow::Result<Catalog> {
    let catalog = Catalog::of(root, role)?;
    for broken in catalog.broken() {
        note!("rpcbench: {broken}");
    }
    Ok(catalog)
}

/// True if `name`, given in place of a file or folder, names a server or entry and no file.
pub fn is_server(context: &Context, name: &str) -> bool {
    let named = || {
        let catalog = Catalog::load(&context.root().ok()?).ok()?;
        catalog.select(&Selection::named(vec![name.to_owned()])).ok()
    };
    !Path::new(name).exists() && named().is_some()
}

#[cfg(test)]
mod tests {
    use rpcbench_harness::interrupt::CurrentTrial;

    use super::*;

    #[test]
    fn message_about_a_signal_says_what_follows() {
        let now = Nanos::from_millis(1000);
        let trial = |ends| Raised::AfterTrial(CurrentTrial { ends });
        let said = |raised| what_follows(raised, false, now);
        let known = said(trial(Some(Nanos::from_millis(4200))));
        assert_eq!(
            known,
            "stopping after the current measurement, which ends in 4 s; once more to stop now"
        );
        assert_eq!(
            said(trial(None)),
            "stopping after the current measurement; once more to stop now"
        );
        assert_eq!(said(Raised::Now), "stopping now; once more to quit at once");
        let load = what_follows(trial(None), true, now);
        assert_eq!(load, "ending the window here; once more to stop now");
    }
}
