//! Searches against simulated servers, and parsing of sweeps.

use proptest::prelude::*;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng as _;
use rpcbench_record::{Latency, NotMet, Outcomes, Pacing, Rate, Slice};
use rpcbench_stats::Histogram;

use super::*;

const MS: f64 = 1e6;

fn rate(calls: f64) -> PerSecond {
    PerSecond::new(calls).unwrap()
}

/// A window in which every call took `response_ns`, and the server completed `done` calls per second.
fn window(offered: f64, response_ns: f64, done: f64) -> Measured {
    let due = (offered * 10.0).round().max(1.0) as u64;
    let mut histogram = Histogram::new();
    histogram.record(response_ns as u64);
    let ended = (done.min(offered) / offered * due as f64 / 10.0).ceil() as u64;
    Measured {
        window_ns: 10_000_000_000,
        outcomes: Outcomes { ok: due, ..Outcomes::default() },
        ok_pro_rata: due as f64,
        latency: Latency::of(&histogram),
        pacing: Some(Pacing { due, due_second_half: due / 2, ..Pacing::default() }),
        series: vec![Slice { ok: ended, ..Slice::default() }; 10],
        ..Measured::default()
    }
}

/// A queue: response times grow with load as `service / (1 - load)`, and calls above capacity pile up. Its figures have a
/// relative error of up to `noise`.
struct Queue {
    capacity: f64,
    service_ns: f64,
    noise: f64,
    draw: Pcg64,
}

impl Queue {
    fn new(capacity: f64, service_ns: f64, noise: f64, seed: u64) -> Self {
        Self { capacity, service_ns, noise, draw: Pcg64::seed_from_u64(seed) }
    }

