//! Open loops: response times over load, and the highest rate that keeps a limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use rpcbench_record::{
    Failure, Measured, NotMet, Outcomes, Pacing, PerSecond, PlannedTrial, Run, Search, SearchStep,
    Slice, StepVerdict, Trial, TrialResult, Unsteady, Workload,
};
use rpcbench_report::{
    Conclusion, Layout, Style, Summary, Verdict, VerdictKind, doubts, summary, trials_csv,
};

use crate::builder::{RunBuilder, WINDOW_NS, failure, latency, measured, workload};
use crate::render::{csv, markdown, text};

const CAPACITIES: [(&str, u64); 2] = [("rust-tonic", 20_000), ("go-grpc", 10_000)];

/// A window in which `rate` calls a second came due, and took `mean_ns` in the mean.
fn paced(rate: u64, mean_ns: f64) -> Measured {
    let mut window = measured(rate);
    let due = window.outcomes.ok;
    let latency = latency(due, mean_ns);
    let slice = Slice {
        ok: due / 30,
        sum_ns: latency.sum_of(due / 30),
        max_ns: latency.max_ns,
        ..Slice::default()
    };
    window.series = vec![slice; 30];
    window.latency = Some(latency);
    window.pacing = Some(Pacing { due, due_second_half: due / 2, ..Pacing::default() });
    if let Some(server) = window.server.as_mut() {
        server.cpu_user_ns = WINDOW_NS * rate / 30_000;
    }
    window
}

trait SumOf {
    fn sum_of(&self, calls: u64) -> u64;
}

impl SumOf for rpcbench_record::Latency {
    fn sum_of(&self, calls: u64) -> u64 {
        (self.mean_ns * calls as f64) as u64
    }
}

/// A run of one suite: its capacity workload measured, others planned.
fn suite(name: &str, loads: Vec<Workload>) -> Run {
    let mut run = RunBuilder::new();
    for (entry, rate) in CAPACITIES {
        run = run.entry(entry, &[rate, rate + rate / 100, rate - rate / 100]);
    }
    let mut run = run.run;
    let plan = &mut run.header.plan;
    plan.suite = name.to_owned();
    plan.workloads[0].name = "capacity".to_owned();
    plan.order.iter_mut().for_each(|t| t.workload = "capacity".to_owned());
    for load in loads {
        plan.order.extend(CAPACITIES.iter().flat_map(|(entry, _)| {
            (1..=3).map(|number| PlannedTrial {
                entry: (*entry).to_owned(),
                workload: load.name.clone(),
                process: number,
                number,
            })
        }));
        plan.workloads.push(load);
    }
    run.trials.iter_mut().for_each(|t| t.workload = "capacity".to_owned());
    run.preparations.iter_mut().for_each(|p| p.workload = "capacity".to_owned());
    run
}

fn load(name: &str, arrivals: &str) -> Workload {
    Workload { name: name.to_owned(), arrivals: arrivals.parse().expect("arrivals"), ..workload() }
}

fn record(run: &mut Run, trial: (&str, &str, u32), arrivals: &str, window: Measured) {
    let (entry, workload, number) = trial;
    run.trials.push(Trial {
        process: number,
        entry: entry.to_owned(),
        workload: workload.to_owned(),
        number,
        started: run.header.started,
        arrivals: Some(arrivals.parse().expect("arrivals")),
        search: None,
        unmeasured: None,
        result: TrialResult::from(window),
    });
}

/// Each server at each load, as a queue would have it.
pub fn latency_run(change: impl Fn(&str, u64, &mut Measured)) -> Run {
    let loads = [10, 50, 90];
    let workloads = loads.map(|l| load(&format!("load-{l}"), &format!("poisson:{l}%"))).to_vec();
    let mut run = suite("latency", workloads);
    for share in loads {
        for (entry, capacity) in CAPACITIES {
            for number in 1..=3 {
                let rate = capacity * share / 100;
                let mut window =
                    paced(rate, 2e9 / (capacity as f64 * (1.0 - share as f64 / 100.0)));
                change(entry, share, &mut window);
                let arrivals = format!("poisson:{rate}");
                record(&mut run, (entry, &format!("load-{share}"), number), &arrivals, window);
            }
        }
    }
    run
}

