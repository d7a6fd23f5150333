//! Whose limit a window shows: whether the client kept its schedule and had CPU to spare, and whether the server kept up.

use crate::trial::{Measured, Pacing, Slice};

impl Pacing {
    /// Share of late calls above which a window says more about the client than about the server.
    pub const LATE_SHARE: f64 = 0.01;

    /// Share of the calls that the client noticed late. 0 if no call came due.
    pub fn late_share(&self) -> f64 {
        if self.due == 0 { 0.0 } else { self.late as f64 / self.due as f64 }
    }

    /// True if more than [`Self::LATE_SHARE`] of the calls were noticed late: `generator late`.
    pub fn generator_late(&self) -> bool {
        self.late_share() > Self::LATE_SHARE
    }
}

/// Share of its CPUs above which a side counts as saturated. The rest is lost to scheduling and at the ends of a window.
pub const SATURATED: f64 = 0.90;

/// Maximum shortfall of calls done in the second half of a window, as a share of the calls due.
const SHORTFALL: f64 = 0.02;
/// Standard deviations of chance allowed on top of the shortfall.
const SIGMAS: f64 = 3.0;

impl Measured {
    /// Correct answers per second. In a closed loop: calls [by their part within the window](Self::ok_pro_rata), or, if the
    /// window is a number of calls, these calls, as the load runs down with the last of them. In an open loop: answers to calls
    /// that came due in the window. If the server did not keep up, answers in the second half of the window: answers after the
    /// window only show how long the client waited, and the first half may have gone to calls of the warm-up. `None` for a window
    /// without length.
    pub fn ok_per_s(&self) -> Option<f64> {
        let (ok, ns) = match self.kept_up() {
            Some(false) => {
                let middle = Slice::middle_ns(self.series.len());
                let ok: u64 = self.second_half().iter().map(|slice| slice.ok).sum();
                (ok as f64, self.window_ns.saturating_sub(middle))
            }
            _ if self.pacing.is_none() && !self.of_calls => (self.ok_pro_rata, self.window_ns),
            _ => (self.outcomes.ok as f64, self.window_ns),
        };
        (ns > 0).then(|| ok * 1e9 / ns as f64)
    }

    /// CPU use of the busiest load thread, as a share of a CPU, including its run delay and excluding busy-waiting. 0 for a
    /// window without length.
    pub fn busiest_client(&self) -> f64 {
        if self.window_ns == 0 {
            0.0
        } else {
            self.client.busiest_ns as f64 / self.window_ns as f64
        }
    }

    /// True if a load thread had no CPU to spare. Then the response times of an open loop may be due to the client, and so may a
    /// rate that was not reached.
    pub fn client_saturated(&self) -> bool {
        self.busiest_client() >= SATURATED
    }

    /// CPU use of a server that may use `cpus` CPUs, as a share of them. `None` if unknown.
    pub fn server_share(&self, cpus: u32) -> Option<f64> {
        let server = self.server.as_ref().filter(|server| server.interval_ns > 0)?;
        Some(server.cpu_seconds() * 1e9 / (server.interval_ns as f64 * f64::from(cpus)))
    }

    /// True if a thread of the server was saturated. A server that handles all calls on one thread can do no more, no matter how
    /// many CPUs it may use.
    pub fn server_thread_saturated(&self) -> bool {
        let server = self.server.as_ref().filter(|server| server.interval_ns > 0);
        server.is_some_and(|s| s.busiest_thread_ns as f64 / s.interval_ns as f64 >= SATURATED)
    }

    /// True if a closed loop shows the client's limit: a load thread was saturated, but neither the server, which may use `cpus`
    /// CPUs, nor one of its threads is known to be.
    pub fn client_bound(&self, cpus: u32) -> bool {
        let server = self.server_share(cpus).is_some_and(|share| share >= SATURATED);
        self.client_saturated() && !server && !self.server_thread_saturated()
    }

