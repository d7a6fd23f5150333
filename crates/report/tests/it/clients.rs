//! Runs of client libraries.

use rpcbench_record::{Published, Role};
use rpcbench_report::{Layout, Style, summary};

use crate::builder::RunBuilder;
use crate::render::{csv, json, markdown, text};

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

#[test]
fn complete_tables_show_what_a_client_checks() {
    let sentence = "text: the whole string";
    let of_clients = clients().prepared(|it| it.reply_checks = Some(sentence.to_owned()));
    let summary = summary(&of_clients.run);
    for shown in [markdown(&summary), csv(&summary).expect("CSV"), json(&summary).expect("JSON")] {
        assert!(shown.contains(sentence), "{shown}");
    }
    let of_servers = RunBuilder::new().entry("go-grpc", &[34_000, 34_300]);
    assert!(!markdown(&rpcbench_report::summary(&of_servers.run)).contains("reply checks"));
}

/// Two clients, each with two servers: one limits its pairs, the other does not.
fn pairs() -> RunBuilder {
    let mut builder = RunBuilder::new();
    for (client, server, rate) in [
        ("go-grpc", "go-grpc", 30_000_u64),
        ("go-grpc", "python-grpcio@asyncio", 9_000),
        ("node-grpc-js", "node-grpc-js", 7_000),
    ] {
        let rates = [rate, rate + 300, rate - 200, rate + 100];
        builder = builder.with(&format!("{client}+{server}"), &rates, |trial| {
            if server.starts_with("python") {
                trial.client.busiest_ns = trial.window_ns;
                let client = trial.server.as_mut().expect("counters");
                (client.cpu_user_ns, client.busiest_thread_ns) = (client.cpu_user_ns / 2, 0);
            }
        });
        let planned = builder.run.header.plan.servers.last_mut().expect("an entry");
        (planned.role, planned.counterpart) = (Role::Client, Some(server.to_owned()));
    }
    let plan = &mut builder.run.header.plan;
    plan.published = [("go-grpc", 100.0), ("node-grpc-js", 50.0)]
        .map(|(entry, calls_per_s)| Published {
            workload: "quick".to_owned(),
            entry: entry.to_owned(),
            calls_per_s,
            source: "a test".to_owned(),
        })
        .to_vec();
    builder
}

#[test]
fn pairs_are_a_matrix_that_names_the_limit_and_ranks_nothing() {
    let builder = pairs();
    let summary = summary(&builder.run);
    let layout = Layout { explain: true, ..Layout::default() };
    insta::assert_snapshot!(text(&summary, Style::default(), &layout));
    let markdown = markdown(&summary);
    assert!(markdown.contains("| client       |"), "{markdown}");
    let csv = csv(&summary).expect("CSV");
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    let of = |key: &str| {
        let at = header.iter().position(|column| *column == key).expect(key);
        let rows = csv.lines().skip(1).map(move |line| line.split(',').nth(at).unwrap_or_default());
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of("limit"), ["client", "server", "client"]);
    assert_eq!(of("counterpart"), ["go-grpc", "python-grpcio@asyncio", "node-grpc-js"]);
    assert_eq!(of("place_best"), [""; 3]);
    assert!(of("calls_per_counterpart_cpu_s").iter().all(|figure| !figure.is_empty()));
}