/// Ends fewer calls than come due.
pub fn fall_behind(window: &mut Measured) {
    window.series[15..].iter_mut().for_each(|slice| slice.ok = slice.ok * 9 / 10);
}

fn verdicts(summary: &Summary, table: usize) -> Vec<(&str, &'static str)> {
    let rows = summary.tables[table].rows.iter();
    rows.map(|row| (row.server.entry.as_str(), row.verdict.name())).collect()
}

fn shown(run: &Run) -> String {
    text(&summary(run), Style::default(), &Layout::default())
}

#[test]
fn loads_share_one_table() {
    let run = latency_run(|_, _, _| {});
    insta::assert_snapshot!(shown(&run));
    insta::assert_snapshot!(markdown(&summary(&run)));
}

#[test]
fn given_rate_makes_no_ranking() {
    let summary = summary(&latency_run(|_, _, _| {}));
    assert!(summary.tables[0].rows.iter().all(|row| row.place.is_some()));
    for table in &summary.tables[1..] {
        assert!(
            table.rows.iter().all(|row| row.place.is_none() && row.verdict.kind == VerdictKind::Ok)
        );
        assert_eq!((&table.conclusion, &table.standings), (&Conclusion::Nothing, &None));
    }
    let row = &summary.tables[2].rows[0];
    assert_eq!((row.offered_per_s, row.capacity_per_s), (Some(10_000.0), Some(20_000.0)));
}

#[test]
fn late_generator_and_overload_have_verdicts() {
    let run = latency_run(|entry, share, window| match (entry, share) {
        ("rust-tonic", 90) => window.pacing.as_mut().expect("open").late = 1000,
        ("go-grpc", 90) => fall_behind(window),
        _ => {}
    });
    let summary = summary(&run);
    assert_eq!(verdicts(&summary, 1), [("rust-tonic", "ok"), ("go-grpc", "ok")]);
    assert_eq!(
        verdicts(&summary, 3),
        [("rust-tonic", "generator late"), ("go-grpc", "overloaded")]
    );
    let page = text(&summary, Style::default(), &Layout::default());
    for line in [
        "  rust-tonic (load-90): generator late: trial 1: the client started 1.9 % of its calls late, at 18.0k calls/s",
        "  go-grpc (load-90): overloaded: trial 1: it finished fewer calls than came due",
    ] {
        assert!(page.contains(line), "{page}");
    }
}

#[test]
fn uncounted_arrivals_are_suspect() {
    let load = load("load", "poisson:1000");
    let good = paced(1000, 1e6);
    assert_eq!(doubts(&good, &load).len(), 0);
    let mut lost = good.clone();
    lost.pacing = Some(Pacing { due: 3001, due_second_half: 1500, ..Pacing::default() });
    assert_eq!(
        doubts(&lost, &load),
        ["its schedule made 3,001 calls due, its counters hold 3,000"]
    );
    // Calls in flight at the end: the actual number, not the limit.
    let mut waiting = paced(100_000, 1e6);
    waiting.series[29].ok = 0;
    assert_eq!(doubts(&waiting, &load).len(), 0);
    let closed = doubts(&waiting, &workload());
    assert!(closed.iter().any(|doubt| doubt.starts_with("its series ")), "{closed:?}");
}

#[test]
fn loads_of_unsteady_process_are_still_warming() {
    let mut run = latency_run(|_, _, _| {});
    let warm = run.preparations[0].warm.as_mut().expect("a curve");
    warm.steady_after_ms = None;
    warm.unsteady = Some(Unsteady::Climbing { change: 0.1 });
    let summary = summary(&run);
    for table in 0..4 {
        let found = verdicts(&summary, table);
        assert!(found.contains(&("rust-tonic", "still warming")), "{found:?}");
        assert!(!found.contains(&("go-grpc", "still warming")), "{found:?}");
    }
}

