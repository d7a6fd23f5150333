//! Response times as bars and as quantiles.

use proptest::prelude::*;
use rpcbench_record::{Latency, Outcomes};
use rpcbench_report::{AllCalls, Bound, draw, spectrum};
use rpcbench_stats::Histogram;

use crate::builder::latency;
use crate::load::fine;

#[test]
fn spectrum_of_one_value_is_one_bar() {
    let bars = spectrum(&distribution(&[5_000_000; 7]));
    assert_eq!(bars.len(), 1);
    assert_eq!(draw(&bars), [format!("<= 5.00 ms  7  100.00 %  {}", "#".repeat(40))]);
    assert_eq!(spectrum(&distribution(&[])), []);
}

fn distribution(values: &[u64]) -> Latency {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    Latency {
        count: histogram.count(),
        min_ns: histogram.min().unwrap_or_default(),
        max_ns: histogram.max().unwrap_or_default(),
        mean_ns: histogram.mean().unwrap_or_default(),
        histogram: histogram.to_base64(),
        ..latency(0, 0.0)
    }
}

/// The value of rank `rank`, with failed calls above all others.
fn nearest_rank(ok: &[u64], failed: usize, millionths: u32) -> Option<u64> {
    let mut sorted = ok.to_vec();
    sorted.sort_unstable();
    let rank = ((ok.len() + failed) as u64 * u64::from(millionths)).div_ceil(1_000_000).max(1);
    sorted.get(rank as usize - 1).copied()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn spectrum_bars_add_up(
        values in prop::collection::vec(prop_oneof![0_u64..50, 1_u64..20_000_000_000], 1..300),
    ) {
        let bars = spectrum(&distribution(&values));
        prop_assert!(bars.len() <= 12);
        prop_assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), values.len() as u64);
        prop_assert_eq!(bars.last().map(|bar| bar.to_ns), values.iter().max().copied());
        prop_assert!(bars.windows(2).all(|pair| pair[0].to_ns < pair[1].to_ns));
        let mut upto = 0;
        for bar in &bars {
            upto += bar.count;
            let at_most = |limit: f64| values.iter().filter(|v| **v as f64 <= limit).count() as u64;
            let edge = bar.to_ns as f64;
            prop_assert!(at_most(edge * 0.998) <= upto && upto <= at_most(edge), "{bar:?}");
        }
        let lines = draw(&bars);
        prop_assert_eq!(lines.len(), bars.len());
        for (line, bar) in lines.iter().zip(&bars) {
            let marks = line.chars().filter(|c| *c == '#').count();
            prop_assert!(marks <= 40 && line.is_ascii());
            prop_assert_eq!(bar.count > 0, marks > 0 || line.ends_with('.'));
        }
        prop_assert!(lines.last().is_some_and(|line| line.contains("100.00 %")));
    }

    #[test]
    fn quantile_of_all_calls_is_never_too_short(
        ok in prop::collection::vec(1_u64..10_000_000_000, 0..200),
        failed in prop::collection::vec(1_u64..10_000_000_000, 0..50),
        millionths in 1_u32..=1_000_000,
    ) {
        prop_assume!(ok.len() + failed.len() > 0);
        let mut load = fine();
        let part = |values: &[u64]| (!values.is_empty()).then(|| distribution(values));
        load.measured.outcomes =
            Outcomes { ok: ok.len() as u64, timeout: failed.len() as u64, ..Outcomes::default() };
        (load.measured.latency, load.measured.error_latency) = (part(&ok), part(&failed));
        let found = AllCalls::of(&load.measured).expect("calls").quantile(millionths);
        let near = |found: f64, exact: u64| {
            let exact = exact as f64;
            found >= exact && found <= exact * 1.001 + 1.0
        };
        match (found, nearest_rank(&ok, failed.len(), millionths)) {
            (Bound::At(found), Some(exact)) => prop_assert!(near(found, exact), "{found} {exact}"),
            (Bound::Above(least), None) => {
                // A failed call took at least its waiting time, and ranks above answered ones.
                let all = [&ok[..], &failed[..]].concat();
                let exact = nearest_rank(&all, 0, millionths).expect("a rank");
                let exact = exact.max(ok.iter().copied().max().unwrap_or_default());
                prop_assert!(near(least, exact), "{least} {exact}");
            }
            other => prop_assert!(false, "{other:?}"),
        }
        let limit = |text: String| text.parse::<rpcbench_record::Threshold>().expect("a limit");
        let name = format!("p{}", f64::from(millionths.min(999_999)) / 1e4);
        let same = AllCalls::of(&load.measured).expect("calls").quantile(millionths.min(999_999));
        let figure = limit(format!("{name}<1s")).figure().of(&load.measured).expect("a figure");
        prop_assert_eq!(figure.is_finite().then_some(Bound::At(figure)), match same {
            Bound::At(_) => Some(same),
            Bound::Above(_) => None,
        });
    }
}
