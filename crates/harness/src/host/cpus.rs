//! The CPUs of this machine, and how they are divided between server and client.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A core below this share of the fastest core's speed, in percent, is of a slower kind. Boost speeds of equal cores differ by up
/// to 7 %.
const SAME_KIND_PERCENT: u64 = 85;

/// The CPUs that this process may use, core by core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// CPU numbers of each physical core, ascending. Slow cores come first; equal ones are ordered by their first CPU.
    pub cores: Vec<Vec<u32>>,
    /// Number of slow cores, on a machine with several kinds of cores.
    pub slow: usize,
}

/// The CPUs of the server and the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// CPUs of the server.
    pub server: Vec<u32>,
    /// CPUs of the load threads.
    pub client: Vec<u32>,
    /// Unused CPUs, on cores that the server does not use.
    pub spare: Vec<u32>,
    /// Warnings: shared CPUs or cores, or fewer CPUs than requested.
    pub notes: Vec<String>,
}

impl Split {
    /// True if server and client share a CPU.
    pub fn is_shared(&self) -> bool {
        self.server.iter().any(|cpu| self.client.contains(cpu))
    }

    /// CPUs for anything but the server and the load threads: the spare ones, or else the client's.
    pub fn rest(&self) -> &[u32] {
        if self.spare.is_empty() { &self.client } else { &self.spare }
    }
}

impl Topology {
    /// The CPUs that the calling thread may use, so call it before pinning any thread. A CPU counts as a core if the system does
    /// not say which CPUs share a core.
    pub fn read() -> io::Result<Self> {
        Ok(Self::at(Path::new("/sys/devices/system/cpu"), &allowed(None)?))
    }

    fn at(folder: &Path, allowed: &[u32]) -> Self {
        let mut cores: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for cpu in allowed {
            let file = folder.join(format!("cpu{cpu}/topology/thread_siblings_list"));
            let siblings =
                fs::read_to_string(file).map(|text| parse_list(&text)).unwrap_or_default();
            let first = siblings.iter().min().unwrap_or(cpu);
            cores.entry(*first).or_default().push(*cpu);
        }
        let speeds = cores.values().map(|core| speed(folder, core[0]));
        let fastest = speeds.max().unwrap_or(0);
        let is_slow = |core: &Vec<u32>| speed(folder, core[0]) * 100 < fastest * SAME_KIND_PERCENT;
        let (mut slow, fast): (Vec<_>, Vec<_>) = cores.into_values().partition(is_slow);
        let number = slow.len();
        slow.extend(fast);
        Self { cores: slow, slow: number }
    }

    /// All CPU numbers, ascending.
    pub fn cpus(&self) -> Vec<u32> {
        let mut cpus = self.cores.concat();
        cpus.sort_unstable();
        cpus
    }

    /// Divides the CPUs between a server with `server_cpus` CPUs and `client_threads` load threads.
    ///
    /// The server gets whole cores, starting from the last one, since the first CPU handles most of a machine's interrupts. The
    /// client gets CPUs on other cores, if possible one core per thread, and the server's SMT siblings last. Slow cores are used
    /// only if the others don't suffice. The notes list deviations.
    pub fn split(&self, server_cpus: u32, client_threads: u32) -> Split {
        let wanted = server_cpus.max(1) as usize;
        let server: Vec<u32> = self.cores.iter().rev().flatten().copied().take(wanted).collect();
        let mut notes = Vec::new();
        if server.len() < wanted {
            let existing = server.len();
            notes.push(format!(
                "the server has {existing} CPUs instead of {wanted}: there are no more"
            ));
        }
        let client = self.client_cpus(&server, client_threads.max(1) as usize, &mut notes);
        notes.extend(self.slow_note("server", &server));
        notes.extend(self.slow_note("client", &client));
        let taken = |cpu: &u32| server.contains(cpu) || client.contains(cpu);
        let is_free = |core: &&Vec<u32>| !core.iter().any(|cpu| server.contains(cpu));
        let free = self.cores.iter().filter(is_free).flatten().copied();
        let spare = free.filter(|cpu| !taken(cpu)).collect();
        let mut split = Split { server, client, spare, notes };
        split.server.sort_unstable();
        split.client.sort_unstable();
        split.spare.sort_unstable();
        split
    }

    /// A warning if a party has CPUs on slow cores.
    fn slow_note(&self, party: &str, cpus: &[u32]) -> Option<String> {
        let slow: Vec<String> = self.cores[..self.slow]
            .iter()
            .flatten()
            .filter(|cpu| cpus.contains(cpu))
            .map(u32::to_string)
            .collect();
        let list = slow.join(", ");
        (!slow.is_empty()).then(|| format!("the {party} has CPUs of slower cores: {list}"))
    }

