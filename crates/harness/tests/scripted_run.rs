//! The run loop with a scripted load generator and scripted servers: no process, no socket, windows of a millisecond.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use rpcbench_contract::Method;
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_engine::Tally;
use rpcbench_engine::clock::Nanos;
use rpcbench_harness::load::{
    Load, LoadError, LoadGenerator, LoadRequest, Measurement, Progress, Sample, Span, Unmeasured,
};
use rpcbench_harness::manifest::Runtime;
use rpcbench_harness::placement::{
    Counters, CpuReading, Endpoint, Machine, MachineReading, Placement, PlacementError, Running,
};
use rpcbench_harness::run::{
    Admission, Ending, Environment, Event, Interrupt, Observer, Provenance, Runner, Subject,
};
use rpcbench_record::{
    Arrivals, ClientUsage, ConnectionLife, Connections, Cpu, Header, Isolation, IsolationMode,
    Machine as MachineRecord, MachineUsage, Outcomes, Pacing, Plan, PlannedServer, PlannedTrial,
    Protocol, Rate, Readiness, Run, Tool, Trial, WarmUp, Window, Workload,
};
use rpcbench_stats::Histogram;

/// What was done to servers and loads, a word each.
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

/// What the load does on the server of an entry.
type Script = fn(&str, Arrivals) -> Answer;

#[derive(Clone, Copy)]
enum Answer {
    /// Every call is answered after this time.
    After(Nanos),
    /// Every call times out.
    Never,
    /// The load fails.
    Fails,
    /// The run stops.
    Stops,
}

struct Scripted {
    log: Log,
    script: Script,
}

impl LoadGenerator for Scripted {
    fn open(
        &self,
        request: &LoadRequest<'_>,
        _interrupt: &Interrupt,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Box<dyn Load>, LoadError> {
        let entry = request.endpoint.authority.clone();
        self.log.add(&entry, "connects");
        progress(request.workload.connections.into());
        Ok(Box::new(ScriptedLoad {
            entry,
            log: self.log.clone(),
            script: self.script,
            arrivals: Arrivals::Closed,
            span: None,
        }))
    }

    fn caller(&self, endpoint: &Endpoint, _: Protocol, _: Duration) -> Box<dyn Caller> {
        self.log.add(&endpoint.authority, "is called");
        Box::new(Echo)
    }

    fn has_room(&self, _: &Workload, _: Protocol) -> bool {
        true
    }
}

/// Answers a protobuf text correctly, and nothing else.
struct Echo;

impl Caller for Echo {
    fn call(&mut self, _: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        let mut reply = body.to_vec();
        if let Some(tag) = reply.first_mut() {
            // Field 1 comes back as field 2.
            *tag = 0x12;
        }
        Ok(reply)
    }
}

struct ScriptedLoad {
    entry: String,
    log: Log,
    script: Script,
    arrivals: Arrivals,
    span: Option<Span>,
}

impl Load for ScriptedLoad {
    fn set_arrivals(&mut self, arrivals: Arrivals) -> Result<(), LoadError> {
        self.arrivals = arrivals;
        Ok(())
    }

    fn start(&mut self) -> Result<(), LoadError> {
        self.log.add(&self.entry, "warms");
        Ok(())
    }

    fn measure(&mut self, from: Nanos, window: Window) -> Result<Nanos, LoadError> {
        self.log.add(&self.entry, "measures");
        let end = from + Nanos::from_millis(window.length_ms().unwrap_or(0));
        self.span = Some(Span { start: from, end });
        Ok(end)
    }

    fn cut(&mut self) -> Result<(), LoadError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<Measurement, LoadError> {
        let span = self.span.take().expect("a window");
        let mut tally = empty();
        match (self.script)(&self.entry, self.arrivals) {
            Answer::After(time) => (0..CALLS).for_each(|_| {
                tally.outcomes.ok += 1;
                tally.ok.record(time.0);
            }),
            Answer::Never => tally.outcomes.timeout += CALLS,
            Answer::Fails => return Err(LoadError::Failed("the generator is gone".to_owned())),
            Answer::Stops => return Err(LoadError::Stopped),
        }
        let pacing = Pacing { due: CALLS, due_second_half: CALLS / 2, late: 0, held_back: 0 };
        let pacing = self.arrivals.is_open().then_some(pacing);
        let (client, unmeasured) = (ClientUsage::default(), Unmeasured::default());
        Ok(Measurement { span, tally, client, pacing, unmeasured })
    }

