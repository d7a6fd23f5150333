//! What the machine suffers: time stolen by a hypervisor, tasks waiting for a CPU.

use std::collections::HashMap;
use std::fs;
use std::sync::OnceLock;

use procfs::{ConfigSetting, CpuPressure, Current};
use rpcbench_record::MachineUsage;

use super::CounterError;

/// Counters of the machine at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineReading {
    steal_ns: u64,
    client_steal_ns: u64,
    server_steal_ns: Option<u64>,
    server_busy_ns: Option<u64>,
    pressure_ns: Option<u64>,
}

impl MachineReading {
    /// Now; `server` are the CPUs of the server, none if nobody knows them, and `client` those of the
    /// client.
    ///
    /// # Errors
    /// If `/proc/stat` can't be read.
    pub fn read(server: &[u32], client: &[u32]) -> Result<Self, CounterError> {
        let stat = fs::read_to_string("/proc/stat").map_err(procfs::ProcError::from)?;
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let pressure = CpuPressure::current().ok();
        let both: Vec<u32> = server.iter().chain(client).copied().collect();
        let of_server = |columns: &[usize]| {
            (!server.is_empty()).then(|| ticks(&stat, server, columns) * tick_ns)
        };
        Ok(Self {
            steal_ns: ticks(&stat, &both, &STEAL) * tick_ns,
            client_steal_ns: ticks(&stat, client, &STEAL) * tick_ns,
            server_steal_ns: of_server(&STEAL),
            server_busy_ns: of_server(busy()),
            pressure_ns: pressure.map(|pressure| pressure.some.total * 1000),
        })
    }

    /// What the machine suffered between an earlier reading and this one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> MachineUsage {
        let less =
            |now: Option<u64>, then| now.zip(then).map(|(n, t): (u64, u64)| n.saturating_sub(t));
        MachineUsage {
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
            client_steal_ns: self.client_steal_ns.saturating_sub(earlier.client_steal_ns),
            server_steal_ns: less(self.server_steal_ns, earlier.server_steal_ns),
            server_cpus_busy_ns: less(self.server_busy_ns, earlier.server_busy_ns),
            cpu_pressure_ns: less(self.pressure_ns, earlier.pressure_ns),
            reference: None,
            rivals: 0,
        }
    }
}

/// Columns of `/proc/stat`: time of tasks in user mode, with raised niceness, and in the kernel.
const TASKS: [usize; 3] = [1, 2, 3];
/// The same, and time of interrupts and of soft interrupts.
const TASKS_AND_INTERRUPTS: [usize; 5] = [1, 2, 3, 6, 7];
/// Column of the time that a hypervisor took.
const STEAL: [usize; 1] = [8];

/// Columns that together are what a server's own CPU time is a part of.
///
/// A kernel without `CONFIG_IRQ_TIME_ACCOUNTING` charges interrupts to the task they interrupt, and lists them apart all the
/// same: without them a stranger hides behind the server's own network work. Any other kernel charges nobody. Where it does
/// not tell which it is, less is taken for a stranger's than may be.
fn busy() -> &'static [usize] {
    static CHARGED: OnceLock<bool> = OnceLock::new();
    let charged = CHARGED.get_or_init(|| procfs::kernel_config().is_ok_and(|it| is_charged(&it)));
    if *charged { &TASKS_AND_INTERRUPTS } else { &TASKS }
}

/// What is off is not listed; this architecture has the option at all where it lists the second.
fn is_charged(config: &HashMap<String, ConfigSetting>) -> bool {
    !config.contains_key("CONFIG_IRQ_TIME_ACCOUNTING")
        && config.contains_key("CONFIG_HAVE_IRQ_TIME_ACCOUNTING")
}

/// Ticks in `columns` of the CPUs named. The lines carry the CPU's number; with some CPU offline it is
/// not the line's.
fn ticks(stat: &str, cpus: &[u32], columns: &[usize]) -> u64 {
    let of_line = |line: &str| -> Option<u64> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let cpu: u32 = fields.first()?.strip_prefix("cpu")?.parse().ok()?;
        let value = |column: &usize| fields.get(*column)?.parse::<u64>().ok();
        cpus.contains(&cpu).then(|| columns.iter().filter_map(value).sum())
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
    fn ticks_are_of_the_cpus_named() {
        assert_eq!(ticks(STAT, &[0], &STEAL), 8);
        assert_eq!(ticks(STAT, &[3, 0], &STEAL), 88);
        assert_eq!(ticks(STAT, &[1], &STEAL), 0);
        assert_eq!(ticks(STAT, &[3], &TASKS), 6);
        assert_eq!(ticks(STAT, &[3], &TASKS_AND_INTERRUPTS), 19);
    }

    #[test]
    fn interrupts_are_charged_to_tasks_where_the_kernel_does_not_count_them_apart() {
        let has = |names: &[&str]| {
            let config = names.iter().map(|name| ((*name).to_owned(), ConfigSetting::Yes));
            is_charged(&config.collect())
        };
        let (on, can) = ("CONFIG_IRQ_TIME_ACCOUNTING", "CONFIG_HAVE_IRQ_TIME_ACCOUNTING");
        assert!(has(&[can]) && !has(&[can, on]) && !has(&[]));
    }

    #[test]
    fn differences_of_what_is_counted() {
        let earlier = MachineReading {
            steal_ns: 5,
            client_steal_ns: 1,
            server_steal_ns: Some(4),
            server_busy_ns: Some(7),
            pressure_ns: Some(10),
        };
        let later = MachineReading {
            steal_ns: 25,
            client_steal_ns: 15,
            server_steal_ns: Some(10),
            server_busy_ns: Some(9),
            pressure_ns: Some(11),
        };
        let expected = MachineUsage {
            steal_ns: 20,
            client_steal_ns: 14,
            server_steal_ns: Some(6),
            server_cpus_busy_ns: Some(2),
            cpu_pressure_ns: Some(1),
            reference: None,
            rivals: 0,
        };
        assert_eq!(later.since(&earlier), expected);
        let without = MachineReading {
            pressure_ns: None,
            server_busy_ns: None,
            server_steal_ns: None,
            ..later
        };
        let usage = without.since(&earlier);
        assert_eq!((usage.client_steal_ns, usage.server_steal_ns), (14, None));
        assert_eq!((usage.cpu_pressure_ns, usage.server_cpus_busy_ns), (None, None));
        assert_eq!(MachineReading::read(&[], &[0]).unwrap().server_busy_ns, None);
        assert!(MachineReading::read(&[0], &[]).unwrap().server_busy_ns.is_some());
    }
}
