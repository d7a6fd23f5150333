//! Whose limit a window shows: whether the client kept its schedule and had CPU to give, and whether the server kept up.

use crate::trial::{Measured, Pacing, Slice};

impl Pacing {
    /// Share of late calls above which a window says more about the client than about the server.
    pub const LATE_SHARE: f64 = 0.01;

    /// Calls that the client took up late, of all that came due. 0 where none did.
    #[must_use]
    pub fn late_share(&self) -> f64 {
        if self.due == 0 { 0.0 } else { self.late as f64 / self.due as f64 }
    }

    /// Whether more than [`Self::LATE_SHARE`] of the calls were taken up late: `generator late`.
    #[must_use]
    pub fn generator_late(&self) -> bool {
        self.late_share() > Self::LATE_SHARE
    }
}

/// Share of its CPUs from which a side counts as saturated. The rest is what scheduling and the ends of a window cost.
pub const SATURATED: f64 = 0.90;

/// How far calls done in the second half of a window may fall short of those due.
const SHORTFALL: f64 = 0.02;
/// Standard deviations by which chance may add to that.
const SIGMAS: f64 = 3.0;

impl Measured {
    /// Right answers a second: [those of the window](Self::ok_within) in a closed loop; in an open one, those to the calls that
    /// came due in it. Where the server did not keep up, those that came in its second half: what came after the window only
    /// shows how long it was waited for, and the first half may have gone by with calls of the warm-up. `None` for a window
    /// without length.
    #[must_use]
    pub fn ok_per_s(&self) -> Option<f64> {
        let (ok, ns) = match self.kept_up() {
            Some(false) => {
                let middle = Slice::middle_ns(self.series.len());
                let ok: u64 = self.second_half().iter().map(|slice| slice.ok).sum();
                (ok as f64, self.window_ns.saturating_sub(middle))
            }
            _ if self.pacing.is_none() => (self.ok_within(), self.window_ns),
            _ => (self.outcomes.ok as f64, self.window_ns),
        };
        (ns > 0).then(|| ok * 1e9 / ns as f64)
    }

    /// The busiest load thread, share of a CPU: with the time for which it was ready and had no CPU, and without what it
    /// waited awake. 0 for a window without length.
    #[must_use]
    pub fn busiest_client(&self) -> f64 {
        if self.window_ns == 0 {
            0.0
        } else {
            self.client.busiest_ns as f64 / self.window_ns as f64
        }
    }

    /// Whether a load thread had no CPU left to give: an open loop's response times may be its own then, and so may a
    /// rate that nobody kept up with.
    #[must_use]
    pub fn client_saturated(&self) -> bool {
        self.busiest_client() >= SATURATED
    }

    /// CPU time of a server that may use `cpus` of them, share of that. `None` where nobody can see it.
    #[must_use]
    pub fn server_share(&self, cpus: u32) -> Option<f64> {
        let server = self.server.as_ref().filter(|server| server.interval_ns > 0)?;
        Some(server.cpu_seconds() * 1e9 / (server.interval_ns as f64 * f64::from(cpus)))
    }

    /// Whether a thread of the server had no CPU left to give: one that serves all calls on one thread can do no more,
    /// however many CPUs it may use.
    #[must_use]
    pub fn server_thread_saturated(&self) -> bool {
        let server = self.server.as_ref().filter(|server| server.interval_ns > 0);
        let busiest =
            server.and_then(|s| Some((s.busiest_thread_ns? as f64, s.interval_ns as f64)));
        busiest.is_some_and(|(busiest_ns, interval_ns)| busiest_ns / interval_ns >= SATURATED)
    }

    /// Whether a closed loop shows the client's limit: a load thread was saturated, and a server that may use `cpus`
    /// was not, nor a thread of it, as far as anybody can see.
    #[must_use]
    pub fn client_bound(&self, cpus: u32) -> bool {
        let server = self.server_share(cpus).is_some_and(|share| share >= SATURATED);
        self.client_saturated() && !server && !self.server_thread_saturated()
    }

