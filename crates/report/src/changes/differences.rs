//! How two runs differ apart from their figures.

use rpcbench_record::{Header, Machine, Run, Workload};
use serde_json::Value;

use super::cells::Cells;
use crate::format;

/// A difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `CPUs of the server`, `quick: in_flight`.
    pub field: String,
    /// Its value in the old run.
    pub old: String,
    /// In the new one.
    pub new: String,
    /// Whether it rules out comparing servers.
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
            ("placement", |header| word(&header.plan.placement)),
            ("load generator", |header| word(&header.plan.load_generator)),
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
            ("virtualization", |machine| word(&machine.virtualization)),
            ("clock source", |machine| word(&machine.clock_source)),
            ("transparent huge pages", |machine| word(&machine.huge_pages)),
            ("frequency governor", |machine| word(&machine.cpu.governor)),
            ("turbo", |machine| word(&machine.cpu.turbo)),
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
    let (old_fields, new_fields) = (json(old), json(new));
    let (Some(a), Some(b)) = (old_fields.as_object(), new_fields.as_object()) else {
        return Vec::new();
    };
    let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let differing = keys.into_iter().filter(|key| a.get(*key) != b.get(*key));
    let shown = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), plain);
    differing
        .map(|key| Difference {
            field: format!("{}: {key}", new.name),
            old: shown(a.get(key)),
            new: shown(b.get(key)),
            forbids: false,
        })
        .collect()
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A value as JSON writes it, without quotes; `none` for null.
fn word(value: &impl serde::Serialize) -> String {
    plain(&json(value))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
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
