//! The result of a single load.

use rpcbench_record::{
    Connections, FailedCall, FailureKind, Header, Limits, OutcomeKind, Outcomes, Pacing,
    PlacementKind, Protocol, Run, Slice, Trial, TrialResult, Unmeasured, Workload,
};
use rpcbench_report::{Capacity, Load, Style, View, load_hdr};
use rpcbench_stats::Histogram;

use crate::builder::{RunBuilder, latency, measured, workload};
use crate::render::{csv, json, markdown, plain};

pub fn header() -> Header {
    RunBuilder::new().run.header
}

/// A closed loop whose calls all went well.
pub fn fine() -> Load {
    let mut measured = measured(98_000);
    let count = measured.outcomes.ok;
    measured.server = None;
    measured.service = Some(latency(count, 9_900_000.0));
    measured.send_lag = Some(latency(count, 304_000.0));
    let mut header = header();
    header.plan.limits = Limits { cpus: 2, memory_bytes: None };
    Load {
        header,
        started: "2026-03-01T12:00:00Z".parse().expect("a time"),
        address: "127.0.0.1:50051".to_owned(),
        protocol: Protocol::Grpc,
        workload: workload(),
        capacity: None,
        tls: None,
        outside: Unmeasured {
            outcomes: Outcomes { ok: 98_000, ..Outcomes::default() },
            error_examples: Vec::new(),
        },
        measured,
        placement_notes: Vec::new(),
    }
}

/// The same calls in an open loop.
pub fn open() -> Load {
    let mut load = fine();
    load.workload.arrivals = "poisson:98000".parse().expect("arrivals");
    load.capacity =
        Some(Capacity { calls_per_s: 245_000.0, window_ns: 3_000_000_000, client_bound: false });
    load.measured.client.awake_ns = 300_000_000;
    let due = load.measured.outcomes.total();
    load.measured.pacing =
        Some(Pacing { due, due_second_half: due / 2, late: 12, held_back: 3400 });
    load
}

/// With calls that failed, 1,200 of them.
pub fn failing() -> Load {
    let mut load = fine();
    let measured = &mut load.measured;
    measured.outcomes.ok -= 1200;
    measured.ok_pro_rata -= 1200.0;
    measured.outcomes.timeout = 200;
    measured.outcomes.status.extend([(13, 990), (14, 10)]);
    measured.latency = Some(latency(measured.outcomes.ok, 10_204_000.0));
    measured.error_latency = Some(latency(1200, 10_204_000.0));
    measured.series.iter_mut().for_each(|s| {
        s.ok -= 40;
        s.errors = 40;
        s.max_ns = 0;
    });
    measured.error_examples = vec!["status 13: upstream is gone".to_owned()];
    let kind = |outcome, status, calls, ms: u64| FailureKind {
        outcome,
        status,
        calls,
        p50_ns: ms * 500_000,
        p99_ns: ms * 990_000,
        max_ns: ms * 1_000_000,
        examples: Vec::new(),
    };
    let said = FailedCall {
        message: "upstream is gone".to_owned(),
        details: vec!["google.rpc.ErrorInfo (NO_ROUTE, shop.v1)".to_owned()],
        reply: None,
    };
    measured.failures = vec![
        FailureKind { examples: vec![said], ..kind(OutcomeKind::Status, Some(13), 990, 4) },
        kind(OutcomeKind::Timeout, None, 200, 10_000),
        kind(OutcomeKind::Status, Some(14), 10, 1),
    ];
    measured.client.busiest_ns = measured.window_ns;
    load
}

#[test]
fn lost_connections_warn_and_broken_protocol_fails() {
    let mut load = fine();
    let mut connections = Connections { reopened: 257, ..Connections::default() };
    connections.end("peer closed the connection with ENHANCE_YOUR_CALM", false);
    load.measured.connections = connections.clone();
    let text = plain(&load, Style::default());
    let warning = "1 connection ended, reopened 257 times: \
                   peer closed the connection with ENHANCE_YOUR_CALM";
    assert!(text.contains(warning) && !load.checks_failed(), "{text}");
    connections.break_off("twice");
    load.measured.connections = connections;
    assert!(load.checks_failed());
    assert_eq!(load.verdict().name(), "failed");
    assert!(load.complaints()[0].starts_with("the server broke the protocol on 1 connection"));
}

pub fn limited(mut load: Load, limits: &[&str]) -> Load {
    load.header.plan.fail_if =
        limits.iter().map(|limit| limit.parse().expect("a threshold")).collect();
    load
}

