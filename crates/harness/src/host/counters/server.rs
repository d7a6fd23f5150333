//! Counters of a server, read from outside.

use std::collections::HashMap;

use procfs::process::{Process, Task};
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_record::ServerUsage;

use super::CounterError;
use crate::host::isolation::{Counted, CpuTime, MemoryUse};

/// All counters of a server at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// When CPU time was read; the rest follows at once.
    pub at: Nanos,
    /// CPU time since the group was made.
    pub cpu: CpuTime,
    /// CPU time of the compiler threads, nanoseconds.
    pub compiler_ns: u64,
    /// Memory at this time.
    pub memory: MemoryUse,
    /// The largest use of memory since the start, or since [`Group::forget_peak`](crate::host::isolation::Group::forget_peak), page
    /// cache apart, bytes: the sum over the living
    /// processes of their largest resident set (`VmHWM`, which the kernel keeps exactly) less the file pages
    /// now in it; not more than was ever charged to the cgroup, where pages that processes share count once;
    /// and not less than the anonymous memory at any reading.
    pub memory_peak: u64,
    /// Voluntary context switches of all threads. A thread that ended took its last ones, those since the
    /// reading before, with it.
    pub switches_voluntary: u64,
    /// Involuntary context switches, likewise.
    pub switches_involuntary: u64,
    /// Living threads.
    pub threads: u32,
    /// CPU time of the thread that used most since the reading before, nanoseconds.
    pub busiest_thread_ns: u64,
}

impl Counters {
    /// What was used between the reading before this one, `earlier`, and this one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> ServerUsage {
        let less = u64::saturating_sub;
        let throttled = self.cpu.throttled_ns.zip(earlier.cpu.throttled_ns);
        let (user, system) = divide(&self.cpu, &earlier.cpu);
        ServerUsage {
            interval_ns: self.at.since(earlier.at),
            cpu_user_ns: user,
            cpu_system_ns: system,
            compiler_cpu_ns: less(self.compiler_ns, earlier.compiler_ns),
            throttled_ns: throttled.map(|(now, then)| less(now, then)),
            memory_peak_bytes: self.memory_peak,
            memory_anon_bytes: self.memory.anon,
            memory_cache_bytes: self.memory.cache,
            switches_voluntary: less(self.switches_voluntary, earlier.switches_voluntary),
            switches_involuntary: less(self.switches_involuntary, earlier.switches_involuntary),
            threads: self.threads,
            busiest_thread_ns: self.busiest_thread_ns,
        }
    }
}

/// The exact time between two readings in user mode and in the kernel, in the proportion that the kernel
/// estimates; in user mode where it has no estimate yet.
fn divide(now: &CpuTime, then: &CpuTime) -> (u64, u64) {
    let total = now.total_ns.saturating_sub(then.total_ns);
    let user = u128::from(now.user_ns.saturating_sub(then.user_ns));
    let system = u128::from(now.system_ns.saturating_sub(then.system_ns));
    let in_kernel = (u128::from(total) * system).checked_div(user + system).unwrap_or(0);
    let in_kernel = u64::try_from(in_kernel).unwrap_or(total);
    (total - in_kernel, in_kernel)
}

/// CPU time only: what the warm-up watches, read often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuReading {
    /// When it was read.
    pub at: Nanos,
    /// User and system since the group was made, nanoseconds.
    pub cpu_ns: u64,
    /// Of the compiler threads, nanoseconds.
    pub compiler_ns: u64,
}

/// Reads one server's counters, and remembers its threads, so that those that end are not forgotten.
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
    /// For a server whose compiler threads have names that begin with one of `compiler_threads`. The
    /// kernel keeps 15 characters of a thread's name; longer beginnings are cut to that.
    #[must_use]
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

    /// CPU time now.
    ///
    /// # Errors
    /// If the counters can't be read.
    pub fn cpu(&mut self, processes: &dyn Counted) -> Result<CpuReading, CounterError> {
        let at = clock::now();
        let cpu = processes.cpu()?;
        if !self.compiler_threads.is_empty() {
            self.compiler.read(&tasks(processes)?, |task| self.compiler_threads.time(task));
        }
        Ok(CpuReading { at, cpu_ns: cpu.total_ns, compiler_ns: self.compiler.total })
    }

    /// All counters now.
    ///
    /// # Errors
    /// If the counters can't be read.
    pub fn read(&mut self, processes: &dyn Counted) -> Result<Counters, CounterError> {
        let at = clock::now();
        let cpu = processes.cpu()?;
        let memory = processes.memory()?;
        let tasks = tasks(processes)?;
        if !self.compiler_threads.is_empty() {
            self.compiler.read(&tasks, |task| self.compiler_threads.time(task));
        }
        let statuses: HashMap<i32, _> =
            tasks.iter().filter_map(|task| Some((task.tid, task.status().ok()?))).collect();
        let switches = |task: &Task| statuses.get(&task.tid);
        self.voluntary.read(&tasks, |task| switches(task)?.voluntary_ctxt_switches);
        self.involuntary.read(&tasks, |task| switches(task)?.nonvoluntary_ctxt_switches);
        self.busy.read(&tasks, cpu_time);
        let largest = largest_resident(processes)?.min(memory.highest.unwrap_or(u64::MAX));
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
        })
    }
}

