//! Two runs, compared.

use jiff::SignedDuration;
use rpcbench_record::{Age, TrialResult, WarmUp};
use rpcbench_report::{
    Changes, CompareOptions, Gate, Style, changes, changes_of_builds, changes_schema, summary,
};
use rpcbench_stats::Finding;

use crate::builder::{RunBuilder, failure};
use crate::history::history;
use crate::render::{csv, json, markdown, plain};

const GO: [u64; 8] = [98_000, 98_900, 97_700, 98_400, 98_100, 98_600, 97_900, 98_300];
const RUST: [u64; 8] = [184_000, 184_900, 183_800, 184_200, 184_600, 183_900, 184_400, 184_100];

fn scaled(rates: [u64; 8], percent: u64) -> [u64; 8] {
    rates.map(|rate| rate * percent / 100)
}

fn asked(figures: &[&str]) -> CompareOptions {
    let figures = figures.iter().map(|name| name.parse().expect("a figure"));
    CompareOptions { figures: figures.collect(), ..CompareOptions::default() }
}

fn old() -> RunBuilder {
    RunBuilder::new().entry("go-grpc", &GO).entry("rust-tonic", &RUST)
}

fn compared(old: &RunBuilder, new: &RunBuilder, figures: &[&str]) -> Changes {
    changes(&old.run, &new.run, &asked(figures))
}

fn shown(changes: &Changes) -> String {
    plain(changes, Style::default())
}

#[test]
fn one_slower_and_one_same_server() {
    let new = RunBuilder::new().entry("go-grpc", &scaled(GO, 90)).entry("rust-tonic", &RUST);
    insta::assert_snapshot!(shown(&compared(&old(), &new, &["p99"])));
}

#[test]
fn small_change_is_same_or_slightly_slower() {
    let new = RunBuilder::new().entry("go-grpc", &scaled(GO, 98)).entry("rust-tonic", &RUST);
    insta::assert_snapshot!(shown(&compared(&old(), &new, &[])));
}

/// A run of an old build and of one with these rates.
fn builds(new: [u64; 8]) -> RunBuilder {
    RunBuilder::new()
        .entry("go-grpc#old", &GO)
        .build(Age::Old, "v1.2", Some("4f2a9c1d00aa"))
        .entry("go-grpc#new", &new)
        .build(Age::New, "/home/me/next", None)
}

#[test]
fn builds_are_compared_within_one_run() {
    let changes = changes_of_builds(&builds(scaled(GO, 97)).run, &asked(&["p99"])).unwrap();
    insta::assert_snapshot!(shown(&changes));
    insta::assert_snapshot!(json(&changes).unwrap());
}

#[test]
fn shared_noise_cancels_between_builds() {
    let noisy = |percent: u64| {
        [60, 100, 75, 90, 65, 95, 80, 70].map(|noise: u64| 1_000 * noise * percent / 100)
    };
    let (old, new) = (noisy(100), noisy(97));
    let one_run = RunBuilder::new()
        .entry("go-grpc#old", &old)
        .build(Age::Old, "v1.2", None)
        .entry("go-grpc#new", &new)
        .build(Age::New, "v1.3", None);
    let within = changes_of_builds(&one_run.run, &asked(&[])).unwrap();
    assert!(within.rows[0].finding.is_slower(), "{:?}", within.rows[0]);
    let of = |rates| RunBuilder::new().entry("go-grpc", rates);
    let between = compared(&of(&old), &of(&new), &[]);
    assert_eq!(between.rows[0].finding, Finding::Open, "{:?}", between.rows[0]);
}

#[test]
fn run_without_builds_has_no_comparison() {
    assert_eq!(changes_of_builds(&old().run, &asked(&[])), None);
}

#[test]
fn failed_build_is_named_with_reason() {
    let run = RunBuilder::new()
        .entry("go-grpc#old", &GO)
        .build(Age::Old, "v1.2", None)
        .results("go-grpc#new", vec![TrialResult::Failed(failure("it crashed", &[]))])
        .build(Age::New, "v1.3", None);
    insta::assert_snapshot!(shown(&changes_of_builds(&run.run, &asked(&[])).unwrap()));
}

#[test]
fn one_process_decides_nothing() {
    let one = |rate: u64| RunBuilder::new().entry("go-grpc", &[rate]);
    insta::assert_snapshot!(shown(&compared(&one(98_000), &one(49_000), &[])));
}

