//! pandas, DuckDB and Polars read what a load leaves, and find what was counted.

use std::process::Command;

use rpcbench_record::TrialResult;
use serde_json::json;

use super::peer;
use crate::bench::{Target, look, repository};
use crate::program::Program;

#[test]
#[ignore = "needs pandas, DuckDB and Polars"]
fn table_libraries_read_calls_and_figures_of_a_load() {
    let folder = tempfile::tempdir().unwrap();
    let (calls, record) = (folder.path().join("calls.parquet"), folder.path().join("record"));
    let (log, out) = (calls.display(), record.display());
    let words = format!("-n 2000 -c 4 --warmup none --out {out} --log {log}");
    let failing = Target::new("status-once:100");
    look(&format!("load {} {words}", failing.address())).expect(1);
    let run = rpcbench_record::read(&record).unwrap();
    let Some(TrialResult::Measured(window)) = run.trials.last().map(|trial| &trial.result) else {
        panic!("no window: {:#?}", run.trials);
    };
    let latency = window.latency.as_ref().unwrap();
    let script = repository().join("crates/cli/tests/it/foreign/tables/readers.py");
    let mut command = Command::new(peer("tables").join("bin/python"));
    let read = Program::start(command.arg(script).args([&calls, &record.join("trials.csv")]));
    let read = read.finish().expect(0).json();
    for library in ["pandas", "DuckDB", "Polars"] {
        let found = &read[library];
        let expected = json!({
            "types": ["int64", "int64", "int64"],
            "calls": window.outcomes.total(),
            "failed": window.outcomes.errors(),
            "unsent": 0,
            "codes": [13],
            "ok_response_ns": found["ok_response_ns"],
            "run": run.header.id,
        });
        assert_eq!(found, &expected, "{library}");
        let mean = found["ok_response_ns"].as_f64().unwrap() / latency.count as f64;
        assert!((mean / latency.mean_ns - 1.0).abs() < 1e-6, "{library}: {mean} ns, {latency:?}");
    }
}
