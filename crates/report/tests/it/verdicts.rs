//! The verdict of a cell if several would fit, and who is ranked.

use rpcbench_record::{
    Connections, InterimAnalysis, Latency, Measured, Outcomes, PlannedTrial, Slice, Stopping,
    TrialResult, UnseenPair, Unsteady, WarmUp,
};
use rpcbench_report::{Conclusion, Row, Summary, Verdict, VerdictKind, summary};
use rpcbench_stats::Histogram;

use crate::builder::{RunBuilder, failure, measured, ok};

fn failed(reason: &str) -> Verdict {
    Verdict { kind: VerdictKind::Failed, reason: Some(reason.to_owned()) }
}

fn server_bound() -> Verdict {
    Verdict { kind: VerdictKind::ServerBound, reason: None }
}

fn verdict(summary: &Summary) -> &Verdict {
    &summary.tables[0].rows[0].verdict
}

#[test]
fn failure_outweighs_doubt() {
    let mut doubtful = measured(20_000);
    ok(&mut doubtful).mean_ns *= 2.0;
    let run = RunBuilder::new().results(
        "go-grpc",
        vec![
            TrialResult::from(doubtful),
            TrialResult::Failed(failure("exited with status 3", &[])),
        ],
    );
    let summary = summary(&run.run);
    assert_eq!(verdict(&summary), &failed("exited with status 3, in trial 2"));
    assert_eq!(summary.tables[0].rows[0].measured, 1);
}

#[test]
fn protocol_violation_fails_server() {
    let (mut broken, mut refused) = (measured(20_000), measured(20_000));
    let mut connections = Connections::default();
    connections.break_off("peer broke HTTP/2: HEADERS or DATA after END_STREAM");
    broken.connections = connections;
    refused.connections = Connections { refused: 3, resent: 3, ..Connections::default() };
    let row = |trial| {
        let trials = vec![TrialResult::from(trial)];
        let summary = summary(&RunBuilder::new().results("go-grpc", trials).run);
        let row = &summary.tables[0].rows[0];
        (row.verdict.reason.clone(), row.notes.clone())
    };
    let reason = "the server broke the protocol on 1 connection: \
                  peer broke HTTP/2: HEADERS or DATA after END_STREAM";
    assert_eq!(row(broken), (Some(reason.to_owned()), Vec::new()));
    assert_eq!(row(refused), (None, vec!["3 calls refused, 3 sent again".to_owned()]));
}

#[test]
fn one_error_fails_cell() {
    let mut one = measured(20_000);
    one.outcomes.ok -= 1;
    one.outcomes.transport = 1;
    let run = RunBuilder::new()
        .results("go-grpc", vec![TrialResult::from(measured(20_000)), TrialResult::from(one)]);
    let reason = "1 of 120,000 calls failed (<0.01 %): 1 transport";
    assert_eq!(verdict(&summary(&run.run)), &failed(reason));
}

#[test]
fn late_calls_on_a_busy_machine_are_not_the_servers_failure() {
    let judged = |share: f64, late: u64| {
        let run = RunBuilder::new().with("go-grpc", &[20_000; 3], |t| {
            t.outcomes.timeout = late;
            let mut times = Histogram::new();
            times.record_times(1_000_000, late);
            t.error_latency = Latency::of(&times);
            let used = t.server.as_ref().expect("usage").cpu_seconds();
            t.machine.server_cpus_busy_ns = Some((used / (1.0 - share) * 1e9) as u64);
        });
        verdict(&summary(&run.run)).clone()
    };
    assert_eq!(judged(0.5, 0).name(), "server-bound");
    assert_eq!(judged(0.2, 7).name(), "failed");
    let disturbed = judged(0.5, 7);
    assert_eq!((disturbed.name(), disturbed.is_ranked()), ("disturbed", false));
    insta::assert_snapshot!(disturbed.reason.expect("a reason"));
}

#[test]
fn unanswered_calls_fail_server() {
    let run = RunBuilder::new().with("go-grpc", &[20_000; 3], |t| {
        t.outcomes.status.insert(13, t.outcomes.ok);
        t.outcomes.ok = 0;
        t.ok_pro_rata = 0.0;
    });
    assert_eq!(verdict(&summary(&run.run)), &failed("no call was answered"));
}

