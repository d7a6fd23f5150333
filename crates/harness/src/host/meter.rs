//! Reads the kernel's counters for a server.

use std::collections::HashMap;
use std::io;

use procfs::process::{Process, Task};
use rpcbench_clock as clock;

use super::isolation::Counted;
use super::readings::{Counters, CpuReading};

/// Reads the counters of one server. It remembers threads, so that usage of ended ones still counts.
#[derive(Debug)]
pub struct Meter {
    compiler_threads: Vec<String>,
    compiler: Sum,
    voluntary: Sum,
    involuntary: Sum,
    busy: Sum,
    peak: u64,
}

impl Meter {
    /// A meter for a server whose compiler threads have names that start with one of `compiler_threads`. The kernel keeps only 15
    /// characters of a thread's name, so longer prefixes are cut.
    pub fn new(compiler_threads: &[String]) -> Self {
        const KEPT: usize = 15;
        let cut = |name: &String| name.chars().take(KEPT).collect();
        Self {
            compiler_threads: compiler_threads.iter().map(cut).collect(),
            compiler: Sum::default(),
            voluntary: Sum::default(),
            involuntary: Sum::default(),
            busy: Sum::default(),
            peak: 0,
        }
    }

    /// Reads only CPU time, which is cheap enough to do often.
    pub fn cpu(&mut self, processes: &dyn Counted) -> io::Result<CpuReading> {
        let cpu = processes.cpu()?;
        if !self.compiler_threads.is_empty() {
            self.compiler
                .read(&tasks(processes)?, |task| compiler_time(&self.compiler_threads, task));
        }
        Ok(CpuReading { cpu_ns: cpu.total_ns, compiler_ns: self.compiler.total })
    }

    /// Reads all counters.
    pub fn read(&mut self, processes: &dyn Counted) -> io::Result<Counters> {
        let at = clock::now();
        let cpu = processes.cpu()?;
        let memory = processes.memory()?;
        let tasks = tasks(processes)?;
        if !self.compiler_threads.is_empty() {
            self.compiler.read(&tasks, |task| compiler_time(&self.compiler_threads, task));
        }
        let statuses: HashMap<i32, _> =
            tasks.iter().filter_map(|task| Some((task.tid, task.status().ok()?))).collect();
        let switches = |task: &Task| statuses.get(&task.tid);
        self.voluntary.read(&tasks, |task| switches(task)?.voluntary_ctxt_switches);
        self.involuntary.read(&tasks, |task| switches(task)?.nonvoluntary_ctxt_switches);
        self.busy.read(&tasks, cpu_time);
        let cpu_after_ns = processes.cpu()?.total_ns;
        let largest =
            largest_resident(processes, memory.anon)?.min(memory.highest.unwrap_or(u64::MAX));
        self.peak = self.peak.max(memory.anon).max(largest);
        Ok(Counters {
            at,
            cpu,
            compiler_ns: self.compiler.total,
            memory,
            memory_peak: self.peak,
            switches_voluntary: self.voluntary.total,
            switches_involuntary: self.involuntary.total,
            threads: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
            busiest_thread_ns: self.busy.largest,
            threads_ns: self.busy.total,
            cpu_after_ns,
        })
    }
}

/// CPU time of a thread if its name starts with one of `prefixes`.
fn compiler_time(prefixes: &[String], task: &Task) -> Option<u64> {
    let name = task.stat().ok()?.comm;
    prefixes.iter().any(|prefix| name.starts_with(prefix)).then(|| cpu_time(task))?
}

/// CPU time of a thread, to the nanosecond, or to the clock tick if the kernel has no scheduler statistics.
fn cpu_time(task: &Task) -> Option<u64> {
    if let Ok(times) = task.schedstat() {
        return Some(times.sum_exec_runtime);
    }
    let stat = task.stat().ok()?;
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Some((stat.utime + stat.stime) * tick_ns)
}

/// The sum of a counter over threads that come and go.
#[derive(Debug, Default)]
struct Sum {
    total: u64,
    /// The largest increase of a single thread at the last reading.
    largest: u64,
    last: HashMap<i32, u64>,
}

impl Sum {
    fn read(&mut self, tasks: &[Task], value: impl Fn(&Task) -> Option<u64>) {
        self.update(tasks.iter().filter_map(|task| Some((task.tid, value(task)?))).collect());
    }

    /// A counter below its last value belongs to a new thread that reuses an id.
    fn update(&mut self, now: HashMap<i32, u64>) {
        self.largest = 0;
        for (tid, value) in &now {
            let last = self.last.get(tid).filter(|last| *last <= value).unwrap_or(&0);
            self.total += value - last;
            self.largest = self.largest.max(value - last);
        }
        self.last = now;
    }
}

/// The threads of all processes, except those that end meanwhile.
fn tasks(processes: &dyn Counted) -> io::Result<Vec<Task>> {
    let living = living(processes)?;
    let tasks = living.iter().filter_map(|process| process.tasks().ok());
    Ok(tasks.flat_map(Iterator::flatten).collect())
}

fn living(processes: &dyn Counted) -> io::Result<Vec<Process>> {
    let pids = processes.pids()?;
    Ok(pids.iter().filter_map(|pid| Process::new(pid.as_raw_pid()).ok()).collect())
}

/// The sum of the processes' peaks, minus memory that several of them share now. `anon`: their current total use.
fn largest_resident(processes: &dyn Counted, anon: u64) -> io::Result<u64> {
    const KIB: u64 = 1024;
    let (mut largest, mut now) = (0, 0);
    for status in living(processes)?.into_iter().filter_map(|process| process.status().ok()) {
        let file = status.rssfile.unwrap_or(0);
        largest += status.vmhwm.unwrap_or(0).saturating_sub(file) * KIB;
        now += (status.rssanon.unwrap_or(0) + status.rssshmem.unwrap_or(0)) * KIB;
    }
    Ok(largest.saturating_sub(now.saturating_sub(anon)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_threads_still_count() {
        let mut sum = Sum::default();
        sum.update(HashMap::from([(1, 10), (2, 20)]));
        sum.update(HashMap::from([(1, 15)]));
        assert_eq!((sum.total, sum.largest), (35, 5));
        sum.update(HashMap::from([(1, 15), (3, 1)]));
        assert_eq!(sum.total, 36);
    }

    #[test]
    fn reused_thread_id_counts_from_zero() {
        let mut sum = Sum::default();
        sum.update(HashMap::from([(1, 100)]));
        sum.update(HashMap::from([(1, 3)]));
        assert_eq!(sum.total, 103);
    }
}
