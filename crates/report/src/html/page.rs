//! The page's data: each record as a whole.

use itertools::Itertools as _;
use rpcbench_record::{
    Counterpart, Header, Isolation, Machine, Preparation, Readiness, Run, ServerMachine,
};
use serde::Serialize;

use super::calls::TrialCalls;
use super::part::PartView;
use super::{Comparison, changes, load, part, rates};
use crate::document::Document;
use crate::format;
use crate::parties::Parties;
use crate::view::View;
use crate::words;

/// Version of the page's data. Always matches the page.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
pub(super) struct Page {
    schema: u32,
    /// One per record.
    pub(super) runs: Vec<RunView>,
}

#[derive(Serialize)]
pub(super) struct RunView {
    /// The suite, or the address of a load.
    pub(super) name: String,
    /// Start of the run, UTC, to the minute.
    pub(super) started: String,
    pub(super) parts: Vec<PartView>,
    /// Warnings that limit the figures, with advice.
    pub(super) warnings: Vec<String>,
    pub(super) how_to_read: Vec<String>,
    /// The command that repeats the run.
    pub(super) command: String,
    /// Machine and versions: names and values.
    pub(super) origin: Vec<(&'static str, String)>,
    pub(super) processes: Vec<ProcessView>,
    /// Single calls of one trial of each cell, if they were logged.
    pub(super) calls: Vec<TrialCalls>,
}

/// The first process of each entry.
#[derive(Serialize)]
pub(super) struct ProcessView {
    entry: String,
    state: &'static str,
    /// Names and values.
    facts: Vec<(&'static str, String)>,
}

impl Page {
    pub(super) fn of<'a>(
        records: impl Iterator<Item = (&'a Run, &'a View, Document<'a>)>,
        calls: Vec<Vec<TrialCalls>>,
    ) -> Self {
        let calls = calls.into_iter().chain(std::iter::repeat_with(Vec::new));
        let view = |((run, view, document), calls)| RunView::of(run, view, document, calls);
        Self { schema: SCHEMA, runs: records.zip(calls).map(view).collect() }
    }

