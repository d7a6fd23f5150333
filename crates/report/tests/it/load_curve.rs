//! Loads at several rates: sweeps and searches.

use rpcbench_record::{NotMet, PerSecond, Protocol, Search, SearchStep, StepVerdict, Workload};
use rpcbench_report::{Capacity, Load, LoadCurve, LoadPoint, Style};

use crate::builder::workload;
use crate::load::{NARROW, failing, fine, fits, header, open};
use crate::render::{csv, json, markdown, plain};

const CAPACITY: Capacity =
    Capacity { calls_per_s: 245_000.0, window_ns: 3_000_000_000, client_bound: false };

/// Windows at 1,000 and 2,000 calls a second, the second with errors, and a search that made them.
fn curve() -> (Workload, Vec<LoadPoint>, Search) {
    let mut workload = workload();
    workload.arrivals = "poisson:50%".parse().expect("arrivals");
    let verdicts = [StepVerdict::Met, StepVerdict::NotMet(NotMet::Failing)];
    let steps: Vec<SearchStep> = [(98_000.0, fine()), (196_000.0, failing())]
        .into_iter()
        .zip(verdicts)
        .map(|((rate, load), verdict)| SearchStep {
            rate: PerSecond::new(rate).expect("a rate"),
            windows: vec![load.measured; 2],
            verdict,
        })
        .collect();
    let points = steps.iter().rev().map(LoadPoint::searched).collect();
    let threshold = "p99<20ms".parse().expect("a threshold");
    (workload, points, Search { threshold, precision: 0.05, steps })
}

#[test]
fn search_shows_curve_and_result() {
    let (workload, points, search) = curve();
    let shown = LoadCurve {
        header: header(),
        address: "127.0.0.1:50051".to_owned(),
        protocol: Protocol::Grpc,
        workload,
        capacity: Some(CAPACITY),
        points,
        search: Some(search.clone()),
    };
    insta::assert_snapshot!(plain(&shown, Style::default()));
    fits(&plain(&shown, NARROW));
    insta::assert_snapshot!(markdown(&shown));
    insta::assert_snapshot!(json(&shown).expect("JSON"));
    insta::assert_snapshot!(csv(&shown).expect("CSV"));
    let found_in = |verdicts: [usize; 2]| {
        let steps: Vec<SearchStep> = search.steps[verdicts[0]..verdicts[1]].to_vec();
        let search = Search { steps, ..search.clone() };
        LoadCurve { search: Some(search), ..shown.clone() }.found().expect("a sentence")
    };
    insta::assert_snapshot!(found_in([0, 1]), @"p99<20ms: still holds at 98.0k calls/s, the highest rate tried");
    insta::assert_snapshot!(found_in([1, 2]), @"p99<20ms: does not hold at 196k calls/s, the lowest rate tried (errors)");
    assert_eq!(LoadCurve { search: None, ..shown.clone() }.found(), None);
    let mut close = search.clone();
    close.steps[1].rate = PerSecond::new(98_010.0).expect("a rate");
    let close = LoadCurve { search: Some(close), ..shown.clone() };
    insta::assert_snapshot!(close.found().expect("a sentence"), @"p99<20ms: holds up to 98.0k calls/s; at 98.01k it does not (errors)");
}

#[test]
fn search_ended_by_client_has_complaint() {
    let (workload, points, mut search) = curve();
    search.steps[1].verdict = StepVerdict::NotMet(NotMet::ClientBound);
    let curve = LoadCurve {
        header: header(),
        address: "127.0.0.1:50051".to_owned(),
        protocol: Protocol::Grpc,
        workload,
        capacity: Some(Capacity { client_bound: true, ..CAPACITY }),
        points,
        search: Some(search),
    };
    insta::assert_snapshot!(curve.complaint().expect("a complaint"));
    let found = curve.found().expect("a sentence");
    assert!(
        found.ends_with("can't tell above, since at 196k the client had no CPU left"),
        "{found}"
    );
    let search = curve.search.clone().expect("a search");
    let mut never = Search { steps: search.steps[1..].to_vec(), ..search };
    never.steps[0].verdict = StepVerdict::NotMet(NotMet::GeneratorLate);
    let never = LoadCurve { search: Some(never), ..curve };
    insta::assert_snapshot!(never.found().expect("a sentence"), @"p99<20ms: can't tell, since the client was late even at 196k calls/s, the lowest rate tried");
}

#[test]
fn sweep_points_have_verdicts() {
    let verdict = |load: Load| {
        let rate = PerSecond::new(98_000.0).expect("a rate");
        LoadPoint::swept(rate, load.measured, &load.workload, load.protocol).verdict.to_string()
    };
    assert_eq!(verdict(open()), "ok");
    let mut failed = failing();
    failed.workload.arrivals = open().workload.arrivals;
    assert_eq!(verdict(failed), "failed");
    let mut late = open();
    late.measured.pacing.as_mut().expect("an open loop").late = 3000;
    assert_eq!(verdict(late), "generator late");
    let mut slow = open();
    slow.measured.series.iter_mut().for_each(|slice| slice.ok /= 2);
    assert_eq!(verdict(slow.clone()), "overloaded");
    slow.measured.client.busiest_ns = slow.measured.window_ns / 10 * 9;
    assert_eq!(verdict(slow), "client-bound");
    let mut suspect = open();
    suspect.measured.pacing.as_mut().expect("an open loop").due += 1;
    assert_eq!(verdict(suspect), "suspect");
}
