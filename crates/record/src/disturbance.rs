//! What keeps a window from showing the server, though every call was answered.

use crate::trial::Measured;

/// A window says more about the client or the machine than about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// In a closed loop, a load thread did not run for this long, nanoseconds.
    ClientAbsent(u64),
    /// The server's CPU time was read over this time, nanoseconds, which is too far from the window's length to be scaled to it.
    CountersApart(u64),
}

impl Disturbance {
    /// Shortest absence of a load thread that makes it late, nanoseconds; shorter ones are common on shared machines.
    pub const ABSENCE_NS: u64 = 100_000_000;
    /// The same as a share of the window.
    pub const ABSENCE_SHARE: f64 = 0.05;
    /// How far the interval between the readings may be from the window's length, as a share of it.
    pub const INTERVAL_SHARE: f64 = 0.10;
    /// The same in short windows, nanoseconds: the first reading comes up to 20 ms before the window.
    pub const INTERVAL_NS: u64 = 40_000_000;
}

impl Measured {
    /// What disturbed the window. `None` if nothing did. Whether the client was late in an open loop, its pacing says.
    pub fn disturbance(&self) -> Option<Disturbance> {
        self.client_absent().or_else(|| self.counters_apart())
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
    use crate::trial::{ClientUsage, Pacing, ServerUsage};

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
}
