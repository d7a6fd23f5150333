//! The run loop with a scripted load generator and scripted servers: in virtual time: no process, no socket.

mod compilers;
mod load;
mod pairs;
mod placement;
mod rests;
mod slices;
mod starved;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use load::{Answer, BREAKS, CALLS, COMPILES, LATE, SILENT, SLOW, Script, Scripted};
use placement::{EARLY, ENDS, ScriptedPlacement};
use rpcbench_clock::Nanos;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::load::LoadGenerator;
use rpcbench_harness::manifest::{Entry, Runtime};
use rpcbench_harness::run::{
    Admission, Ending, Environment, Event, Observer, Provenance, Runner, Subject,
};
use rpcbench_record::{
    Age, Arrivals, Build, Header, LaterSecrets, Machine, Plan, PlannedServer, PlannedTrial,
    Protocol, Rate, Readiness, Role, Run, Stopping, Tool, Trial, WarmUp, Window, Workload, Writer,
    read,
};

/// What was done to servers and loads, in order.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    fn add(&self, entry: &str, what: &str) {
        self.0.borrow_mut().push(format!("{entry} {what}"));
    }

    fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

impl Observer for Log {
    fn event(&self, event: &Event<'_>) {
        if let Event::Restless { entry, .. } = event {
            self.add(entry, "is named");
        }
    }
}

fn workload() -> Workload {
    Workload {
        connections: 2,
        in_flight: 2,
        settle_ms: 0,
        window: Window::Duration { length_ms: 1 },
        timeout_ms: 1,
        grace_ms: 1,
        connect_timeout_ms: Workload::CONNECT_TIMEOUT_MS,
        ..rpcbench_testkit::workload()
    }
}

fn header(plan: Plan) -> Header {
    let started = "2026-03-01T12:00:00Z".parse().expect("a time");
    Header::new(Tool::default(), Vec::new(), started, Machine::default().into(), plan)
}

/// Runs two rounds of servers `a` and `b`. Returns the run, its ending and the log.
fn run(script: Script, workload: Workload, admission: Admission) -> (Run, Ending, Vec<String>) {
    let plan = Plan { workloads: vec![workload], ..Plan::default() };
    let made = run_plan(script, admission, &["a", "b"], (1, 2, usize::MAX), plan);
    (made.run, made.ending, made.log)
}

struct Made {
    run: Run,
    ending: Ending,
    log: Vec<String>,
    took: Nanos,
}

impl Made {
    /// Lines of the log that end so.
    fn count(&self, what: &str) -> usize {
        self.log.iter().filter(|line| line.ends_with(what)).count()
    }
}

/// Runs rounds of processes of servers in a fixed order, with memory for `room` of them.
fn run_plan(
    script: Script,
    admission: Admission,
    entries: &[&'static str],
    extent: (u32, u32, usize),
    plan: Plan,
) -> Made {
    record_plan(None, (script, admission), entries, extent, plan)
}

fn planned(entry: &str) -> PlannedServer {
    let build = |age| Build { age, origin: "a folder".to_owned(), commit: None };
    let build =
        entry.split_once('#').map(|(_, age)| build(if age == "old" { Age::Old } else { Age::New }));
    PlannedServer { build, ..Entry::existing(entry.to_owned(), Protocol::Grpc).planned() }
}

/// The same, with the record in a folder.
fn record_plan(
    folder: Option<&Path>,
    (script, admission): (Script, Admission),
    entries: &[&'static str],
    (processes, rounds, room): (u32, u32, usize),
    plan: Plan,
) -> Made {
    let log = Log::default();
    let interrupt = Interrupt::in_virtual_time();
    let trial = |entry: &str, process, round: u32| PlannedTrial {
        entry: entry.to_owned(),
        workload: "w".to_owned(),
        process,
        number: round * processes + process,
    };
    let order = (0..rounds).flat_map(|round| {
        (1..=processes)
            .flat_map(move |process| entries.iter().map(move |entry| trial(entry, process, round)))
    });
    let plan = Plan {
        servers: entries.iter().map(|it| planned(it)).collect(),
        order: order.collect(),
        ..plan
    };
    let generator: Rc<dyn LoadGenerator> =
        Rc::new(Scripted { log: log.clone(), script, interrupt: interrupt.clone() });
    let alone = |entry: &'static str| Subject {
        entry: entry.to_owned(),
        role: Role::Server,
        protocol: Protocol::Grpc,
        without_tls: None,
        provenance: Provenance::default(),
        runtime: Runtime {
            warmup_min: Duration::from_secs(u64::from(entry == COMPILES)),
            warmup_max: Duration::from_secs(20),
            compiler_threads: Vec::new(),
            statistics: false,
        },
        admission,
        placement: Box::new(ScriptedPlacement {
            entry,
            log: log.clone(),
            interrupt: interrupt.clone(),
            room,
        }),
        generator: Rc::clone(&generator),
        readiness: Readiness::Ready,
        counterpart: None,
    };
    // What stands after a plus sign is called by what stands before it.
    let subject = |entry: &&'static str| match entry.split_once('+') {
        Some((_, called)) => alone(entry).calling(alone(called)),
        None => alone(entry),
    };
    let (slices, secrets) = (Vec::new(), LaterSecrets::default());
    let environment = Environment { seed: 1, interrupt: interrupt.clone(), slices, secrets };
    let run = Run::new(header(plan));
    let subjects: Vec<Subject<'_>> = entries.iter().map(subject).collect();
    let writer = folder.map(|folder| Writer::create(folder, &run.header).expect("a record"));
    let runner = Runner::new(&environment, &subjects, writer, run, &log);
    let (run, ending) = runner.execute();
    let ending = ending.expect("no writer fails");
    Made { run, ending, log: log.lines(), took: interrupt.now() }
}

