//! Each contradiction, at its edge.

use rpcbench_record::{Measured, Slice};
use rpcbench_report::{Doubt, SeriesFault, doubts};

use crate::builder::{IN_FLIGHT, latency, measured, ok, workload};

fn found(change: impl FnOnce(&mut Measured)) -> Vec<Doubt> {
    let mut trial = measured(20_000);
    change(&mut trial);
    doubts(&trial, &workload())
}

#[test]
fn a_consistent_trial_has_none() {
    assert_eq!(found(|_| {}), []);
}

#[test]
fn littles_law_may_be_off_by_two_percent() {
    assert_eq!(found(|t| ok(t).mean_ns = 50e6 * 1.0199), []);
    let over = found(|t| ok(t).mean_ns = 50e6 * 1.0201);
    assert!(matches!(over[..], [Doubt::LittlesLaw { in_flight: IN_FLIGHT, .. }]), "{over:?}");
    let under = found(|t| ok(t).mean_ns = 50e6 * 0.9799);
    assert!(matches!(under[..], [Doubt::LittlesLaw { .. }]), "{under:?}");
}

/// 1,000 in flight at 1,000 a second: a response takes a third of the window.
#[test]
fn littles_law_counts_calls_that_the_edges_cut_for_their_part_within() {
    let mut slow = measured(1000);
    ok(&mut slow).mean_ns *= 1.10;
    assert_eq!(doubts(&slow, &workload()).len(), 1);
    // A tenth of 3,000 calls of 1 s lies after the window.
    slow.carried_out_ns = 300_000_000_000;
    assert_eq!(doubts(&slow, &workload()), []);
    slow.carried_in_ns = 300_000_000_000;
    assert_eq!(doubts(&slow, &workload()).len(), 1);
}

#[test]
fn littles_law_counts_errors_too() {
    let split = found(|t| {
        let (right, errors) = (t.outcomes.ok / 2, t.outcomes.ok - t.outcomes.ok / 2);
        t.outcomes.ok = right;
        t.ok_pro_rata = right as f64;
        t.outcomes.status.insert(13, errors);
        t.error_latency = Some(latency(errors, 50e6));
        t.latency = Some(latency(right, 50e6));
        t.series.iter_mut().for_each(|s| {
            s.ok /= 2;
            s.errors = s.ok;
        });
    });
    assert_eq!(split, []);
}

#[test]
fn the_histogram_holds_every_call() {
    let lost = found(|t| t.latency = Some(latency(t.outcomes.ok - 1, 50e6)));
    let expected = Doubt::HistogramCount { of: "ok", histogram: 59_999, counted: 60_000 };
    assert_eq!(lost, [expected]);
    let misstated = found(|t| ok(t).count += 1);
    let expected = Doubt::HistogramCount { of: "ok", histogram: 60_001, counted: 60_000 };
    assert_eq!(misstated, [expected]);
}

#[test]
fn a_histogram_must_be_readable() {
    let broken = found(|t| ok(t).histogram = "not base64".to_owned());
    assert!(matches!(broken[..], [Doubt::Unreadable { .. }]), "{broken:?}");
}

#[test]
fn errors_have_response_times() {
    let without = found(|t| t.outcomes.timeout = 5);
    let expected = Doubt::HistogramCount { of: "error", histogram: 0, counted: 5 };
    assert_eq!(without, [expected]);
}

#[test]
fn calls_never_sent_need_none() {
    assert_eq!(found(|t| t.outcomes.not_sent = 5), []);
}

#[test]
fn a_series_may_miss_its_window_by_one_slice() {
    assert_eq!(found(|t| t.series.push(Slice::default())), []);
    let longer = found(|t| t.series.extend([Slice::default(); 2]));
    let fault = SeriesFault::Length { slices: 32, expected: 30 };
    assert_eq!(longer, [Doubt::Series(fault)]);
}

#[test]
fn a_series_holds_no_more_calls_than_there_were() {
    let more = found(|t| t.series[3].ok += 1);
    let fault = SeriesFault::TooMany { of: "ok", sliced: 60_001, counted: 60_000 };
    assert_eq!(more, [Doubt::Series(fault)]);
    let errors = found(|t| t.series[3].errors += 1);
    let fault = SeriesFault::TooMany { of: "error", sliced: 1, counted: 0 };
    assert_eq!(errors, [Doubt::Series(fault)]);
}

#[test]
fn a_series_lacks_only_calls_that_were_in_flight() {
    assert_eq!(found(|t| t.series[3].ok -= 1000), []);
    let less = found(|t| t.series[3].ok -= 1001);
    let fault = SeriesFault::TooFew { missing: 1001, in_flight: IN_FLIGHT };
    assert_eq!(less, [Doubt::Series(fault)]);
}

#[test]
fn a_series_has_no_longer_response_than_its_window() {
    let longer = found(|t| t.series[3].max_ns = ok(t).max_ns + 1);
    assert!(matches!(longer[..], [Doubt::Series(SeriesFault::Longest { .. })]), "{longer:?}");
}

#[test]
fn a_window_has_a_length() {
    assert_eq!(found(|t| t.window_ns = 0), [Doubt::EmptyWindow]);
}
