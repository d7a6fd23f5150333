//! `rpcbench list suites`: the purpose and needs of each suite, and how long it takes here.

use std::time::Duration;

use rpcbench_harness::manifest::{Entry, Runtime};
use rpcbench_harness::suite::Suite;
use rpcbench_record::units::{bytes, count, plural};
use rpcbench_record::{Arrivals, Rate, Workload};

use crate::print::hanging;

/// A few lines about a suite. `entries` are the default ones, `cpus` the CPUs of this machine, and `width` is the width of a
/// line.
pub fn text(suite: &Suite, entries: &[Entry], cpus: u32, width: usize) -> String {
    let mut lines = vec![suite.description.clone(), setting(suite, cpus)];
    let groups: Vec<&[Workload]> =
        suite.workloads.chunk_by(|one, next| one.shares_process(next)).collect();
    lines.extend(loads(&groups));
    lines.push(takes(suite, entries));
    let heads = std::iter::once(suite.name.as_str()).chain(std::iter::repeat(""));
    let shown = lines.iter().zip(heads);
    shown.map(|(line, head)| hanging(&format!("  {head:<19}"), line, width)).collect()
}

/// `1 CPU, 512 MiB, at most 32 processes x 16 windows`, and a remark if the machine has fewer CPUs.
fn setting(suite: &Suite, cpus: u32) -> String {
    let memory = suite.limits.memory_bytes.map_or("no memory limit".to_owned(), bytes);
    let wanted = suite.limits.cpus;
    let short = match wanted + 1 > cpus {
        true => format!(" (and one for the client; {cpus} here)"),
        false => String::new(),
    };
    format!("{}{short}, {memory}, {}", plural(wanted.into(), "CPU"), trials(suite))
}

/// `3 processes`; `at most 32 processes x 16 windows`.
fn trials(suite: &Suite) -> String {
    let is_most = suite.stopping.is_some() && suite.rounds.is_some();
    let at_most = if is_most { "at most " } else { "" };
    let or_more = if suite.processes.is_none() { " or more" } else { "" };
    let processes = format!("{}{or_more}", plural(suite.first_processes().into(), "process"));
    let windows = match suite.rounds {
        Some(1) => String::new(),
        Some(rounds) => format!(" x {rounds} windows"),
        None => " x as many windows as the time allows".to_owned(),
    };
    format!("{at_most}{processes}{windows}")
}

/// A line for the loads of each process. Processes that differ only in connections share a line.
fn loads(groups: &[&[Workload]]) -> Vec<String> {
    let line = |group: &[Workload], connections: &str, in_flight: &str| {
        let content = &group[0].content;
        let load = format!("{content}, {connections} connections, {in_flight} in flight");
        format!("{load}: {}", group_arrivals(group))
    };
    let same = |group: &&[Workload]| {
        let like = |w: &Workload| Workload {
            name: String::new(),
            connections: 0,
            in_flight: 0,
            ..w.clone()
        };
        group.len() == 1 && like(&group[0]) == like(&groups[0][0])
    };
    if groups.len() > 1 && groups.iter().all(same) {
        let all = |of: fn(&Workload) -> u32| {
            let numbers = groups.iter().map(|group| count(of(&group[0]).into()));
            numbers.collect::<Vec<_>>().join("/")
        };
        return vec![line(groups[0], &all(|w| w.connections), &all(|w| w.in_flight))];
    }
    let each = groups.iter().map(|group| {
        line(group, &count(group[0].connections.into()), &count(group[0].in_flight.into()))
    });
    each.collect()
}

/// `closed loop 5s; poisson at 10% to 90% of it, 9 loads of 10s`.
fn group_arrivals(group: &[Workload]) -> String {
    let alike = |one: &Workload, next: &Workload| {
        std::mem::discriminant(&one.arrivals) == std::mem::discriminant(&next.arrivals)
            && (one.find_max, one.window) == (next.find_max, next.window)
    };
    let part = |loads: &[Workload]| {
        let (first, last) = (&loads[0], &loads[loads.len() - 1]);
        let each = match loads.len() {
            1 => String::new(),
            number => format!(", {number} loads of"),
        };
        format!("{}{each} {}", between(first, last), first.window)
    };
    group.chunk_by(alike).map(part).collect::<Vec<_>>().join("; ")
}

fn between(first: &Workload, last: &Workload) -> String {
    if let Some(limit) = first.find_max {
        return format!("search for {limit}, windows of");
    }
    let (kind, from, to) = match (first.arrivals, last.arrivals) {
        (Arrivals::Poisson { rate: from }, Arrivals::Poisson { rate: to }) => ("poisson", from, to),
        (Arrivals::Constant { rate: from }, Arrivals::Constant { rate: to }) => {
            ("constant", from, to)
        }
        (Arrivals::Closed, _) => return "closed loop".to_owned(),
        (other, _) => return other.to_string(),
    };
    let of = if matches!(to, Rate::OfCapacity(_)) { " of capacity" } else { " calls/s" };
    match from == to {
        true => format!("{kind} at {from}{of}"),
        false => format!("{kind} at {from} to {to}{of}"),
    }
}

/// `about 12 min for 14 entries`.
fn takes(suite: &Suite, entries: &[Entry]) -> String {
    let taken: Vec<&Entry> = entries.iter().filter(|entry| suite.takes(entry.protocol)).collect();
    let runtimes = taken.iter().map(|entry| &entry.server.runtime);
    let time = runtimes.map(|runtime: &Runtime| suite.length(runtime)).sum::<Duration>();
    let most = suite.stopping.and_then(|stopping| stopping.max_time_ms);
    let entries = match taken.len() {
        1 => "the one server".to_owned(),
        number => format!("the {number} servers"),
    };
    let is_limit = |most: &u64| suite.rounds.is_none() || u128::from(*most) < time.as_millis();
    match most.filter(is_limit) {
        Some(most) => {
            let most = minutes(Duration::from_millis(most));
            format!("takes at most {most} min for {entries} that run by default")
        }
        None => format!("takes about {} min for {entries} that run by default", minutes(time)),
    }
}

fn minutes(time: Duration) -> u64 {
    time.as_secs().div_ceil(60)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rpcbench_harness::manifest::{Catalog, Selection};

    use super::*;

    #[test]
    fn suites_show_purpose_needs_and_time() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/root");
        let entries = Catalog::load(&root).unwrap().select(&Selection::default()).unwrap();
        let shown = |name: &str| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            text(&Suite::named(&root, name).unwrap(), &entries[..3], 2, 80)
        };
        insta::assert_snapshot!(["quick", "latency", "slo", "few-connections"].map(shown).concat());
    }
}
