//! Which runs can be resumed, and with which trials.

use std::rc::Rc;
use std::time::Duration;

use rpcbench_record::{
    CheckResult, Cpu, Failure, Header, IsolationMode, Limits, Measured, Plan, Role, SCHEMA,
    TlsMode, Trial, Window, Workload,
};

use crate::build::Built;
use crate::load::ClientPrograms;
use crate::manifest::{Entry, Runtime};
use crate::placement::{Placement, PlacementError, Running};
use crate::run::Admission;

use super::*;

fn machine() -> Machine {
    let cpu = Cpu { model: "m".into(), logical: 2, cores: 2, ..Cpu::default() };
    Machine { kernel: "6.1".into(), cpu, cgroup: "v2".into(), ..Machine::default() }
}

fn planned(entry: &str, number: u32) -> PlannedTrial {
    PlannedTrial { entry: entry.into(), workload: "w".into(), process: 1, number }
}

fn run() -> Run {
    let order = (1..=3).flat_map(|n| ["a", "b"].map(|entry| planned(entry, n))).collect();
    let plan = Plan {
        suite: "s".into(),
        seed: 1,
        limits: Limits { cpus: 1, memory_bytes: None },
        order,
        ..Plan::default()
    };
    let header = Header {
        schema: SCHEMA,
        id: "019ca932-4c00-7000-8000-000000000001".parse().unwrap(),
        tool: Tool { version: String::new(), commit: None, profile: String::new() },
        arguments: Vec::new(),
        started: "2026-03-01T12:00:00Z".parse().unwrap(),
        machines: machine().into(),
        plan,
    };
    Run::new(header)
}

fn failure() -> Failure {
    Failure { reason: "exited".into(), log_tail: Vec::new() }
}

fn ended(entry: &str, number: u32, result: TrialResult) -> Trial {
    let started = "2026-03-01T12:00:00Z".parse().unwrap();
    Trial {
        entry: entry.into(),
        workload: "w".into(),
        process: 1,
        number,
        started,
        arrivals: None,
        search: None,
        unmeasured: None,
        result,
    }
}

fn measured() -> TrialResult {
    TrialResult::from(Measured::default())
}

pub(in crate::run) fn prepared(entry: &str, readiness: Readiness) -> Preparation {
    Preparation {
        entry: entry.into(),
        workload: "w".into(),
        process: 1,
        versions: BTreeMap::new(),
        lock_hash: String::new(),
        source_hash: String::new(),
        toolchains: Vec::new(),
        build: String::new(),
        build_env: Vec::new(),
        command: Vec::new(),
        env: BTreeMap::new(),
        counterpart: None,
        reply_checks: None,
        isolation: Isolation {
            mode: IsolationMode::Affinity,
            server_cpus: Vec::new(),
            client_cpus: Vec::new(),
            memory_bytes: None,
            details: Default::default(),
            notes: Vec::new(),
        },
        tls: None,
        check: CheckResult::default(),
        warm: None,
        unseen: Vec::new(),
        first_only_ns: 0,
        readiness,
    }
}

#[test]
fn ended_trials_are_not_repeated_and_the_order_stays() {
    let mut run = run();
    run.preparations.push(prepared("a", Readiness::Ready));
    run.trials
        .extend([("a", 1), ("b", 1), ("a", 2)].map(|(e, number)| ended(e, number, measured())));
    assert_eq!(remaining(&run), [planned("b", 2), planned("a", 3), planned("b", 3)]);
}

#[test]
fn skipped_trials_stay_skipped_and_other_workloads_follow() {
    let of = |process, number| PlannedTrial { process, ..planned("a", number) };
    let mut run = run();
    run.header.plan.order = vec![of(1, 1), of(2, 2), of(1, 3), of(2, 4), of(2, 6), of(1, 5)];
    // Process 1 sat out a round, and process 2 has not been measured since the first.
    run.trials.extend(
        [1, 2, 5].map(|number| Trial { process: 2 - number % 2, ..ended("a", number, measured()) }),
    );
    assert_eq!(remaining(&run), [of(2, 4), of(2, 6)]);
    // A process for each trial, workload by workload.
    let mut run = self::run();
    let other = |number| PlannedTrial { workload: "other".into(), ..of(number, number) };
    run.header.plan.order = vec![of(1, 1), of(2, 2), of(3, 3), other(1), other(2)];
    run.trials.extend(
        [1, 2, 3].map(|number| Trial { process: number, ..ended("a", number, measured()) }),
    );
    assert_eq!(remaining(&run), [other(1), other(2)]);
}

#[test]
fn server_that_failed_or_was_skipped_has_no_trials_left() {
    let mut failed = run();
    failed.trials.push(ended("a", 1, TrialResult::Failed(failure())));
    let mut out = run();
    out.preparations.push(prepared("a", Readiness::Failed(failure())));
    let mut skipped = run();
    let reason = "no compiler".into();
    skipped.preparations.push(prepared("a", Readiness::Skipped { reason }));
    for run in [failed, out, skipped] {
        assert_eq!(remaining(&run), [planned("b", 1), planned("b", 2), planned("b", 3)]);
    }
}

fn workload(name: &str, arrivals: &str, connections: u32) -> Workload {
    Workload {
        name: name.into(),
        connections,
        in_flight: 10,
        arrivals: arrivals.parse().unwrap(),
        window: Window::Duration { length_ms: 100 },
        ..rpcbench_testkit::workload()
    }
}

