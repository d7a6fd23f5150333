//! How two runs differ apart from their figures.

use rpcbench_record::{Header, LoadGeneratorKind, Machine, Run, Workload};

use super::cells::Cells;
use crate::format;

/// A difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `CPUs of the server`, `quick: in_flight`.
    pub field: String,
    /// Value in the old run.
    pub old: String,
    /// Value in the new run.
    pub new: String,
    /// True if it forbids comparing servers.
    pub forbids: bool,
}

/// All differences, those that forbid a comparison first.
pub(super) fn differences(old: &Run, new: &Run) -> Vec<Difference> {
    let (a, b) = (&old.header, &new.header);
    let forbids = [setting(a, b), machine(&a.machines.client, &b.machines.client), workloads(a, b)];
    let forbids = forbids.concat().into_iter().map(|it| Difference { forbids: true, ..it });
    let warns = [surroundings(&a.machines.client, &b.machines.client), tool(old, new)];
    forbids.chain(warns.concat()).collect()
}

/// A field, and its value as text.
type Field<T> = (&'static str, fn(&T) -> String);

fn fields<T>(old: &T, new: &T, fields: &[Field<T>]) -> Vec<Difference> {
    let differing = fields.iter().filter_map(|(field, value)| {
        let (old, new) = (value(old), value(new));
        let field = (*field).to_owned();
        (old != new).then_some(Difference { field, old, new, forbids: false })
    });
    differing.collect()
}

fn setting(old: &Header, new: &Header) -> Vec<Difference> {
    let memory = |header: &Header| {
        let limit = header.plan.limits.memory_bytes;
        limit.map_or_else(|| "no limit".to_owned(), format::bytes)
    };
    fields(
        old,
        new,
        &[
            ("CPUs of the server", |header| header.plan.limits.cpus.to_string()),
            ("memory of the server", memory),
            ("placement", |header| header.plan.placement.to_string()),
            ("load generator", |header| load_generator(header.plan.load_generator).to_owned()),
        ],
    )
}

fn machine(old: &Machine, new: &Machine) -> Vec<Difference> {
    fields(
        old,
        new,
        &[
            ("CPU model", |machine| machine.cpu.model.clone()),
            ("CPUs of the machine", |machine| machine.cpu.logical.to_string()),
        ],
    )
}

fn surroundings(old: &Machine, new: &Machine) -> Vec<Difference> {
    fields(
        old,
        new,
        &[
            ("kernel", |machine| machine.kernel.clone()),
            ("operating system", |machine| machine.os.clone()),
            ("memory of the machine", |machine| format::bytes(machine.memory_bytes)),
            ("cgroup", |machine| machine.cgroup.clone()),
            ("virtualization", |machine| known(machine.virtualization.as_ref())),
            ("clock source", |machine| known(machine.clock_source.as_ref())),
            ("transparent huge pages", |machine| known(machine.huge_pages.as_ref())),
            ("frequency governor", |machine| known(machine.cpu.governor.as_ref())),
            ("turbo", |machine| {
                machine.cpu.turbo.map_or("unknown", |on| if on { "on" } else { "off" }).to_owned()
            }),
        ],
    )
}

fn tool(old: &Run, new: &Run) -> Vec<Difference> {
    fields(
        old,
        new,
        &[
            ("rpcbench", |run| {
                let tool = &run.header.tool;
                let commit = tool.commit.as_deref().unwrap_or("unknown commit");
                format!("{} ({commit}, {})", tool.version, tool.profile)
            }),
            ("state", |run| match run.finished {
                Some(_) => "finished".to_owned(),
                None => "interrupted".to_owned(),
            }),
        ],
    )
}

/// Workloads of the same name with different loads. Workloads that one run lacks are left out elsewhere.
fn workloads(old: &Header, new: &Header) -> Vec<Difference> {
    let pairs = new.plan.workloads.iter().filter_map(|w| Some((old.plan.workload(&w.name)?, w)));
    pairs.flat_map(|(old, new)| workload(old, new)).collect()
}

fn workload(old: &Workload, new: &Workload) -> Vec<Difference> {
    let name = &new.name;
    let pairs = old.settings().into_iter().zip(new.settings());
    let differing = pairs.filter(|(old, new)| old != new).map(|((key, old), (_, new))| {
        let field = format!("{name}: {key}");
        Difference { field, old, new, forbids: false }
    });
    differing.collect()
}

fn load_generator(kind: LoadGeneratorKind) -> &'static str {
    match kind {
        LoadGeneratorKind::InProcess => "threads of rpcbench",
        LoadGeneratorKind::ClientPrograms => "client libraries",
    }
}

fn known(value: Option<&String>) -> String {
    value.cloned().unwrap_or_else(|| "none".to_owned())
}

/// Entries with different library versions.
pub(super) fn versions(cells: &[Cells]) -> Vec<String> {
    let mut lines = Vec::new();
    for pair in cells.iter().flat_map(|cells| &cells.pairs) {
        let (old, new) = (pair.old.versions(), pair.new.versions());
        let line = format!("{}: {old}; now {new}", pair.new.server.without_build());
        if old != new && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
