//! CPU time of the load threads.

use procfs::process::Process;
use rpcbench_record::ClientUsage;
use rustix::thread::Pid;

use super::CounterError;

/// The load threads of this process.
#[derive(Clone, Debug)]
pub struct ClientThreads {
    ids: Vec<i32>,
}

/// Their counters at one point in time, thread by thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientReading {
    threads: Vec<ThreadTime>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ThreadTime {
    cpu_ns: u64,
    run_delay_ns: Option<u64>,
}

impl ClientThreads {
    /// Threads of this process by id, as `rustix::thread::gettid` tells each its own.
    #[must_use]
    pub fn new(ids: &[Pid]) -> Self {
        Self { ids: ids.iter().map(|id| id.as_raw_pid()).collect() }
    }

    /// Their CPU time and run delay so far.
    ///
    /// # Errors
    /// If one of them has ended, or `/proc` can't be read.
    pub fn read(&self) -> Result<ClientReading, CounterError> {
        let process = Process::myself()?;
        let threads = self.ids.iter().map(|id| time_of(&process, *id)).collect::<Result<_, _>>()?;
        Ok(ClientReading { threads })
    }
}

/// A kernel without scheduler statistics counts clock ticks, and no run delay.
fn time_of(process: &Process, id: i32) -> Result<ThreadTime, CounterError> {
    let task = process.task_from_tid(id)?;
    if let Ok(times) = task.schedstat() {
        let run_delay_ns = Some(times.run_delay);
        return Ok(ThreadTime { cpu_ns: times.sum_exec_runtime, run_delay_ns });
    }
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let stat = task.stat()?;
    Ok(ThreadTime { cpu_ns: (stat.utime + stat.stime) * tick_ns, run_delay_ns: None })
}

impl ClientReading {
    /// What the threads used between an earlier reading and this one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> ClientUsage {
        let used: Vec<ThreadTime> =
            self.threads.iter().zip(&earlier.threads).map(|(now, then)| now.since(*then)).collect();
        let busy = |time: &ThreadTime| time.cpu_ns + time.run_delay_ns.unwrap_or(0);
        ClientUsage {
            threads: u32::try_from(used.len()).unwrap_or(u32::MAX),
            cpu_ns: used.iter().map(|time| time.cpu_ns).sum(),
            run_delay_ns: used.iter().map(|time| time.run_delay_ns).sum(),
            busiest_ns: used.iter().map(busy).max().unwrap_or(0),
        }
    }
}

impl ThreadTime {
    fn since(self, earlier: Self) -> Self {
        let delays = self.run_delay_ns.zip(earlier.run_delay_ns);
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            run_delay_ns: delays.map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(times: &[(u64, Option<u64>)]) -> ClientReading {
        let time = |(cpu_ns, run_delay_ns): &(u64, Option<u64>)| ThreadTime {
            cpu_ns: *cpu_ns,
            run_delay_ns: *run_delay_ns,
        };
        ClientReading { threads: times.iter().map(time).collect() }
    }

    #[test]
    fn the_busiest_thread_counts_with_its_run_delay() {
        let earlier = reading(&[(100, Some(0)), (100, Some(10))]);
        let later = reading(&[(400, Some(0)), (300, Some(210))]);
        let usage = later.since(&earlier);
        assert_eq!((usage.threads, usage.cpu_ns, usage.busiest_ns), (2, 500, 400));
        assert_eq!(usage.run_delay_ns, Some(200));
    }

    #[test]
    fn a_run_delay_that_one_thread_lacks_is_not_told() {
        let later = reading(&[(400, Some(0)), (300, None)]);
        assert_eq!(later.since(&later.clone()).run_delay_ns, None);
    }

    #[test]
    fn a_thread_that_works_is_seen_to() {
        let threads = ClientThreads::new(&[rustix::thread::gettid()]);
        let before = threads.read().unwrap();
        let own = rpcbench_engine::clock::thread_cpu();
        while rpcbench_engine::clock::thread_cpu().since(own) < 20_000_000 {}
        let usage = threads.read().unwrap().since(&before);
        assert!(usage.cpu_ns >= 10_000_000, "{usage:?}");
        assert!(usage.busiest_ns >= usage.cpu_ns);
    }
}