#[test]
fn missing_capacity_leaves_out_loads() {
    let mut run = latency_run(|_, _, _| {});
    run.trials.retain(|t| t.entry != "go-grpc");
    run.trials.push(Trial {
        process: 1,
        entry: "go-grpc".to_owned(),
        workload: "capacity".to_owned(),
        number: 1,
        started: run.header.started,
        arrivals: None,
        search: None,
        unmeasured: None,
        result: TrialResult::Failed(failure("exited with status 3", &[])),
    });
    let page = shown(&run);
    let line = "  go-grpc (load-10, load-50, load-90): its capacity could not be measured";
    assert!(page.contains(line), "{page}");
}

fn step(rate: f64, verdict: StepVerdict) -> SearchStep {
    let windows = vec![paced(rate as u64, 2e6)];
    SearchStep { rate: PerSecond::new(rate).expect("a rate"), windows, verdict }
}

/// Searches that found these rates, each within 5 %.
pub fn slo_run(rates: &[(&str, [f64; 3])], end: NotMet) -> Run {
    let threshold = "p99<10ms".parse().ok();
    let workload = Workload { find_max: threshold, ..load("highest-rate", "poisson:50%") };
    let mut run = suite("slo", vec![workload]);
    for (entry, rates) in rates {
        for (number, rate) in (1..).zip(rates) {
            let arrivals = format!("poisson:{rate}");
            record(&mut run, (entry, "highest-rate", number), &arrivals, paced(*rate as u64, 2e6));
            let steps =
                vec![step(*rate, StepVerdict::Met), step(rate * 1.05, StepVerdict::NotMet(end))];
            let threshold = "p99<10ms".parse().expect("a threshold");
            let search = Search { threshold, precision: 0.05, steps };
            run.trials.last_mut().expect("a trial").search = Some(Box::new(search));
        }
    }
    run
}

#[test]
fn search_ranks_by_highest_rate() {
    let rates =
        [("rust-tonic", [15_000.0, 15_200.0, 14_900.0]), ("go-grpc", [8000.0, 8100.0, 7950.0])];
    let run = slo_run(&rates, NotMet::Beyond);
    insta::assert_snapshot!(shown(&run));
    insta::assert_snapshot!(csv(&summary(&run)).expect("CSV"));
    let trials = trials_csv(&run).expect("CSV");
    assert!(trials.lines().any(|line| line.contains("poisson:15200")), "{trials}");
}

#[test]
fn rates_within_search_precision_tie() {
    // Three searches with the same result still know the rate only within 5 %.
    let tied =
        slo_run(&[("rust-tonic", [10_000.0; 3]), ("go-grpc", [10_400.0; 3])], NotMet::Beyond);
    let places = |run: &Run| -> Vec<_> {
        let summary = summary(run);
        let places = summary.tables[1].rows.iter().filter_map(|row| row.place);
        places.map(|place| (place.best, place.worst)).collect()
    };
    assert_eq!(places(&tied), [(1, 2), (1, 2)]);
    let apart =
        slo_run(&[("rust-tonic", [10_000.0; 3]), ("go-grpc", [13_000.0; 3])], NotMet::Beyond);
    assert_eq!(places(&apart), [(1, 1), (2, 2)]);
}