    fn client_cpus(&self, server: &[u32], threads: usize, notes: &mut Vec<String>) -> Vec<u32> {
        let (slow, fast) = self.cores.split_at(self.slow);
        let (touched, free): (Vec<_>, Vec<_>) =
            fast.iter().chain(slow).partition(|core| core.iter().any(|cpu| server.contains(cpu)));
        let widest = free.iter().map(|core| core.len()).max().unwrap_or(0);
        let spread = (0..widest).flat_map(|i| free.iter().filter_map(move |core| core.get(i)));
        let siblings = touched.into_iter().flatten().filter(|cpu| !server.contains(cpu));
        let away: Vec<u32> = spread.copied().collect();
        let near: Vec<u32> = siblings.copied().collect();
        let client: Vec<u32> = away.iter().chain(&near).copied().take(threads).collect();
        if client.is_empty() {
            notes.push(
                "server and client share their CPUs: none is left for the client, so the figures show both, \
                 not the server"
                    .to_owned(),
            );
            return server.to_vec();
        }
        if client.iter().any(|cpu| near.contains(cpu)) {
            notes.push("client and server share a physical core (SMT siblings)".to_owned());
        }
        if client.len() < threads {
            let cpus = client.len();
            let plural = if cpus == 1 { "" } else { "s" };
            notes.push(format!("{threads} client threads share {cpus} CPU{plural}"));
        }
        client
    }
}

/// Maximum speed of a CPU in the unit that this system provides: relative capacity or frequency. 0 if unknown.
fn speed(folder: &Path, cpu: u32) -> u64 {
    let read = |file: &str| fs::read_to_string(folder.join(format!("cpu{cpu}/{file}"))).ok();
    let text = read("cpu_capacity").or_else(|| read("cpufreq/cpuinfo_max_freq"));
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

/// CPUs that a process may use; `None` means the calling thread.
pub(crate) fn allowed(pid: Option<Pid>) -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(pid)?;
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    Ok(cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// A set of all possible CPUs.
pub(super) fn every_cpu() -> CpuSet {
    let mut set = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|cpu| set.set(cpu));
    set
}

/// The set of `cpus` for the kernel. CPUs beyond its size are left out.
pub(super) fn cpu_set(cpus: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| (**cpu as usize) < CpuSet::MAX_CPU) {
        set.set(*cpu as usize);
    }
    set
}

/// Moves the calling thread onto `cpus`.
pub fn pin_this_thread(cpus: &[u32]) -> io::Result<()> {
    Ok(sched_setaffinity(None, &cpu_set(cpus))?)
}

