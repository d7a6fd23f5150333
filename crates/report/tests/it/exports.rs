//! Markdown, JSON and CSV.

use rpcbench_record::{Content, Readiness, TrialResult};
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
                TrialResult::from(measured(61_000)),
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
fn csv_has_row_per_cell() {
    insta::assert_snapshot!(csv(&summary(&mixed().run)).expect("CSV"));
}

#[test]
fn trials_csv_has_row_per_trial() {
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
fn csv_rows_match_header() {
    for text in [csv(&summary(&mixed().run)), trials_csv(&mixed().run)] {
        let text = text.expect("CSV");
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let width = reader.headers().expect("a header").len();
        assert!(reader.records().all(|row| row.expect("a row").len() == width));
    }
}

#[test]
fn failed_cell_keeps_only_outcomes() {
    let run = RunBuilder::new()
        .entry("go-grpc", &[98_000; 2])
        .with("rust-tonic", &[184_000; 2], |trial| {
            trial.outcomes.ok -= 10;
            trial.outcomes.timeout += 10;
        })
        .run;
    let csv = csv(&summary(&run)).expect("CSV");
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let rows: Vec<::csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!((&rows[0][1], &rows[1][1]), ("go-grpc", "rust-tonic"));
    let known = |row: &::csv::StringRecord| -> Vec<String> {
        let numbers = header.iter().zip(row.iter()).filter(|(_, it)| it.parse::<f64>().is_ok());
        numbers.map(|(name, _)| name.to_owned()).collect()
    };
    let kept = [
        "trials_measured",
        "trials_planned",
        "calls",
        "ok",
        "wrong_answer",
        "status",
        "timeout",
        "transport",
        "not_sent",
        "error_share",
        "connections",
        "in_flight",
        "cpus",
        "memory_limit_bytes",
    ];
    assert_eq!(known(&rows[1]), kept);
    assert!(known(&rows[0]).iter().any(|name| name == "p99_ns"));
    // Every window keeps what was measured.
    let trials = trials_csv(&run).expect("CSV");
    assert!(::csv::Reader::from_reader(trials.as_bytes()).records().all(|row| {
        row.expect("a row").iter().filter(|cell| cell.parse::<f64>().is_ok()).count() > 30
    }));
}

#[test]
fn csv_escapes_formulas_and_keeps_numbers() {
    for sign in ["=", "+", "-", "@"] {
        let mut run = mixed().run;
        run.header.plan.workloads[0].content = Content::Shape(format!("{sign}cmd(1)"));
        run.header.machines.client.cpu.model = format!("{sign}2,5 GHz");
        for csv in [csv(&summary(&run)), trials_csv(&run)].map(|csv| csv.expect("CSV")) {
            assert!(csv.contains(&format!(",'{sign}cmd(1),")), "{csv}");
            assert!(csv.contains(&format!(",\"'{sign}2,5 GHz\",")), "{csv}");
        }
    }
}

#[test]
fn json_matches_schema() {
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
fn protocol_column_appears_if_protocols_differ() {
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
