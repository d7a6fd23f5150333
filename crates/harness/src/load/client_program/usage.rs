//! CPU time on the other side of a client: threads of the reference server, and the thread that reads records.

use rpcbench_clock::{self as clock, Nanos};
use rpcbench_record::ClientUsage;
use rpcbench_reference::{ThreadTime, thread_time};

use super::called::Called;
use super::failed;
use super::program::Program;
use crate::load::LoadError;

/// A reading of the CPU time of all threads.
#[derive(Clone, Debug)]
pub(super) struct UsageReading {
    at: Nanos,
    threads: Vec<ThreadTime>,
}

impl UsageReading {
    pub fn take(called: &Called, program: &Program) -> Result<Self, LoadError> {
        let mut threads = called.usage().map_err(failed)?;
        // The reader ends with the program. If it has, the program's end is the better error.
        let reader = thread_time(program.reader());
        program.with(|_| ())?;
        threads.push(reader.map_err(failed)?);
        Ok(Self { at: clock::now(), threads })
    }

    /// CPU time of all threads so far.
    pub fn cpu(&self) -> Nanos {
        Nanos(self.threads.iter().map(|thread| thread.cpu_ns).sum())
    }

    /// Adds the usage since an earlier reading, scaled to exactly `length`, to `usage` of earlier parts of a window.
    pub fn add_since(&self, earlier: &Self, length: Nanos, usage: &mut ClientUsage) {
        let share = length.0 as f64 / (self.at - earlier.at).0.max(1) as f64;
        let scale = |now: u64, then: u64| (now.saturating_sub(then) as f64 * share) as u64;
        (usage.threads, usage.run_delay_ns) = (0, Some(usage.run_delay_ns.unwrap_or(0)));
        let mut busiest = 0;
        for (now, then) in self.threads.iter().zip(&earlier.threads) {
            let cpu = scale(now.cpu_ns, then.cpu_ns);
            let delay = scale(now.run_delay_ns, then.run_delay_ns);
            usage.threads += 1;
            usage.cpu_ns += cpu;
            usage.run_delay_ns = usage.run_delay_ns.map(|sum| sum + delay);
            busiest = busiest.max(cpu + delay);
        }
        usage.busiest_ns += busiest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_scaled_to_the_window_and_the_busiest_thread_counts_with_its_run_delay() {
        let reading = |at, times: &[(u64, u64)]| UsageReading {
            at: Nanos(at),
            threads: times
                .iter()
                .map(|&(cpu_ns, run_delay_ns)| ThreadTime { cpu_ns, run_delay_ns })
                .collect(),
        };
        let before = reading(1000, &[(100, 0), (50, 0)]);
        let after = reading(3000, &[(500, 100), (450, 0)]);
        let mut usage = ClientUsage::default();
        after.add_since(&before, Nanos(1000), &mut usage);
        assert_eq!((usage.threads, usage.cpu_ns, usage.run_delay_ns), (2, 400, Some(50)));
        assert_eq!((usage.busiest_ns, after.cpu()), (250, Nanos(950)));
        after.add_since(&before, Nanos(2000), &mut usage);
        assert_eq!((usage.threads, usage.cpu_ns, usage.busiest_ns), (2, 1200, 750));
    }
}
