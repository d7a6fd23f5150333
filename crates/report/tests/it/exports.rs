//! Markdown, JSON and CSV.

use rpcbench_record::{Readiness, TrialResult};
use rpcbench_report::{export_schema, summary, trials_csv};

use crate::builder::{RunBuilder, failure, measured};
use crate::render::{csv, json, markdown};

fn mixed() -> RunBuilder {
    let reason = "dotnet is not installed; install .NET 10 SDK".to_owned();
    RunBuilder::new()
        .entry("rust-tonic", &[184_000, 184_500, 183_800])
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .results(
            "java-grpc@zgc",
            vec![
                TrialResult::Measured(Box::new(measured(61_000))),
                TrialResult::Failed(failure("out of memory (limit 512 MiB)", &["heap | space"])),
            ],
        )
        .unready("csharp-grpc", Readiness::Skipped { reason })
}

#[test]
fn markdown_has_every_column() {
    insta::assert_snapshot!(markdown(&summary(&mixed().run)));
}

#[test]
fn json_names_every_unit() {
    insta::assert_snapshot!(json(&summary(&mixed().run)).expect("JSON"));
}

#[test]
fn csv_has_a_row_for_each_cell() {
    insta::assert_snapshot!(csv(&summary(&mixed().run)).expect("CSV"));
}

#[test]
fn csv_of_trials_has_a_row_for_each() {
    insta::assert_snapshot!(trials_csv(&mixed().run).expect("CSV"));
}

#[test]
fn cells_have_the_same_fields_in_json_and_csv() {
    let summary = summary(&mixed().run);
    let csv = csv(&summary).expect("CSV");
    let columns: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    let json: serde_json::Value =
        serde_json::from_str(&json(&summary).expect("JSON")).expect("JSON that can be read");
    let cell = json["workloads"][0]["cells"][0].as_object().expect("a cell");
    let mut fields: Vec<&str> = cell.keys().map(String::as_str).collect();
    let mut sorted = columns.clone();
    sorted.sort_unstable();
    fields.sort_unstable();
    assert_eq!(sorted, fields);
}

#[test]
fn every_row_of_csv_is_as_long_as_its_header() {
    for text in [csv(&summary(&mixed().run)), trials_csv(&mixed().run)] {
        let text = text.expect("CSV");
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let width = reader.headers().expect("a header").len();
        assert!(reader.records().all(|row| row.expect("a row").len() == width));
    }
}

#[test]
fn json_is_what_its_schema_says() {
    let schema = jsonschema::validator_for(&export_schema()).expect("a schema");
    let export = json(&summary(&mixed().run)).expect("JSON");
    let mut export: serde_json::Value = serde_json::from_str(&export).expect("JSON");
    schema.validate(&export).expect("an export");
    export["workloads"][0]["cells"][0]["p99_ns"] = serde_json::json!("4 ms");
    assert!(!schema.is_valid(&export));
    export["workloads"][0]["cells"][0]["p99_ns"] = serde_json::Value::Null;
    assert!(schema.is_valid(&export));
    export["workloads"][0]["cells"][0]["no_figure"] = serde_json::json!(1);
    assert!(!schema.is_valid(&export));
}

#[test]
fn a_column_of_protocols_stands_where_they_differ() {
    let mut one = mixed().run;
    assert!(!markdown(&summary(&one)).contains(" protocol "));
    one.header.plan.servers[0].protocol = rpcbench_record::Protocol::TcpEcho;
    let page = markdown(&summary(&one));
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert!(lines[0].starts_with("| place | server        | protocol |"), "{page}");
    assert!(lines[2].contains("| rust-tonic    | tcp-echo |"), "{page}");
    let csv = csv(&summary(&one)).expect("CSV");
    assert!(csv.contains("quick,rust-tonic,rust-tonic,tcp-echo,"), "{csv}");
}
