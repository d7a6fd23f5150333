//! Turns facts into findings.

use rpcbench_record::IsolationMode;
use rpcbench_record::units::bytes;

use super::{Facts, Language};
use crate::finding::{Finding, advice, fine, problem};
use crate::toolchain::Probe;

/// All findings, in reading order.
pub fn examine(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![machine(facts), cpus(facts)];
    findings.extend([governor(facts), turbo(facts), virtualization(facts)].into_iter().flatten());
    findings.push(cgroup(facts));
    findings.push(open_files(facts));
    findings.extend(
        [clock(facts), memory(facts), ports(facts), load(facts), pressure(facts), steal(facts)]
            .into_iter()
            .flatten(),
    );
    findings.extend(facts.placements.iter().cloned());
    findings.extend(facts.languages.iter().map(toolchain));
    findings
}

/// A finding with `what` that is fine, or advice that appends `worse`.
fn rated(id: &str, is_fine: bool, what: String, worse: &str, remedy: &str) -> Finding {
    match is_fine {
        true => fine(id, what),
        false => advice(id, format!("{what}{worse}"), remedy),
    }
}

fn machine(facts: &Facts) -> Finding {
    let machine = &facts.machine;
    let memory = bytes(machine.memory_bytes);
    fine(
        "machine",
        format!("{}, {memory}, Linux {}, {}", machine.cpu.model, machine.kernel, machine.os),
    )
}

fn cpus(facts: &Facts) -> Finding {
    let cores: Vec<String> = facts.topology.cores.iter().map(|core| listed(core)).collect();
    let (logical, physical) = (facts.topology.cpus().len(), cores.len());
    let what = match physical == logical {
        true if logical == 1 => format!("1 CPU: {}", cores.join(" ")),
        true => format!("{logical} CPUs, one per core: {}", cores.join(" ")),
        false => format!("{logical} CPUs on {physical} cores: {}", cores.join(" ")),
    };
    match logical {
        0 | 1 => problem(
            "cpus",
            format!("{what}; server and client will share it"),
            "use a machine with at least 2 CPUs, or widen this process's CPU set",
        ),
        2 | 3 => advice(
            "cpus",
            format!("{what}; enough for servers on 1 CPU next to the client"),
            "use 4 CPUs or more for suites that give a server 2 or 3",
        ),
        _ => fine("cpus", what),
    }
}

fn listed(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join("+")
}

fn governor(facts: &Facts) -> Option<Finding> {
    let governor = facts.machine.cpu.governor.as_deref()?;
    Some(rated(
        "governor",
        governor == "performance",
        format!("frequency governor '{governor}'"),
        ": the clock follows the load, and warms up with it",
        "cpupower frequency-set -g performance",
    ))
}

fn turbo(facts: &Facts) -> Option<Finding> {
    Some(match facts.machine.cpu.turbo? {
        false => fine("turbo", "turbo is off: the clock is steady".to_owned()),
        true => advice(
            "turbo",
            "turbo is on: the clock depends on temperature and on what other cores do".to_owned(),
            "as root: echo 0 > /sys/devices/system/cpu/cpufreq/boost, or on intel_pstate \
             echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
        ),
    })
}

fn virtualization(facts: &Facts) -> Option<Finding> {
    let name = facts.machine.virtualization.as_deref()?;
    Some(advice(
        "virtualization",
        format!("a virtual machine ({name}): other VMs on the host can affect the figures"),
        "compare within one run only, watch the steal time, and trust calls per server CPU-second first",
    ))
}

fn clock(facts: &Facts) -> Option<Finding> {
    let source = facts.machine.clock_source.as_deref()?;
    let what = format!("clock source '{source}'");
    Some(match source {
        "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" => problem(
            "clock",
            format!("{what}: reading the time takes a microsecond or more"),
            "boot with clocksource=tsc, or find in the kernel's log why it distrusts the TSC",
        ),
        _ => fine("clock", what),
    })
}

fn cgroup(facts: &Facts) -> Finding {
    let notes = facts.isolation_notes.join("; ");
    let because = if notes.is_empty() { String::new() } else { format!(": {notes}") };
    match facts.isolation {
        IsolationMode::CgroupV2 => fine("cgroup", format!("a cgroup v2 for each server{because}")),
        IsolationMode::CgroupV1 => fine("cgroup", format!("cgroups v1 for each server{because}")),
        IsolationMode::Affinity | IsolationMode::Unmanaged => advice(
            "cgroup",
            format!("servers are isolated by CPU affinity only{because}"),
            "run as root, or under: systemd-run --user --scope -p Delegate=yes rpcbench ...",
        ),
    }
}

fn memory(facts: &Facts) -> Option<Finding> {
    const ENOUGH: u64 = 2 << 30;
    let available = facts.memory_available?;
    let what = format!("{} of memory available", bytes(available));
    let remedy = "end other programs: servers are given 512 MiB and more";
    Some(rated("memory", available >= ENOUGH, what, "", remedy))
}

