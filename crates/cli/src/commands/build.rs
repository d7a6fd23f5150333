//! `rpcbench build`, and the building that comes before other commands.

use anstream::eprintln;
use rpcbench_harness::manifest::{Catalog, Entry};
use rpcbench_harness::run::{BuildEvent, BuildState, Building, Candidate, candidates};

use crate::Verdict;
use crate::args::BuildArgs;
use crate::context::Context;

pub fn build(context: &Context, args: &BuildArgs) -> anyhow::Result<Verdict> {
    let catalog = Catalog::load(&context.root()?)?;
    let entries = catalog.select(&args.selection.selection())?;
    let built = candidates(&entries, Building::Changed, &context.build_env, &mut |event| {
        tell(event, 1);
    });
    let failed = built.iter().any(|candidate| matches!(candidate.build, BuildState::Failed(_)));
    Ok(if failed { Verdict::Against } else { Verdict::Done })
}

/// Builds what `entries` need, and says so on standard error.
pub fn prepare(context: &Context, entries: &[Entry], no_build: bool) -> Vec<Candidate> {
    let building = if no_build { Building::Never } else { Building::Changed };
    candidates(entries, building, &context.build_env, &mut |event| tell(event, context.verbose))
}

fn tell(event: &BuildEvent<'_>, verbose: u8) {
    match event {
        BuildEvent::Building(server) => {
            let log = server.build_folder.join("build.log");
            eprintln!("{:<16} building; log: {}", server.name, log.display());
        }
        BuildEvent::Done(server, BuildState::Built(built)) if built.rebuilt || verbose > 0 => {
            let versions: Vec<String> =
                built.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
            let state = if built.rebuilt { "built" } else { "up to date" };
            eprintln!("{:<16} {state}: {}", server.name, versions.join(", "));
        }
        BuildEvent::Done(_, BuildState::Built(_)) => {}
        BuildEvent::Done(server, BuildState::Skipped { reason }) => {
            eprintln!("{:<16} skipped: {reason}", server.name);
        }
        BuildEvent::Done(server, BuildState::Failed(failure)) => {
            eprintln!("{:<16} failed: {}", server.name, failure.reason);
            for line in &failure.log_tail {
                eprintln!("    {line}");
            }
        }
    }
}
