//! Going on with a run that was interrupted.

use std::collections::BTreeMap;

use rpcbench_record::{
    Isolation, Machine, PlannedTrial, Preparation, Readiness, Run, Tool, Toolchain, TrialResult,
};

use super::subject::Subject;

/// Why a run can't be gone on with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// There is nothing left.
    #[error("this run is finished; `rpcbench report` shows it")]
    Finished,
    /// The figures would not belong together.
    #[error(
        "this run was made {there}, and this is {here}: figures of both don't compare; start a new run"
    )]
    Differs {
        /// What it was made on, or with.
        there: String,
        /// What there is now.
        here: String,
    },
    /// An entry of the plan is not there any more.
    #[error(
        "'{entry}' is in this run's plan, and there is no such entry any more; bring it back, or start a new run"
    )]
    Gone {
        /// The entry.
        entry: String,
    },
    /// An entry that was measured can't run any more.
    #[error(
        "{entry} was measured in this run, and can't run any more: {reason}; repair it, or start a new run"
    )]
    Broken {
        /// The entry.
        entry: String,
        /// Why not.
        reason: String,
    },
}

/// What would go on with a run.
pub struct Here<'a> {
    /// This program.
    pub tool: &'a Tool,
    /// This machine.
    pub machine: &'a Machine,
    /// The servers as they are built now.
    pub subjects: &'a [Subject<'a>],
}

/// Refuses to go on with a run that is finished, or whose further trials would not compare with those it has: made on
/// another machine, with other rights or limits, by another rpcbench, or of other servers.
///
/// # Errors
/// Why not.
pub fn resumable(run: &Run, here: &Here<'_>) -> Result<(), ResumeError> {
    if run.finished.is_some() {
        return Err(ResumeError::Finished);
    }
    same("on", machine(&run.header.machines.client), machine(here.machine))?;
    same("by", tool(&run.header.tool), tool(here.tool))?;
    for planned in &run.header.plan.servers {
        let subject = here.subjects.iter().find(|subject| subject.entry == planned.entry);
        let subject = subject.ok_or_else(|| ResumeError::Gone { entry: planned.entry.clone() })?;
        let mut before = run.preparations.iter().rev();
        let before =
            before.find(|it| it.entry == planned.entry && it.readiness == Readiness::Ready);
        before.map_or(Ok(()), |before| same_server(before, subject))?;
    }
    Ok(())
}

fn same_server(before: &Preparation, subject: &Subject<'_>) -> Result<(), ResumeError> {
    let entry = &before.entry;
    let broken =
        |reason: &str| Err(ResumeError::Broken { entry: entry.clone(), reason: reason.to_owned() });
    match &subject.readiness {
        Readiness::Skipped { reason } => return broken(reason),
        Readiness::Failed(failure) => return broken(&failure.reason),
        Readiness::Ready => {}
    }
    let now = &subject.provenance;
    let made_of = |versions: &BTreeMap<String, String>, lock: &str, tools: &[Toolchain]| {
        let libraries = versions.iter().map(|(name, version)| format!("{name} {version}"));
        let tools = tools.iter().map(Toolchain::to_string);
        let parts: Vec<String> = libraries.chain(tools).collect();
        let lock: String = lock.chars().take(12).collect();
        format!("{entry} of {}, locked as {lock}", parts.join(", "))
    };
    let there = made_of(&before.versions, &before.lock_hash, &before.toolchains);
    same("with", there, made_of(&now.versions, &now.lock_hash, &now.toolchains))?;
    let command = |words: &[String]| format!("{entry} as '{}'", words.join(" "));
    same("with", command(&before.command), command(&now.command))?;
    same("under", limits(&before.isolation), limits(&subject.placement.isolation()))
}

fn same(how: &str, there: String, here: String) -> Result<(), ResumeError> {
    if there == here {
        return Ok(());
    }
    Err(ResumeError::Differs { there: format!("{how} {there}"), here })
}

fn machine(machine: &Machine) -> String {
    let Machine { cpu, kernel, cgroup, memory_bytes, .. } = machine;
    let memory = rpcbench_record::units::bytes(*memory_bytes);
    format!("{} x {}, {memory}, Linux {kernel}, cgroup {cgroup}", cpu.logical, cpu.model)
}

fn tool(tool: &Tool) -> String {
    let commit = tool.commit.as_deref().unwrap_or("of no commit");
    format!("rpcbench {} ({commit}, {})", tool.version, tool.profile)
}

/// What is enforced of the limits.
fn limits(isolation: &Isolation) -> String {
    let Isolation { mode, server_cpus, client_cpus, notes, .. } = isolation;
    let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
    format!("{mode:?}, server CPUs {server_cpus:?}, client CPUs {client_cpus:?}{notes}")
}