    /// Right answers of the window, which its server's CPU time was used for: calls that an edge cuts count by the part of
    /// their service time within it. Records from before that was counted have those that came within the window, whenever
    /// they came due; and still older ones those that came due in it, as a closed loop carries in as many as out.
    #[must_use]
    pub fn ok_within(&self) -> f64 {
        let carried_in: u64 = self.series.iter().map(|slice| slice.carried_in).sum();
        let came = || match (self.pacing, carried_in) {
            (None, 0) => self.outcomes.ok,
            _ => carried_in + self.series.iter().map(|slice| slice.ok).sum::<u64>(),
        };
        self.ok_pro_rata.unwrap_or_else(|| came() as f64)
    }

    /// Right answers for each second of the server's CPU time: those of the window, and the CPU time of as long an interval.
    /// `None` where nobody sees the server, or it used none.
    #[must_use]
    pub fn ok_per_server_cpu_s(&self) -> Option<f64> {
        let cpu_s = self.server_cpu_s().filter(|cpu_s| *cpu_s > 0.0)?;
        Some(self.ok_within() / cpu_s)
    }

    /// CPU time of the server within the window, seconds: that between the readings of its counters, for as long an
    /// interval. `None` where nobody sees the server.
    #[must_use]
    pub fn server_cpu_s(&self) -> Option<f64> {
        let server = self.server.as_ref().filter(|server| server.interval_ns > 0)?;
        Some(server.cpu_seconds() * self.window_ns as f64 / server.interval_ns as f64)
    }

    fn second_half(&self) -> &[Slice] {
        &self.series[self.series.len() - self.series.len() / 2..]
    }

