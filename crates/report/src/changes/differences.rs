//! In what two runs differ besides what they measured.

use rpcbench_record::{Header, Machine, Run, Workload};
use serde_json::Value;

use super::cells::Cells;
use crate::format;

/// Something that two runs do not have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What: `CPUs of the server`, `quick: in_flight`.
    pub field: String,
    /// Its value in the old run.
    pub old: String,
    /// In the new one.
    pub new: String,
    /// Whether no difference between servers can be told from it.
    pub forbids: bool,
}

/// All of them, what forbids a comparison first.
pub(super) fn differences(old: &Run, new: &Run) -> Vec<Difference> {
    let (a, b) = (&old.header, &new.header);
    let forbids = [setting(a, b), machine(&a.machines.client, &b.machines.client), workloads(a, b)];
    let forbids = forbids.concat().into_iter().map(|it| Difference { forbids: true, ..it });
    let warns = [surroundings(&a.machines.client, &b.machines.client), tool(old, new)];
    forbids.chain(warns.concat()).collect()
}

/// A field, and how its value is written.
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

/// Workloads of one name that are not the same load. Where one run lacks it, its cells are left out instead.
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

/// A value that JSON writes as a word, or `none`.
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

/// Entries of which the runs have different versions.
pub(super) fn versions(cells: &[Cells]) -> Vec<String> {
    let mut told = Vec::new();
    for pair in cells.iter().flat_map(|cells| &cells.pairs) {
        let (old, new) = (pair.old.versions(), pair.new.versions());
        let line = format!("{}: {old}; now {new}", pair.new.server.without_build());
        if old != new && !told.contains(&line) {
            told.push(line);
        }
    }
    told
}