    /// Correct answers per second of the server's CPU time. `None` if that is unknown or 0.
    pub fn ok_per_server_cpu_s(&self) -> Option<f64> {
        let cpu_s = self.server_cpu_s().filter(|cpu_s| *cpu_s > 0.0)?;
        Some(self.ok_pro_rata / cpu_s)
    }

    /// CPU time of the server within the window, seconds: the difference of its counters, scaled to the window's length.
    /// `None` if unknown.
    pub fn server_cpu_s(&self) -> Option<f64> {
        let server = self.server.as_ref().filter(|server| server.interval_ns > 0)?;
        Some(server.cpu_seconds() * self.window_ns as f64 / server.interval_ns as f64)
    }

    fn second_half(&self) -> &[Slice] {
        &self.series[self.series.len() - self.series.len() / 2..]
    }

    /// True if the server kept up with an open loop: in the second half of the window, the number of calls that ended is at least
    /// 98 % of those that came due, less what chance explains. Calls still in flight do not count against it as long as responses
    /// take less than half of the window. `None` in a closed loop and in windows of one slice.
    ///
    /// Calls that come due at random fall into either half with equal probability, so the number in one half of `n` has
    /// the standard deviation `sqrt(n) / 2`; three of them are allowed.
    pub fn kept_up(&self) -> Option<bool> {
        let Pacing { due, due_second_half, .. } = self.pacing?;
        let due = due as f64;
        let last = self.second_half();
        if last.is_empty() {
            return None;
        }
        if due == 0.0 {
            return Some(true);
        }
        let done = last.iter().map(|slice| slice.ok + slice.errors).sum::<u64>() as f64;
        Some(done >= due_second_half as f64 * (1.0 - SHORTFALL - SIGMAS / due.sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Outcomes;
    use crate::usage::{ClientUsage, ServerUsage};

    #[test]
    fn late_share_up_to_1_percent_is_tolerated() {
        let late = |late| Pacing { due: 1000, late, ..Pacing::default() }.generator_late();
        assert!(!late(10));
        assert!(late(11));
        assert!(!Pacing::default().generator_late());
    }

    fn window(done: &[u64], due: u64) -> Measured {
        Measured {
            window_ns: done.len() as u64 * 100_000_000,
            outcomes: Outcomes { ok: due, ..Outcomes::default() },
            ok_pro_rata: due as f64,
            pacing: Some(Pacing { due, due_second_half: due / 2, ..Pacing::default() }),
            series: done.iter().map(|ok| Slice { ok: *ok, ..Slice::default() }).collect(),
            ..Measured::default()
        }
    }

    #[test]
    fn server_keeps_up_if_second_half_is_answered() {
        // 1,000,000 calls in ten slices. Chance explains 0.3 %.
        let due = 1_000_000;
        let even = |last| [vec![100_000; 5], vec![last; 5]].concat();
        assert_eq!(window(&even(100_000), due).kept_up(), Some(true));
        assert_eq!(window(&even(97_701), due).kept_up(), Some(true));
        assert_eq!(window(&even(97_699), due).kept_up(), Some(false));
        // Responses take 400 ms: the first four slices are empty, and the calls of four slices are in flight at the end.
        let slow = [vec![0; 4], vec![100_000; 6]].concat();
        assert_eq!(window(&slow, due).kept_up(), Some(true));
        // Few calls prove little: three of a hundred are within chance.
        assert_eq!(window(&[10, 10, 10, 10, 10, 8, 8, 8, 8, 8], 100).kept_up(), Some(true));
        assert_eq!(window(&[0; 10], 100).kept_up(), Some(false));
    }

    #[test]
    fn closed_loop_has_no_keeping_up() {
        let closed = Measured { pacing: None, ..window(&[1; 10], 10) };
        assert_eq!(closed.kept_up(), None);
        assert_eq!(window(&[1], 1).kept_up(), None);
        assert_eq!(window(&[0; 10], 0).kept_up(), Some(true));
    }

    #[test]
    fn closed_loop_is_client_bound_if_only_client_is_saturated() {
        let bound = |busiest_ns, server: Option<u64>| {
            let client = ClientUsage { busiest_ns, ..ClientUsage::default() };
            let server = server.map(|cpu_user_ns| ServerUsage {
                interval_ns: 1_000_000_000,
                cpu_user_ns,
                ..ServerUsage::default()
            });
            let measured = Measured { client, server, ..window(&[1; 10], 10) };
            (measured.client_saturated(), measured.client_bound(2))
        };
        assert_eq!(bound(899_000_000, None), (false, false));
        assert_eq!(bound(900_000_000, None), (true, true));
        assert_eq!(bound(900_000_000, Some(1_799_000_000)), (true, true));
        assert_eq!(bound(900_000_000, Some(1_800_000_000)), (true, false));
        // One thread saturates a CPU, and the other CPU is idle.
        let serial = |busiest_thread_ns| {
            let server = Some(ServerUsage {
                interval_ns: 1_000_000_000,
                cpu_user_ns: 1_000_000_000,
                busiest_thread_ns,
                ..ServerUsage::default()
            });
            let client = ClientUsage { busiest_ns: 950_000_000, ..ClientUsage::default() };
            Measured { client, server, ..window(&[1; 10], 10) }.client_bound(2)
        };
        assert_eq!([0, 899_999_999, 900_000_000].map(serial), [true, true, false]);
    }

    #[test]
    fn calls_per_cpu_second_excludes_grace_period() {
        let server = ServerUsage {
            interval_ns: 1_010_000_000,
            cpu_user_ns: 505_000_000,
            ..ServerUsage::default()
        };
        // 1,000 calls came due; the server answered 600 of them and 50 earlier ones within the window.
        let overloaded =
            Measured { server: Some(server), ok_pro_rata: 650.5, ..window(&[60; 10], 1000) };
        assert_eq!(overloaded.ok_per_server_cpu_s(), Some(1301.0));
        let closed = Measured { pacing: None, ..overloaded };
        assert_eq!(closed.ok_per_server_cpu_s(), Some(1301.0));
        assert_eq!(window(&[60; 10], 1000).ok_per_server_cpu_s(), None);
    }

    #[test]
    fn falling_rate_is_judged_by_second_half() {
        let falls = |done| {
            let mut window = window(done, 1000);
            window.pacing = Some(Pacing { due: 1000, due_second_half: 250, ..Pacing::default() });
            (window.kept_up(), window.ok_per_s())
        };
        assert_eq!(
            falls(&[150, 150, 150, 150, 150, 50, 50, 50, 50, 50]),
            (Some(true), Some(1000.0))
        );
        assert_eq!(falls(&[40; 10]), (Some(false), Some(400.0)));
    }

    #[test]
    fn overloaded_rate_excludes_answers_after_window() {
        let rate = |window: Measured| window.ok_per_s().unwrap();
        // All 1,000 calls were answered in the end.
        let first_for_others = [&[0; 5][..], &[60; 5]].concat();
        assert_eq!(rate(window(&first_for_others, 1000)), 600.0);
        let odd = Measured { window_ns: 950_000_000, ..window(&[60; 10], 1000) };
        assert_eq!(rate(odd), 300.0 / 0.45);
        assert_eq!(rate(window(&[100; 10], 1000)), 1000.0);
        let under_way = [&[0; 2][..], &[100; 8]].concat();
        assert_eq!(rate(window(&under_way, 1000)), 1000.0);
        let closed = Measured { pacing: None, ..window(&[60; 10], 1000) };
        assert_eq!(rate(closed), 1000.0);
        // Calls of the warm-up that end in a window of 100 calls do not count.
        let outcomes = Outcomes { ok: 100, ..Outcomes::default() };
        let of_calls =
            Measured { of_calls: true, outcomes, pacing: None, ..window(&[60; 10], 175) };
        assert_eq!(rate(of_calls), 100.0);
        assert_eq!(Measured { window_ns: 0, ..window(&[1; 10], 10) }.ok_per_s(), None);
    }
}