trait CompilerThreads {
    fn time(&self, task: &Task) -> Option<u64>;
}

impl CompilerThreads for Vec<String> {
    /// CPU time of a thread if it is a compiler thread.
    fn time(&self, task: &Task) -> Option<u64> {
        let name = task.stat().ok()?.comm;
        let is_compiler = self.iter().any(|beginning| name.starts_with(beginning));
        if is_compiler { cpu_time(task) } else { None }
    }
}

/// To the nanosecond, or to the clock tick by a kernel without scheduler statistics.
fn cpu_time(task: &Task) -> Option<u64> {
    if let Ok(times) = task.schedstat() {
        return Some(times.sum_exec_runtime);
    }
    let stat = task.stat().ok()?;
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    Some((stat.utime + stat.stime) * tick_ns)
}

/// A counter summed over threads that come and go.
#[derive(Debug, Default)]
struct Sum {
    total: u64,
    /// What the thread that added most added at the last reading.
    largest: u64,
    last: HashMap<i32, u64>,
}

impl Sum {
    fn read(&mut self, tasks: &[Task], value: impl Fn(&Task) -> Option<u64>) {
        self.update(tasks.iter().filter_map(|task| Some((task.tid, value(task)?))).collect());
    }

    /// A counter that is lower than it was belongs to a new thread with an old one's id.
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

/// The threads of all processes; one that ends meanwhile is left out.
fn tasks(processes: &dyn Counted) -> Result<Vec<Task>, CounterError> {
    let living = living(processes)?;
    let tasks = living.iter().filter_map(|process| process.tasks().ok());
    Ok(tasks.flat_map(Iterator::flatten).collect())
}

fn living(processes: &dyn Counted) -> Result<Vec<Process>, CounterError> {
    let pids = processes.pids()?;
    Ok(pids.iter().filter_map(|pid| Process::new(pid.as_raw_pid()).ok()).collect())
}

fn largest_resident(processes: &dyn Counted) -> Result<u64, CounterError> {
    const KIB: u64 = 1024;
    let statuses = living(processes)?.into_iter().filter_map(|process| process.status().ok());
    Ok(statuses
        .map(|status| {
            let file = status.rssfile.unwrap_or(0);
            status.vmhwm.unwrap_or(0).saturating_sub(file) * KIB
        })
        .sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_end_are_not_forgotten() {
        let mut sum = Sum::default();
        sum.update(HashMap::from([(1, 10), (2, 20)]));
        sum.update(HashMap::from([(1, 15)]));
        assert_eq!((sum.total, sum.largest), (35, 5));
        sum.update(HashMap::from([(1, 15), (3, 1)]));
        assert_eq!(sum.total, 36);
    }

    #[test]
    fn a_thread_id_that_comes_again_counts_from_zero() {
        let mut sum = Sum::default();
        sum.update(HashMap::from([(1, 100)]));
        sum.update(HashMap::from([(1, 3)]));
        assert_eq!(sum.total, 103);
    }

    #[test]
    fn the_exact_total_is_divided_as_estimated() {
        let time = |total_ns, user_ns, system_ns| CpuTime {
            total_ns,
            user_ns,
            system_ns,
            throttled_ns: None,
        };
        assert_eq!(divide(&time(1030, 40, 20), &time(30, 10, 10)), (750, 250));
        assert_eq!(divide(&time(1030, 10, 10), &time(30, 10, 10)), (1000, 0));
        let long = u64::MAX / 2;
        assert_eq!(divide(&time(long, 0, long), &time(0, 0, 0)), (0, long));
    }

    #[test]
    fn a_difference_has_the_later_state_and_the_used_time() {
        let cpu = |total_ns, throttled_ns| CpuTime {
            total_ns,
            user_ns: total_ns / 10,
            system_ns: total_ns / 10,
            throttled_ns,
        };
        let earlier =
            Counters { at: Nanos(100), cpu: cpu(1000, Some(7)), threads: 9, ..Counters::default() };
        let later = Counters {
            at: Nanos(350),
            cpu: cpu(1200, Some(9)),
            memory_peak: 77,
            threads: 3,
            switches_voluntary: 4,
            busiest_thread_ns: 180,
            ..earlier
        };
        let usage = later.since(&earlier);
        assert_eq!((usage.interval_ns, usage.cpu_user_ns, usage.cpu_system_ns), (250, 100, 100));
        assert_eq!((usage.throttled_ns, usage.memory_peak_bytes, usage.threads), (Some(2), 77, 3));
        assert_eq!((usage.switches_voluntary, usage.busiest_thread_ns), (4, 180));
        let uncounted = Counters { cpu: cpu(1200, None), ..later };
        assert_eq!(uncounted.since(&earlier).throttled_ns, None);
    }
}
