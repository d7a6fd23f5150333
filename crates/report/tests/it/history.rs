//! Cells from run to run.

use std::sync::Arc;

use jiff::SignedDuration;
use rpcbench_record::{PlacementKind, Run, TrialResult, WarmUp};
use rpcbench_report::{History, HistoryBuilder, Since, Style, history_schema};

use crate::builder::{RunBuilder, failure};
use crate::render::{csv, json, markdown, plain};

const GO: [u64; 8] = [98_000, 98_900, 97_700, 98_400, 98_100, 98_600, 97_900, 98_300];

/// Four runs, a day apart: equally fast, slower with another library, failed, and on another machine.
fn runs() -> Vec<Run> {
    let slower = GO.map(|rate| rate * 88 / 100);
    let go = |rates: [u64; 8]| RunBuilder::new().entry("go-grpc", &rates);
    let upgraded = go(slower).prepared(|it| {
        it.versions.insert("grpc".to_owned(), "1.3.0".to_owned());
    });
    let crashed = TrialResult::Failed(failure("it crashed", &[]));
    let failed = RunBuilder::new().results("go-grpc", vec![crashed]);
    let mut elsewhere = go(GO);
    elsewhere.run.header.machines.client.cpu.model = "another".to_owned();
    let mut runs = [go(GO), upgraded, failed, elsewhere].map(|builder| builder.run);
    for (day, run) in runs.iter_mut().enumerate() {
        run.header.started += SignedDuration::from_hours(24 * day as i64);
    }
    runs.into()
}

pub fn history(runs: &[Run], servers: &[String]) -> History {
    let mut builder = HistoryBuilder::new(servers.to_vec(), None);
    runs.iter().for_each(|run| builder.add(run));
    builder.finish()
}

fn shown(history: &History) -> String {
    plain(history, Style::default())
}

#[test]
fn history_compares_run_with_previous() {
    let history = history(&runs(), &[]);
    insta::assert_snapshot!("runs", shown(&history));
    insta::assert_snapshot!("runs_markdown", markdown(&history));
}

#[test]
fn history_names_obstacle_to_comparison() {
    let mut runs = runs();
    let workload = &mut runs[1].header.plan.workloads[0];
    workload.warm_up = WarmUp::Fixed { length_ms: 5000 };
    let history = history(&runs[..2], &[]);
    let text = shown(&history);
    assert!(text.contains("not comparable: quick: warm-up: until steady, now 5s "), "{text}");
    let exports = [json(&history).unwrap(), csv(&history).unwrap()];
    assert!(exports.iter().all(|it| it.contains("quick: warm-up: until steady, now 5s")));
    assert!(![text, exports[1].clone()].concat().contains('{'));
}

#[test]
fn history_exports_have_row_per_run_and_cell() {
    let history = history(&runs(), &[]);
    let json = json(&history).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    jsonschema::validate(&history_schema(), &json).expect("as the schema says");
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    assert_eq!(points[1]["finding"], "slower");
    assert!((points[1]["ratio"].as_f64().unwrap() - 0.88).abs() < 0.01);
    assert_eq!(
        (&points[2]["value"], &points[2]["finding"]),
        (&serde_json::Value::Null, &"failed".into())
    );
    assert_eq!(csv(&history).unwrap().lines().count(), 5);
}

#[test]
fn history_compares_only_same_placement() {
    let mut runs = runs();
    runs.truncate(2);
    runs.insert(1, runs[0].clone());
    runs[1].header.started += SignedDuration::from_hours(1);
    runs[1].header.plan.placement = PlacementKind::Docker;
    let history = history(&runs, &[]);
    let since: Vec<&Since> = history.cells[0].points.iter().map(|point| &point.since).collect();
    assert!(matches!(since[..], [Since::Nothing, Since::Nothing, Since::Changed(_)]), "{since:?}");
}

#[test]
fn history_shows_only_chosen_servers() {
    let run = RunBuilder::new().entry("go-grpc@x", &GO).entry("rust-tonic", &GO).run;
    let entries = |servers: &[&str]| -> Vec<String> {
        let servers: Vec<String> = servers.iter().map(|&name| name.to_owned()).collect();
        let history = history(std::slice::from_ref(&run), &servers);
        history.cells.into_iter().map(|cell| cell.entry).collect()
    };
    assert_eq!(entries(&["go-grpc"]), ["go-grpc@x"]);
    assert_eq!(entries(&["go-grpc@x"]), ["go-grpc@x"]);
    assert_eq!(entries(&["rust-tonic", "go-grpc"]).len(), 2);
    assert!(entries(&["no-such-server"]).is_empty());
}

#[test]
fn history_leaves_out_builds() {
    use rpcbench_record::Age;
    let run = RunBuilder::new().entry("go-grpc#old", &GO).build(Age::Old, "v1", None).run;
    assert!(history(&[run], &[]).cells.is_empty());
}

/// The memory that a history takes does not grow with its runs.
#[test]
fn history_holds_only_runs_that_later_ones_are_compared_with() {
    let runs = runs();
    let mut builder = HistoryBuilder::new(Vec::new(), None);
    runs.iter().for_each(|run| builder.add(run));
    let is_held = |run: &Run| match &run.trials[0].result {
        TrialResult::Measured(measured) => Arc::strong_count(measured) > 1,
        TrialResult::Failed(_) => false,
    };
    assert_eq!(runs.iter().map(is_held).collect::<Vec<_>>(), [false, false, false, true]);
    drop(builder);
}