/// Parses a list in the kernel's format: `0-3,8`. Invalid parts are left out.
pub(super) fn parse_list(text: &str) -> Vec<u32> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn machine(cores: &[&[u32]]) -> Topology {
        Topology { cores: cores.iter().map(|core| core.to_vec()).collect(), slow: 0 }
    }

    fn smt(cores: u32) -> Topology {
        Topology { cores: (0..cores).map(|core| vec![core, core + cores]).collect(), slow: 0 }
    }

    #[test]
    fn two_cpus_are_one_each() {
        let split = machine(&[&[0], &[1]]).split(1, 1);
        let (server, client) = (vec![1], vec![0]);
        assert_eq!(split, Split { server, client, spare: Vec::new(), notes: Vec::new() });
        assert_eq!(split.rest(), [0]);
    }

    #[test]
    fn server_and_client_share_no_core() {
        let split = smt(4).split(3, 2);
        assert_eq!((split.server, split.client), (vec![2, 3, 7], vec![0, 1]));
        assert!(split.notes.is_empty());
        let split = smt(4).split(2, 4);
        assert_eq!((split.server, split.client), (vec![3, 7], vec![0, 1, 2, 4]));
    }

    #[test]
    fn other_threads_get_spare_cpus() {
        let split = machine(&[&[0], &[1], &[2], &[3]]).split(1, 1);
        assert_eq!((&split.client, split.rest()), (&vec![0], &[1, 2][..]));
        // The spare CPU is not on a core that the server uses.
        let split = smt(2).split(1, 1);
        assert_eq!((&split.server, &split.client, split.rest()), (&vec![1], &vec![0], &[2][..]));
        let split = smt(2).split(1, 2);
        assert_eq!((&split.client, split.rest()), (&vec![0, 2], &[0, 2][..]));
    }

    #[test]
    fn client_programs_have_the_cpus_of_the_method() {
        let method = include_str!("../../../../docs/method.md");
        let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        for (cpus, options, (client, reference)) in [
            (2, "", (1, 1)),
            (4, "", (1, 1)),
            (4, "`--cpus 2` ", (2, 1)),
            (8, "", (1, 1)),
            (8, "`--cpus 4 --client-threads 2` ", (4, 2)),
        ] {
            let split = machine(&[]).with_single(cpus).split(client, reference);
            // If a client is measured, it takes the server's place.
            let sides = [&split.server[..], &split.client[..], split.rest()].map(list).join(" | ");
            let row = format!("| {cpus} | {options}| {sides} |");
            assert!(method.contains(&row), "docs/method.md has no row {row}");
        }
    }

    #[test]
    fn sibling_is_taken_last_and_noted() {
        let split = smt(2).split(1, 3);
        assert_eq!((split.server, split.client), (vec![1], vec![0, 2, 3]));
        insta::assert_snapshot!(split.notes.join("\n"), @"client and server share a physical core (SMT siblings)");
    }

    #[test]
    fn too_few_cpus_are_shared_and_noted() {
        let split = machine(&[&[0], &[1]]).split(2, 1);
        assert!(split.is_shared());
        assert_eq!(split.client, [0, 1]);
        insta::assert_snapshot!(split.notes.join("\n"), @"server and client share their CPUs: none is left for the client, so the figures show both, not the server");
        let split = machine(&[&[0], &[1]]).split(4, 1);
        insta::assert_snapshot!(split.notes[0], @"the server has 2 CPUs instead of 4: there are no more");
        let split = machine(&[&[0], &[1]]).split(1, 3);
        insta::assert_snapshot!(split.notes.join("\n"), @"3 client threads share 1 CPU");
    }

    #[test]
    fn topology_from_files() {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, siblings) in [(0, "0,4\n"), (4, "0,4\n"), (1, "1-2\n"), (2, "1-2\n")] {
            let topology = folder.path().join(format!("cpu{cpu}/topology"));
            fs::create_dir_all(&topology).unwrap();
            fs::write(topology.join("thread_siblings_list"), siblings).unwrap();
        }
        let found = Topology::at(folder.path(), &[0, 1, 2, 4, 9]);
        assert_eq!(found, machine(&[&[0, 4], &[1, 2], &[9]]));
        let limited = Topology::at(folder.path(), &[4]);
        assert_eq!(limited, machine(&[&[4]]));
    }

    /// Two fast cores with two CPUs each, then three slow ones.
    fn hybrid() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (cpu, siblings, frequency) in [
            (0, "0-1", 5_800_000),
            (1, "0-1", 5_800_000),
            (2, "2-3", 5_500_000),
            (3, "2-3", 5_500_000),
            (4, "4", 4_300_000),
            (5, "5", 4_300_000),
            (6, "6", 4_300_000),
        ] {
            let cpu = folder.path().join(format!("cpu{cpu}"));
            fs::create_dir_all(cpu.join("topology")).unwrap();
            fs::create_dir_all(cpu.join("cpufreq")).unwrap();
            fs::write(cpu.join("topology/thread_siblings_list"), siblings).unwrap();
            fs::write(cpu.join("cpufreq/cpuinfo_max_freq"), format!("{frequency}\n")).unwrap();
        }
        folder
    }

    #[test]
    fn server_and_client_get_fast_cores() {
        let folder = hybrid();
        let topology = Topology::at(folder.path(), &[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(topology.cores, [vec![4], vec![5], vec![6], vec![0, 1], vec![2, 3]]);
        let split = topology.split(1, 1);
        assert_eq!((split.server, split.client, split.notes), (vec![2], vec![0], Vec::new()));
    }

    #[test]
    fn slow_cores_are_noted() {
        let folder = hybrid();
        let topology = Topology::at(folder.path(), &[0, 1, 2, 3, 4, 5, 6]);
        let split = topology.split(5, 1);
        assert_eq!((split.server, split.client), (vec![0, 1, 2, 3, 6], vec![4]));
        insta::assert_snapshot!(split.notes.join("\n"), @r"
        the server has CPUs of slower cores: 6
        the client has CPUs of slower cores: 4
        ");
    }

    #[test]
    fn this_machine_has_cpus() {
        assert!(!Topology::read().unwrap().cpus().is_empty());
    }

    proptest! {
        #[test]
        fn disjoint_if_a_cpu_is_left(cores in 1u32..9, wide: bool, server in 1u32..9, threads in 1u32..9) {
            let topology = if wide { smt(cores) } else { machine(&[]).with_single(cores) };
            let all = topology.cpus();
            let split = topology.split(server, threads);
            prop_assert!(!split.server.is_empty() && !split.client.is_empty());
            prop_assert!(split.server.iter().chain(&split.client).all(|cpu| all.contains(cpu)));
            prop_assert_eq!(split.is_shared(), server as usize >= all.len());
            prop_assert!(!split.is_shared() || !split.notes.is_empty());
            prop_assert!(split.server.len() == (server as usize).min(all.len()));
        }
    }

    impl Topology {
        fn with_single(mut self, cores: u32) -> Self {
            self.cores.extend((0..cores).map(|cpu| vec![cpu]));
            self
        }
    }
}