#[test]
fn doubt_outweighs_warming() {
    let run = RunBuilder::new().with("go-grpc", &[20_000, 30_000], |t| ok(t).mean_ns *= 2.0);
    let summary = summary(&run.run);
    let suspect = verdict(&summary);
    assert_eq!(suspect.kind, VerdictKind::Suspect);
    assert!(suspect.reason.as_ref().is_some_and(|reason| reason.starts_with("trial 1: ")));
}

#[test]
fn too_little_cpu_time_is_suspect() {
    let judged = |share: f64| {
        let run = RunBuilder::new().with("go-grpc", &[20_000; 3], |t| {
            t.client.cpu_ns = t.client.awake_ns + 3000 * t.outcomes.ok;
            let least_ns = (t.client.cpu_ns - t.client.awake_ns) / 2;
            let server = t.server.as_mut().expect("usage");
            server.cpu_user_ns = (least_ns as f64 * share) as u64;
            server.cpu_system_ns = 0;
        });
        let verdict = verdict(&summary(&run.run)).clone();
        (verdict.name(), verdict.reason)
    };
    assert_ne!(judged(1.01).0, "suspect");
    let (name, reason) = judged(0.99);
    assert_eq!(name, "suspect");
    insta::assert_snapshot!(reason.expect("a reason"));
}

/// Pairs of equal cost but for noise of some percent, and such that unseen requests cost more.
#[test]
fn server_that_unseen_requests_cost_more_is_suspect() {
    let judged = |ratio: f64, pairs: usize| {
        let run = RunBuilder::new().with("go-grpc", &[20_000; 3], |_| {}).prepared(|it| {
            let noise = [0.97, 1.02, 1.05, 0.96, 1.01, 0.99, 1.03, 0.98];
            let pair = |noise: &f64| UnseenPair {
                calls: 1000,
                seen_cpu_ns: 25_000_000,
                unseen_cpu_ns: (25e6 * ratio * noise) as u64,
            };
            it.unseen = noise[..pairs].iter().map(pair).collect();
        });
        let verdict = verdict(&summary(&run.run)).clone();
        (verdict.name(), verdict.reason)
    };
    for (ratio, pairs) in [(1.0, 0), (2.0, 1), (1.0, 8), (1.1, 8), (0.5, 8)] {
        assert_ne!(judged(ratio, pairs).0, "suspect", "{ratio} in {pairs} pairs");
    }
    let (name, reason) = judged(1.3, 8);
    assert_eq!(name, "suspect");
    insta::assert_snapshot!(reason.expect("a reason"));
}

#[test]
fn cpu_time_outside_of_the_cgroup_is_suspect() {
    let judged = |share: f64| {
        let run = RunBuilder::new().with("go-grpc", &[20_000; 3], |t| {
            let server = t.server.as_mut().expect("usage");
            server.outside_group_ns = (server.cpu_seconds() * 1e9 * share) as u64;
        });
        let verdict = verdict(&summary(&run.run)).clone();
        (verdict.name(), verdict.reason)
    };
    assert_ne!(judged(0.01).0, "suspect");
    let (name, reason) = judged(0.03);
    assert_eq!(name, "suspect");
    insta::assert_snapshot!(reason.expect("a reason"));
}

/// Rates of the eight windows of a process, relative to `rate`.
fn course(rate: u64, relative: fn(usize) -> f64) -> Vec<u64> {
    let noise = [0, 9, 3, 14, 6, 11, 2, 8];
    let noise = |n: usize| 1.0 + f64::from(noise[(n * 3 + rate as usize / 1000) % 8]) / 1000.0;
    (0..8).map(|n| (rate as f64 * relative(n) * noise(n)) as u64).collect()
}

fn level(_: usize) -> f64 {
    1.0
}

/// Doubles half-way.
fn doubles(window: usize) -> f64 {
    if window >= 4 { 2.0 } else { 1.0 }
}

fn climbs(window: usize) -> f64 {
    1.0 + window as f64 / 4.0
}