    fn pause(&mut self) -> Result<Unmeasured, LoadError> {
        Ok(Unmeasured::default())
    }

    fn progress(&self) -> Result<Progress, LoadError> {
        Ok(Progress::default())
    }

    fn sample(&self) -> Result<Sample, LoadError> {
        Err(LoadError::Failed("nothing samples it".to_owned()))
    }

    fn is_drained(&self) -> Result<bool, LoadError> {
        Ok(true)
    }

    fn cycle(&self) -> Option<Nanos> {
        None
    }
}

const CALLS: u64 = 10_000;

fn empty() -> Tally {
    Tally {
        outcomes: Outcomes::default(),
        ok: Histogram::new(),
        service: Histogram::new(),
        send_lag: Histogram::new(),
        errors: Histogram::new(),
        late: 0,
        held_back: 0,
        connect: Histogram::new(),
        connections: Connections::default(),
        examples: Vec::new(),
        series: Vec::new(),
        carried_in: Nanos(0),
        carried_out: Nanos(0),
        ok_cut: 0.0,
    }
}

fn isolation() -> Isolation {
    Isolation {
        mode: IsolationMode::Affinity,
        server_cpus: Vec::new(),
        client_cpus: Vec::new(),
        memory_bytes: None,
        notes: Vec::new(),
    }
}

/// A place on no machine.
struct Nowhere {
    entry: &'static str,
    log: Log,
}

impl Placement for Nowhere {
    fn isolation(&self) -> Isolation {
        isolation()
    }

    fn start(&self) -> Result<Box<dyn Running>, PlacementError> {
        self.log.add(self.entry, "starts");
        let address: SocketAddr = "192.0.2.1:1".parse().expect("an address");
        let endpoint = Endpoint { authority: self.entry.to_owned(), ..address.into() };
        Ok(Box::new(ScriptedServer { endpoint, log: self.log.clone(), machine: Still }))
    }
}

struct ScriptedServer {
    endpoint: Endpoint,
    log: Log,
    machine: Still,
}

impl Running for ScriptedServer {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn isolation(&self) -> Isolation {
        isolation()
    }

    fn machine(&mut self) -> &mut dyn Machine {
        &mut self.machine
    }

    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError> {
        Ok(None)
    }

    fn sample(&mut self) -> Result<Option<Counters>, PlacementError> {
        Ok(Some(Counters::default()))
    }

    fn freeze(&mut self) -> Result<(), PlacementError> {
        self.log.add(&self.endpoint.authority, "freezes");
        Ok(())
    }

    fn wake(&mut self) -> Result<(), PlacementError> {
        self.log.add(&self.endpoint.authority, "wakes");
        Ok(())
    }

    fn stop(self: Box<Self>) -> Result<(), PlacementError> {
        self.log.add(&self.endpoint.authority, "stops");
        Ok(())
    }
}

/// A machine on which nothing else happens.
struct Still;

impl Machine for Still {
    fn start_reference(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    fn sample(&mut self) -> Result<MachineReading, PlacementError> {
        Ok(MachineReading::default())
    }

    fn usage(
        &mut self,
        first: &MachineReading,
        last: &MachineReading,
    ) -> Result<MachineUsage, PlacementError> {
        Ok(MachineUsage { rivals: 3, ..last.since(first) })
    }
}

struct Unwatched;

impl Observer for Unwatched {
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
    let cpu = Cpu { model: String::new(), logical: 1, cores: 1, governor: None, turbo: None };
    let machine = MachineRecord {
        kernel: String::new(),
        os: String::new(),
        cpu,
        memory_bytes: 0,
        cgroup: String::new(),
        virtualization: None,
        clock_source: None,
        huge_pages: None,
        open_files: 0,
    };
    let tool = Tool { version: String::new(), commit: None, profile: String::new() };
    let started = "2026-03-01T12:00:00Z".parse().expect("a time");
    Header::new(tool, Vec::new(), started, machine.into(), plan)
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
        placement: Box::new(Nowhere { entry, log: log.clone() }),
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
        observer: &Unwatched,
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