    /// Puts the changes before the runs they come from.
    pub(super) fn compare(&mut self, comparison: &Comparison<'_>) {
        if let [old, new] = self.runs.as_mut_slice() {
            old.name.insert_str(0, "old: ");
            new.name.insert_str(0, "new: ");
        }
        self.runs.insert(0, changes::view(comparison));
    }
}

impl RunView {
    fn of(run: &Run, view: &View, document: Document<'_>, calls: Vec<TrialCalls>) -> Self {
        let parts = document.parts.into_iter();
        let parts = match view {
            View::Run(summary) => part::parts(run, summary, parts),
            View::Load(it) => parts.map(|part| load::part(run, it, part)).collect(),
            View::Curve(it) => parts.map(|part| rates::part(it, part)).collect(),
        };
        Self {
            name: document.title,
            started: words::began(&run.header),
            parts,
            warnings: document.warnings,
            how_to_read: document.how_to_read,
            command: typed(&run.header.arguments),
            origin: origin(run),
            processes: processes(run),
            calls,
        }
    }
}

/// The command line, quoted for a shell. A record has only the arguments.
pub(super) fn typed(arguments: &[String]) -> String {
    let arguments = command(arguments);
    if arguments.starts_with("rpcbench") { arguments } else { format!("rpcbench {arguments}") }
}

/// Arguments, quoted for a shell.
fn command(arguments: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,%+".contains(c);
    let quoted = |argument: &String| match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.clone(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    };
    arguments.iter().map(quoted).join(" ")
}

fn origin(run: &Run) -> Vec<(&'static str, String)> {
    let Header { id, tool, started, machines, plan, .. } = &run.header;
    let ended = run.finished.map(|at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    let mut facts = vec![
        ("began", started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        ("ended", ended.unwrap_or_else(|| "did not finish".to_owned())),
        ("rpcbench", format!("{tool}, {} build", tool.profile)),
        ("seed", plan.seed.to_string()),
        ("run", id.to_string()),
    ];
    facts.extend(machine(&machines.client));
    match &machines.server {
        ServerMachine::SameAsClient => {}
        ServerMachine::Unknown => facts.push(("servers' machine", "unknown".to_owned())),
        ServerMachine::Own(own) => facts.push(("servers' machine", own.cpu.model.clone())),
    }
    facts.extend(machines.engine.iter().map(|it| ("servers run by", it.to_string())));
    facts
}

fn machine(machine: &Machine) -> Vec<(&'static str, String)> {
    let cpu = &machine.cpu;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let turbo = cpu.turbo.map_or("unknown", |on| if on { "on" } else { "off" });
    vec![
        ("CPU", cpu.model.clone()),
        (
            "CPUs",
            format!(
                "{} of {}",
                format::plural(u64::from(cpu.logical), "CPU"),
                format::plural(u64::from(cpu.cores), "core")
            ),
        ),
        ("governor, turbo", format!("{}, {turbo}", known(&cpu.governor))),
        ("memory", format::bytes(machine.memory_bytes)),
        ("system", format!("{}, Linux {}", machine.os, machine.kernel)),
        (
            "hypervisor",
            machine.virtualization.clone().unwrap_or_else(|| "none detected".to_owned()),
        ),
        ("cgroup", machine.cgroup.clone()),
        ("clock", known(&machine.clock_source)),
    ]
}

/// The first preparation of each entry, in the plan's order.
fn processes(run: &Run) -> Vec<ProcessView> {
    let servers = run.header.plan.servers.iter();
    let first = servers.filter_map(|server| {
        let made = run.preparations.iter().find(|p| p.entry == server.entry)?;
        Some(process(Parties::of(server), made))
    });
    first.collect()
}

fn process(parties: Parties, p: &Preparation) -> ProcessView {
    let pairs = |of: &std::collections::BTreeMap<String, String>, by: &str| {
        of.iter().map(|(name, value)| format!("{name}{by}{value}")).join(", ")
    };
    let failed = p.check.failed.len() as u64;
    let checked = match (p.check.passed, failed) {
        (0, 0) => String::new(),
        (passed, 0) => format!("{} passed", format::plural(u64::from(passed), "case")),
        (passed, failed) => format!("{passed} passed, {failed} failed"),
    };
    let mut facts = vec![
        ("versions", pairs(&p.versions, " ")),
        ("toolchains", p.toolchains.iter().join(", ")),
        ("build", p.build.clone()),
        ("command", command(&p.command)),
        ("environment", pairs(&p.env, "=")),
        ("its server", p.counterpart.as_ref().map(called).unwrap_or_default()),
        ("checks of replies", p.reply_checks.clone().unwrap_or_default()),
        ("conformance", checked),
        ("isolation", parties.words(&isolation(&p.isolation)).into_owned()),
        ("placement", pairs(&p.isolation.details, " ")),
        ("notes", p.isolation.notes.join("; ")),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    let state = match p.readiness {
        Readiness::Ready => "ready",
        Readiness::Skipped { .. } => "skipped",
        Readiness::Failed(_) => "failed",
    };
    ProcessView { entry: p.entry.clone(), state, facts }
}

/// `java-grpc@zgc: grpc-java 1.85.1; java -jar server.jar`.
fn called(server: &Counterpart) -> String {
    let mut versions = server.versions.iter().map(|(name, version)| format!("{name} {version}"));
    let versions = versions.join(", ");
    format!("{}: {versions}; {}", server.server, command(&server.command))
}

fn isolation(isolation: &Isolation) -> String {
    use rpcbench_record::IsolationMode::{Affinity, CgroupV1, CgroupV2, Unmanaged};
    let mode = match isolation.mode {
        CgroupV2 => "cgroup v2",
        CgroupV1 => "cgroup v1",
        Affinity => "CPU affinity",
        Unmanaged => return "none: rpcbench did not start it".to_owned(),
    };
    let list = |cpus: &[u32]| cpus.iter().join(", ");
    let memory = isolation.memory_bytes.map(|bytes| format!(", {}", format::bytes(bytes)));
    format!(
        "{mode}; server on CPU {}, client on CPU {}{}",
        list(&isolation.server_cpus),
        list(&isolation.client_cpus),
        memory.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_quoted_for_shell() {
        let typed = ["rpcbench", "run", "java-*", "it's", ""].map(str::to_owned);
        assert_eq!(command(&typed), r"rpcbench run 'java-*' 'it'\''s' ''");
    }
}