/// `java-grpc` with these rates next to two others, in one process each.
fn beside_others(relative: fn(usize) -> f64) -> RunBuilder {
    let run = RunBuilder::new()
        .entry("java-grpc", &course(20_000, relative))
        .entry("go-grpc", &course(15_000, level))
        .entry("rust-tonic", &course(51_000, level));
    in_one_process(run)
}

fn in_one_process(mut run: RunBuilder) -> RunBuilder {
    run.run.trials.iter_mut().for_each(|trial| trial.process = 1);
    run.run.header.plan.order.iter_mut().for_each(|trial| trial.process = 1);
    run
}

fn java(summary: &Summary) -> &Row {
    let mut rows = summary.tables[0].rows.iter();
    rows.find(|row| row.server.entry == "java-grpc").expect("a row")
}

#[test]
fn growth_relative_to_others_is_still_warming() {
    let mut run = beside_others(climbs);
    let kept = summary(&run.run);
    let found: Vec<_> = kept.tables[0].rows.iter().map(|row| row.verdict.name()).collect();
    assert_eq!(found, ["server-bound", "still warming", "server-bound"]);
    // Servers of suites that measure cold ones are ranked as they are.
    run.run.header.plan.workloads[0].warm_up = WarmUp::Fixed { length_ms: 0 };
    let cold = summary(&run.run);
    assert!(cold.tables[0].rows.iter().all(|row| row.place.is_some()));
    // A trial in a separate process says nothing about the next.
    let apart = RunBuilder::new()
        .entry("java-grpc", &course(20_000, climbs))
        .entry("go-grpc", &course(15_000, level));
    let apart = summary(&apart.run);
    assert!(apart.tables[0].rows.iter().all(|row| row.verdict == server_bound()));
}

#[test]
fn server_warmed_up_mid_run_is_ranked_by_last_windows() {
    let mut run = beside_others(doubles);
    let warmed = summary(&run.run);
    let row = java(&warmed);
    assert_eq!((&row.verdict, row.measured), (&server_bound(), 8));
    let note = "a lower bound: it became 100 % faster than before, compared with the others, while it was \
                measured; only its windows from round 5 on count, in which it no longer rose";
    assert_eq!(row.notes, [note]);
    let ranked = row.ranked().expect("a figure");
    assert!((39_000.0..42_000.0).contains(&ranked.value), "{ranked:?}");
    let figures = row.figures.as_ref().expect("figures");
    assert!((39_000.0..42_000.0).contains(&figures.calls_per_s.value));
    // All windows of a server that is measured cold count.
    run.run.header.plan.workloads[0].warm_up = WarmUp::Fixed { length_ms: 0 };
    let cold = summary(&run.run);
    let ranked = java(&cold).ranked().expect("a figure");
    assert!((28_000.0..31_500.0).contains(&ranked.value), "{ranked:?}");
}

#[test]
fn busy_compilers_are_noted_if_windows_are_level() {
    let run = RunBuilder::new()
        .with("java-grpc", &course(20_000, level), |t| {
            t.server.as_mut().expect("a server").compiler_cpu_ns = 200_000_000;
        })
        .entry("go-grpc", &course(15_000, level))
        .entry("rust-tonic", &course(51_000, level));
    let summary = summary(&in_one_process(run).run);
    let row = java(&summary);
    assert_eq!(row.verdict, server_bound());
    let note = "compiler threads used 6.7 % of the server's CPU time while it was measured; its \
                windows show no change";
    assert_eq!(row.notes, [note]);
}

#[test]
fn capped_warm_up_is_noted_if_windows_are_level() {
    let run = RunBuilder::new()
        .entry("java-grpc", &course(20_000, level))
        .prepared(|p| {
            let warm = p.warm.as_mut().expect("a curve");
            warm.steady_after_ms = None;
            warm.unsteady = Some(Unsteady::Climbing { change: 0.14 });
        })
        .entry("go-grpc", &course(15_000, level))
        .entry("rust-tonic", &course(51_000, level));
    let summary = summary(&in_one_process(run).run);
    let row = &summary.tables[0].rows[1];
    assert_eq!((&row.verdict, row.server.entry.as_str()), (&server_bound(), "java-grpc"));
    let note = "not steady when its warm-up ended: calls per CPU-second still rose by 14 % in 3 s; \
                its windows show no change";
    assert_eq!(row.notes, [note]);
}

