//! Each contradiction, at its edge.

use rpcbench_record::{Measured, Slice, Slicing};
use rpcbench_report::doubts;

use crate::builder::{IN_FLIGHT, latency, measured, ok, workload};
use crate::slices::SLICING;

fn found(change: impl FnOnce(&mut Measured)) -> Vec<String> {
    let mut trial = measured(20_000);
    change(&mut trial);
    doubts(&trial, &workload())
}

#[test]
fn consistent_trial_has_no_doubt() {
    assert!(found(|_| {}).is_empty());
}

#[test]
fn littles_law_tolerates_2_percent() {
    assert!(found(|t| ok(t).mean_ns = 50e6 * 1.0199).is_empty());
    let over = found(|t| ok(t).mean_ns = 50e6 * 1.0201);
    let product = "1,000 calls were in flight, but rate x mean response time gives 1.02k";
    assert_eq!((IN_FLIGHT, over), (1000, vec![product.to_owned()]));
    let under = found(|t| ok(t).mean_ns = 50e6 * 0.9799);
    let product = "1,000 calls were in flight, but rate x mean response time gives 980";
    assert_eq!(under, [product]);
}

#[test]
fn absent_client_may_keep_fewer_calls_in_flight() {
    let absent = |factor: f64| {
        found(|t| {
            ok(t).mean_ns = 50e6 * factor;
            t.client.longest_absence_ns = 500_000_000;
        })
    };
    assert_eq!([absent(0.9).len(), absent(1.1).len()], [0, 1]);
}

/// 1,000 in flight at 1,000 a second: a response takes a third of the window.
#[test]
fn littles_law_counts_calls_cut_by_window_pro_rata() {
    let mut slow = measured(1000);
    ok(&mut slow).mean_ns *= 1.10;
    assert_eq!(doubts(&slow, &workload()).len(), 1);
    // A tenth of 3,000 calls of 1 s lies after the window.
    slow.carried_out_ns = 300_000_000_000;
    assert_eq!(doubts(&slow, &workload()).len(), 0);
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
    assert_eq!(split.len(), 0, "{split:?}");
}

#[test]
fn histogram_without_every_call_is_suspect() {
    let lost = found(|t| t.latency = Some(latency(t.outcomes.ok - 1, 50e6)));
    assert_eq!(lost, ["its histogram holds 59,999 ok calls, its counters 60,000"]);
    let misstated = found(|t| ok(t).count += 1);
    assert_eq!(misstated, ["its histogram holds 60,001 ok calls, its counters 60,000"]);
}

#[test]
fn unreadable_histogram_is_suspect() {
    let broken = found(|t| ok(t).histogram = "not base64".to_owned());
    assert_eq!(broken.len(), 1);
    assert!(broken[0].starts_with("its histogram can't be read: "), "{broken:?}");
}

#[test]
fn errors_without_response_times_are_suspect() {
    let without = found(|t| t.outcomes.timeout = 5);
    assert_eq!(without, ["its histogram holds 0 error calls, its counters 5"]);
}

#[test]
fn unsent_calls_need_no_response_time() {
    assert!(found(|t| t.outcomes.not_sent = 5).is_empty());
}

#[test]
fn series_may_miss_window_by_one_slice() {
    assert!(found(|t| t.series.push(Slice::default())).is_empty());
    let longer = found(|t| t.series.extend([Slice::default(); 2]));
    assert_eq!(longer, ["its series has 32 slices, its window 30"]);
}

#[test]
fn series_with_more_calls_is_suspect() {
    let more = found(|t| t.series[3].ok += 1);
    assert_eq!(more, ["its series holds 60,001 ok calls, its counters 60,000"]);
    let errors = found(|t| t.series[3].errors += 1);
    assert_eq!(errors, ["its series holds 1 error calls, its counters 0"]);
}

#[test]
fn series_may_lack_only_calls_in_flight() {
    assert!(found(|t| t.series[3].ok -= 1000).is_empty());
    let less = found(|t| t.series[3].ok -= 1001);
    assert_eq!(less, ["its series lacks 1,001 calls, with 1,000 in flight at most"]);
}

#[test]
fn series_in_slices_may_lack_calls_in_flight_at_each_end() {
    let lacks = |calls: u64| {
        found(|t| {
            t.slicing = Some(Slicing { slices: 2, ..SLICING });
            t.series[3].ok -= 1000;
            t.series[4].ok -= calls - 1000;
        })
    };
    assert_eq!((lacks(2000).len(), lacks(2001).len()), (0, 1));
}

#[test]
fn series_with_longer_response_is_suspect() {
    let longer = found(|t| t.series[3].max_ns = ok(t).max_ns + 1);
    assert_eq!(longer.len(), 1);
    assert!(longer[0].starts_with("its series has a response of "), "{longer:?}");
}

#[test]
fn window_without_length_is_suspect() {
    assert_eq!(found(|t| t.window_ns = 0), ["its window has no length"]);
}