    /// Whether the server kept up with an open loop: in the second half of the window as many calls ended as came
    /// due, to 2 % and what chance does. What is only under way is not held against it, so long as responses
    /// take less than half of the window. `None` in a closed loop, and in windows of one slice.
    ///
    /// Calls that come due at random fall into one half or the other with the same chance, so their
    /// number in one half of `n` has the standard deviation `sqrt(n) / 2`; three of them are allowed.
    #[must_use]
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
        let even = due * last.len() as f64 / self.series.len() as f64;
        let expected = due_second_half.map_or(even, |due| due as f64);
        Some(done >= expected * (1.0 - SHORTFALL - SIGMAS / due.sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{ClientUsage, MachineUsage, Outcomes, ServerUsage};

    #[test]
    fn one_call_in_a_hundred_may_be_late() {
        let late = |late| Pacing { due: 1000, late, ..Pacing::default() }.generator_late();
        assert!(!late(10));
        assert!(late(11));
        assert!(!Pacing::default().generator_late());
    }

    fn window(done: &[u64], due: u64) -> Measured {
        Measured {
            window_ns: done.len() as u64 * 100_000_000,
            outcomes: Outcomes { ok: due, ..Outcomes::default() },
            error_examples: Vec::new(),
            latency: None,
            error_latency: None,
            service: None,
            send_lag: None,
            pacing: Some(Pacing { due, ..Pacing::default() }),
            connect: None,
            connections: None,
            ok_pro_rata: None,
            carried_in_ns: 0,
            carried_out_ns: 0,
            server: None,
            runtime: None,
            client: ClientUsage::default(),
            machine: MachineUsage::default(),
            series: done.iter().map(|ok| Slice { ok: *ok, ..Slice::default() }).collect(),
        }
    }

    #[test]
    fn a_server_keeps_up_if_the_second_half_has_as_many_calls_done_as_due() {
        // 1,000,000 calls in ten slices; chance is worth 0.3 %.
        let due = 1_000_000;
        let even = |last| [vec![100_000; 5], vec![last; 5]].concat();
        assert_eq!(window(&even(100_000), due).kept_up(), Some(true));
        assert_eq!(window(&even(97_701), due).kept_up(), Some(true));
        assert_eq!(window(&even(97_699), due).kept_up(), Some(false));
        // Responses of 400 ms: the first four slices are empty, and four slices' calls are under way at the end.
        let slow = [vec![0; 4], vec![100_000; 6]].concat();
        assert_eq!(window(&slow, due).kept_up(), Some(true));
        // Few calls prove little: three of a hundred are chance.
        assert_eq!(window(&[10, 10, 10, 10, 10, 8, 8, 8, 8, 8], 100).kept_up(), Some(true));
        assert_eq!(window(&[0; 10], 100).kept_up(), Some(false));
    }

    #[test]
    fn there_is_nothing_to_keep_up_with_in_a_closed_loop() {
        let closed = Measured { pacing: None, ..window(&[1; 10], 10) };
        assert_eq!(closed.kept_up(), None);
        assert_eq!(window(&[1], 1).kept_up(), None);
        assert_eq!(window(&[0; 10], 0).kept_up(), Some(true));
    }

    #[test]
    fn a_closed_loop_is_the_clients_limit_if_only_the_client_is_saturated() {
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
        // One thread of it has a CPU to itself, and the other CPU is idle.
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
        assert_eq!([None, Some(899_999_999), Some(900_000_000)].map(serial), [true, true, false]);
    }

    #[test]
    fn the_work_of_a_window_is_what_ended_in_it_and_not_what_ended_in_its_grace() {
        let server = ServerUsage {
            interval_ns: 1_010_000_000,
            cpu_user_ns: 505_000_000,
            ..ServerUsage::default()
        };
        // 1,000 came due, and 600 of them and 50 from before were answered within the window.
        let mut overloaded = Measured { server: Some(server), ..window(&[60; 10], 1000) };
        overloaded.series[0].carried_in = 50;
        let work = |window: &Measured| (window.ok_within(), window.ok_per_server_cpu_s());
        assert_eq!(work(&overloaded), (650.0, Some(1300.0)));
        let closed = Measured { pacing: None, ..overloaded.clone() };
        assert_eq!(work(&closed), (650.0, Some(1300.0)));
        let older = Measured { pacing: None, ..window(&[99; 10], 1000) };
        assert_eq!(work(&older), (1000.0, None));
        let by_part = Measured { ok_pro_rata: Some(600.5), ..overloaded };
        assert_eq!(work(&by_part), (600.5, Some(1201.0)));
    }

    #[test]
    fn a_rate_that_falls_is_kept_up_with_if_the_second_half_is() {
        let falls = |done| {
            let mut window = window(done, 1000);
            window.pacing =
                Some(Pacing { due: 1000, due_second_half: Some(250), ..Pacing::default() });
            (window.kept_up(), window.ok_per_s())
        };
        assert_eq!(
            falls(&[150, 150, 150, 150, 150, 50, 50, 50, 50, 50]),
            (Some(true), Some(1000.0))
        );
        assert_eq!(falls(&[40; 10]), (Some(false), Some(400.0)));
    }

    #[test]
    fn answers_after_the_window_are_no_rate_of_a_server_that_did_not_keep_up() {
        let rate = |window: Measured| window.ok_per_s().unwrap();
        // All 1,000 were answered in the end.
        let first_for_others = [&[0; 5][..], &[60; 5]].concat();
        assert_eq!(rate(window(&first_for_others, 1000)), 600.0);
        let odd = Measured { window_ns: 950_000_000, ..window(&[60; 10], 1000) };
        assert_eq!(rate(odd), 300.0 / 0.45);
        assert_eq!(rate(window(&[100; 10], 1000)), 1000.0);
        let under_way = [&[0; 2][..], &[100; 8]].concat();
        assert_eq!(rate(window(&under_way, 1000)), 1000.0);
        let closed = Measured { pacing: None, ..window(&[60; 10], 1000) };
        assert_eq!(rate(closed), 1000.0);
        assert_eq!(Measured { window_ns: 0, ..window(&[1; 10], 10) }.ok_per_s(), None);
    }
}
