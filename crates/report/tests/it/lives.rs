//! Connections that live for a few calls, published figures, and trials that agree.

use rpcbench_record::{
    ConnectionLife, Connections, Limits, Measured, PlannedTrial, Preparation, Published, Stopping,
    TlsMode, Trial, WarmUp, Window, Workload,
};
use rpcbench_report::{Layout, Style, summary};

use crate::builder::{RunBuilder, latency};
use crate::render::{json, text};

/// A connection for each call; a third of the response time is the connect.
fn short(trial: &mut Measured) {
    let whole = trial.latency.clone().unwrap();
    trial.connect = Some(latency(whole.count, whole.mean_ns / 3.0));
    trial.service = Some(latency(whole.count, whole.mean_ns * 2.0 / 3.0));
    trial.connections =
        Connections { opened: whole.count, retired: whole.count, ..Connections::default() };
}

fn bench() -> RunBuilder {
    let mut bench = RunBuilder::new().with("go-grpc", &[10_000, 10_100], short).with(
        "go-thrift",
        &[19_000, 19_100],
        short,
    );
    let plan = &mut bench.run.header.plan;
    plan.workloads[0].connection_life = ConnectionLife::SHORT;
    let published = |entry: &str, calls_per_s| Published {
        workload: "quick".to_owned(),
        entry: entry.to_owned(),
        calls_per_s,
        source: "A. Author, https://example.org/benchmark".to_owned(),
    };
    plan.published = vec![
        published("go-grpc", 13_000.0),
        published("c-thrift", 1.0),
        published("go-thrift", 31_000.0),
    ];
    bench
}

#[test]
fn short_connections_have_connect_and_call_times() {
    let summary = summary(&bench().run);
    let shown = text(&summary, Style::default(), &Layout::default());
    insta::assert_snapshot!(shown);
    let exported: serde_json::Value = serde_json::from_str(&json(&summary).unwrap()).unwrap();
    let cell = &exported["workloads"][0]["cells"][1];
    assert_eq!(cell["entry"], "go-grpc");
    // Two windows of 3 s, 30,000 and 30,300 calls.
    assert_eq!(cell["connections_per_s"], 10_050.0, "{cell:#}");
    let sum = cell["connect_mean_ns"].as_f64().unwrap() + cell["call_mean_ns"].as_f64().unwrap();
    assert!((sum / cell["mean_ns"].as_f64().unwrap() - 1.0).abs() < 0.001, "{cell:#}");
}

/// A run under the same load without TLS, and with each of these modes of it at these rates.
fn with_tls<const N: usize>(modes: [(TlsMode, [u64; 3]); N]) -> RunBuilder {
    let mut all = RunBuilder::new()
        .entry("go-grpc", &[10_000, 10_100, 9900])
        .entry("go-thrift", &[20_000, 20_100, 19_900]);
    for (mode, rates) in modes {
        let name = mode.to_string();
        let one = RunBuilder::new().entry("go-grpc", &rates).run;
        let plan = &mut all.run.header.plan;
        plan.workloads.push(Workload {
            name: name.clone(),
            tls: mode,
            ..plan.workloads[0].clone()
        });
        plan.order.extend(
            one.header
                .plan
                .order
                .into_iter()
                .map(|it| PlannedTrial { workload: name.clone(), ..it }),
        );
        all.run.preparations.extend(
            one.preparations.into_iter().map(|it| Preparation { workload: name.clone(), ..it }),
        );
        all.run
            .trials
            .extend(one.trials.into_iter().map(|it| Trial { workload: name.clone(), ..it }));
    }
    all
}

#[test]
fn cost_of_tls_is_a_share_of_the_figure_without_it() {
    let modes = [(TlsMode::On, [8000, 8050, 8100]), (TlsMode::NoResumption, [4000, 4100, 4050])];
    let shown = text(&summary(&with_tls(modes).run), Style::default(), &Layout::default());
    let from = |begin: &str| {
        let lines = shown.lines().skip_while(|line| !line.starts_with(begin));
        lines.take(2).map(str::trim).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(from("Compared with the same load without TLS"), @"
    Compared with the same load without TLS
    go-grpc: 81 % of its calls/cpu-s (78 to 83 %), a call costs 24.0 us more
    ");
    insta::assert_snapshot!(from("Compared with the same load with resumption"), @"
    Compared with the same load with resumption
    go-grpc: 50 % of its calls/cpu-s (48 to 52 %), a call costs 121 us more
    ");
    assert_eq!(shown.matches("Compared with the same load").count(), 3);
}

#[test]
fn cost_of_tls_that_may_be_none_is_not_named() {
    let run = with_tls([(TlsMode::On, [9500, 10_200, 9900])]).run;
    let shown = text(&summary(&run), Style::default(), &Layout::default());
    let line = shown.lines().find(|line| line.contains("of its calls/cpu-s")).unwrap();
    insta::assert_snapshot!(line.trim(), @"go-grpc: 99 % of its calls/cpu-s (90 to 108 %): can't tell if it costs anything");
}

#[test]
fn scaled_run_has_warning() {
    let mut bench = bench();
    bench.run.header.plan.scaled_from = Some(Limits { cpus: 3, memory_bytes: None });
    let shown = text(&summary(&bench.run), Style::default(), &Layout::default());
    let warning = "scaled to this machine: a server had 1 CPU, the suite gives it 3; compare it only with runs";
    assert!(shown.contains(warning), "{shown}");
}

#[test]
fn disagreeing_trials_are_noted_with_difference() {
    let mut bench = RunBuilder::new()
        .entry("go-grpc", &[10_000, 10_100])
        .entry("rust-tonic", &[10_000, 20_000]);
    let plan = &mut bench.run.header.plan;
    plan.stopping = Some(Stopping { agreement: Some(0.06), ..Stopping::default() });
    plan.workloads[0].window = Window::Calls { calls: 20_000 };
    plan.workloads[0].warm_up = WarmUp::Calls { calls: 2000, clients: 100 };
    let shown = text(&summary(&bench.run), Style::default(), &Layout::default());
    let setting = "warm-up 2,000 calls by 100 clients; at most 2 trials of 20,000 calls, each in a fresh process, until two in \
                   a row have standard deviations within 6.0 %";
    assert!(shown.contains(setting), "{shown}");
    let note =
        "rust-tonic: no two trials in a row agreed; the standard deviations of the last differ by ";
    assert!(shown.contains(note) && !shown.contains("go-grpc: no two"), "{shown}");
}
