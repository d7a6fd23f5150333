//! What a million calls cost.

use rpcbench_record::{Protocol, TrialResult};
use rpcbench_report::{Layout, Style, summary, trials_csv};

use crate::builder::{RunBuilder, failure, measured};
use crate::render::{csv, json, markdown, text};

/// Two languages with two protocols each, and a server that failed.
fn priced(price: &str) -> RunBuilder {
    let close = |rate: u64| [rate, rate + 300, rate - 200, rate + 100];
    let failed = vec![
        TrialResult::from(measured(61_000)),
        TrialResult::Failed(failure("out of memory", &[])),
    ];
    let mut builder = RunBuilder::new()
        .with("rust-tonic", &close(168_000), |trial| {
            trial.server.as_mut().expect("a server").memory_peak_bytes = 256 << 20;
        })
        .entry("rust-axum", &close(105_000))
        .entry("go-grpc", &close(74_700))
        .entry("go-net-http", &close(74_600))
        .results("java-grpc", failed);
    let plan = &mut builder.run.header.plan;
    for server in &mut plan.servers {
        if matches!(server.entry.as_str(), "rust-axum" | "go-net-http") {
            server.protocol = Protocol::Json;
        }
    }
    plan.price = Some(price.parse().expect("a price"));
    builder
}

fn shown(builder: &RunBuilder) -> String {
    text(&summary(&builder.run), Style::default(), &Layout::default())
}

/// The costs in CSV of cells, by entry.
fn costs(builder: &RunBuilder) -> Vec<(String, Option<f64>)> {
    let csv = csv(&summary(&builder.run)).expect("CSV");
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|field| field == name).expect("a field");
    let (entry, cost) = (at("entry"), at("cost_per_million_calls"));
    let rows = reader.records().map(|row| row.expect("a row"));
    rows.map(|row| (row[entry].to_owned(), row[cost].parse().ok())).collect()
}

#[test]
fn price_adds_costs_and_savings() {
    insta::assert_snapshot!(shown(&priced("$0.04/cpu-hour,$0.005/GiB-hour")));
}

#[test]
fn cost_counts_cpu_time_and_peak_memory() {
    let cost = |price| costs(&priced(price)).swap_remove(0).1.expect("a cost");
    let same = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-3, "{one} {other}");
    // 168,050 calls/s take 0.99 of a CPU and a quarter of a GiB.
    let hours = 1e6 / 168_050.0 / 3600.0;
    same(cost("0.04/cpu-hour"), 0.04 * hours * 0.99);
    same(cost("0.005/GiB-hour"), 0.005 * hours * 0.25);
    let both = cost("0.04/cpu-hour,0.005/GiB-hour");
    same(both, cost("0.04/cpu-hour") + cost("0.005/GiB-hour"));
}

#[test]
fn failed_server_has_no_cost() {
    let all = costs(&priced("0.04/cpu-hour"));
    assert_eq!(all.last(), Some(&("java-grpc".to_owned(), None)));
    assert_eq!(all.iter().filter(|(_, cost)| cost.is_some()).count(), 4);
}

#[test]
fn costs_are_in_markdown_and_json_with_their_price() {
    let summary = summary(&priced("€0.04/cpu-hour").run);
    let table = markdown(&summary);
    let table: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    let at =
        table[0].split('|').position(|title| title.trim() == "cost/M calls").expect("a column");
    let cell = |row: &str| row.split('|').nth(at).map(|cell| cell.trim().to_owned());
    assert_eq!(cell(table[2]).as_deref(), Some("€0.0000655"), "{table:?}");
    let json: serde_json::Value =
        serde_json::from_str(&json(&summary).expect("JSON")).expect("JSON");
    let first = &json["workloads"][0]["cells"][0];
    assert_eq!(first["price"], "€0.04/cpu-hour");
    assert!(first["cost_per_million_calls"].as_f64().expect("a cost") > 0.0);
    let schema = jsonschema::validator_for(&rpcbench_report::export_schema()).expect("a schema");
    schema.validate(&json).expect("an export");
}

#[test]
fn missing_price_hides_costs_and_savings() {
    let mut builder = priced("0.04/cpu-hour");
    builder.run.header.plan.price = None;
    let page = shown(&builder);
    assert!(!page.contains("cost"), "{page}");
    assert!(costs(&builder).iter().all(|(_, cost)| cost.is_none()));
    assert!(!trials_csv(&builder.run).expect("CSV").contains("cost"));
}

#[test]
fn memory_price_alone_shows_no_cpu_saving() {
    let page = shown(&priced("0.005/GiB-hour"));
    assert!(page.contains("cost/M calls") && !page.contains("less CPU cost"), "{page}");
}
