//! What the machine suffers: time stolen by a hypervisor, tasks waiting for a CPU.

use std::fs;

use procfs::{CpuPressure, Current};
use rpcbench_record::MachineUsage;

use super::CounterError;

/// Counters of the machine at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineReading {
    steal_ns: u64,
    pressure_ns: Option<u64>,
}

impl MachineReading {
    /// Now; steal time of `cpus` only.
    ///
    /// # Errors
    /// If `/proc/stat` can't be read.
    pub fn read(cpus: &[u32]) -> Result<Self, CounterError> {
        let stat = fs::read_to_string("/proc/stat").map_err(procfs::ProcError::from)?;
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let pressure = CpuPressure::current().ok();
        Ok(Self {
            steal_ns: steal_ticks(&stat, cpus) * tick_ns,
            pressure_ns: pressure.map(|pressure| pressure.some.total * 1000),
        })
    }

    /// What the machine suffered between an earlier reading and this one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> MachineUsage {
        let pressure = self.pressure_ns.zip(earlier.pressure_ns);
        MachineUsage {
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
            cpu_pressure_ns: pressure.map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// Stolen ticks of the CPUs named. The lines carry the CPU's number; with some CPU offline it is not the
/// line's.
fn steal_ticks(stat: &str, cpus: &[u32]) -> u64 {
    const STEAL: usize = 8;
    let of_line = |line: &str| -> Option<u64> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let cpu: u32 = fields.first()?.strip_prefix("cpu")?.parse().ok()?;
        cpus.contains(&cpu).then(|| fields.get(STEAL)?.parse().ok())?
    };
    stat.lines().filter_map(of_line).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  10 0 20 30 40 0 1 99 0 0\n\
                        cpu0 1 2 3 4 5 6 7 8 9 10\n\
                        cpu3 1 2 3 4 5 6 7 80 9 10\n\
                        intr 5 5 5\n";

    #[test]
    fn steal_is_of_the_cpus_named() {
        assert_eq!(steal_ticks(STAT, &[0]), 8);
        assert_eq!(steal_ticks(STAT, &[3, 0]), 88);
        assert_eq!(steal_ticks(STAT, &[1]), 0);
    }

    #[test]
    fn differences_of_what_is_counted() {
        let earlier = MachineReading { steal_ns: 5, pressure_ns: Some(10) };
        let later = MachineReading { steal_ns: 25, pressure_ns: Some(11) };
        assert_eq!(later.since(&earlier), MachineUsage { steal_ns: 20, cpu_pressure_ns: Some(1) });
        let without = MachineReading { pressure_ns: None, ..later };
        assert_eq!(without.since(&earlier).cpu_pressure_ns, None);
        MachineReading::read(&[0]).unwrap();
    }
}
