//! Runtime statistics in every view.

use rpcbench_record::{Measured, Pauses, RuntimeStatistics};
use rpcbench_report::{Columns, Layout, Style, html, summary};

use crate::builder::RunBuilder;
use crate::render::{csv, json, markdown, text};

fn collected(trial: &mut Measured) {
    let young = Pauses { count: 30, total_ns: 60_000_000, max_ns: 5_000_000 };
    let old = Pauses { count: 1, total_ns: 12_000_000, max_ns: 12_000_000 };
    trial.runtime = Some(RuntimeStatistics {
        refused: None,
        pauses: [("young".to_owned(), young), ("old".to_owned(), old)].into(),
        paused_ns: vec![22_000_000, 0, 50_000_000],
        allocated_bytes: Some(600 * trial.outcomes.ok),
        heap_peak_bytes: Some(40 << 20),
    });
}

/// Reports its collections, and nothing else.
fn reticent(trial: &mut Measured) {
    trial.runtime = Some(RuntimeStatistics::default());
}

fn bench() -> RunBuilder {
    let mut bench = RunBuilder::new()
        .with("java-grpc", &[20_000, 20_100], collected)
        .with("python-grpcio", &[2000, 2010], reticent)
        .with("rust-tonic", &[30_000, 30_100], |_| {});
    bench.run.header.plan.runtime_statistics = true;
    bench
}

#[test]
fn wide_table_has_runtime_statistics_and_notes_missing_ones() {
    let summary = summary(&bench().run);
    let wide = Layout { columns: Columns::Wide, ..Layout::default() };
    let shown = text(&summary, Style::default(), &wide);
    let said = "rust-tonic: its runtime reports no garbage collections or allocations";
    for words in ["longest GC", "allocated/call", "600 B", "12.0 ms", "40 MiB", said] {
        assert!(shown.contains(words), "no {words} in\n{shown}");
    }
    assert!(markdown(&summary).contains(said));
    assert!(html(&[bench().run], Vec::new()).is_ok_and(|page| page.contains(said)));
}

#[test]
fn server_that_a_client_calls_has_statistics_too() {
    let both = |trial: &mut Measured| {
        collected(trial);
        let pauses = Pauses { count: 3, total_ns: 30_000_000, max_ns: 10_000_000 };
        trial.counterpart_runtime = Some(RuntimeStatistics {
            pauses: [("gen0".to_owned(), pauses)].into(),
            allocated_bytes: Some(2000 * trial.outcomes.ok),
            ..RuntimeStatistics::default()
        });
    };
    let run = RunBuilder::new().with("dotnet-grpc", &[20_000, 20_100], both).run;
    let shown = markdown(&summary(&run));
    for words in ["server GC", "1.0 %", "server allocated/call", "1.95 KiB"] {
        assert!(shown.contains(words), "no {words} in\n{shown}");
    }
    assert!(!markdown(&summary(&bench().run)).contains("server GC"));
}

#[test]
fn impossible_statistics_are_hidden_with_reason() {
    let mut bench = bench();
    let reason = "pauses of 4.00 s in a window of 3.00 s";
    let refused = RuntimeStatistics { refused: Some(reason.to_owned()), ..Default::default() };
    let mut lying = crate::builder::measured(20_100);
    lying.runtime = Some(refused);
    bench.run.trials[1].result = rpcbench_record::TrialResult::from(lying);
    let summary = summary(&bench.run);
    let wide = Layout { columns: Columns::Wide, ..Layout::default() };
    let shown = text(&summary, Style::default(), &wide);
    let said =
        format!("java-grpc: what its runtime reports is refused, since it can't be true: {reason}");
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&said) && !shown.contains("600 B"), "{shown}");
}

#[test]
fn trials_add_up() {
    let exported = json(&summary(&bench().run)).unwrap();
    let exported: serde_json::Value = serde_json::from_str(&exported).unwrap();
    let cells = exported["workloads"][0]["cells"].as_array().unwrap();
    let of = |entry: &str| cells.iter().find(|cell| cell["entry"] == entry).unwrap();
    let java = of("java-grpc");
    // Two windows of 3 s.
    let expected = [
        ("gc_pauses", 62.0),
        ("gc_pause_total_ns", 144e6),
        ("gc_pause_mean_ns", 144e6 / 62.0),
        ("gc_pause_max_ns", 12e6),
        ("gc_pause_share", 0.144 / 6.0),
        ("allocated_bytes", 600.0 * 120_300.0),
        ("allocated_bytes_per_s", 600.0 * 20_050.0),
        ("allocated_per_call_bytes", 600.0),
        ("heap_peak_bytes", 41_943_040.0),
    ];
    for (key, value) in expected {
        let there = java[key].as_f64().unwrap();
        assert!((there / value - 1.0).abs() < 1e-9, "{key}: {there}, not {value}");
    }
    let kinds = "old: 2, 24.0 ms, mean 12.0 ms, longest 12.0 ms; young: 60, 120 ms, mean 2.00 ms, longest 5.00 ms";
    assert_eq!(java["gc_kinds"], kinds);
    let python = of("python-grpcio");
    assert_eq!(python["gc_pauses"], 0);
    assert!(python["allocated_bytes"].is_null() && python["gc_pause_mean_ns"].is_null());
    assert!(of("rust-tonic")["gc_pauses"].is_null());
    assert!(csv(&summary(&bench().run)).unwrap().contains(kinds));
}

#[test]
fn run_without_statistics_has_no_note() {
    let mut bench = bench();
    bench.run.header.plan.runtime_statistics = false;
    bench.run.trials.retain(|trial| trial.entry == "rust-tonic");
    let shown = text(&summary(&bench.run), Style::default(), &Layout::default());
    assert!(!shown.contains("garbage"), "{shown}");
}