fn failures(run: &Run) -> Vec<(&str, Option<&str>)> {
    run.trials.iter().map(|trial: &Trial| (trial.entry.as_str(), trial.failure())).collect()
}

#[test]
fn servers_are_ready_before_the_first_round_and_stop_after_their_last_trial() {
    let (run, ending, done) =
        run(|_, _| Answer::After(Nanos(1000)), workload(), Admission::Unchecked);
    assert_eq!(ending, Ending::Finished);
    assert_eq!(
        done,
        [
            "a starts",
            "a connects",
            "b starts",
            "b connects",
            "a wakes",
            "a measures",
            "b wakes",
            "b measures",
            "a wakes",
            "a measures",
            "a stops",
            "b wakes",
            "b measures",
            "b stops",
        ]
    );
    assert_eq!(failures(&run), [("a", None), ("b", None), ("a", None), ("b", None)]);
    let measured = run.trials[0].measured().expect("a window");
    assert_eq!((measured.outcomes.ok, measured.machine.rivals), (CALLS, 3));
    assert!(measured.server.is_some());
}

#[test]
fn next_processes_start_during_preparation_if_memory_allows() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let done = |room| {
        let plan = Plan { workloads: vec![workload()], ..Plan::default() };
        let made = run_plan(script, Admission::Unchecked, &["a", EARLY], (1, 2, room), plan);
        assert_eq!(failures(&made.run).len(), 4);
        made.log
    };
    let connected = ["a connects", "early takes its place", "early connects"];
    let early = ["a starts", "early waits, starts"].iter().chain(&connected);
    assert_eq!(done(2)[..5], early.copied().collect::<Vec<_>>());
    assert!(!done(1).contains(&"early waits, starts".to_owned()));
}

#[test]
fn load_that_fails_ends_its_own_server_only() {
    let script = |entry: &str, _| match entry {
        "a" => Answer::Fails,
        _ => Answer::After(Nanos(1000)),
    };
    let (run, ending, done) = run(script, workload(), Admission::Unchecked);
    assert_eq!(ending, Ending::Finished);
    assert_eq!(failures(&run), [("a", Some("the generator is gone")), ("b", None), ("b", None)]);
    assert_eq!(done.iter().filter(|line| *line == "a measures").count(), 1);
}

#[test]
fn stop_within_a_window_ends_the_run() {
    let (run, ending, _) = run(|_, _| Answer::Stops, workload(), Admission::Unchecked);
    assert_eq!((ending, run.trials.len()), (Ending::Interrupted, 0));
    assert_eq!(run.finished, None);
}

#[test]
fn server_that_fails_a_case_is_never_loaded() {
    let admission = Admission::Proven { ready_timeout: Duration::from_secs(10) };
    let (run, _, done) = run(|_, _| Answer::After(Nanos(1000)), workload(), admission);
    let alone = |entry| ["starts", "is called", "is called"].map(|what| format!("{entry} {what}"));
    assert_eq!(done, [alone("a"), alone("b")].concat());
    assert!(run.trials.is_empty());
    for preparation in &run.preparations {
        let Readiness::Failed(failure) = &preparation.readiness else { panic!("{preparation:?}") };
        assert!(failure.reason.contains("conformance cases failed"), "{}", failure.reason);
        assert!(preparation.check.passed > 0);
    }
}