#[test]
fn cells_of_one_run_are_named_with_reason() {
    let new = RunBuilder::new()
        .entry("node-grpc", &GO)
        .results("rust-tonic", vec![TrialResult::Failed(failure("it crashed", &[]))]);
    insta::assert_snapshot!(shown(&compared(&old(), &new, &[])));
}

#[test]
fn common_change_is_attributed_to_machine() {
    let servers = ["go-grpc", "rust-tonic", "node-grpc", "java-grpc"];
    let run = |percent: u64| {
        let add = |run: RunBuilder, name: &&str| run.entry(name, &scaled(GO, percent));
        servers.iter().fold(RunBuilder::new(), add)
    };
    insta::assert_snapshot!(shown(&compared(&run(100), &run(93), &[])));
}

#[test]
fn change_agrees_in_report_history_and_compare() {
    let servers = ["go-grpc", "rust-tonic", "node-grpc", "java-grpc"];
    let run = |percent: u64, hours: i64| {
        let add = |run: RunBuilder, name: &&str| run.entry(name, &scaled(GO, percent));
        let mut run = servers.iter().fold(RunBuilder::new(), add).run;
        run.header.started += SignedDuration::from_hours(hours);
        run
    };
    // The machine, it seems, became slower.
    let runs = [run(142, 0), run(100, 24)];
    let reported = runs.each_ref().map(|run| {
        let rows = summary(run).tables[0].rows.clone();
        let row = rows.into_iter().find(|row| row.server.entry == "go-grpc").expect("a row");
        row.ranked().expect("a figure").value
    });
    let changes = changes(&runs[0], &runs[1], &asked(&["p99"]));
    let change = &changes.rows[0];
    assert_eq!((change.entry.as_str(), [change.old, change.new]), ("go-grpc", reported));
    assert_eq!(change.compared[1] / change.compared[0], change.ratio);
    assert!(change.corrected);
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(shown(&changes));
    for part in ["141k 99.2k 118k 118k +0.0 %", "old corrected", "of these."] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // p99 is that of the report's table, not a mean over windows.
    let p99 = changes.rows.iter().find(|row| row.figure.key() == "p99_ns").expect("p99");
    let of_report = summary(&runs[1]).tables[0].rows[0].figures.clone().expect("figures");
    assert_eq!(p99.new, of_report.response.expect("calls").quantile(0.99) as f64);
    let text = words(plain(&history(&runs, &[]), Style::default()));
    for part in ["141k ±", "99.2k ±", "118k to 118k +0.0 % same", "compared: it and"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn different_conditions_forbid_comparison() {
    let mut new = old();
    let header = &mut new.run.header;
    header.plan.limits.cpus = 2;
    header.plan.workloads[0].in_flight = 500;
    header.plan.workloads[0].warm_up = WarmUp::Fixed { length_ms: 5000 };
    header.machines.client.kernel = "6.2.0".to_owned();
    header.tool.commit = None;
    let changes = compared(&old(), &new, &[]);
    let obstacles: Vec<String> = changes.obstacles().map(|it| it.field.clone()).collect();
    assert_eq!(obstacles, ["CPUs of the server", "quick: calls in flight", "quick: warm-up"]);
    insta::assert_snapshot!(shown(&changes));
}

#[test]
fn changed_versions_are_listed() {
    let mut new = old();
    let of_go = new.run.preparations.iter_mut().filter(|it| it.entry == "go-grpc");
    of_go.for_each(|it| drop(it.versions.insert("grpc".to_owned(), "1.99.0".to_owned())));
    let changes = compared(&old(), &new, &[]);
    assert_eq!(changes.versions.len(), 1);
    assert!(changes.versions[0].starts_with("go-grpc: "));
    assert!(changes.versions[0].ends_with("; now grpc 1.99.0"), "{}", changes.versions[0]);
}

/// Verdicts of a limit on the ranking figure, for each cell of the new run.
fn gates(new: &RunBuilder, limit: &str) -> Vec<(String, Gate)> {
    let limits = vec![limit.parse().expect("a limit")];
    let options = CompareOptions { limits, ..CompareOptions::default() };
    let gates = changes(&old().run, &new.run, &options).gates;
    gates.into_iter().map(|it| (it.cell, it.gate)).collect()
}

fn go_and_rust(go: Gate, rust: Gate) -> Vec<(String, Gate)> {
    vec![("go-grpc under quick".to_owned(), go), ("rust-tonic under quick".to_owned(), rust)]
}

#[test]
fn limit_holds_unless_change_is_sure_and_beyond_it() {
    for (percent, gate) in [(90, Gate::Exceeded), (97, Gate::Holds), (110, Gate::Holds)] {
        let new =
            RunBuilder::new().entry("go-grpc", &scaled(GO, percent)).entry("rust-tonic", &RUST);
        let found = gates(&new, "calls_per_server_cpu_s<-5%");
        assert_eq!(found, go_and_rust(gate, Gate::Holds), "{percent} %");
    }
}

#[test]
fn gate_passes_nothing_that_was_not_measured_or_is_not_seen() {
    let limit = "calls_per_server_cpu_s<-5%";
    let failed = RunBuilder::new()
        .entry("rust-tonic", &RUST)
        .results("go-grpc", vec![TrialResult::Failed(failure("it broke", &[]))]);
    let by_cell = |mut found: Vec<(String, Gate)>| {
        found.sort();
        found
    };
    assert_eq!(by_cell(gates(&failed, limit)), go_and_rust(Gate::Failed, Gate::Holds));
    let gone = RunBuilder::new().entry("go-grpc", &GO);
    assert_eq!(gates(&gone, limit), go_and_rust(Gate::Holds, Gate::CantTell));
    let added =
        RunBuilder::new().entry("go-grpc", &GO).entry("rust-tonic", &RUST).entry("c-grpc", &GO);
    let added = gates(&added, limit);
    assert_eq!(added[2], ("c-grpc under quick".to_owned(), Gate::NoBaseline));
    // As fast on average, but no two windows alike.
    let noise = [137_000, 70_000, 137_000, 70_000, 137_000, 70_000, 137_000, 70_000];
    let noisy = RunBuilder::new().entry("go-grpc", &noise).entry("rust-tonic", &RUST);
    assert_eq!(gates(&noisy, limit)[0].1, Gate::CantTell);
    let unknown = gates(&old(), "heap_peak_bytes<-5%");
    assert_eq!(unknown, go_and_rust(Gate::CantTell, Gate::CantTell), "no runtime reports it");
}

#[test]
fn runs_that_share_nothing_have_a_csv_of_one_line() {
    let one = RunBuilder::new().entry("go-grpc", &GO);
    let other = RunBuilder::new().entry("rust-tonic", &RUST);
    let whole = csv(&compared(&one, &one, &[])).expect("CSV");
    let empty = csv(&compared(&one, &other, &[])).expect("CSV");
    assert_eq!(empty.lines().collect::<Vec<_>>(), [whole.lines().next().expect("a line")]);
}

#[test]
fn changes_in_markdown() {
    let new = RunBuilder::new().entry("go-grpc", &scaled(GO, 90)).entry("rust-tonic", &RUST);
    insta::assert_snapshot!(markdown(&compared(&old(), &new, &["p99"])));
}

#[test]
fn changes_csv_escapes_formulas() {
    let run = || {
        let mut run = old();
        run.run.header.plan.workloads[0].name = "=1+2".to_owned();
        run.run.trials.iter_mut().for_each(|trial| trial.workload = "=1+2".to_owned());
        run.run.preparations.iter_mut().for_each(|made| made.workload = "=1+2".to_owned());
        run
    };
    let csv = csv(&compared(&run(), &run(), &[])).expect("CSV");
    assert!(csv.lines().skip(1).all(|line| line.starts_with("'=1+2,")), "{csv}");
    assert_eq!(csv.lines().count(), 3);
}

#[test]
fn changes_json_matches_schema() {
    let new = RunBuilder::new().entry("go-grpc", &scaled(GO, 90)).entry("rust-tonic", &RUST);
    let changes = compared(&old(), &new, &["memory_peak_bytes", "p50"]);
    let json: serde_json::Value =
        serde_json::from_str(&json(&changes).expect("JSON")).expect("JSON");
    jsonschema::validate(&changes_schema(), &json).expect("as the schema says");
    let rows = json["changes"].as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0]["finding"], "slower");
    let csv = csv(&changes).expect("CSV");
    assert_eq!(csv.lines().count(), 7);
    assert!(csv.starts_with(
        "workload,entry,figure,old,new,old_compared,new_compared,corrected,ratio,ratio_low,ratio_high,finding\n"
    ));
}