/// The run that a load is shown from.
pub fn run_of(loads: &[(Load, &str)]) -> Run {
    let mut run = RunBuilder::new().planned("somebodys-server", 0).run;
    run.header.plan.limits = loads[0].0.header.plan.limits;
    let plan = &mut run.header.plan;
    plan.servers[0].entry = loads[0].0.address.clone();
    plan.placement = PlacementKind::Unmanaged;
    plan.workloads.clear();
    for (load, arrivals) in loads {
        let name = format!("load-{}", plan.workloads.len());
        let arrivals = arrivals.parse().expect("arrivals");
        plan.workloads.push(Workload { name: name.clone(), arrivals, ..load.workload.clone() });
        plan.fail_if.clone_from(&load.header.plan.fail_if);
        run.trials.push(Trial {
            process: 1,
            entry: load.address.clone(),
            workload: name,
            number: 1,
            started: load.started,
            arrivals: load.workload.arrivals.is_open().then_some(load.workload.arrivals),
            search: None,
            unmeasured: Some(load.outside.clone()),
            result: TrialResult::from(load.measured.clone()),
        });
    }
    run
}

#[test]
fn load_is_read_from_run() {
    let run = run_of(&[(fine(), "closed")]);
    let View::Load(load) = View::of(&run) else { panic!("no load") };
    let workload = Workload { name: "load-0".to_owned(), ..fine().workload };
    let expected = Load { workload, header: run.header.clone(), ..fine() };
    assert_eq!(*load, expected);
    let native = Run {
        header: Header {
            plan: rpcbench_record::Plan {
                placement: PlacementKind::Native,
                ..run.header.plan.clone()
            },
            ..header()
        },
        ..run.clone()
    };
    assert!(matches!(View::of(&native), View::Run(_)));
    assert!(matches!(View::of(&Run { trials: Vec::new(), ..run }), View::Run(_)));
}