#[test]
fn server_late_in_its_warm_up_fails_only_if_it_does_not_answer_when_asked_again() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let entries = ["a", LATE, SILENT, BREAKS];
    let warm = Workload { warm_up: WarmUp::Fixed { length_ms: 1000 }, ..workload() };
    let plan = Plan { workloads: vec![warm], ..Plan::default() };
    let made = run_plan(script, Admission::Unchecked, &entries, (1, 1, usize::MAX), plan);
    let measured: Vec<&str> = made.run.trials.iter().map(|trial| &*trial.entry).collect();
    assert_eq!(measured, ["a", LATE]);
    assert_eq!(failures(&made.run), [("a", None), (LATE, None)]);
    let reasons = made.run.preparations.iter().filter_map(|it| match &it.readiness {
        Readiness::Failed(failure) => Some(&*failure.reason),
        _ => None,
    });
    let silent = "10001 of 20001 calls failed in the warm-up: 10001 timeout";
    let breaks = "10001 of 20001 calls failed in the warm-up: 10000 timeout, 1 transport";
    assert_eq!(reasons.collect::<Vec<_>>(), [silent, breaks]);
    assert_eq!(made.count("late is spot-checked"), 1);
}

/// Also if the workload, as of a run that is resumed, begins with an open loop.
#[test]
fn server_of_an_open_loop_is_warmed_at_full_load() {
    let script = |_: &str, _| Answer::After(Nanos::from_millis(1));
    let arrivals = "constant:100".parse().expect("arrivals");
    let warm_up = WarmUp::Fixed { length_ms: 1000 };
    let paced = Workload { arrivals, warm_up, ..workload() };
    let (_, ending, log) = run(script, paced, Admission::Unchecked);
    assert_eq!(ending, Ending::Finished);
    assert!(log.iter().any(|line| line.ends_with(" warms")), "{log:?}");
    assert!(!log.iter().any(|line| line.ends_with(" is paced")), "{log:?}");
}

#[test]
fn search_finds_the_rate_at_which_the_load_breaks() {
    let script = |_: &str, arrivals: Arrivals| match arrivals {
        Arrivals::Constant { rate: Rate::PerSecond(rate) } if rate.get() <= 700.0 => {
            Answer::After(Nanos::from_millis(1))
        }
        _ => Answer::Never,
    };
    let search = Workload {
        arrivals: "constant:100".parse().expect("arrivals"),
        find_max: Some("p99<10ms".parse().expect("a threshold")),
        ..workload()
    };
    let (run, ending, _) = run(script, search, Admission::Unchecked);
    assert_eq!(ending, Ending::Finished);
    for trial in &run.trials {
        let met = trial.search.as_ref().and_then(|search| search.met()).expect("a rate");
        assert!((600.0..=700.0).contains(&met.rate.get()), "{}", met.rate);
    }
}

const TWELVE: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// The load of the suite `quick`, with a time limit.
fn quick(seconds: u64) -> Plan {
    let quick = Workload {
        warm_up: WarmUp::UntilSteady { least_ms: 0, cap_ms: None },
        settle_ms: 100,
        window: Window::Duration { length_ms: 1000 },
        timeout_ms: 10_000,
        ..workload()
    };
    let stopping = Stopping { max_time_ms: Some(seconds * 1000), ..Stopping::default() };
    Plan { workloads: vec![quick], stopping: Some(stopping), ..Plan::default() }
}

#[test]
fn time_limit_holds_and_at_least_half_of_it_is_measured() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    for (seconds, entries) in [(360, 12), (360, 2), (180, 6)] {
        let plan = quick(seconds);
        let made =
            run_plan(script, Admission::Unchecked, &TWELVE[..entries], (2, 400, usize::MAX), plan);
        let windows = made.run.trials.iter().filter_map(|trial| trial.measured());
        let measured = windows.map(|window| window.window_ns).sum::<u64>() as f64 / 1e9;
        let (took, limit) = (made.took.as_secs_f64(), seconds as f64);
        assert!((limit * 0.95..limit * 1.05).contains(&took), "{entries}: {took} of {limit} s");
        assert!(measured >= limit / 2.0, "{entries}: {measured} of {limit} s");
    }
}