#[test]
fn fixed_warm_up_may_end_unsteady() {
    let mut run = RunBuilder::new().entry("go-grpc", &[20_000, 20_100]).prepared(|p| {
        p.warm.as_mut().expect("a curve").steady_after_ms = None;
    });
    let not_steady = verdict(&summary(&run.run)).clone();
    assert_eq!(not_steady.kind, VerdictKind::StillWarming);
    assert!(not_steady.reason.is_some_and(|why| why.starts_with("not steady when its warm-up")));
    run.run.header.plan.workloads[0].warm_up = WarmUp::Fixed { length_ms: 1000 };
    assert_eq!(verdict(&summary(&run.run)), &server_bound());
}

#[test]
fn missing_second_process_asks_for_two_or_more() {
    let run = RunBuilder::new().entry("go-grpc", &[20_000]).entry("rust-tonic", &[51_000]);
    let warnings = summary(&run.run).warnings;
    let remedies: String = warnings.iter().map(|warning| warning.advice.to_string()).collect();
    assert!(remedies.contains("measure 2 processes or more"), "{remedies}");
}

#[test]
fn busy_compilers_are_still_warming() {
    let run = RunBuilder::new().with("java-grpc", &[20_000; 3], |t| {
        t.server.as_mut().expect("a server").compiler_cpu_ns = 200_000_000;
    });
    let why = "compiler threads used 6.7 % of the server's CPU time while it was measured";
    let still_warming = Verdict { kind: VerdictKind::StillWarming, reason: Some(why.to_owned()) };
    assert_eq!(verdict(&summary(&run.run)), &still_warming);
}

#[test]
fn only_ranked_rows_can_win() {
    let run = RunBuilder::new()
        .with("rust-tonic", &[184_000, 184_500, 183_800], |t| t.client.busiest_ns = t.window_ns)
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .entry("java-grpc", &[80_000, 80_200, 80_100]);
    let table = &summary(&run.run).tables[0];
    // Server and client both saturated: not known who was the limit, so still ranked.
    assert!(matches!(&table.conclusion, Conclusion::Fastest { entry } if entry == "rust-tonic"));
    let run = RunBuilder::new()
        .with("rust-tonic", &[184_000, 184_500, 183_800], |t| {
            t.client.busiest_ns = t.window_ns;
            t.server.as_mut().expect("a server").cpu_user_ns = 100;
        })
        .entry("go-grpc", &[98_000, 98_900, 97_700])
        .entry("java-grpc", &[80_000, 80_200, 80_100]);
    let table = &summary(&run.run).tables[0];
    assert!(matches!(&table.conclusion, Conclusion::Fastest { entry } if entry == "go-grpc"));
    let pair = &table.standings.as_ref().expect("ranked").pairs[0];
    assert_eq!((&*pair.first, &*pair.second), ("go-grpc", "java-grpc"));
    assert!((pair.ratio - 1.226).abs() < 0.001);
    assert_eq!(table.rows[0].server.entry, "rust-tonic");
    assert_eq!(table.rows[0].place, None);
}

#[test]
fn repeated_trial_counts_once() {
    let mut run = RunBuilder::new().entry("go-grpc", &[20_000, 20_100, 20_200]).run;
    let again = run.trials[1].clone();
    run.trials.push(again);
    let row = &summary(&run).tables[0].rows[0];
    assert_eq!((row.measured, row.planned), (3, 3));
}

