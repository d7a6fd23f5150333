//! The page's data: what is known of each record as a whole.

use rpcbench_record::{
    Header, Isolation, Machine, Preparation, Readiness, Run, ServerMachine, Toolchain,
};
use serde::Serialize;

use super::calls::TrialCalls;
use super::part::PartView;
use super::{Comparison, Record, View, changes, load, part};
use crate::format;
use crate::warning::Warning;
use crate::words;

/// Version of the page's data; the page and its data are always of one version.
const SCHEMA: u32 = 1;

/// Everything on the page.
#[derive(Serialize)]
pub(super) struct Page {
    schema: u32,
    /// One for each record.
    pub(super) runs: Vec<RunView>,
}

/// A record.
#[derive(Serialize)]
pub(super) struct RunView {
    /// The suite; the address of a load.
    pub(super) name: String,
    /// When it began, UTC, to the minute.
    pub(super) started: String,
    pub(super) parts: Vec<PartView>,
    /// What limits the worth of all this, with what to do about it.
    pub(super) warnings: Vec<String>,
    pub(super) how_to_read: Vec<String>,
    /// The command that repeats it.
    pub(super) command: String,
    /// What it ran on: names and values.
    pub(super) origin: Vec<(&'static str, String)>,
    pub(super) processes: Vec<ProcessView>,
    /// Single calls, where they were logged: of one trial of each cell.
    pub(super) calls: Vec<TrialCalls>,
}

/// What was measured: the first process of each entry.
#[derive(Serialize)]
pub(super) struct ProcessView {
    entry: String,
    state: &'static str,
    /// Names and values.
    facts: Vec<(&'static str, String)>,
}

impl Page {
    pub(super) fn of(records: &[Record], calls: Vec<Vec<TrialCalls>>) -> Self {
        let calls = calls.into_iter().chain(std::iter::repeat_with(Vec::new));
        let view = |(record, calls)| RunView { calls, ..RunView::of(record) };
        Self { schema: SCHEMA, runs: records.iter().zip(calls).map(view).collect() }
    }

    /// Puts what changed before the runs that it is read from.
    pub(super) fn compare(&mut self, comparison: &Comparison<'_>) {
        if let [old, new] = self.runs.as_mut_slice() {
            old.name.insert_str(0, "old: ");
            new.name.insert_str(0, "new: ");
        }
        self.runs.insert(0, changes::view(comparison));
    }
}

impl RunView {
    fn of(Record { run, view }: &Record) -> Self {
        match view {
            View::Load(load) => Self {
                name: load::name(run),
                warnings: load::warnings(load),
                parts: vec![load::part(run, load)],
                ..Self::blank(run)
            },
            View::Servers(summary) => Self {
                name: run.header.plan.suite.clone(),
                parts: part::parts(run, summary),
                warnings: summary.warnings.iter().map(Warning::line).collect(),
                how_to_read: words::how_to_read(summary),
                ..Self::blank(run)
            },
        }
    }

    fn blank(run: &Run) -> Self {
        Self {
            name: String::new(),
            started: words::began(&run.header),
            parts: Vec::new(),
            warnings: Vec::new(),
            how_to_read: Vec::new(),
            command: typed(&run.header.arguments),
            origin: origin(run),
            processes: processes(run),
            calls: Vec::new(),
        }
    }
}

/// What was typed, as a shell takes it. A record has the arguments alone.
pub(super) fn typed(arguments: &[String]) -> String {
    let arguments = command(arguments);
    if arguments.starts_with("rpcbench") { arguments } else { format!("rpcbench {arguments}") }
}

/// Arguments as a shell takes them.
fn command(arguments: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,%+".contains(c);
    let quoted = |argument: &String| match !argument.is_empty() && argument.chars().all(plain) {
        true => argument.clone(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn origin(run: &Run) -> Vec<(&'static str, String)> {
    let Header { id, tool, started, machines, plan, .. } = &run.header;
    let ended = run.finished.map(|at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
    let mut facts = vec![
        ("began", started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        ("ended", ended.unwrap_or_else(|| "it did not come to its end".to_owned())),
        ("rpcbench", format!("{tool}, {} build", tool.profile)),
        ("seed", plan.seed.to_string()),
        ("run", id.to_string()),
    ];
    facts.extend(machine(&machines.client));
    match &machines.server {
        ServerMachine::SameAsClient => {}
        ServerMachine::Unknown => facts.push(("servers' machine", "not known".to_owned())),
        ServerMachine::Own(own) => facts.push(("servers' machine", own.cpu.model.clone())),
    }
    facts
}

fn machine(machine: &Machine) -> Vec<(&'static str, String)> {
    let cpu = &machine.cpu;
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
    let turbo = cpu.turbo.map_or("not known", |on| if on { "on" } else { "off" });
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
        ("hypervisor", machine.virtualization.clone().unwrap_or_else(|| "none seen".to_owned())),
        ("cgroup", machine.cgroup.clone()),
        ("clock", known(&machine.clock_source)),
    ]
}

/// The first preparation of each entry, in the plan's order.
fn processes(run: &Run) -> Vec<ProcessView> {
    let servers = run.header.plan.servers.iter();
    let first = servers.filter_map(|server| {
        let made = run.preparations.iter().find(|p| p.entry == server.entry)?;
        Some(process(made))
    });
    first.collect()
}

fn process(p: &Preparation) -> ProcessView {
    let pairs = |of: &std::collections::BTreeMap<String, String>, by: &str| {
        of.iter().map(|(name, value)| format!("{name}{by}{value}")).collect::<Vec<_>>().join(", ")
    };
    let tools = p.toolchains.iter().map(Toolchain::to_string);
    let failed = p.check.failed.len() as u64;
    let checked = match (p.check.passed, failed) {
        (0, 0) => String::new(),
        (passed, 0) => format!("{} passed", format::plural(u64::from(passed), "case")),
        (passed, failed) => format!("{passed} passed, {failed} failed"),
    };
    let mut facts = vec![
        ("versions", pairs(&p.versions, " ")),
        ("toolchains", tools.collect::<Vec<_>>().join(", ")),
        ("build", p.build.clone()),
        ("command", command(&p.command)),
        ("environment", pairs(&p.env, "=")),
        ("conformance", checked),
        ("isolation", isolation(&p.isolation)),
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

fn isolation(isolation: &Isolation) -> String {
    use rpcbench_record::IsolationMode::{Affinity, CgroupV1, CgroupV2, Unmanaged};
    let mode = match isolation.mode {
        CgroupV2 => "cgroup v2",
        CgroupV1 => "cgroup v1",
        Affinity => "CPU affinity",
        Unmanaged => return "none: rpcbench did not start it".to_owned(),
    };
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
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
    fn a_command_can_be_pasted_into_a_shell() {
        let typed = ["rpcbench", "run", "java-*", "it's", ""].map(str::to_owned);
        assert_eq!(command(&typed), r"rpcbench run 'java-*' 'it'\''s' ''");
    }
}