#[test]
fn unready_process_is_skipped_by_all_its_loads() {
    let mut run = run();
    let loads = [("w", "closed", 5), ("load", "poisson:10%", 5), ("other", "closed", 6)];
    let plan = &mut run.header.plan;
    plan.workloads =
        loads.map(|(name, arrivals, connections)| workload(name, arrivals, connections)).into();
    let at = |workload: &str| PlannedTrial { workload: workload.into(), ..planned("a", 1) };
    plan.order = loads.map(|(name, ..)| at(name)).into();
    assert_eq!(remaining(&run).len(), 3);
    run.preparations.push(prepared("a", Readiness::Failed(failure())));
    assert_eq!(remaining(&run), [at("other")]);
    // A failed trial does not end the other loads.
    run.preparations.clear();
    run.trials.push(ended("a", 1, TrialResult::Failed(failure())));
    assert_eq!(remaining(&run), [at("load"), at("other")]);
}

fn refused(run: &Run, tool: &Tool, machine: &Machine, subjects: &[Subject<'_>]) -> String {
    let refused = resumable(run, &CurrentSetup { tool, machine, subjects });
    refused.map_or_else(|error| error.to_string(), |()| "resumed".to_owned())
}

#[test]
fn finished_run_and_another_machine_or_program_are_refused() {
    let mut run = run();
    let tool = run.header.tool.clone();
    assert_eq!(refused(&run, &tool, &machine(), &[]), "resumed");
    let other = Machine { kernel: "6.2".into(), ..machine() };
    insta::assert_snapshot!(refused(&run, &tool, &other, &[]), @"this run was made on 2 x m, 0 B, Linux 6.1, cgroup v2, but now it would be 2 x m, 0 B, Linux 6.2, cgroup v2; the results would not be comparable; start a new run");
    let rights = Machine { cgroup: "none".into(), ..machine() };
    insta::assert_snapshot!(refused(&run, &tool, &rights, &[]), @"this run was made on 2 x m, 0 B, Linux 6.1, cgroup v2, but now it would be 2 x m, 0 B, Linux 6.1, cgroup none; the results would not be comparable; start a new run");
    let newer = Tool { commit: Some("abc".into()), ..tool.clone() };
    insta::assert_snapshot!(refused(&run, &newer, &machine(), &[]), @"this run was made by rpcbench  (no commit, ), but now it would be rpcbench  (abc, ); the results would not be comparable; start a new run");
    run.finished = Some(run.header.started);
    insta::assert_snapshot!(refused(&run, &tool, &machine(), &[]), @"this run is finished; `rpcbench report` shows it");
}

struct Nowhere(Isolation);

impl Placement for Nowhere {
    fn isolation(&self) -> Isolation {
        self.0.clone()
    }

    fn start(&self, _: u32, _: TlsMode) -> Result<Box<dyn Running>, PlacementError> {
        unreachable!("nothing is started")
    }
}

fn subject(entry: &str, version: &str, cpus: &[u32]) -> Subject<'static> {
    let isolation = prepared(entry, Readiness::Ready).isolation;
    Subject {
        entry: entry.into(),
        protocol: rpcbench_record::Protocol::Grpc,
        role: Role::Server,
        generator: Rc::new(ClientPrograms { cpus: Vec::new(), call_log: None }),
        without_tls: None,
        provenance: Provenance {
            built: Built {
                versions: BTreeMap::from([("lib".to_owned(), version.to_owned())]),
                ..Built::default()
            },
            ..Provenance::default()
        },
        runtime: Runtime {
            warmup_min: Duration::ZERO,
            warmup_max: Duration::ZERO,
            compiler_threads: Vec::new(),
            statistics: false,
        },
        admission: Admission::Unchecked,
        placement: Box::new(Nowhere(Isolation { server_cpus: cpus.to_vec(), ..isolation })),
        readiness: Readiness::Ready,
        counterpart: None,
    }
}

#[test]
fn missing_and_changed_servers_are_refused() {
    let mut run = run();
    let tool = run.header.tool.clone();
    let server = Entry::existing("a".to_owned(), rpcbench_record::Protocol::Grpc);
    run.header.plan.servers.push(server.planned());
    let refused = |run: &Run, subject: Subject<'_>| refused(run, &tool, &machine(), &[subject]);
    insta::assert_snapshot!(refused(&run, subject("b", "1", &[])), @"'a' is in this run's plan, but no longer exists; bring it back, or start a new run");
    assert_eq!(refused(&run, subject("a", "2", &[])), "resumed");
    let mut before = prepared("a", Readiness::Ready);
    before.versions = BTreeMap::from([("lib".to_owned(), "1".to_owned())]);
    run.preparations.push(before);
    assert_eq!(refused(&run, subject("a", "1", &[])), "resumed");
    insta::assert_snapshot!(refused(&run, subject("a", "2", &[])), @"this run was made with a (lib 1), but now it would be a (lib 2); the results would not be comparable; start a new run");
    run.preparations[0].source_hash = "4f2a".to_owned();
    let mut edited = subject("a", "1", &[]);
    edited.provenance.built.source_hash = "9c1d".to_owned();
    insta::assert_snapshot!(refused(&run, edited), @"this run was made with a built from sources 4f2a, but now it would be a built from sources 9c1d; the results would not be comparable; start a new run");
    run.preparations[0].source_hash = String::new();
    insta::assert_snapshot!(refused(&run, subject("a", "1", &[1])), @"this run was made under Affinity, server CPUs [], client CPUs [], but now it would be Affinity, server CPUs [1], client CPUs []; the results would not be comparable; start a new run");
    let mut failed = subject("a", "1", &[]);
    failed.readiness = Readiness::Failed(failure());
    insta::assert_snapshot!(refused(&run, failed), @"a was measured in this run, but can no longer run: exited; repair it, or start a new run");
}