fn open_files(facts: &Facts) -> Finding {
    const ENOUGH: u64 = 16_384;
    let limit = facts.machine.open_files;
    let what = match limit {
        u64::MAX => "no limit on open files".to_owned(),
        limit => format!("at most {limit} open files"),
    };
    let worse = ": too few for workloads of many connections";
    let remedy = "ulimit -n 65536, or LimitNOFILE= of the service";
    rated("open-files", limit >= ENOUGH, what, worse, remedy)
}

fn ports(facts: &Facts) -> Option<Finding> {
    const ENOUGH: u32 = 20_000;
    let (first, last) = facts.local_ports?;
    let count = last.saturating_sub(first) + 1;
    let what = format!("{count} local ports ({first}-{last})");
    let worse = ": too few for workloads that open a connection for every call";
    let remedy = "as root: sysctl -w net.ipv4.ip_local_port_range=\"15000 65000\"";
    Some(rated("ports", count >= ENOUGH, what, worse, remedy))
}

fn load(facts: &Facts) -> Option<Finding> {
    let load = facts.load?;
    let what = format!("load of the last minute {load:.2}");
    let worse = ": something else is running, or was until recently";
    let remedy = "end other programs (top shows them), or wait a minute";
    Some(rated("load", load < 0.5, what, worse, remedy))
}

fn pressure(facts: &Facts) -> Option<Finding> {
    const MUCH: f64 = 0.05;
    let share = facts.cpu_pressure?;
    let what = format!("tasks waited for a CPU for {:.0} % of the last 10 s", share * 100.0);
    Some(rated("pressure", share < MUCH, what, "", "end other programs (top shows them)"))
}

fn steal(facts: &Facts) -> Option<Finding> {
    const MUCH: f64 = 0.005;
    let share = facts.steal?;
    let what = format!("{:.1} % of the CPU time wanted since boot was stolen", share * 100.0);
    let worse = " by the hypervisor for other guests";
    let remedy = "use a machine with dedicated CPUs; runs record the steal time of each trial";
    Some(rated("steal", share < MUCH, what, worse, remedy))
}

fn toolchain(language: &Language) -> Finding {
    let id = format!("toolchain-{}", language.name);
    let title = &language.title;
    let remedies: Vec<String> = language.probes.iter().filter_map(Probe::remedy).collect();
    if !remedies.is_empty() {
        let what = format!("{title}: servers that need what is missing will be skipped");
        return advice(&id, what, &remedies.join("; "));
    }
    if !language.unsupported.is_empty() {
        let what = format!("{title}: its runtime is past its end of life");
        return advice(&id, what, &language.unsupported.join("; "));
    }
    let found = language.probes.iter().filter_map(Probe::found);
    let found: Vec<String> = found.map(ToString::to_string).collect();
    fine(&id, format!("{title}: {}", found.join(", ")))
}

#[cfg(test)]
mod tests {
    use rpcbench_record::{Cpu, Machine, Toolchain};

    use super::*;
    use crate::finding::Severity;
    use crate::host::cpus::Topology;
    use crate::toolchain::Missing;

    fn good() -> Facts {
        let cpu = Cpu {
            model: "A CPU".to_owned(),
            logical: 4,
            cores: 4,
            governor: Some("performance".to_owned()),
            turbo: Some(false),
        };
        let machine = Machine {
            kernel: "6.12".to_owned(),
            os: "Debian".to_owned(),
            cpu,
            memory_bytes: 16 << 30,
            cgroup: "v2".to_owned(),
            virtualization: None,
            clock_source: Some("tsc".to_owned()),
            huge_pages: None,
            open_files: 65_536,
        };
        let go = Toolchain { name: "go".to_owned(), version: "1.26".to_owned() };
        let probes = vec![Probe::Found(go)];
        Facts {
            machine,
            topology: Topology { cores: vec![vec![0], vec![1], vec![2], vec![3]], slow: 0 },
            isolation: IsolationMode::CgroupV2,
            isolation_notes: Vec::new(),
            memory_available: Some(12 << 30),
            local_ports: Some((32_768, 60_999)),
            load: Some(0.02),
            cpu_pressure: Some(0.0),
            steal: Some(0.0),
            placements: vec![fine("docker", "docker 20.10".to_owned())],
            languages: vec![Language {
                title: "Go".to_owned(),
                name: "go".to_owned(),
                probes,
                unsupported: Vec::new(),
            }],
        }
    }

