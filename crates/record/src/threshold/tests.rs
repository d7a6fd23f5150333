use proptest::prelude::*;

use super::*;
use crate::trial::{Latency, Outcomes};

fn window(times_ms: impl IntoIterator<Item = u64>, timeouts: u64) -> Measured {
    let mut histogram = Histogram::new();
    times_ms.into_iter().for_each(|ms| histogram.record(ms * 1_000_000));
    Measured {
        window_ns: 2_000_000_000,
        outcomes: Outcomes { ok: histogram.count(), timeout: timeouts, ..Outcomes::default() },
        ok_pro_rata: histogram.count() as f64,
        latency: Latency::of(&histogram),
        ..Measured::default()
    }
}

fn threshold(text: &str) -> Threshold {
    text.parse().unwrap()
}

#[test]
fn threshold_round_trips_as_text() {
    for text in [
        "p50<10ms",
        "p99.9<1.5s",
        "p99.9999>250us",
        "p0.5<1ns",
        "mean>1.234567ms",
        "max<2s",
        "errors>0.1%",
        "errors>0%",
        "errors<0.0001%",
        "rate<20000",
        "rate>0.5",
    ] {
        let read = threshold(text);
        assert_eq!(read.to_string(), text);
        let json = serde_json::to_string(&read).unwrap();
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(serde_json::from_str::<Threshold>(&json).unwrap(), read);
    }
    for (typed, meant) in [
        (" p99 < 10ms ", "p99<10ms"),
        ("p99.0<1000us", "p99<1ms"),
        ("max>5µs", "max>5us"),
        ("rate<20k", "rate<20000"),
        ("p99<0.25s", "p99<250ms"),
    ] {
        assert_eq!(threshold(typed), threshold(meant), "{typed}");
    }
}

#[test]
fn invalid_threshold_is_refused_with_expected_form() {
    let error = |text: &str| text.parse::<Threshold>().unwrap_err().to_string();
    for text in ["", "p99", "10ms", "<10ms", "p99<", "p99=10ms"] {
        assert!(error(text).contains("is not a threshold; expected FIGURE<LIMIT"), "{text}");
    }
    for text in ["q99<1ms", "p<1ms", "p0<1ms", "p100<1ms", "p99.99999<1ms", "p1e1<1ms", "P99<1ms"] {
        assert!(error(text).contains("unknown figure"), "{text}");
    }
    for (text, expected) in [
        ("p99<10", "'10' is not a limit for p99; expected a time"),
        ("p99<10%", "a time"),
        ("p99<-1ms", "a time"),
        ("p99<=10ms", "a time"),
        ("mean<1h", "a time"),
        ("max<.5s", "a time"),
        ("max<1.2.3s", "a time"),
        ("errors<1ms", "a share"),
        ("errors<0.1", "a share"),
        ("errors<101%", "a share"),
        ("errors<inf%", "a share"),
        ("rate<10ms", "calls a second"),
        ("rate<10%", "calls a second"),
    ] {
        let error = error(text);
        assert!(error.contains(expected) && error.contains("is not a limit"), "{error}");
    }
    for text in ["errors<0%", "errors>100%", "p99<0ms"] {
        assert!(error(text).contains("can never be true"), "{text}");
    }
}

#[test]
fn threshold_figures_cover_all_due_calls() {
    let window = window(1..=1000, 0);
    let ms = |figure: Figure| (figure.of(&window).unwrap() / 1e6).round();
    assert_eq!(ms(Figure::Quantile(500_000)), 500.0);
    assert_eq!(ms(Figure::Quantile(990_000)), 990.0);
    assert_eq!(ms(Figure::Quantile(999_900)), 1000.0);
    assert_eq!(Figure::Mean.of(&window), Some(500.5e6));
    assert_eq!(Figure::Max.of(&window), Some(1000e6));
    assert_eq!(Figure::Errors.of(&window), Some(0.0));
    assert_eq!(Figure::Rate.of(&window), Some(500.0));
}

#[test]
fn failed_call_ranks_above_every_answer() {
    // 990 answers within 1 ms and 10 timeouts: the 99th percentile is the last answer; any higher quantile is a timeout.
    let edge = window((0..990).map(|_| 1), 10);
    assert_eq!(threshold("p99<2ms").holds(&edge), Some(true));
    assert_eq!(threshold("p99.1<1s").holds(&edge), Some(false));
    let over = window((0..989).map(|_| 1), 11);
    assert_eq!(threshold("p99<1000000s").holds(&over), Some(false));
    assert_eq!(threshold("p99>1000s").holds(&over), Some(true));
    assert_eq!(threshold("p50<2ms").holds(&over), Some(true));
    assert_eq!(Figure::Mean.of(&over), Some(f64::INFINITY));
    assert_eq!(Figure::Max.of(&over), Some(f64::INFINITY));
    assert_eq!(threshold("errors<1.1%").holds(&over), Some(false));
    assert_eq!(threshold("errors<1.1001%").holds(&over), Some(true));
    assert_eq!(threshold("rate<494.51").holds(&over), Some(true));
}

#[test]
fn value_at_limit_is_on_neither_side() {
    let window = window((0..10).map(|_| 10), 0);
    assert_eq!(threshold("max<10ms").holds(&window), Some(false));
    assert_eq!(threshold("max>10ms").holds(&window), Some(false));
}

#[test]
fn threshold_is_unknown_without_calls() {
    let none = window([], 0);
    for text in ["p99<1ms", "mean<1ms", "max<1ms", "errors<1%", "rate>1"] {
        assert_eq!(threshold(text).holds(&none), None, "{text}");
    }
    let silent = window([], 5);
    assert_eq!(threshold("p50<1s").holds(&silent), Some(false));
    assert_eq!(threshold("mean<1s").holds(&silent), Some(false));
    assert_eq!(threshold("rate<1").holds(&silent), Some(true));
}

#[test]
fn only_upper_limits_bound_load() {
    for text in ["p99<1ms", "mean<1ms", "max<1s", "errors<1%"] {
        assert!(threshold(text).bounds_load(), "{text}");
    }
    for text in ["p99>1ms", "errors>1%", "rate<1k", "rate>1k"] {
        assert!(!threshold(text).bounds_load(), "{text}");
    }
}

proptest! {
    /// Compares with the definition, on the sorted values.
    #[test]
    fn quantile_is_value_of_its_rank(
        mut times in proptest::collection::vec(1_u64..10_000, 1..300),
        timeouts in 0_u64..20,
        millionths in 1_u32..1_000_000,
    ) {
        let window = window(times.iter().copied(), timeouts);
        times.sort_unstable();
        let calls = times.len() as u64 + timeouts;
        let rank = (calls * u64::from(millionths)).div_ceil(1_000_000);
        let found = Figure::Quantile(millionths).of(&window).unwrap();
        match times.get(rank as usize - 1) {
            Some(ms) => {
                let exact = *ms as f64 * 1e6;
                prop_assert!((found - exact).abs() <= exact * 1e-3, "{found} of {exact}");
            }
            None => prop_assert_eq!(found, f64::INFINITY),
        }
    }

    #[test]
    fn any_limit_round_trips(millionths in 1_u32..1_000_000, ns in 1_u64..10_000_000_000_000) {
        let first = Threshold {
            figure: Figure::Quantile(millionths),
            comparison: Comparison::Below,
            limit: Limit::Time(ns),
        };
        prop_assert_eq!(first.to_string().parse(), Ok(first));
    }
}