/// The trials of the plan that have not ended, in the plan's order. A cell whose server failed, or was
/// skipped, has none left. What was left out of a process when the next one was begun stays left out.
#[must_use]
pub fn remaining(run: &Run) -> Vec<PlannedTrial> {
    let order = &run.header.plan.order;
    let is_made = |planned: &PlannedTrial| {
        run.trials.iter().any(|trial| {
            (&trial.entry, &trial.workload, trial.number)
                == (&planned.entry, &planned.workload, planned.number)
        })
    };
    let last = order.iter().rposition(is_made);
    let is_over = |at: usize| last.is_some_and(|l| at < l && order[at].process != order[l].process);
    let left =
        order.iter().enumerate().filter(|(at, planned)| !is_over(*at) && !is_done(run, planned));
    left.map(|(_, planned)| planned.clone()).collect()
}

fn is_done(run: &Run, planned: &PlannedTrial) -> bool {
    let plan = &run.header.plan;
    let of_cell =
        |entry: &str, workload: &str| entry == planned.entry && workload == planned.workload;
    let shares = |workload: &str| {
        let (own, other) = (plan.workload(&planned.workload), plan.workload(workload));
        own.zip(other).is_some_and(|(own, other)| own.shares_process(other))
    };
    // What kept a process from being ready keeps it from every workload that would share it.
    let out = run.preparations.iter().any(|preparation| {
        preparation.entry == planned.entry
            && (preparation.workload == planned.workload || shares(&preparation.workload))
            && preparation.readiness != Readiness::Ready
    });
    let ended =
        run.trials.iter().filter(|trial| of_cell(&trial.entry, &trial.workload)).any(|trial| {
            trial.number == planned.number || matches!(trial.result, TrialResult::Failed(_))
        });
    out || ended
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use rpcbench_record::{
        CheckResult, ConnectionLife, Cpu, Failure, Header, IsolationMode, Limits, Plan,
        PlannedServer, SCHEMA, Trial, WarmUp, Window, Workload,
    };

    use crate::manifest::Runtime;
    use crate::placement::{Placement, PlacementError, Running};
    use crate::run::{Admission, Provenance};

    use super::*;

    fn machine() -> Machine {
        let cpu = Cpu { model: "m".into(), logical: 2, cores: 2, governor: None, turbo: None };
        Machine {
            kernel: "6.1".into(),
            os: String::new(),
            cpu,
            memory_bytes: 0,
            cgroup: "v2".into(),
            virtualization: None,
            clock_source: None,
            huge_pages: None,
            open_files: 0,
        }
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
        Run { header, preparations: Vec::new(), trials: Vec::new(), finished: None }
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
        TrialResult::Measured(Box::default())
    }

    pub(in crate::run) fn prepared(entry: &str, readiness: Readiness) -> Preparation {
        Preparation {
            entry: entry.into(),
            workload: "w".into(),
            process: 1,
            versions: BTreeMap::new(),
            lock_hash: String::new(),
            toolchains: Vec::new(),
            build: String::new(),
            build_env: Vec::new(),
            command: Vec::new(),
            env: BTreeMap::new(),
            isolation: Isolation {
                mode: IsolationMode::Affinity,
                server_cpus: Vec::new(),
                client_cpus: Vec::new(),
                memory_bytes: None,
                notes: Vec::new(),
            },
            check: CheckResult::default(),
            warm: None,
            readiness,
        }
    }

    #[test]
    fn what_ended_is_not_done_again_and_the_order_stays() {
        let mut run = run();
        run.preparations.push(prepared("a", Readiness::Ready));
        run.trials.extend([ended("a", 1, measured()), ended("b", 2, measured())]);
        let left = remaining(&run);
        assert_eq!(left, [planned("b", 1), planned("a", 2), planned("a", 3), planned("b", 3)]);
    }

    #[test]
    fn what_was_left_out_of_a_process_stays_so_and_other_workloads_follow() {
        let of = |process, number| PlannedTrial { process, ..planned("a", number) };
        let mut run = run();
        run.header.plan.order = vec![of(1, 1), of(1, 2), of(2, 3), of(2, 4)];
        run.trials.extend([ended("a", 1, measured()), ended("a", 3, measured())]);
        assert_eq!(remaining(&run), [of(2, 4)]);
        // As older runs were ordered: a process for each trial, workload by workload.
        let other = |number| PlannedTrial { workload: "other".into(), ..of(number, number) };
        run.header.plan.order = vec![of(1, 1), of(2, 2), of(3, 3), other(1), other(2)];
        run.trials.push(ended("a", 2, measured()));
        assert_eq!(remaining(&run), [other(1), other(2)]);
    }

    #[test]
    fn a_server_that_failed_or_was_skipped_has_no_trials_left() {
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
            shape: "text:100".into(),
            connections,
            connection_life: ConnectionLife::Long,
            in_flight: 10,
            arrivals: arrivals.parse().unwrap(),
            find_max: None,
            warm_up: WarmUp::Fixed { length_ms: 0 },
            settle_ms: Workload::SETTLE_MS,
            window: Window::Duration { length_ms: 100 },
            timeout_ms: 1000,
            grace_ms: 1000,
            client_threads: 1,
            pipelining: false,
        }
    }

    #[test]
    fn what_never_got_ready_is_done_for_every_load_that_would_share_its_process() {
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
        // A trial that failed says nothing about the other loads.
        run.preparations.clear();
        run.trials.push(ended("a", 1, TrialResult::Failed(failure())));
        assert_eq!(remaining(&run), [at("load"), at("other")]);
    }

    fn refused(run: &Run, tool: &Tool, machine: &Machine, subjects: &[Subject<'_>]) -> String {
        let refused = resumable(run, &Here { tool, machine, subjects });
        refused.map_or_else(|error| error.to_string(), |()| "resumed".to_owned())
    }

    #[test]
    fn a_finished_run_and_another_machine_or_program_are_refused() {
        let mut run = run();
        let tool = run.header.tool.clone();
        assert_eq!(refused(&run, &tool, &machine(), &[]), "resumed");
        let other = Machine { kernel: "6.2".into(), ..machine() };
        insta::assert_snapshot!(refused(&run, &tool, &other, &[]), @"this run was made on 2 x m, 0 B, Linux 6.1, cgroup v2, and this is 2 x m, 0 B, Linux 6.2, cgroup v2: figures of both don't compare; start a new run");
        let rights = Machine { cgroup: "none".into(), ..machine() };
        insta::assert_snapshot!(refused(&run, &tool, &rights, &[]), @"this run was made on 2 x m, 0 B, Linux 6.1, cgroup v2, and this is 2 x m, 0 B, Linux 6.1, cgroup none: figures of both don't compare; start a new run");
        let newer = Tool { commit: Some("abc".into()), ..tool.clone() };
        insta::assert_snapshot!(refused(&run, &newer, &machine(), &[]), @"this run was made by rpcbench  (of no commit, ), and this is rpcbench  (abc, ): figures of both don't compare; start a new run");
        run.finished = Some(run.header.started);
        assert_eq!(
            resumable(&run, &Here { tool: &tool, machine: &machine(), subjects: &[] }),
            Err(ResumeError::Finished)
        );
    }

    struct Nowhere(Isolation);

    impl Placement for Nowhere {
        fn isolation(&self) -> Isolation {
            self.0.clone()
        }

        fn start(&self) -> Result<Box<dyn Running>, PlacementError> {
            unreachable!("nothing is started")
        }
    }

    fn subject(entry: &str, version: &str, cpus: &[u32]) -> Subject<'static> {
        let isolation = prepared(entry, Readiness::Ready).isolation;
        Subject {
            entry: entry.into(),
            protocol: rpcbench_record::Protocol::Grpc,
            provenance: Provenance {
                versions: BTreeMap::from([("lib".to_owned(), version.to_owned())]),
                ..Provenance::default()
            },
            runtime: Runtime {
                least_warm_up: Duration::ZERO,
                warm_up_cap: Duration::ZERO,
                compiler_threads: Vec::new(),
                statistics: false,
            },
            admission: Admission::AsFound,
            placement: Box::new(Nowhere(Isolation { server_cpus: cpus.to_vec(), ..isolation })),
            readiness: Readiness::Ready,
        }
    }

    #[test]
    fn servers_that_are_gone_or_not_what_they_were_are_refused() {
        let mut run = run();
        let tool = run.header.tool.clone();
        run.header.plan.servers.push(PlannedServer {
            entry: "a".into(),
            server: "a".into(),
            protocol: rpcbench_record::Protocol::Grpc,
            variant: None,
            language: String::new(),
            library: String::new(),
            build: None,
        });
        let refused = |run: &Run, subject: Subject<'_>| refused(run, &tool, &machine(), &[subject]);
        insta::assert_snapshot!(refused(&run, subject("b", "1", &[])), @"'a' is in this run's plan, and there is no such entry any more; bring it back, or start a new run");
        assert_eq!(refused(&run, subject("a", "2", &[])), "resumed");
        let mut before = prepared("a", Readiness::Ready);
        before.versions = BTreeMap::from([("lib".to_owned(), "1".to_owned())]);
        run.preparations.push(before);
        assert_eq!(refused(&run, subject("a", "1", &[])), "resumed");
        insta::assert_snapshot!(refused(&run, subject("a", "2", &[])), @"this run was made with a of lib 1, locked as , and this is a of lib 2, locked as : figures of both don't compare; start a new run");
        insta::assert_snapshot!(refused(&run, subject("a", "1", &[1])), @"this run was made under Affinity, server CPUs [], client CPUs [], and this is Affinity, server CPUs [1], client CPUs []: figures of both don't compare; start a new run");
        let mut failed = subject("a", "1", &[]);
        failed.readiness = Readiness::Failed(failure());
        insta::assert_snapshot!(refused(&run, failed), @"a was measured in this run, and can't run any more: exited; repair it, or start a new run");
    }
}
