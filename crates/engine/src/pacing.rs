//! When calls come due: a pure function of seed, arrival process and call number, without a clock.
//!
//! All load threads follow the same schedule. Each walks all of it and takes the calls of its connections: the load keeps one
//! exact rate, and threads share nothing.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use rpcbench_record::{Arrivals, PerSecond, Rate};

use rpcbench_clock::Nanos;

/// Due times of the calls of an open loop, relative to its origin, without end. Empty for [`Arrivals::Closed`] and for a rate
/// that is a share of an unknown capacity.
#[derive(Clone, Debug)]
pub struct Schedule {
    arrivals: Arrivals,
    /// Number of the next call.
    next: u64,
    draw: Pcg64,
    /// Sum of the intervals drawn so far, nanoseconds: exact to a thousandth over 100 days.
    drawn: f64,
}

impl Schedule {
    /// The schedule of an arrival process; the seed matters only for random arrivals.
    pub fn new(arrivals: Arrivals, seed: u64) -> Self {
        Self { arrivals, next: 0, draw: Pcg64::seed_from_u64(seed), drawn: 0.0 }
    }

    /// Number of calls due before `end`.
    pub fn due_before(self, end: Nanos) -> u64 {
        self.take_while(|due| *due < end).count() as u64
    }

    /// Draws from the exponential distribution with mean 1.
    fn exponential(&mut self) -> f64 {
        // Uniform in (0, 1] with 53 bits, so the logarithm is finite.
        let uniform = ((self.draw.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}

impl Iterator for Schedule {
    type Item = Nanos;

    #[inline]
    fn next(&mut self) -> Option<Nanos> {
        let n = self.next;
        self.next += 1;
        match self.arrivals {
            Arrivals::Constant { rate: Rate::PerSecond(rate) } => Some(constant(rate, n)),
            Arrivals::Poisson { rate: Rate::PerSecond(rate) } => {
                self.drawn += self.exponential() * 1e9 / rate.get();
                Some(Nanos(self.drawn as u64))
            }
            Arrivals::Ramp { from, to, over_ms } => Some(ramp(from.get(), to.get(), over_ms, n)),
            Arrivals::Steps { from, to, by, every_ms } => {
                Some(steps([from.get(), to.get(), by.get()], every_ms, n))
            }
            Arrivals::Closed
            | Arrivals::Constant { rate: Rate::OfCapacity(_) }
            | Arrivals::Poisson { rate: Rate::OfCapacity(_) } => None,
        }
    }
}

/// Seed of a session's window, counted from 0: each window of a session draws different intervals.
pub(crate) fn window_seed(seed: u64, window: u64) -> u64 {
    seed.wrapping_add(window)
}

/// n / rate, in integers, so it never drifts.
fn constant(rate: PerSecond, n: u64) -> Nanos {
    let nanos = u128::from(n) * 1_000_000_000_000 / u128::from(rate.thousandths());
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

fn seconds(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}

/// The time t at which the integral of the rate is n: from x t + (to - from) x t² / (2 over) = n, and after `over`
/// at the rate `to`.
fn ramp(from: f64, to: f64, over_ms: u64, n: u64) -> Nanos {
    let (over, n) = (over_ms as f64 / 1e3, n as f64);
    let ramped = (from + to) / 2.0 * over;
    if n >= ramped {
        return seconds(over + (n - ramped) / to);
    }
    let slope = (to - from) / over;
    // This form of the root loses no digits if the slope is small; the radicand is at least to².
    seconds(2.0 * n / (from + (from * from + 2.0 * slope * n).sqrt()))
}

/// The time at which the integral of the rate is n; the rate in step k is from + k x by, at most `to`.
fn steps([from, to, by]: [f64; 3], every_ms: u64, n: u64) -> Nanos {
    let (every, n) = (every_ms as f64 / 1e3, n as f64);
    let before = |step: f64| every * (step * from + by * step * (step - 1.0) / 2.0);
    let last = ((to - from) / by).ceil();
    // The largest step with before(step) <= n: the root of the quadratic, then made exact.
    let half = from - by / 2.0;
    let root = ((half * half + 2.0 * by * n / every).sqrt() - half) / by;
    let mut step = root.floor().clamp(0.0, last);
    if before(step) > n {
        step -= 1.0;
    } else if step < last && before(step + 1.0) <= n {
        step += 1.0;
    }
    let rate = (from + step * by).min(to);
    seconds(step * every + (n - before(step)) / rate)
}

/// Arrival process of the warm-up before a window: the same, at the window's initial rate.
fn warming(arrivals: Arrivals) -> Arrivals {
    match arrivals {
        Arrivals::Ramp { from, .. } | Arrivals::Steps { from, .. } => {
            Arrivals::Constant { rate: Rate::PerSecond(from) }
        }
        other => other,
    }
}

/// One load thread's part of a schedule, on the clock.
#[derive(Clone, Debug)]
pub(crate) struct DueTimes {
    arrivals: Arrivals,
    seed: u64,
    stride: Stride,
    current: Part,
    /// The window's schedule, which takes over at its origin.
    window: Option<Part>,
    /// No call comes due at or after this.
    end: Nanos,
}

/// Which calls of a schedule a thread takes: call n belongs to connection n modulo the number of connections. Connections are
/// dealt to threads in turn, so each thread gets calls in proportion to its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stride {
    pub thread: u32,
    pub threads: u32,
    /// Number of connections over all threads.
    pub connections: u32,
}

impl Stride {
    /// Converts a connection's number on this thread to its number over all threads.
    pub fn connection(self, own: usize) -> usize {
        own * self.threads as usize + self.thread as usize
    }

    /// From a call on `connection` to the thread's next call: how many calls later it comes, and its connection.
    #[inline]
    fn step(self, connection: u32) -> (u32, u32) {
        let next = connection + self.threads;
        match next < self.connections {
            true => (self.threads, next),
            false => (self.connections - connection + self.thread, self.thread),
        }
    }
}

#[derive(Clone, Debug)]
struct Part {
    origin: Nanos,
    schedule: Schedule,
    stride: Stride,
    /// The connection whose turn it is.
    connection: u32,
    due: Nanos,
}

impl Part {
    fn new(schedule: Schedule, origin: Nanos, stride: Stride) -> Self {
        let connection = stride.thread;
        let mut part = Self { origin, schedule, stride, connection, due: Nanos::NEVER };
        part.advance_by(connection + 1);
        part
    }

    /// Advances by `calls`, at least 1.
    fn advance_by(&mut self, calls: u32) {
        let due = self.schedule.nth(calls as usize - 1);
        self.due = due.map_or(Nanos::NEVER, |due| self.origin + due);
    }

    fn advance(&mut self) {
        let (calls, connection) = self.stride.step(self.connection);
        self.connection = connection;
        self.advance_by(calls);
    }
}

impl DueTimes {
    /// Calls come due from `origin` on, until stopped.
    pub fn new(arrivals: Arrivals, seed: u64, stride: Stride, origin: Nanos) -> Self {
        // The window must not repeat the intervals of the warm-up.
        let schedule = Schedule::new(warming(arrivals), !seed);
        let current = Part::new(schedule, origin, stride);
        Self { arrivals, seed, stride, current, window: None, end: Nanos::NEVER }
    }

    /// Restarts the schedule at `start`; it ends at `end`.
    pub fn measure(&mut self, start: Nanos, end: Nanos) {
        let schedule = Schedule::new(self.arrivals, self.seed);
        self.window = Some(Part::new(schedule, start, self.stride));
        self.end = end;
        self.hand_over();
    }

    /// No call comes due at or after `end`.
    pub fn stop(&mut self, end: Nanos) {
        self.end = self.end.min(end);
    }

    /// When the next call comes due. `None`: never.
    #[inline]
    pub fn peek(&self) -> Option<Nanos> {
        (self.current.due < self.end).then_some(self.current.due)
    }

    #[inline]
    pub fn advance(&mut self) {
        self.current.advance();
        self.hand_over();
    }

    #[inline]
    fn hand_over(&mut self) {
        if let Some(window) = self.window.take_if(|window| self.current.due >= window.origin) {
            self.current = window;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos(1_000_000_000);

    fn arrivals(text: &str) -> Arrivals {
        text.parse().unwrap()
    }

    fn first(text: &str, n: usize) -> Vec<u64> {
        Schedule::new(arrivals(text), 1).take(n).map(|due| due.0).collect()
    }

    #[test]
    fn constant_arrival_process_is_n_over_the_rate_and_never_drifts() {
        assert_eq!(first("constant:3", 4), [0, 333_333_333, 666_666_666, 1_000_000_000]);
        let mut late = Schedule { next: 2_999_999_999, ..Schedule::new(arrivals("constant:3"), 1) };
        assert_eq!(late.next(), Some(Nanos(999_999_999_666_666_666)));
        assert_eq!(Schedule::new(arrivals("constant:0.5"), 1).nth(1), Some(Nanos(2 * SECOND.0)));
        assert_eq!(Schedule::new(arrivals("constant:20000"), 1).due_before(SECOND), 20_000);
    }

    #[test]
    fn ramp_has_the_integral_of_its_rate() {
        // 100 to 300 calls/s over 10 s: 2,000 calls, 750 of them in the first half; then 300 calls/s.
        let mut ramp = Schedule::new(arrivals("ramp:100..300/10s"), 1);
        assert_eq!(ramp.clone().due_before(Nanos(5 * SECOND.0)), 750);
        assert_eq!(ramp.clone().due_before(Nanos(10 * SECOND.0)), 2000);
        assert_eq!(ramp.nth(2300), Some(Nanos(11 * SECOND.0)));
        // Down as well as up.
        let down = Schedule::new(arrivals("ramp:300..100/10s"), 1);
        assert_eq!(down.clone().due_before(Nanos(5 * SECOND.0)), 1250);
        assert_eq!(down.due_before(Nanos(12 * SECOND.0)), 2200);
        let flat = first("ramp:100..100/10s", 3);
        assert_eq!(flat, [0, 10_000_000, 20_000_000]);
    }

    #[test]
    fn steps_rise_to_the_last_one_and_stay() {
        let steps = Schedule::new(arrivals("steps:100..250+100/2s"), 1);
        // 100, 200, 250, 250, ... calls a second, two seconds each.
        for (seconds, calls) in [(1, 100), (2, 200), (3, 400), (4, 600), (5, 850), (10, 2100)] {
            let end = Nanos(seconds * SECOND.0);
            assert_eq!(steps.clone().due_before(end), calls, "{seconds} s");
        }
    }

    #[test]
    fn due_times_never_go_back() {
        for text in ["constant:7777", "poisson:5000", "ramp:10..9000/1s", "steps:5..5000+333/100ms"]
        {
            let dues: Vec<_> = Schedule::new(arrivals(text), 3).take(20_000).collect();
            assert!(dues.is_sorted(), "{text}");
        }
    }

    #[test]
    fn seed_gives_the_draws() {
        let draw =
            |seed| Schedule::new(arrivals("poisson:1000"), seed).take(50).collect::<Vec<_>>();
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }

    #[test]
    fn threads_share_one_schedule() {
        for text in ["constant:1000", "poisson:1000", "ramp:500..2000/1s"] {
            let whole: Vec<_> = Schedule::new(arrivals(text), 9).take(3000).collect();
            let mut parts = Vec::new();
            for thread in 0..3 {
                let stride = Stride { thread, threads: 3, connections: 3 };
                let mut due_times = DueTimes::new(arrivals(text), 9, stride, Nanos(0));
                due_times.measure(Nanos(0), Nanos::NEVER);
                for _ in 0..1000 {
                    parts.extend(due_times.peek());
                    due_times.advance();
                }
            }
            parts.sort();
            assert_eq!(parts, whole, "{text}");
        }
    }

    #[test]
    fn threads_get_calls_in_proportion_to_their_connections() {
        for (connections, threads) in [(3, 2), (5, 3), (7, 1), (8, 4), (10, 7)] {
            // Each round gives every connection a call.
            let calls = |thread| {
                let stride = Stride { thread, threads, connections };
                let mut due_times = DueTimes::new(arrivals("constant:1000"), 1, stride, Nanos(0));
                due_times.measure(Nanos(0), Nanos(u64::from(connections) * SECOND.0));
                let mut dues = Vec::new();
                while let Some(due) = due_times.peek() {
                    dues.push(due.0 / 1_000_000);
                    due_times.advance();
                }
                dues
            };
            let mut all = Vec::new();
            for thread in 0..threads {
                let mine = calls(thread);
                let own = (thread..connections).step_by(threads as usize).count();
                assert_eq!(mine.len(), 1000 * own, "thread {thread} of {threads}");
                all.extend(mine);
            }
            all.sort_unstable();
            assert!(all.into_iter().eq(0..u64::from(connections) * 1000));
        }
    }

    #[test]
    fn window_restarts_its_schedule_and_ends_it() {
        let stride = Stride { thread: 0, threads: 1, connections: 1 };
        let mut due_times = DueTimes::new(arrivals("constant:10"), 1, stride, Nanos(0));
        let (start, end) = (Nanos(250_000_000), Nanos(450_000_000));
        due_times.measure(start, end);
        let mut dues = Vec::new();
        while let Some(due) = due_times.peek() {
            dues.push(due.0 / 1_000_000);
            due_times.advance();
        }
        assert_eq!(dues, [0, 100, 200, 250, 350]);
    }

    /// Anderson and Darling's statistic of the intervals against the exponential distribution at this rate: above 3.857 in one
    /// of a hundred samples that follow it.
    fn anderson_darling(dues: &[Nanos], rate: f64) -> f64 {
        let mut at = vec![0.0];
        at.extend(dues.iter().map(|due| due.as_secs_f64()));
        let mut shares: Vec<f64> =
            at.windows(2).map(|pair| -(-(pair[1] - pair[0]) * rate).exp_m1()).collect();
        shares.sort_by(f64::total_cmp);
        let n = shares.len();
        let term = |i: usize| (2 * i + 1) as f64 * (shares[i].ln() + (-shares[n - 1 - i]).ln_1p());
        -(n as f64) - (0..n).map(term).sum::<f64>() / n as f64
    }

    #[test]
    fn poisson_arrivals_pass_the_test_of_anderson_and_darling() {
        let sample =
            |text: &str, seed| Schedule::new(arrivals(text), seed).take(5000).collect::<Vec<_>>();
        let over = (1..=40)
            .filter(|seed| anderson_darling(&sample("poisson:1000", *seed), 1000.0) > 3.857)
            .count();
        assert!(over <= 2, "{over} of 40 samples are not exponential");
        // Equal intervals, and another rate.
        assert!(anderson_darling(&sample("constant:1000", 1)[1..], 1000.0) > 3.857);
        assert!(anderson_darling(&sample("poisson:1100", 1), 1000.0) > 3.857);
    }
}
