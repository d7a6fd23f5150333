//! Detects windows that do not show the server, even though every call was answered or failed only for lack of time.

use crate::trial::Measured;

/// Reason why a window shows the client or the machine rather than the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disturbance {
    /// A load thread of a closed loop did not run for this long, nanoseconds.
    ClientAbsent(u64),
    /// The server's CPU time was read over this interval, nanoseconds, which differs too much from the window's length to be
    /// scaled to it.
    CountersApart(u64),
    /// Calls timed out while programs other than the server took this share of the time of the server's CPUs.
    ServerStarved(f64),
}

impl Disturbance {
    /// Minimum share of the needed CPU time taken by others for a late call to be no evidence against the server: of the server's
    /// CPUs in the window, or of the time that the client waited for the call.
    pub const STARVED_SHARE: f64 = 0.25;
    /// Minimum absence of a load thread that makes it late, nanoseconds. Shorter ones are common on shared machines.
    pub const ABSENCE_NS: u64 = 100_000_000;
    /// The same as a share of the window.
    pub const ABSENCE_SHARE: f64 = 0.05;
    /// Maximum difference between the interval of the readings and the window's length, as a share of the length.
    pub const INTERVAL_SHARE: f64 = 0.10;
    /// The same in short windows, nanoseconds: the first reading comes up to 20 ms before the window.
    pub const INTERVAL_NS: u64 = 40_000_000;

    /// Why a call that timed out is not the server's failure. `waited_ns` is the time that the call waited, `absent_ns` how long
    /// the client was absent in that time, and `others` the share of the time of the server's CPUs that others took. `None` if it
    /// is the server's failure.
    pub fn of_late_call(waited_ns: u64, absent_ns: u64, others: Option<f64>) -> Option<Self> {
        if absent_ns > 0 && absent_ns as f64 >= waited_ns as f64 * Self::STARVED_SHARE {
            return Some(Self::ClientAbsent(absent_ns));
        }
        others.filter(|share| *share >= Self::STARVED_SHARE).map(Self::ServerStarved)
    }
}

impl Measured {
    /// What disturbed the window. `None` if nothing did. Lateness of the client in an open loop is in the pacing instead.
    pub fn disturbance(&self) -> Option<Disturbance> {
        self.late_by_machine().or_else(|| self.client_absent()).or_else(|| self.counters_apart())
    }

    /// Why calls that timed out are not the server's failure. `None` if no call failed, if one failed in another way, or if the
    /// server had the CPU time to answer.
    pub fn late_by_machine(&self) -> Option<Disturbance> {
        if self.outcomes.errors() == 0 || !self.outcomes.is_only_late() {
            return None;
        }
        let waited = self.error_latency.as_ref().map_or(u64::MAX, |latency| latency.min_ns);
        let own = self.server.as_ref().map(|it| it.cpu_user_ns + it.cpu_system_ns);
        let others = own.and_then(|own| self.machine.share_of_others(own, self.window_ns));
        Disturbance::of_late_call(waited, self.client.longest_absence_ns, others)
    }

    fn client_absent(&self) -> Option<Disturbance> {
        let absent = self.client.longest_absence_ns;
        let least = self.window_ns as f64 * Disturbance::ABSENCE_SHARE;
        let late = absent >= Disturbance::ABSENCE_NS && absent as f64 > least;
        (late && self.pacing.is_none()).then_some(Disturbance::ClientAbsent(absent))
    }