#[test]
fn client_limits_are_named_in_open_loop() {
    let mut run = latency_run(|entry, share, window| {
        if (entry, share) == ("rust-tonic", 90) {
            window.client.busiest_ns = WINDOW_NS / 100 * 96;
        }
    });
    let of = |summary: &Summary, table: usize| {
        let rows: BTreeMap<_, _> =
            verdicts(summary, table).into_iter().map(|(e, v)| (e.to_owned(), v)).collect();
        (rows["rust-tonic"], rows["go-grpc"])
    };
    let before = summary(&run);
    assert_eq!(of(&before, 1), ("ok", "ok"));
    assert_eq!(of(&before, 3), ("client-bound", "ok"));
    for trial in run.trials.iter_mut().filter(|t| t.entry == "rust-tonic") {
        if let ("capacity", TrialResult::Measured(measured)) =
            (trial.workload.as_str(), &mut trial.result)
        {
            let measured = Arc::make_mut(measured);
            measured.client.busiest_ns = WINDOW_NS;
            measured.server.as_mut().expect("a server").cpu_user_ns /= 2;
        }
    }
    let after = summary(&run);
    assert_eq!(of(&after, 1), ("client-bound", "ok"));
    let tonic = after.tables[1].rows.iter().find(|row| row.server.entry == "rust-tonic");
    let notes = &tonic.expect("a row").notes;
    assert!(notes.iter().any(|note| note.starts_with("the capacity is the client's")), "{notes:?}");
}

#[test]
fn search_ended_by_client_is_not_ranked() {
    let run = slo_run(&[("go-grpc", [10_000.0; 3])], NotMet::GeneratorLate);
    let summary = summary(&run);
    let row = &summary.tables[1].rows[0];
    assert_eq!((row.verdict.name(), row.place), ("generator late", None));
    let why =
        "trial 1: the search ended at 10.5k calls/s, where the client fell behind its own schedule";
    assert_eq!(row.verdict.reason.as_deref(), Some(why));
    // Nor has it failed if the client was late at every rate.
    let mut never = run;
    let searches = never.trials.iter_mut().filter_map(|trial| trial.search.as_mut());
    searches.for_each(|search| drop(search.steps.remove(0)));
    let verdict = |run: &Run| {
        let summary = self::summary(run);
        let row = &summary.tables[1].rows[0];
        (row.verdict.name().to_owned(), row.place)
    };
    assert_eq!(verdict(&never), ("generator late".to_owned(), None));
    // Nor by calls that a late client did not send in time. A wrong answer is the server's.
    let spoil = |run: &mut Run, spoil: fn(&mut Outcomes)| {
        let measured = run.trials.iter_mut().filter_map(|trial| match &mut trial.result {
            TrialResult::Measured(measured) => Some(measured),
            TrialResult::Failed(_) => None,
        });
        measured.for_each(|measured| spoil(&mut Arc::make_mut(measured).outcomes));
    };
    spoil(&mut never, |outcomes| (outcomes.not_sent, outcomes.timeout) = (5, 3));
    assert_eq!(verdict(&never), ("generator late".to_owned(), None));
    // Nor if no call came due in the window that is shown, or none was sent.
    spoil(&mut never, |outcomes| *outcomes = Outcomes::default());
    assert_eq!(verdict(&never), ("generator late".to_owned(), None));
    spoil(&mut never, |outcomes| outcomes.not_sent = 5);
    assert_eq!(verdict(&never), ("generator late".to_owned(), None));
    spoil(&mut never, |outcomes| outcomes.wrong_answer = 1);
    assert_eq!(verdict(&never), ("failed".to_owned(), None));
}

#[test]
fn server_without_any_rate_in_limit_fails() {
    let mut run = slo_run(&[], NotMet::Beyond);
    let reason = "no rate met p99<10ms, not even 1.22 calls/s (beyond the limit)".to_owned();
    run.trials.push(Trial {
        process: 1,
        entry: "go-grpc".to_owned(),
        workload: "highest-rate".to_owned(),
        number: 1,
        started: run.header.started,
        arrivals: None,
        search: None,
        unmeasured: None,
        result: TrialResult::Failed(Failure { reason: reason.clone(), log_tail: Vec::new() }),
    });
    let summary = summary(&run);
    let reason = format!("{reason}, in trial 1");
    let failed = Verdict { kind: VerdictKind::Failed, reason: Some(reason) };
    assert_eq!(summary.tables[1].rows[0].verdict, failed);
}
