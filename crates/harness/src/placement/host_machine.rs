//! This machine during a window: stolen time, tasks waiting for a CPU, the machine reference, other runs.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, OnceLock};

use procfs::process::Schedstat;
use procfs::{ConfigSetting, CpuPressure, Current, FromRead};
use rpcbench_clock as clock;
use rpcbench_engine::Reference;
use rpcbench_record::{Isolation, MachineUsage};

use super::{Machine, MachineReading, PlacementError};
use crate::error::about;
use crate::host::cpus::pin_this_thread;
use crate::host::presence::Presence;

const REFERENCE: &str = "the machine reference can't run";
/// Statistics of the thread that reads the file.
const SCHEDSTAT: &str = "/proc/thread-self/schedstat";

/// This machine, as seen by one server on it.
#[derive(Debug)]
pub(super) struct HostMachine {
    /// Empty if unknown.
    server_cpus: Vec<u32>,
    client_cpus: Vec<u32>,
    /// True if the machine reference may run on the server's CPUs.
    owned: bool,
    presence: Option<Arc<Presence>>,
    reference: Option<Reference>,
}

impl HostMachine {
    /// The machine of a server that the harness placed.
    pub fn owned(isolation: &Isolation, presence: Option<Arc<Presence>>) -> Self {
        Self { owned: true, presence, ..Self::observed(isolation) }
    }

    /// The machine of a server that the user runs.
    pub fn observed(isolation: &Isolation) -> Self {
        Self {
            server_cpus: isolation.server_cpus.clone(),
            client_cpus: isolation.client_cpus.clone(),
            owned: false,
            presence: None,
            reference: None,
        }
    }
}

impl Machine for HostMachine {
    fn start_reference(&mut self) -> Result<(), PlacementError> {
        if self.owned && !self.server_cpus.is_empty() {
            let cpus = self.server_cpus.clone();
            let reference = Reference::start(move || pin_this_thread(&cpus));
            self.reference = Some(reference.map_err(about(REFERENCE))?);
        }
        Ok(())
    }

    fn sample(&mut self) -> Result<MachineReading, PlacementError> {
        let stat = fs::read_to_string("/proc/stat").map_err(about("/proc/stat can't be read"))?;
        let tick_ns = 1_000_000_000 / procfs::ticks_per_second().max(1);
        let (server, client) = (&*self.server_cpus, &*self.client_cpus);
        let both = [server, client].concat();
        let of_server = |columns: &[usize]| {
            (!server.is_empty()).then(|| ticks(&stat, server, columns) * tick_ns)
        };
        let pressure = CpuPressure::current().ok();
        Ok(MachineReading {
            steal_ns: ticks(&stat, &both, &STEAL) * tick_ns,
            client_steal_ns: ticks(&stat, client, &STEAL) * tick_ns,
            server_steal_ns: of_server(&STEAL),
            server_busy_ns: of_server(busy()),
            pressure_ns: pressure.map(|pressure| pressure.some.total * 1000),
            reader_delay_ns: Schedstat::from_file(SCHEDSTAT).map_or(0, |own| own.run_delay),
            at: clock::now(),
        })
    }

    fn usage(
        &mut self,
        first: &MachineReading,
        last: &MachineReading,
    ) -> Result<MachineUsage, PlacementError> {
        let mut usage = last.since(first);
        if let Some(reference) = self.reference.take() {
            usage.reference = reference.end(first.at, last.at).map_err(about(REFERENCE))?;
            // The reference's own work must not count as other tasks.
            let own = usage.reference.map_or(0, |reference| reference.cpu_ns());
            usage.server_cpus_busy_ns = usage.server_cpus_busy_ns.map(|ns| ns.saturating_sub(own));
        }
        let rivals = self.presence.as_ref().map_or(0, |presence| presence.rivals().len());
        usage.rivals = u32::try_from(rivals).unwrap_or(u32::MAX);
        Ok(usage)
    }
}

/// Columns of `/proc/stat`: time of tasks in user mode, in user mode with low priority (nice), and in the kernel.
const TASKS: [usize; 3] = [1, 2, 3];
/// The same, and time of interrupts and soft interrupts.
const TASKS_AND_INTERRUPTS: [usize; 5] = [1, 2, 3, 6, 7];
/// Column of the time that a hypervisor took.
const STEAL: [usize; 1] = [8];

/// Columns that include a server's own CPU time.
///
/// A kernel without `CONFIG_IRQ_TIME_ACCOUNTING` charges interrupts to the interrupted task and also lists them separately.
/// Without these columns, other tasks would be hidden by the server's own network work. Kernels with the option charge no task.
/// If the kernel's configuration is unknown, other tasks are undercounted.
fn busy() -> &'static [usize] {
    static CHARGED: OnceLock<bool> = OnceLock::new();
    let charged = CHARGED.get_or_init(|| procfs::kernel_config().is_ok_and(|it| is_charged(&it)));
    if *charged { &TASKS_AND_INTERRUPTS } else { &TASKS }
}

/// The configuration does not list options that are off. It lists the second one if the architecture supports the first.
fn is_charged(config: &HashMap<String, ConfigSetting>) -> bool {
    !config.contains_key("CONFIG_IRQ_TIME_ACCOUNTING")
        && config.contains_key("CONFIG_HAVE_IRQ_TIME_ACCOUNTING")
}

/// Ticks in `columns` for `cpus`. Lines are matched by CPU number, since offline CPUs have no line.
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
    use rpcbench_record::IsolationMode;

    use super::*;

    const STAT: &str = "cpu  10 0 20 30 40 0 1 99 0 0\n\
                        cpu0 1 2 3 4 5 6 7 8 9 10\n\
                        cpu3 1 2 3 4 5 6 7 80 9 10\n\
                        intr 5 5 5\n";

    #[test]
    fn ticks_are_those_of_the_cpus() {
        assert_eq!(ticks(STAT, &[0], &STEAL), 8);
        assert_eq!(ticks(STAT, &[3, 0], &STEAL), 88);
        assert_eq!(ticks(STAT, &[1], &STEAL), 0);
        assert_eq!(ticks(STAT, &[3], &TASKS), 6);
        assert_eq!(ticks(STAT, &[3], &TASKS_AND_INTERRUPTS), 19);
    }

    #[test]
    fn interrupts_are_charged_to_tasks_without_irq_time_accounting() {
        let has = |names: &[&str]| {
            let config = names.iter().map(|name| ((*name).to_owned(), ConfigSetting::Yes));
            is_charged(&config.collect())
        };
        let (on, can) = ("CONFIG_IRQ_TIME_ACCOUNTING", "CONFIG_HAVE_IRQ_TIME_ACCOUNTING");
        assert!(has(&[can]) && !has(&[can, on]) && !has(&[]));
    }

    #[test]
    fn busy_time_is_unknown_without_known_server_cpus() {
        let read = |server_cpus: &[u32]| {
            let isolation = Isolation {
                mode: IsolationMode::Unmanaged,
                server_cpus: server_cpus.to_vec(),
                client_cpus: vec![0],
                memory_bytes: None,
                details: Default::default(),
                notes: Vec::new(),
            };
            HostMachine::observed(&isolation).sample().unwrap()
        };
        assert_eq!(read(&[]).server_busy_ns, None);
        assert!(read(&[0]).server_busy_ns.is_some());
    }
}