#[test]
fn run_stopped_early_by_clear_answer_is_complete() {
    let fast = [184_000, 186_500, 183_000, 185_000, 184_500, 186_000, 183_500, 185_500];
    let slow = [98_000, 99_900, 97_700, 99_000, 98_500, 99_500, 98_200, 99_200];
    let analyzed_at = |part: Option<f64>| {
        let mut run = RunBuilder::new().entry("rust-tonic", &fast).entry("go-grpc", &slow);
        let process = |number: u32| 2 - number % 2;
        run.run.trials.iter_mut().for_each(|trial| trial.process = process(trial.number));
        let plan = &mut run.run.header.plan;
        plan.stopping = Some(Stopping { precision: Some(0.05), ..Stopping::default() });
        plan.order.iter_mut().for_each(|trial| trial.process = process(trial.number));
        let more = plan.order.iter().map(|t| PlannedTrial { number: t.number + 8, ..t.clone() });
        plan.order.extend(more.collect::<Vec<_>>());
        let workload = plan.workloads[0].name.clone();
        let trials = run.run.trials.len();
        let analysis = part.map(|part| InterimAnalysis { workload, trials, part, is_clear: true });
        run.run.interim_analyses.extend(analysis);
        summary(&run.run)
    };
    let (once, often) = (analyzed_at(None), analyzed_at(Some(0.5)));
    let table = &often.tables[0];
    assert!(table.rows.iter().all(|row| row.notes.is_empty() && row.planned == 8));
    // Interim analyses share the error of one, so each needs stronger evidence.
    let width = |summary: &Summary| {
        let range = summary.tables[0].standings.as_ref().expect("ranked").pairs[0].range;
        range.map(|range| range.high - range.low)
    };
    assert!(width(&often) > width(&once), "{:?} {:?}", width(&often), width(&once));
    assert!(matches!(&table.conclusion, Conclusion::Fastest { entry } if entry == "rust-tonic"));
}

#[test]
fn one_disturbed_window_in_ten_is_tolerated() {
    let row = |windows: usize, change: fn(&mut Measured)| {
        let mut trials = vec![measured(20_000); windows];
        change(&mut trials[1]);
        let trials = trials.into_iter().map(TrialResult::from);
        let summary = summary(&RunBuilder::new().results("go-grpc", trials.collect()).run);
        let row = &summary.tables[0].rows[0];
        (row.verdict.name(), row.verdict.reason.clone(), row.notes.clone())
    };
    let absent: fn(&mut Measured) = |it| it.client.longest_absence_ns = 500_000_000;
    let apart: fn(&mut Measured) = |it| {
        it.server.as_mut().expect("usage").interval_ns = 4_000_000_000;
    };
    let reason = "a load thread did not run for 500 ms (window: 3.00 s), so calls waited for the client; free CPUs, and don't \
                  stop rpcbench";
    let note = |windows| vec![format!("1 window of {windows} disturbed: {reason}")];
    assert_eq!(row(10, absent), ("server-bound", None, note(10)));
    assert_eq!(row(9, absent), ("generator late", Some(format!("trial 2: {reason}")), note(9)));
    // Such as one for which the client had no CPU at all, so that no call finished in it.
    let empty: fn(&mut Measured) = |it| {
        it.client.longest_absence_ns = 500_000_000;
        (it.outcomes, it.ok_pro_rata) = (Outcomes::default(), 0.0);
        (it.latency, it.service) = (None, None);
        it.series.iter_mut().for_each(|slice| *slice = Slice::default());
    };
    assert_eq!(row(10, empty), ("server-bound", None, note(10)));
    let (verdict, reason, _) = row(9, apart);
    assert_eq!(verdict, "disturbed");
    insta::assert_snapshot!(reason.expect("a reason"), @"trial 2: the server's CPU time was read over 4.00 s, 33 % off the window of 3.00 s; free CPUs, and don't stop rpcbench");
}

#[test]
fn servers_that_share_a_cpu_with_the_client_are_not_ranked() {
    let trials = vec![TrialResult::from(measured(20_000))];
    let mut run = RunBuilder::new().results("go-grpc", trials).run;
    run.preparations[0].isolation.client_cpus = vec![0, 1];
    let unranked = summary(&run);
    let row = &unranked.tables[0].rows[0];
    assert_eq!((row.verdict.kind, row.place), (VerdictKind::SharedCpu, None));
    insta::assert_snapshot!(row.verdict.reason.as_deref().unwrap(), @"server and client shared CPU 0, so the figures are those of both; give the server fewer CPUs than the machine has");
    run.preparations[0].isolation.mode = rpcbench_record::IsolationMode::Unmanaged;
    assert!(verdict(&summary(&run)).is_ranked());
}