#[test]
fn capacity_is_read_with_its_window() {
    let mut run = run_of(&[(fine(), "closed"), (open(), "poisson:40%")]);
    let View::Load(load) = View::of(&run) else { panic!("no load") };
    assert_eq!(
        load.capacity,
        Some(Capacity { calls_per_s: 98_000.0, window_ns: 3_000_000_000, client_bound: false })
    );
    assert_eq!(load.workload.arrivals, open().workload.arrivals);
    // Calls that failed while the capacity was measured count as those of any warm-up.
    assert_eq!(load.outside.outcomes.ok, 98_000 + fine().measured.outcomes.ok);
    assert!(!load.checks_failed());
    run.trials[0].result = TrialResult::from(failing().measured);
    let View::Load(load) = View::of(&run) else { panic!("no load") };
    assert_eq!((load.outside.outcomes.errors(), load.checks_failed()), (1200, true));
    insta::assert_snapshot!(load.complaints().join("\n"), @"
    1200 of 392000 calls failed outside the window, such as: status 13: upstream is gone
    client-bound: the capacity is the client's, so the rate is not a share of the server's; lower the rate, use more client threads, or free CPUs
    ");
}

#[test]
fn sweep_leaves_out_rate_stopped_early() {
    let mut cut = open();
    cut.measured.window_ns /= 2;
    let run = run_of(&[
        (fine(), "closed"),
        (open(), "poisson:40%"),
        (open(), "poisson:50%"),
        (cut, "poisson:60%"),
    ]);
    let View::Curve(curve) = View::of(&run) else { panic!("no curve") };
    let capacity = curve.capacity.map(|capacity| capacity.calls_per_s);
    assert_eq!((curve.points.len(), capacity), (2, Some(98_000.0)));
    assert_eq!((curve.search.as_ref(), curve.complaint()), (None, None));
    insta::assert_snapshot!(plain(&*curve, Style::default()));
}

/// A server whose process is named: 1.85 s of user and 1.12 s of system time of two CPUs in 3 s.
#[test]
fn server_usage_is_shown_if_known() {
    let mut load = fine();
    load.measured.server = measured(98_000).server;
    insta::assert_snapshot!(plain(&load, Style::default()));
    // It used all of its one CPU: the limit of a closed loop.
    load.header.plan.limits.cpus = 1;
    assert_eq!(load.verdict().name(), "server-bound");
    load.measured.client.busiest_ns = load.measured.window_ns;
    assert_eq!(load.verdict().name(), "client-bound");
    // One of the server's threads was busy all the time as well, so either may be the bottleneck.
    let server = load.measured.server.as_mut().expect("a server");
    server.busiest_thread_ns = server.interval_ns;
    assert_eq!(load.verdict().name(), "ok");
}

#[test]
fn load_as_text() {
    let load = fine();
    assert_eq!(load.verdict().name(), "ok");
    insta::assert_snapshot!(plain(&load, Style::default()));
}

#[test]
fn open_loop_shows_pacing() {
    insta::assert_snapshot!(plain(&open(), Style::default()));
}

#[test]
fn errors_are_shown_by_name() {
    let load = failing();
    assert_eq!(load.verdict().name(), "failed");
    insta::assert_snapshot!(plain(&load, Style::default()));
}

#[test]
fn unanswered_load_has_no_times_of_ok_calls() {
    let mut load = fine();
    let calls = 1000;
    load.measured.outcomes = Outcomes { timeout: calls, ..Outcomes::default() };
    load.measured.ok_pro_rata = 0.0;
    (load.measured.latency, load.measured.service, load.measured.send_lag) = (None, None, None);
    load.measured.error_latency = Some(latency(calls, 2e9));
    load.measured.series.fill(Slice { errors: 30, ..Slice::default() });
    load.workload.in_flight = 667;
    insta::assert_snapshot!(plain(&load, Style::default()));
}

#[test]
fn load_exports() {
    insta::assert_snapshot!(markdown(&fine()));
    insta::assert_snapshot!(json(&open()).expect("JSON"));
    insta::assert_snapshot!(json(&failing()).expect("JSON"));
    insta::assert_snapshot!(csv(&failing()).expect("CSV"));
}

/// Reads the log with the `hdrhistogram` crate.
#[test]
fn hdr_log_round_trips() {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let load = open();
    let log = load_hdr(&load);
    let mut tags = Vec::new();
    let mut starts = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        match entry.expect("an entry") {
            LogEntry::StartTime(time) | LogEntry::BaseTime(time) => starts.push(time.as_secs()),
            LogEntry::Interval(interval) => {
                assert_eq!(interval.start_timestamp().as_nanos(), 0);
                assert_eq!(interval.duration().as_secs(), 3);
                let histogram =
                    Histogram::from_base64(interval.encoded_histogram()).expect("a histogram");
                let max_ms = histogram.max().expect("a value") as f64 / 1e6;
                assert!((interval.max() - max_ms).abs() < max_ms / 1000.0);
                let tag = interval.tag().expect("a tag").as_str().to_owned();
                tags.push((tag, histogram.count()));
            }
        }
    }
    let calls = load.measured.outcomes.ok;
    let expected = ["response", "service", "send_lag"].map(|tag| (tag.to_owned(), calls));
    assert_eq!(tags, expected);
    assert_eq!(starts, [1_772_366_400; 2]);
}

#[test]
fn average_sizes_divide_bytes_by_the_messages_they_belong_to() {
    let mut load = fine();
    (load.measured.bytes_in, load.measured.replies_in) = (1_000_000, 1000);
    (load.measured.bytes_out, load.measured.requests_out) = (30_000, 300);
    let text = plain(&load, NARROW);
    assert!(text.contains("1000 B a reply") && text.contains("100 B a request"), "{text}");
    // Of fewer messages than connections, and in older records.
    (load.measured.replies_in, load.measured.requests_out) = (0, 3);
    let text = plain(&load, NARROW);
    assert!(!text.contains(" B a re") && text.contains("received"), "{text}");
}

pub const NARROW: Style = Style { color: false, width: Some(70), ascii: false };

#[track_caller]
pub fn fits(text: &str) {
    // Wraps the title, and the legend below the times; columns are unchanged.
    let is_sentence = |line: &&str| !line.starts_with(' ') || line.starts_with("  response: ");
    let widest = text.lines().filter(is_sentence).map(|line| line.chars().count()).max();
    assert!(widest <= NARROW.width, "{text}");
}

#[test]
fn sentences_wrap_on_narrow_terminal() {
    fits(&plain(&failing(), NARROW));
    let title: Vec<String> = plain(&fine(), NARROW).lines().take(2).map(str::to_owned).collect();
    insta::assert_snapshot!(title.join("\n"), @"
    127.0.0.1:50051: grpc text:100, 50 connections, 1,000 calls in flight,
      closed loop, 1 client thread
    ");
}
