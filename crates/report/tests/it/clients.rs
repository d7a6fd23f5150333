//! Runs of client libraries.

use rpcbench_record::Role;
use rpcbench_report::{Layout, Style, summary};

use crate::builder::RunBuilder;
use crate::render::{csv, markdown, text};

/// A client at its limit, and one that the reference server held back.
fn clients() -> RunBuilder {
    let close = |rate: u64| [rate, rate + 300, rate - 200, rate + 100];
    let mut builder = RunBuilder::new().entry("go-grpc", &close(34_000)).with(
        "go-thrift",
        &close(80_000),
        |trial| {
            trial.client.busiest_ns = trial.window_ns;
            let client = trial.server.as_mut().expect("counters");
            (client.cpu_user_ns, client.busiest_thread_ns) = (client.cpu_user_ns / 2, 0);
        },
    );
    builder.run.header.plan.servers.iter_mut().for_each(|entry| entry.role = Role::Client);
    builder
}

#[test]
fn run_of_clients_names_both_sides_by_their_roles() {
    let builder = clients();
    let summary = summary(&builder.run);
    insta::assert_snapshot!(text(&summary, Style::default(), &Layout::default()));
    let markdown = markdown(&summary);
    let header = markdown.lines().find(|line| line.contains("place")).expect("a header");
    assert!(header.contains(" client ") && !header.contains("server"), "{header}");
}

#[test]
fn exports_of_clients_keep_their_keys_and_have_the_verdicts_of_clients() {
    let builder = clients();
    let csv = csv(&summary(&builder.run)).expect("CSV");
    let header = csv.lines().next().expect("a header");
    assert!(header.contains("calls_per_server_cpu_s") && header.contains("server_cpu_share"));
    assert!(csv.contains("at its limit") && csv.contains("reference-bound"), "{csv}");
}