    fn counters_apart(&self) -> Option<Disturbance> {
        let interval_ns = self.server.as_ref().map(|it| it.interval_ns).filter(|ns| *ns > 0)?;
        let off = interval_ns.abs_diff(self.window_ns);
        let most = self.window_ns as f64 * Disturbance::INTERVAL_SHARE;
        let apart = off > Disturbance::INTERVAL_NS && off as f64 > most;
        apart.then_some(Disturbance::CountersApart(interval_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Latency, Outcomes, Pacing};
    use crate::usage::{ClientUsage, MachineUsage, ServerUsage};

    const MS: u64 = 1_000_000;

    fn window(window_ms: u64, absent_ms: u64, interval_ms: u64) -> Measured {
        Measured {
            window_ns: window_ms * MS,
            client: ClientUsage { longest_absence_ns: absent_ms * MS, ..ClientUsage::default() },
            server: Some(ServerUsage { interval_ns: interval_ms * MS, ..ServerUsage::default() }),
            ..Measured::default()
        }
    }

    #[test]
    fn absence_counts_from_100_ms_and_5_percent_of_window() {
        let absent = |window_ms, absent_ms| window(window_ms, absent_ms, window_ms).disturbance();
        assert_eq!(absent(3000, 1000), Some(Disturbance::ClientAbsent(1000 * MS)));
        assert_eq!([absent(250, 99), absent(3000, 150), absent(30_000, 1000)], [None; 3]);
        assert_eq!(absent(250, 100), Some(Disturbance::ClientAbsent(100 * MS)));
        let open = Measured { pacing: Some(Pacing::default()), ..window(3000, 1000, 3000) };
        assert_eq!(open.disturbance(), None);
    }

    #[test]
    fn counters_may_be_10_percent_off_window() {
        let apart = |window_ms, interval_ms| window(window_ms, 0, interval_ms).disturbance();
        assert_eq!([apart(1000, 1100), apart(1000, 900), apart(250, 290)], [None; 3]);
        assert_eq!(apart(1000, 1101), Some(Disturbance::CountersApart(1101 * MS)));
        assert_eq!(apart(1000, 899), Some(Disturbance::CountersApart(899 * MS)));
        assert_eq!(apart(250, 950), Some(Disturbance::CountersApart(950 * MS)));
        assert_eq!(Measured { server: None, ..window(250, 0, 950) }.disturbance(), None);
    }

    #[test]
    fn late_calls_are_the_machines_if_others_took_a_quarter_of_the_cpu_time() {
        let server = ServerUsage { cpu_user_ns: 700, cpu_system_ns: 50, ..ServerUsage::default() };
        let late = |busy_ns, stolen_ns| Measured {
            outcomes: Outcomes { ok: 9, timeout: 1, ..Outcomes::default() },
            server: Some(server.clone()),
            machine: MachineUsage {
                server_cpus_busy_ns: Some(busy_ns),
                server_steal_ns: Some(stolen_ns),
                ..MachineUsage::default()
            },
            ..Measured::default()
        };
        assert_eq!(late(990, 0).late_by_machine(), None);
        let starved = Some(Disturbance::ServerStarved(0.25));
        assert_eq!([late(1000, 0), late(750, 250)].map(|it| it.disturbance()), [starved; 2]);
        let mut broken = late(1000, 0);
        broken.outcomes.transport = 1;
        assert_eq!(broken.late_by_machine(), None, "a broken connection is the server's failure");
        let answered = Measured { outcomes: Outcomes::default(), ..late(1000, 0) };
        assert_eq!(answered.disturbance(), None);
    }

    #[test]
    fn late_calls_are_the_servers_failure_if_its_cpus_are_idle() {
        let idle = |busy_ns| Measured {
            outcomes: Outcomes { timeout: 1, ..Outcomes::default() },
            machine: MachineUsage { server_cpus_busy_ns: Some(busy_ns), ..MachineUsage::default() },
            ..window(1000, 0, 1000)
        };
        assert_eq!(idle(249 * MS).late_by_machine(), None);
        assert_eq!(idle(250 * MS).late_by_machine(), Some(Disturbance::ServerStarved(0.25)));
    }

    #[test]
    fn late_calls_are_the_clients_if_it_was_absent_for_a_quarter_of_their_time() {
        let late = |absent_ms| Measured {
            outcomes: Outcomes { timeout: 1, ..Outcomes::default() },
            error_latency: Some(Latency { min_ns: 10_000 * MS, ..Latency::default() }),
            ..window(3000, absent_ms, 3000)
        };
        assert_eq!(late(2499).late_by_machine(), None);
        assert_eq!(late(2500).late_by_machine(), Some(Disturbance::ClientAbsent(2500 * MS)));
    }
}