    fn window(&mut self, offered: f64) -> Measured {
        let uniform = (self.draw.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let factor = 1.0 + self.noise * (2.0 * uniform - 1.0);
        let load = offered / self.capacity;
        let response = if load < 1.0 { self.service_ns / (1.0 - load) } else { 5e9 };
        window(offered, (response * factor).min(1e12), self.capacity)
    }

    /// The rate at which the response time equals the limit.
    fn highest(&self, limit_ns: f64) -> f64 {
        self.capacity * (1.0 - self.service_ns / limit_ns)
    }

    fn search(&mut self, threshold: &str, first: f64) -> Record {
        let search = Search::new(threshold.parse().unwrap(), rate(first), PRECISION).unwrap();
        let mut windows = 0;
        to_the_end(search, |rate| {
            windows += 1;
            assert!(windows <= 300, "no end");
            self.window(rate.get())
        })
    }
}

fn to_the_end(mut search: Search, mut window: impl FnMut(PerSecond) -> Measured) -> Record {
    while let Some(rate) = search.rate() {
        search.add_window(window(rate));
    }
    search.into_record()
}

fn ends(record: &Record) -> (f64, f64) {
    (record.met().unwrap().rate.get(), record.unmet().unwrap().rate.get())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn maximum_is_found_within_the_precision(
        capacity in 100.0_f64..1e6,
        ratio in 1.2_f64..50.0,
        first in 0.01_f64..20.0,
        noise in prop_oneof![Just(0.0), 0.0..0.1_f64],
        seed: u64,
    ) {
        let mut queue = Queue::new(capacity, 10.0 * MS / ratio, noise, seed);
        let truth = queue.highest(10.0 * MS);
        let found = queue.search("p99<10ms", capacity * first);
        let (met, unmet) = ends(&found);
        prop_assert!(met < unmet && unmet <= met * (1.0 + PRECISION), "{met} {unmet}");
        // A relative error n of the response time moves the rate at the limit by n x (1 - load) / load.
        let load = truth / capacity;
        let slack = 2.0 * noise * (1.0 - load) / load + 0.002;
        prop_assert!(met <= truth * (1.0 + slack), "{met} of {truth}");
        prop_assert!(unmet >= truth * (1.0 - slack), "{unmet} of {truth}");
    }

    #[test]
    fn wider_limit_has_no_lower_highest_rate(limit in 3_u32..100, wider in 1_u32..100) {
        let found = |limit: u32| {
            let mut queue = Queue::new(10_000.0, 2.0 * MS, 0.0, 1);
            ends(&queue.search(&format!("p99<{limit}ms"), 5000.0)).0
        };
        prop_assert!(found(limit) <= found(limit + wider));
    }

    #[test]
    fn search_tries_rates_once_within_bracket(first in 0.01_f64..20.0, seed: u64) {
        let mut queue = Queue::new(10_000.0, 2.0 * MS, 0.1, seed);
        let first = rate(10_000.0 * first);
        let mut search = Search::new("p99<10ms".parse().unwrap(), first, PRECISION).unwrap();
        while let Some(next) = search.rate() {
            let record = search.record();
            let tried = record.steps.iter().any(|step| step.rate == next);
            let met = record.met().map_or(0.0, |step| step.rate.get());
            let unmet = record.unmet().map_or(f64::INFINITY, |step| step.rate.get());
            prop_assert!(met < unmet);
            // A rate that was tried is an end of the bracket, measured again for confirmation.
            let end = next.get() == met || next.get() == unmet;
            let within = met < next.get() && next.get() < unmet;
            prop_assert!(if tried { end } else { within }, "{} of {} to {}", next, met, unmet);
            search.add_window(queue.window(next.get()));
        }
        let record = search.into_record();
        for (at, step) in record.steps.iter().enumerate() {
            prop_assert!(record.steps[..at].iter().all(|before| before.rate != step.rate));
        }
    }
}

/// Windows of half a second with one late call: at 60 calls per second, one of 30.
#[test]
fn one_late_call_in_few_is_chance() {
    let search = Search::new("p99<10ms".parse().unwrap(), rate(60.0), PRECISION).unwrap();
    let mut queue = Queue::new(50_000.0, 1.6 * MS, 0.0, 1);
    let found = to_the_end(search, |rate| {
        let mut window = queue.window(rate.get());
        let due = (rate.get() / 2.0).ceil() as u64;
        window.outcomes.ok = due;
        window.pacing = Some(Pacing { due, late: 1, ..Pacing::default() });
        window.window_ns = 500_000_000;
        window.series = vec![Slice { ok: due.div_ceil(5), ..Slice::default() }; 5];
        window
    });
    let (met, unmet) = ends(&found);
    assert!(met <= 42_000.0 && 42_000.0 <= unmet, "{met} {unmet}");
}

/// The result of a search that starts at 1,000 calls/s, on a server whose limit is 30,000. `accident` may change each window; it
/// gets the window's number, from 0, and its rate.
fn with_accidents(mut accident: impl FnMut(usize, f64, &mut Measured)) -> (f64, f64) {
    let search = Search::new("p99<10ms".parse().unwrap(), rate(1000.0), PRECISION).unwrap();
    let mut queue = Queue::new(36_000.0, 10.0 / 6.0 * MS, 0.0, 1);
    let mut windows = 0;
    let found = to_the_end(search, |rate| {
        let mut window = queue.window(rate.get());
        accident(windows, rate.get(), &mut window);
        windows += 1;
        window
    });
    ends(&found)
}

#[test]
fn accidental_end_is_measured_again() {
    let holds = |(met, unmet): (f64, f64)| {
        assert!(met <= 30_100.0 && 29_900.0 <= unmet && unmet <= met * 1.05, "{met} {unmet}");
    };
    // The machine stalls in the first windows, and so does the client.
    holds(with_accidents(|at, offered, window| {
        if at < 2 {
            *window = late(offered, 40.0 * MS);
        }
    }));
    // One window far above the limit attempts fine.
    let mut lucky = true;
    holds(with_accidents(|_, offered, window| {
        if offered > 31_000.0 && std::mem::take(&mut lucky) {
            *window = self::window(offered, MS, offered);
        }
    }));
}

/// A window in which the client started 5 % of the calls late.
fn late(offered: f64, response_ns: f64) -> Measured {
    let mut window = window(offered, response_ns, offered);
    window.pacing.as_mut().unwrap().late = window.outcomes.ok.div_ceil(20);
    window
}

#[test]
fn late_client_lengthens_response_times_and_ends_no_search() {
    // The client is late at every rate, and adds 4 ms.
    let search = Search::new("p99<10ms".parse().unwrap(), rate(1000.0), PRECISION).unwrap();
    let mut queue = Queue::new(36_000.0, 10.0 / 6.0 * MS, 0.0, 1);
    let found = to_the_end(search, |rate| {
        let own = queue.window(rate.get()).latency.unwrap().p99_ns as f64;
        late(rate.get(), own + 4.0 * MS)
    });
    let (met, unmet) = ends(&found);
    // The server itself takes the remaining 6 ms at 36,000 x (1 - 1.67 / 6).
    assert!((24_500.0..27_500.0).contains(&met) && unmet <= met * 1.05, "{met} {unmet}");
    assert_eq!(found.unmet().unwrap().verdict, StepVerdict::NotMet(NotMet::GeneratorLate));
}

#[test]
fn search_does_not_sink_while_only_the_client_is_late() {
    let search = Search::new("p99<10ms".parse().unwrap(), rate(10_000.0), PRECISION).unwrap();
    let mut windows = 0;
    let found = to_the_end(search, |rate| {
        windows += 1;
        late(rate.get(), 40.0 * MS)
    });
    assert!(found.met().is_none() && found.unmet().unwrap().verdict.is_clients());
    // Two windows at each rate, and two more at the last.
    assert_eq!((found.steps.len(), windows), (CLIENTS, 2 * CLIENTS + 2));
}

#[test]
fn verdict_on_server_outweighs_late_client() {
    let late = StepVerdict::NotMet(NotMet::GeneratorLate);
    let beyond = StepVerdict::NotMet(NotMet::Beyond);
    assert_eq!(majority(&[late, late, StepVerdict::Met]), Some(StepVerdict::Met));
    assert_eq!(majority(&[late, beyond]), Some(beyond));
    assert_eq!(majority(&[StepVerdict::Met, late, beyond]), None);
    assert_eq!(majority(&[late]), Some(late));
    assert_eq!(majority(&[StepVerdict::Met, beyond, late, late, late]), Some(beyond));
}

#[test]
fn rate_limited_by_client_is_not_met() {
    let full = |offered: f64| offered >= 5000.0;
    let search = Search::new("p99<10ms".parse().unwrap(), rate(1000.0), PRECISION).unwrap();
    let found = to_the_end(search, |rate| {
        let mut window = window(rate.get(), MS, rate.get());
        window.client.busiest_ns = if full(rate.get()) { 9_600_000_000 } else { 5_000_000_000 };
        window
    });
    assert!(!full(ends(&found).0));
    assert_eq!(found.unmet().unwrap().verdict, StepVerdict::NotMet(NotMet::ClientBound));
    assert!(NotMet::ClientBound.is_clients() && !NotMet::Overloaded.is_clients());
}

/// Exactly at the limit every decisive answer is an error, and all analyses of a rate together may err in 5 %.
#[test]
fn repeated_analyses_keep_error_rate_of_search() {
    let mut draw = Pcg64::seed_from_u64(5);
    let mut uniform = || ((draw.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    let mut normal = || {
        let radius = (-2.0 * uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform()).cos()
    };
    const REQUIRED_ATTEMPTS: usize = 2000;
    let threshold = "mean<10ms".parse().unwrap();
    let typical = window(1000.0, 10.0 * MS, 1000.0);
    let clear = (0..REQUIRED_ATTEMPTS).filter(|_| {
        let mut windows = Vec::new();
        let verdict = loop {
            let mut window = typical.clone();
            window.latency.as_mut().unwrap().mean_ns = 10.0 * MS * (0.15 * normal()).exp();
            windows.push(window);
            if let Some(verdict) = step::verdict(threshold, &windows) {
                break verdict;
            }
        };
        verdict != StepVerdict::NotMet(NotMet::Unclear)
    });
    let share = clear.count() as f64 / REQUIRED_ATTEMPTS as f64;
    assert!((0.005..0.06).contains(&share), "{share}");
}

#[test]
fn search_without_met_rate_fails() {
    let found = Queue::new(1e6, 20.0 * MS, 0.0, 1).search("p99<10ms", 1000.0);
    assert!(found.met().is_none());
    assert_eq!(found.steps.len(), DOUBLINGS as usize + 1);
    // 1000 / 4096, rounded to a thousandth on the way.
    assert_eq!(found.unmet().unwrap().rate.get(), 0.245);
}

#[test]
fn search_without_unmet_rate_has_no_upper_end() {
    let found = Queue::new(1e12, 1.0 * MS, 0.0, 1).search("p99<10ms", 1000.0);
    assert!(found.unmet().is_none());
    assert_eq!(found.met().unwrap().rate.get(), 4_096_000.0);
}

#[test]
fn overload_is_reported_far_from_limit() {
    let search = Search::new("p99<10s".parse().unwrap(), rate(1000.0), PRECISION).unwrap();
    let found = to_the_end(search, |rate| window(rate.get(), 5.0 * MS, 3000.0));
    let (met, unmet) = ends(&found);
    // In a window of few calls, 2 % and random variation may be missing.
    assert!((2900.0..3200.0).contains(&met) && unmet <= met * 1.05, "{met} {unmet}");
    assert_eq!(found.unmet().unwrap().verdict, StepVerdict::NotMet(NotMet::Overloaded));
}

#[test]
fn threshold_without_a_highest_rate_is_refused() {
    let error = |text: &str, precision| {
        Search::new(text.parse().unwrap(), rate(1.0), precision).unwrap_err().to_string()
    };
    for text in ["p99>10ms", "rate<10k", "rate>10k", "errors>1%"] {
        assert!(error(text, PRECISION).contains("can't be searched for"), "{text}");
    }
    assert!(error("p99<1ms", 0.0).contains("a precision of 0 is out of range"));
    assert!(error("p99<1ms", f64::NAN).contains("out of range"));
    assert!(Search::new("errors<1%".parse().unwrap(), rate(1.0), PRECISION).is_ok());
}

/// The verdict on `p99<10ms` for windows with these response times.
fn said(responses_ms: &[f64]) -> Option<StepVerdict> {
    let windows: Vec<Measured> =
        responses_ms.iter().map(|ms| window(1000.0, ms * MS, 1000.0)).collect();
    step::verdict("p99<10ms".parse().unwrap(), &windows)
}

const MET: Option<StepVerdict> = Some(StepVerdict::Met);

fn not(why: NotMet) -> Option<StepVerdict> {
    Some(StepVerdict::NotMet(why))
}

#[test]
fn single_window_decides_only_if_far_below_limit() {
    assert_eq!(said(&[5.0]), MET);
    assert_eq!(said(&[5.1]), None);
    assert_eq!(said(&[100.0]), None);
    assert_eq!(said(&[100.0, 5.0]), None);
    assert_eq!(said(&[100.0, 100.0]), not(NotMet::Beyond));
    assert_eq!(said(&[19.0, 5.0]), None);
}

#[test]
fn windows_are_added_until_their_interval_is_clear() {
    assert_eq!(said(&[8.0, 8.01]), MET);
    assert_eq!(said(&[8.0, 9.0]), None);
    assert_eq!(said(&[8.0, 9.0, 8.5]), None);
    assert_eq!(said(&[8.0, 9.0, 8.5, 8.3]), MET);
    assert_eq!(said(&[12.0, 12.01]), not(NotMet::Beyond));
    let even = [9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0];
    assert_eq!(said(&even[..7]), None);
    assert_eq!(said(&even), not(NotMet::Unclear));
}

#[test]
fn two_windows_with_faults_end_the_attempt() {
    let threshold = "p99<10ms".parse().unwrap();
    let good = window(1000.0, 1.0 * MS, 1000.0);
    let mut late = window(1000.0, 11.0 * MS, 1000.0);
    late.pacing = Some(Pacing { due: 10_000, late: 101, ..Pacing::default() });
    let mut late_within = good.clone();
    late_within.pacing = late.pacing;
    let slow = window(1000.0, 1.0 * MS, 900.0);
    let mut failing = good.clone();
    failing.outcomes.timeout = 102;
    let mut full = good.clone();
    full.outcomes.not_sent = 102;
    let said = |windows: &[&Measured]| {
        let windows: Vec<Measured> = windows.iter().map(|w| (*w).clone()).collect();
        step::verdict(threshold, &windows)
    };
    assert_eq!(said(&[&late]), None);
    assert_eq!(said(&[&late, &good]), None);
    assert_eq!(said(&[&late, &good, &good]), MET);
    assert_eq!(said(&[&late, &late]), not(NotMet::GeneratorLate));
    assert_eq!(said(&[&late_within]), MET);
    assert_eq!(said(&[&slow, &slow]), not(NotMet::Overloaded));
    assert_eq!(said(&[&full, &full]), not(NotMet::Overloaded));
    assert_eq!(said(&[&late, &good, &failing]), not(NotMet::Failing));
    let mut empty = good.clone();
    (empty.outcomes.ok, empty.latency, empty.pacing) = (0, None, Some(Pacing::default()));
    assert_eq!(said(&[&empty, &good]), None);
    assert_eq!(said(&[&empty, &empty]), not(NotMet::Unclear));
    // If the threshold limits errors, they are not a fault.
    let errors = "errors<5%".parse().unwrap();
    assert_eq!(step::verdict(errors, std::slice::from_ref(&failing)), MET);
    let mut bound = good.clone();
    bound.client.busiest_ns = bound.window_ns / 10 * 9;
    assert_eq!(said(&[&bound, &slow]), not(NotMet::Overloaded));
    assert_eq!(said(&[&slow, &bound]), not(NotMet::ClientBound));
}

#[test]
fn sweeps_are_lists_of_loads() {
    let rates = |text: &str| -> Vec<String> {
        let sweep: Sweep = text.parse().unwrap();
        assert_eq!(sweep.to_string(), text);
        sweep.rates().iter().map(ToString::to_string).collect()
    };
    assert_eq!(rates("10%..90%"), ["10%", "20%", "30%", "40%", "50%", "60%", "70%", "80%", "90%"]);
    assert_eq!(rates("50%..65%+5%"), ["50%", "55%", "60%", "65%"]);
    assert_eq!(rates("50%..64%+5%"), ["50%", "55%", "60%"]);
    assert_eq!(rates("80%..80%"), ["80%"]);
    assert_eq!(rates("1k..2.5k+500"), ["1000", "1500", "2000", "2500"]);
    assert_eq!(rates("0.5..1+0.25"), ["0.5", "0.75", "1"]);
    let first = |text: &str| text.parse::<Sweep>().unwrap().rates()[0];
    assert!(matches!(first("10%..90%"), Rate::OfCapacity(10)));
    assert!(matches!(first("1..2+1"), Rate::PerSecond(_)));
}

#[test]
fn invalid_sweep_is_refused_with_a_valid_one() {
    let error = |text: &str| text.parse::<Sweep>().unwrap_err().to_string();
    for text in ["", "10%", "10%-90%", "..90%", "10%..", "a..b", "10%..90%+", "10%..90%+0%"] {
        assert!(
            error(text).contains("invalid sweep '") && error(text).contains("write FROM..TO"),
            "{text}"
        );
    }
    for text in ["10%..90%+100", "10%..1k", "1k..90%+1k", "1k..2k+10%"] {
        assert!(error(text).contains("mixes"), "{text}");
    }
    assert!(error("1k..2k").contains("has no step"));
    assert!(error("90%..10%").contains("makes 0 loads"));
    assert!(error("1..1000+1").contains("makes 1000 loads; expected 1 to 200"));
}
