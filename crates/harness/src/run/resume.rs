//! Resuming a run that was interrupted.

use std::collections::{BTreeMap, BTreeSet};

use rpcbench_record::{
    Counterpart, Isolation, Machine, PlannedTrial, Preparation, Readiness, Run, Tool, Toolchain,
    TrialResult,
};

use super::subject::{Provenance, Subject};

/// The reason why a run can't be resumed, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResumeError(String);

/// The setup that would resume a run.
pub struct CurrentSetup<'a> {
    /// This program.
    pub tool: &'a Tool,
    /// This machine.
    pub machine: &'a Machine,
    /// The servers as they are built now.
    pub subjects: &'a [Subject<'a>],
}

/// Fails if a run is finished, or if further trials could not be compared with its own: on another machine, with other rights or
/// limits, by another rpcbench, or of other servers.
pub fn resumable(run: &Run, setup: &CurrentSetup<'_>) -> Result<(), ResumeError> {
    if run.finished.is_some() {
        let problem = "this run is finished; `rpcbench report` shows it";
        return Err(ResumeError(problem.to_owned()));
    }
    same("on", machine(&run.header.machines.client), machine(setup.machine))?;
    same("by", tool(&run.header.tool), tool(setup.tool))?;
    for planned in &run.header.plan.servers {
        let subject = setup.subjects.iter().find(|subject| subject.entry == planned.entry);
        let subject = subject.ok_or_else(|| {
            let entry = &planned.entry;
            ResumeError(format!(
                "'{entry}' is in this run's plan, but no longer exists; bring it back, or start a new run"
            ))
        })?;
        let mut before = run.preparations.iter().rev();
        let before =
            before.find(|it| it.entry == planned.entry && it.readiness == Readiness::Ready);
        before.map_or(Ok(()), |before| same_server(before, subject))?;
    }
    Ok(())
}

fn same_server(before: &Preparation, subject: &Subject<'_>) -> Result<(), ResumeError> {
    let entry = &before.entry;
    let broken = |reason: &str| {
        Err(ResumeError(format!(
            "{entry} was measured in this run, but can no longer run: {reason}; repair it, or start a new run"
        )))
    };
    match &subject.readiness {
        Readiness::Skipped { reason } => return broken(reason),
        Readiness::Failed(failure) => return broken(&failure.reason),
        Readiness::Ready => {}
    }
    let Provenance { built: now, toolchains, command, .. } = &subject.provenance;
    let made_of = |versions: &BTreeMap<String, String>, lock: &str, tools: &[Toolchain]| {
        let libraries = versions.iter().map(|(name, version)| format!("{name} {version}"));
        let tools = tools.iter().map(Toolchain::to_string);
        let lock = lock.get(..12).map(|lock| format!("lock file {lock}"));
        let parts: Vec<String> = libraries.chain(tools).chain(lock).collect();
        format!("{entry} ({})", parts.join(", "))
    };
    let then = made_of(&before.versions, &before.lock_hash, &before.toolchains);
    same("with", then, made_of(&now.versions, &now.lock_hash, toolchains))?;
    let source = |hash: &str| {
        let hash: String = hash.chars().take(12).collect();
        format!("{entry} built from sources {hash}")
    };
    if !before.source_hash.is_empty() {
        same("with", source(&before.source_hash), source(&now.source_hash))?;
    }
    let details = subject.placement.isolation().details;
    for (name, then) in &before.isolation.details {
        if let Some(now) = details.get(name) {
            let of = |value: &str| format!("{entry} in {name} {value}");
            same("with", of(then), of(now))?;
        }
    }
    let called = |server: &Counterpart| {
        let Counterpart { server, versions, source_hash, command } = server;
        let versions = versions.iter().map(|(name, version)| format!("{name} {version}"));
        let parts: Vec<String> = versions.chain(command.iter().cloned()).collect();
        let hash: String = source_hash.chars().take(12).collect();
        format!("{entry} with the server {server} ({}) of sources {hash}", parts.join(", "))
    };
    if let Some((then, now)) = before.counterpart.as_ref().zip(subject.counterpart.as_deref()) {
        same("with", called(then), called(&now.as_counterpart()))?;
    }
    let started = |words: &[String]| format!("{entry} as '{}'", words.join(" "));
    same("with", started(&before.command), started(command))?;
    same("under", limits(&before.isolation), limits(&subject.placement.isolation()))
}

fn same(how: &str, before: String, now: String) -> Result<(), ResumeError> {
    if before == now {
        return Ok(());
    }
    Err(ResumeError(format!(
        "this run was made {how} {before}, but now it would be {now}; the results would not be comparable; start a new run"
    )))
}

fn machine(machine: &Machine) -> String {
    let Machine { cpu, kernel, cgroup, memory_bytes, .. } = machine;
    let memory = rpcbench_record::units::bytes(*memory_bytes);
    format!("{} x {}, {memory}, Linux {kernel}, cgroup {cgroup}", cpu.logical, cpu.model)
}

fn tool(tool: &Tool) -> String {
    let commit = tool.commit.as_deref().unwrap_or("no commit");
    format!("rpcbench {} ({commit}, {})", tool.version, tool.profile)
}

fn limits(isolation: &Isolation) -> String {
    let Isolation { mode, server_cpus, client_cpus, notes, .. } = isolation;
    let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
    format!("{mode:?}, server CPUs {server_cpus:?}, client CPUs {client_cpus:?}{notes}")
}

/// The trials of the plan that are not over, in order. A cell whose server failed or was skipped has none left. A trial that
/// was skipped before a later one of its process stays skipped.
pub fn remaining(run: &Run) -> Vec<PlannedTrial> {
    let order = &run.header.plan.order;
    let made: BTreeSet<_> =
        run.trials.iter().map(|trial| (&trial.entry, &trial.workload, trial.number)).collect();
    let mut later = BTreeSet::new();
    let mut left = Vec::new();
    for planned in order.iter().rev() {
        if made.contains(&(&planned.entry, &planned.workload, planned.number)) {
            later.insert((&planned.entry, planned.process));
        } else if !later.contains(&(&planned.entry, planned.process)) && !is_done(run, planned) {
            left.push(planned.clone());
        }
    }
    left.reverse();
    left
}

fn is_done(run: &Run, planned: &PlannedTrial) -> bool {
    let plan = &run.header.plan;
    let of_cell =
        |entry: &str, workload: &str| entry == planned.entry && workload == planned.workload;
    let shares = |workload: &str| {
        let (own, other) = (plan.workload(&planned.workload), plan.workload(workload));
        own.zip(other).is_some_and(|(own, other)| own.shares_process(other))
    };
    // A process that can't get ready fails for every workload that would share it.
    let out = run.preparations.iter().any(|preparation| {
        preparation.entry == planned.entry
            && (preparation.workload == planned.workload || shares(&preparation.workload))
            && preparation.readiness != Readiness::Ready
    });
    let ended =
        run.trials.iter().filter(|trial| of_cell(&trial.entry, &trial.workload)).any(|trial| {
            trial.number == planned.number || matches!(trial.result, TrialResult::Failed(_))
        });
    out || ended
}

#[cfg(test)]
pub(super) mod tests;
