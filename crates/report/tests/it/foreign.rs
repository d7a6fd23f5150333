//! Foreign text in a record reaches the reader, and does nothing to the terminal.

use rpcbench_record::{
    Header, PlacementKind, Published, Readiness, Run, Toolchain, TrialResult, is_printable,
};
use rpcbench_report::{Document, Format, Style, View, summary, trials_csv};

use crate::builder::{RunBuilder, failure, measured};
use crate::history::history;
use crate::render::{csv, json, markdown, plain, text};

/// Clears the screen, returns to the start of the line, forges a line, and reverses the writing direction.
const EVIL: &str = "\u{1b}[2J\rverdict  ok\n\u{9b}31m\u{202e}";

fn evil(of: &str) -> String {
    format!("{of}-{EVIL}")
}

fn hostile() -> Run {
    let mut wrong = measured(20_000);
    wrong.outcomes.ok -= 1;
    wrong.outcomes.transport = 1;
    wrong.error_examples = vec![evil("example")];
    let mut connections = rpcbench_record::Connections::default();
    connections.end(&evil("goodbye"), false);
    wrong.connections = connections;
    let builder = RunBuilder::new()
        .results(&evil("go"), vec![TrialResult::from(wrong)])
        .prepared(|it| {
            it.versions.insert(evil("library"), evil("version"));
            it.isolation.notes.push(evil("note"));
        })
        .results("py-grpc", vec![TrialResult::Failed(failure(&evil("reason"), &[&evil("log")]))])
        .unready("js-grpc", Readiness::Skipped { reason: evil("skipped") })
        .unready("c-grpc", Readiness::Failed(failure(&evil("refused"), &[])))
        .prepared(|it| it.check.failed.push(evil("case")));
    let mut run = builder.run;
    run.header.plan.suite = evil("suite");
    let Header { tool, machines, plan, arguments, .. } = &mut run.header;
    tool.commit = Some(evil("commit"));
    machines.client.cpu.model = evil("cpu");
    machines.client.virtualization = Some(evil("hypervisor"));
    machines.client.clock_source = Some(evil("clock"));
    machines.engine = Some(Toolchain { name: evil("engine"), version: evil("release") });
    plan.published.push(Published {
        workload: plan.workloads[0].name.clone(),
        entry: evil("go"),
        calls_per_s: 1e4,
        source: evil("source"),
    });
    arguments.push(evil("argument"));
    run
}

fn assert_tame(page: &str, says: &[&str]) {
    let odd: Vec<char> = page.chars().filter(|c| *c != '\n' && !is_printable(*c)).collect();
    assert!(odd.is_empty(), "{odd:?} in {page}");
    for word in says {
        assert!(page.contains(&format!("{word}-\\u{{1b}}[2J\\rverdict")), "{word}: {page}");
    }
}

#[test]
fn foreign_text_in_run_is_escaped() {
    let run = hostile();
    let summary = summary(&run);
    let words = ["go", "example", "goodbye", "note", "reason", "log", "skipped", "refused", "case"];
    assert_tame(&text(&summary, Style::default(), &rpcbench_report::Layout::default()), &words);
    assert_tame(&markdown(&summary), &words);
    assert_tame(&markdown(&summary), &["commit", "cpu", "engine", "release"]);
    assert_tame(&csv(&summary).unwrap(), &["go", "library", "cpu"]);
    assert_tame(&trials_csv(&run).unwrap(), &["go", "reason"]);
    assert_tame(&json(&summary).unwrap(), &[]);
}

#[test]
fn foreign_text_in_history_and_changes_is_escaped() {
    let run = hostile();
    let past = history(&[run.clone(), run.clone()], &[]);
    let changes = rpcbench_report::changes(&run, &run, &rpcbench_report::CompareOptions::default());
    for document in [Document::of_history(&past), Document::of_changes(&changes)] {
        for format in [Format::Text, Format::Markdown, Format::Json, Format::Csv] {
            assert_tame(&document.render(format, Style::default()).unwrap(), &[]);
        }
    }
}

#[test]
fn json_escapes_unprintable_characters() {
    // Without `Run::printable`, like a field that it forgets.
    let mut run = RunBuilder::new().results("go-grpc", vec![measured(1000).into()]).run;
    run.header.tool.commit = Some("abc".to_owned());
    let mut summary = summary(&run);
    summary.header.tool.commit = Some("\u{202e}\u{9b}\u{e0001}".to_owned());
    let text = json(&summary).unwrap();
    assert_tame(&text, &[]);
    assert!(text.contains(r"\u202e\u009b\udb40\udc01"), "{text}");
    let read: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read["run"]["tool"]["commit"], "\u{202e}\u{9b}\u{e0001}");
}

#[test]
fn foreign_text_in_load_is_escaped() {
    let mut run = hostile();
    run.header.plan.servers.truncate(1);
    run.header.plan.placement = PlacementKind::Unmanaged;
    let View::Load(load) = View::of(&run) else { panic!("no load") };
    assert_tame(&plain(&*load, Style::default()), &["go", "example", "goodbye"]);
    assert_tame(&markdown(&*load), &["go", "example", "goodbye"]);
    assert_tame(&csv(&*load).unwrap(), &["go"]);
    assert_tame(&json(&*load).unwrap(), &[]);
}
