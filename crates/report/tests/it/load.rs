//! The result of a single load.

use rpcbench_record::{Measured, Workload};
use rpcbench_report::{Load, Style, load_csv, load_json, load_markdown, load_text};

use crate::builder::{latency, measured, ok, workload};

fn fine() -> (Workload, Measured) {
    let mut measured = measured(98_000);
    measured.server = None;
    (workload(), measured)
}

fn of<'a>(workload: &'a Workload, measured: &'a Measured) -> Load<'a> {
    Load { address: "127.0.0.1:50051", workload, measured }
}

#[test]
fn a_load_reads_at_a_glance() {
    let (workload, measured) = fine();
    let load = of(&workload, &measured);
    assert_eq!(load.verdict(), "ok");
    insta::assert_snapshot!(load_text(&load, Style::default()));
}

#[test]
fn errors_stand_by_their_names() {
    let (workload, mut measured) = fine();
    measured.outcomes.ok -= 1200;
    measured.outcomes.timeout = 200;
    measured.outcomes.status.extend([(13, 990), (14, 10)]);
    measured.latency = Some(latency(measured.outcomes.ok, 10_204_000.0));
    measured.error_latency = Some(latency(1200, 10_204_000.0));
    measured.series.iter_mut().for_each(|s| {
        s.ok -= 40;
        s.errors = 40;
        s.max_ns = 0;
    });
    measured.error_examples = vec!["status 13: upstream is gone".to_owned()];
    measured.client.busiest_ns = measured.window_ns;
    let load = of(&workload, &measured);
    assert_eq!(load.verdict(), "failed");
    insta::assert_snapshot!(load_text(&load, Style::default()));
}

#[test]
fn a_load_that_contradicts_itself_is_suspect() {
    let (workload, mut measured) = fine();
    ok(&mut measured).mean_ns *= 2.0;
    let load = of(&workload, &measured);
    assert_eq!(load.verdict(), "suspect");
    let text = load_text(&load, Style::default());
    assert!(text.contains("suspect: 1,000 calls were in flight"), "{text}");
}

#[test]
fn a_saturated_client_is_named() {
    let (workload, mut measured) = fine();
    measured.client.busiest_ns = measured.window_ns / 10 * 9;
    assert_eq!(of(&workload, &measured).verdict(), "client-bound");
}

#[test]
fn a_load_exports() {
    let (workload, measured) = fine();
    let load = of(&workload, &measured);
    insta::assert_snapshot!(load_markdown(&load));
    insta::assert_snapshot!(load_json(&load).expect("JSON"));
    insta::assert_snapshot!(load_csv(&load).expect("CSV"));
}