#[test]
fn clear_answer_ends_run_and_analyses_are_recorded() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let mut plan = quick(360);
    // Servers that are exactly the same are soon known to be as equal as this.
    plan.stopping.as_mut().expect("a limit").precision = Some(0.5);
    let folder = tempfile::tempdir().expect("a folder");
    let (entries, extent) = (["a", "b"], (2, 100, usize::MAX));
    let made =
        record_plan(Some(folder.path()), (script, Admission::Unchecked), &entries, extent, plan);
    assert_eq!(read(folder.path()).expect("a record"), made.run);
    let analyses = &made.run.interim_analyses;
    let trials: Vec<usize> = analyses.iter().map(|it| it.trials).collect();
    assert_eq!((trials, made.run.trials.len()), (vec![16, 24, 32, 48], 48));
    assert!(analyses.is_sorted_by(|a, b| a.part < b.part), "{analyses:?}");
    assert!(analyses[3].part < 0.25, "{analyses:?}");
    assert_eq!(analyses.iter().filter(|it| it.is_clear).collect::<Vec<_>>(), [&analyses[3]]);
}

/// How many windows each process of `a` and of `b` has after two minutes, with room for `room` processes.
fn windows_of_growing_run(room: usize) -> [Vec<usize>; 2] {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let mut plan = quick(120);
    plan.stopping.as_mut().expect("a limit").first_processes = Some(2);
    let made = run_plan(script, Admission::Unchecked, &["a", "b"], (4, 400, room), plan);
    ["a", "b"].map(|entry| {
        let of = |process| {
            let own = made.run.trials.iter();
            own.filter(|trial| trial.entry == entry && trial.process == process).count()
        };
        (1..=4).map(of).filter(|count| *count > 0).collect()
    })
}

#[test]
fn processes_join_after_fourth_round_if_one_of_each_fits() {
    let [a, b] = windows_of_growing_run(usize::MAX);
    assert_eq!((a.len(), b.len()), (4, 4), "{a:?} {b:?}");
    assert_eq!(a[0] - a[2], 4, "{a:?}");
    let lengths = [6, 7, 4].map(|room| windows_of_growing_run(room).map(|of| of.len()));
    assert_eq!(lengths, [[3, 3], [3, 3], [2, 2]]);
    // In batches, only those that would run from the start share the time.
    let [a, _] = windows_of_growing_run(3);
    assert!(a.len() == 2 && a[0].abs_diff(a[1]) <= a[0] / 4, "{a:?}");
}

#[test]
fn processes_run_in_batches_if_memory_is_short() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let plan = Plan { workloads: vec![workload()], ..Plan::default() };
    let made = run_plan(script, Admission::Unchecked, &["a", "b"], (2, 2, 2), plan);
    assert_eq!(failures(&made.run).len(), 8);
    let processes: Vec<u32> = made.run.trials.iter().map(|trial| trial.process).collect();
    assert_eq!(processes, [1, 1, 1, 1, 2, 2, 2, 2]);
    let last = made.run.preparations.last().expect("a preparation");
    let note = "processes ran in batches: not enough memory for all at the same time";
    assert_eq!(last.isolation.notes, [note]);
}

#[test]
fn window_of_a_slow_server_is_stretched_until_enough_calls_have_ended() {
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let made = run_plan(script, Admission::Unchecked, &["a", SLOW], (1, 1, usize::MAX), quick(60));
    let length = |at: usize| made.run.trials[at].measured().expect("a window").window_ns;
    // Two calls are in flight.
    assert_eq!([length(0), length(1)], [1_000_000_000, 2_000_000_000]);
}

#[test]
fn server_that_ends_in_a_long_window_ends_it() {
    let workload = Workload { window: Window::Duration { length_ms: 60_000 }, ..workload() };
    let plan = Plan { workloads: vec![workload], ..Plan::default() };
    let script = |_: &str, _| Answer::After(Nanos(1000));
    let made = run_plan(script, Admission::Unchecked, &[ENDS.0], (1, 1, usize::MAX), plan);
    assert_eq!(failures(&made.run), [(ENDS.0, Some("ended during a trial"))]);
    assert!(made.took < ENDS.1 + Nanos::from_millis(2000), "{:?}", made.took);
}
