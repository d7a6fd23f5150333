//! The run loop with a scripted load generator and scripted servers: no process, no socket, windows of a millisecond.

mod load;
mod placement;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use load::{Answer, CALLS, Script, Scripted};
use placement::ScriptedPlacement;
use rpcbench_engine::clock::Nanos;
use rpcbench_harness::manifest::Runtime;
use rpcbench_harness::run::{
    Admission, Ending, Environment, Event, Interrupt, Observer, Provenance, Runner, Subject,
};
use rpcbench_record::{
    Arrivals, ConnectionLife, Header, Machine, Plan, PlannedServer, PlannedTrial, Protocol, Rate,
    Readiness, Run, Tool, Trial, WarmUp, Window, Workload,
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

struct SilentObserver;

impl Observer for SilentObserver {
    fn event(&self, _: &Event<'_>) {}
}

fn workload() -> Workload {
    Workload {
        name: "w".into(),
        shape: "text:100".into(),
        connections: 2,
        connection_life: ConnectionLife::Long,
        in_flight: 2,
        arrivals: Arrivals::Closed,
        find_max: None,
        warm_up: WarmUp::Fixed { length_ms: 0 },
        settle_ms: 0,
        window: Window::Duration { length_ms: 1 },
        timeout_ms: 1,
        grace_ms: 1,
        client_threads: 1,
        pipelining: false,
        headers: Vec::new(),
        authority: None,
    }
}

fn header(plan: Plan) -> Header {
    let started = "2026-03-01T12:00:00Z".parse().expect("a time");
    Header::new(Tool::default(), Vec::new(), started, Machine::default().into(), plan)
}

/// Runs two rounds of servers `a` and `b`. Returns the run, its ending and the log.
fn run(script: Script, workload: Workload, admission: Admission) -> (Run, Ending, Vec<String>) {
    let log = Log::default();
    let trial = |number, entry: &str| PlannedTrial {
        entry: entry.to_owned(),
        workload: "w".to_owned(),
        process: 1,
        number,
    };
    let server = |entry: &str| PlannedServer {
        entry: entry.to_owned(),
        server: entry.to_owned(),
        protocol: Protocol::Grpc,
        variant: None,
        language: String::new(),
        library: String::new(),
        build: None,
    };
    let plan = Plan {
        workloads: vec![workload],
        servers: ["a", "b"].map(server).into(),
        order: (1..=2).flat_map(|number| ["a", "b"].map(|entry| trial(number, entry))).collect(),
        ..Plan::default()
    };
    let subject = |entry: &'static str| Subject {
        entry: entry.to_owned(),
        protocol: Protocol::Grpc,
        provenance: Provenance::default(),
        runtime: Runtime {
            least_warm_up: Duration::ZERO,
            warm_up_cap: Duration::ZERO,
            compiler_threads: Vec::new(),
            statistics: false,
        },
        admission,
        placement: Box::new(ScriptedPlacement { entry, log: log.clone() }),
        readiness: Readiness::Ready,
    };
    let environment = Environment {
        seed: 1,
        interrupt: Interrupt::default(),
        generator: Box::new(Scripted { log: log.clone(), script }),
    };
    let runner = Runner {
        environment: &environment,
        subjects: &["a", "b"].map(subject),
        writer: None,
        run: Run {
            header: header(plan),
            preparations: Vec::new(),
            trials: Vec::new(),
            finished: None,
        },
        observer: &SilentObserver,
        done: 0,
    };
    let (run, ending) = runner.execute();
    (run, ending.expect("no writer fails"), log.lines())
}

fn failures(run: &Run) -> Vec<(&str, Option<&str>)> {
    run.trials.iter().map(|trial: &Trial| (trial.entry.as_str(), trial.failure())).collect()
}

#[test]
fn one_server_is_awake_at_a_time_and_each_stops_after_its_last_trial() {
    let (run, ending, done) =
        run(|_, _| Answer::After(Nanos(1000)), workload(), Admission::AsFound);
    assert_eq!(ending, Ending::Finished);
    assert_eq!(
        done,
        [
            "a starts",
            "a connects",
            "a freezes",
            "b starts",
            "b connects",
            "b freezes", //
            "a wakes",
            "a measures",
            "a freezes",
            "b wakes",
            "b measures",
            "b freezes", //
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
fn a_load_that_fails_ends_its_own_server_only() {
    let script = |entry: &str, _| match entry {
        "a" => Answer::Fails,
        _ => Answer::After(Nanos(1000)),
    };
    let (run, ending, done) = run(script, workload(), Admission::AsFound);
    assert_eq!(ending, Ending::Finished);
    assert_eq!(failures(&run), [("a", Some("the generator is gone")), ("b", None), ("b", None)]);
    assert_eq!(done.iter().filter(|line| *line == "a measures").count(), 1);
}

#[test]
fn a_stop_within_a_window_ends_the_run() {
    let (run, ending, _) = run(|_, _| Answer::Stops, workload(), Admission::AsFound);
    assert_eq!((ending, run.trials.len()), (Ending::Interrupted, 0));
    assert_eq!(run.finished, None);
}

#[test]
fn a_server_that_fails_a_case_is_never_loaded() {
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
fn a_search_finds_the_rate_at_which_the_load_breaks() {
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
    let (run, ending, _) = run(script, search, Admission::AsFound);
    assert_eq!(ending, Ending::Finished);
    for trial in &run.trials {
        let met = trial.search.as_ref().and_then(|search| search.met()).expect("a rate");
        assert!((600.0..=700.0).contains(&met.rate.get()), "{}", met.rate);
    }
}