    fn bad() -> Facts {
        let mut facts = good();
        facts.machine.cpu.governor = Some("powersave".to_owned());
        facts.machine.cpu.turbo = Some(true);
        facts.machine.virtualization = Some("KVM".to_owned());
        facts.machine.clock_source = Some("hpet".to_owned());
        facts.machine.open_files = 1024;
        facts.topology = Topology { cores: vec![vec![0]], slow: 0 };
        facts.isolation = IsolationMode::Affinity;
        facts.isolation_notes = vec!["no cgroup (not mounted)".to_owned()];
        facts.memory_available = Some(1 << 30);
        facts.local_ports = Some((60_000, 60_999));
        facts.load = Some(3.0);
        facts.cpu_pressure = Some(0.2);
        facts.steal = Some(0.1);
        facts.languages[0].probes = vec![Probe::Missing(Missing {
            name: "go".to_owned(),
            reason: "not installed".to_owned(),
            found: None,
            minimum: None,
            install: "Go".to_owned(),
            apt: Vec::new(),
        })];
        facts
    }

    fn shown(facts: &Facts) -> String {
        let line = |finding: &Finding| {
            let remedy =
                finding.remedy.as_deref().map_or(String::new(), |text| format!("\n    -> {text}"));
            format!("{:?} {}: {}{remedy}", finding.severity, finding.id, finding.what)
        };
        examine(facts).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn good_machine_needs_nothing() {
        insta::assert_snapshot!(shown(&good()), @r#"
        Ok machine: A CPU, 16 GiB, Linux 6.12, Debian
        Ok cpus: 4 CPUs, one per core: 0 1 2 3
        Ok governor: frequency governor 'performance'
        Ok turbo: turbo is off: the clock is steady
        Ok cgroup: a cgroup v2 for each server
        Ok open-files: at most 65536 open files
        Ok clock: clock source 'tsc'
        Ok memory: 12 GiB of memory available
        Ok ports: 28232 local ports (32768-60999)
        Ok load: load of the last minute 0.02
        Ok pressure: tasks waited for a CPU for 0 % of the last 10 s
        Ok steal: 0.0 % of the CPU time wanted since boot was stolen
        Ok docker: docker 20.10
        Ok toolchain-go: Go: go 1.26
        "#);
    }

    #[test]
    fn every_problem_has_a_remedy() {
        insta::assert_snapshot!(shown(&bad()), @r#"
        Ok machine: A CPU, 16 GiB, Linux 6.12, Debian
        Problem cpus: 1 CPU: 0; server and client will share it
            -> use a machine with at least 2 CPUs, or widen this process's CPU set
        Advice governor: frequency governor 'powersave': the clock follows the load, and warms up with it
            -> cpupower frequency-set -g performance
        Advice turbo: turbo is on: the clock depends on temperature and on what other cores do
            -> as root: echo 0 > /sys/devices/system/cpu/cpufreq/boost, or on intel_pstate echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo
        Advice virtualization: a virtual machine (KVM): other VMs on the host can affect the figures
            -> compare within one run only, watch the steal time, and trust calls per server CPU-second first
        Advice cgroup: servers are isolated by CPU affinity only: no cgroup (not mounted)
            -> run as root, or under: systemd-run --user --scope -p Delegate=yes rpcbench ...
        Advice open-files: at most 1024 open files: too few for workloads of many connections
            -> ulimit -n 65536, or LimitNOFILE= of the service
        Problem clock: clock source 'hpet': reading the time takes a microsecond or more
            -> boot with clocksource=tsc, or find in the kernel's log why it distrusts the TSC
        Advice memory: 1 GiB of memory available
            -> end other programs: servers are given 512 MiB and more
        Advice ports: 1000 local ports (60000-60999): too few for workloads that open a connection for every call
            -> as root: sysctl -w net.ipv4.ip_local_port_range="15000 65000"
        Advice load: load of the last minute 3.00: something else is running, or was until recently
            -> end other programs (top shows them), or wait a minute
        Advice pressure: tasks waited for a CPU for 20 % of the last 10 s
            -> end other programs (top shows them)
        Advice steal: 10.0 % of the CPU time wanted since boot was stolen by the hypervisor for other guests
            -> use a machine with dedicated CPUs; runs record the steal time of each trial
        Ok docker: docker 20.10
        Advice toolchain-go: Go: servers that need what is missing will be skipped
            -> go: not installed; install Go
        "#);
        for finding in examine(&bad()) {
            assert_eq!(finding.remedy.is_none(), finding.severity == Severity::Ok, "{finding:?}");
        }
    }

    #[test]
    fn unknown_facts_are_left_out() {
        let mut facts = good();
        facts.machine.cpu.governor = None;
        facts.machine.cpu.turbo = None;
        facts.cpu_pressure = None;
        facts.local_ports = None;
        let ids: Vec<String> = examine(&facts).into_iter().map(|finding| finding.id).collect();
        for id in ["governor", "turbo", "pressure", "ports"] {
            assert!(!ids.iter().any(|other| other == id), "{id}");
        }
    }
}
