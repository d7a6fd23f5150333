//! The fingerprint of the machine, read from `/proc`, `/sys` and `/etc`.

use std::fs;
use std::path::Path;

use rpcbench_record::{Cpu, IsolationMode, Machine};
use rustix::process::{Resource, getrlimit};

use crate::host::cpus::Topology;

/// The fingerprint of this machine, with the CPUs of `topology` and servers isolated by `mode`.
pub fn fingerprint(topology: &Topology, mode: IsolationMode) -> Machine {
    let open_files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    Files { root: Path::new("/") }.machine(topology, mode, open_files)
}

/// The machine's memory, bytes. `None` if unknown.
pub fn memory_bytes() -> Option<u64> {
    Files { root: Path::new("/") }.memory_bytes()
}

struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    fn machine(&self, topology: &Topology, mode: IsolationMode, open_files: u64) -> Machine {
        Machine {
            kernel: self.line("proc/sys/kernel/osrelease").unwrap_or_else(unknown),
            os: self.os().unwrap_or_else(unknown),
            cpu: self.cpu(topology),
            memory_bytes: self.memory_bytes().unwrap_or(0),
            cgroup: cgroup(mode).to_owned(),
            virtualization: self.virtualization(),
            clock_source: self
                .line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            huge_pages: self.line("sys/kernel/mm/transparent_hugepage/enabled").and_then(bracketed),
            open_files,
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        Some(text.lines().next()?.trim().to_owned()).filter(|line| !line.is_empty())
    }

    fn os(&self) -> Option<String> {
        let text = self.text("etc/os-release")?;
        let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(name.trim_matches(['"', '\'']).to_owned())
    }

    fn cpu(&self, topology: &Topology) -> Cpu {
        let first = topology.cpus().first().copied().unwrap_or(0);
        let governor = format!("sys/devices/system/cpu/cpu{first}/cpufreq/scaling_governor");
        Cpu {
            model: self.model().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            logical: count(topology.cpus().len()),
            cores: count(topology.cores.len()),
            governor: self.line(&governor),
            turbo: self.turbo(),
        }
    }

    /// The name of the field depends on the architecture, and some have none.
    fn model(&self) -> Option<String> {
        let text = self.text("proc/cpuinfo")?;
        let field = |name: &str| {
            let fields = text.lines().filter_map(|line| line.split_once(':'));
            fields
                .into_iter()
                .find(|(key, _)| key.trim() == name)
                .map(|(_, value)| value.trim().to_owned())
        };
        ["model name", "cpu model", "Model", "cpu"].into_iter().find_map(field)
    }

    fn turbo(&self) -> Option<bool> {
        let forbidden = self.line("sys/devices/system/cpu/intel_pstate/no_turbo");
        let allowed = self.line("sys/devices/system/cpu/cpufreq/boost");
        forbidden.map(|value| value == "0").or_else(|| allowed.map(|value| value == "1"))
    }

    fn memory_bytes(&self) -> Option<u64> {
        let text = self.text("proc/meminfo")?;
        let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
    }

    /// The hypervisor's name, if firmware or kernel report a known one.
    fn virtualization(&self) -> Option<String> {
        const KNOWN: [(&str, &str); 9] = [
            ("kvm", "KVM"),
            ("qemu", "QEMU"),
            ("vmware", "VMware"),
            ("virtualbox", "VirtualBox"),
            ("amazon ec2", "Amazon EC2"),
            ("google compute engine", "Google Compute Engine"),
            ("microsoft corporation virtual machine", "Hyper-V"),
            ("xen", "Xen"),
            ("openstack", "OpenStack"),
        ];
        let virtual_cpu = self.text("proc/cpuinfo").is_some_and(|text| {
            let flags = text.lines().find(|line| line.starts_with("flags"));
            flags.is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor"))
        });
        let shown =
            ["sys/hypervisor/type", "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"];
        let shown: Vec<String> = shown.iter().filter_map(|path| self.line(path)).collect();
        let shown = shown.join(" ").to_lowercase();
        let named = KNOWN.iter().find(|(mark, _)| shown.contains(mark)).map(|(_, name)| *name);
        named.or_else(|| virtual_cpu.then_some("unnamed hypervisor")).map(str::to_owned)
    }
}

fn cgroup(mode: IsolationMode) -> &'static str {
    match mode {
        IsolationMode::CgroupV2 => "v2",
        IsolationMode::CgroupV1 => "v1",
        IsolationMode::Affinity | IsolationMode::Unmanaged => "none",
    }
}

/// The active setting, which is in brackets: `always [madvise] never`.
fn bracketed(line: String) -> Option<String> {
    let (_, rest) = line.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn unknown() -> String {
    "unknown".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Machine {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let topology = Topology { cores: vec![vec![2, 6], vec![3, 7]], slow: 0 };
        Files { root: root.path() }.machine(&topology, IsolationMode::CgroupV2, 1024)
    }

    #[test]
    fn laptop() {
        let machine = read(&[
            ("proc/sys/kernel/osrelease", "6.12.1-amd64\n"),
            ("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t\t: fpu vme\n",
            ),
            ("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/class/dmi/id/sys_vendor", "LENOVO\n"),
        ]);
        let cpu = Cpu {
            model: "Some CPU @ 3 GHz".to_owned(),
            logical: 4,
            cores: 2,
            governor: Some("powersave".to_owned()),
            turbo: Some(true),
        };
        let expected = Machine {
            kernel: "6.12.1-amd64".to_owned(),
            os: "Debian GNU/Linux 13 (trixie)".to_owned(),
            cpu,
            memory_bytes: 16 << 20,
            cgroup: "v2".to_owned(),
            virtualization: None,
            clock_source: Some("tsc".to_owned()),
            huge_pages: Some("madvise".to_owned()),
            open_files: 1024,
        };
        assert_eq!(machine, expected);
    }

    #[test]
    fn virtual_machines() {
        let flags = ("proc/cpuinfo", "flags : fpu hypervisor\n");
        let name = |files: &[(&str, &str)]| read(files).virtualization;
        assert_eq!(name(&[flags]).as_deref(), Some("unnamed hypervisor"));
        let vendor = ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        assert_eq!(name(&[flags, vendor]).as_deref(), Some("Amazon EC2"));
        assert_eq!(name(&[("sys/hypervisor/type", "xen\n")]).as_deref(), Some("Xen"));
    }

    #[test]
    fn machine_without_files() {
        let machine = read(&[]);
        assert_eq!((machine.kernel.as_str(), machine.os.as_str()), ("unknown", "unknown"));
        assert_eq!(machine.cpu.model, std::env::consts::ARCH);
        assert_eq!((machine.cpu.turbo, machine.cpu.governor), (None, None));
    }

    #[test]
    fn this_machine() {
        let machine = fingerprint(&Topology::read().unwrap(), IsolationMode::Affinity);
        assert!(
            machine.memory_bytes > 1 << 20 && machine.open_files > 0 && machine.cpu.logical > 0
        );
    }
}
