//! Calls that are not answered in time, before a server is ready and in its conformance check.

use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::cases::TLS_CASES;
use rpcbench_harness::run::Admission;
use rpcbench_record::{Plan, Preparation, Readiness};

use super::load::{Answer, LATE_CHECK, LATE_READY, LATE_TLS, STARVED};
use super::{Made, run_plan, workload};

/// The limit for readiness is five calls.
fn made() -> Made {
    let admission = Admission::Proven { ready_timeout: Duration::from_secs(5) };
    let plan = Plan { workloads: vec![workload()], ..Plan::default() };
    let entries = ["a", STARVED, LATE_TLS, LATE_READY, LATE_CHECK];
    run_plan(|_, _| Answer::After(Nanos(1000)), admission, &entries, (1, 1, usize::MAX), plan)
}

fn preparation<'a>(made: &'a Made, entry: &str) -> &'a Preparation {
    made.run.preparations.iter().find(|it| it.entry == entry).expect("a preparation")
}

#[test]
fn late_calls_are_no_failure_while_others_take_the_cpus() {
    let made = made();
    assert!(preparation(&made, STARVED).check.passed > 0);
    assert_eq!(preparation(&made, STARVED).check, preparation(&made, "a").check);
    let (plain, tls) = (&preparation(&made, "a").check, &preparation(&made, LATE_TLS).check);
    assert_eq!((tls.passed, &tls.failed), (plain.passed + TLS_CASES.len() as u32, &plain.failed));
}

#[test]
fn late_calls_are_a_failure_while_the_server_has_the_cpus() {
    let made = made();
    let Readiness::Failed(failure) = &preparation(&made, LATE_READY).readiness else {
        panic!("ready")
    };
    assert_eq!(failure.reason, "not ready within 5s; the last call failed: no answer in time");
    let first = &preparation(&made, LATE_CHECK).check.failed[0];
    assert!(first.ends_with(": no answer in time"), "{first}");
}
