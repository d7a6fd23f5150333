//! Adapts a suite to a machine that has fewer CPUs than it needs.

use super::{RunSpec, Suite};
use crate::config::{ConfigError, Count, Given};

/// The options for a machine with `cpus` CPUs. If `scale` is set and the server leaves too few CPUs for the client threads,
/// lowers the server's CPUs, to at least one. If it is not set, fails if the suite gives a server more CPUs than the machine has.
pub fn fit(suite: &Suite, run: &RunSpec, cpus: u32, scale: bool) -> Result<RunSpec, ConfigError> {
    let mut run = run.clone();
    let typed = run.limits.cpus.as_ref().map(|cpus| cpus.value.0);
    let wanted = typed.unwrap_or(suite.limits.cpus);
    let of_suite = suite.workloads.iter().map(|workload| workload.client_threads).max();
    let threads = run.workload.client_threads.as_ref().map(|threads| threads.value.0);
    let room = cpus.saturating_sub(threads.or(of_suite).unwrap_or(1)).max(1);
    if scale && wanted > room {
        run.limits.cpus = Some(Given::by_default(Count(room), &format!("--cpus {room}")));
        run.scaled_from = Some(suite.limits);
        return Ok(run);
    }
    if wanted > cpus && typed.is_none() {
        return Err(ConfigError(format!(
            "suite '{}' gives a server {wanted} CPUs, but this machine has {cpus}: add --scale-to-machine to give it {room} and keep the rest for the client; the record says so",
            suite.name
        )));
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rpcbench_record::Limits;

    use super::*;

    fn suite(cpus: u32) -> Suite {
        let text = format!(
            "description = \"d\"\nprocesses = 1\n[limits]\ncpus = {cpus}\n[[workload]]\nshape = \"record\"\n\
             connections = 10\nin_flight_per_connection = 1\nwarmup = \"none\"\nduration = \"1s\"\n"
        );
        Suite::parse(Path::new("suites/many.toml"), &text).unwrap()
    }

    #[test]
    fn suite_that_is_too_large_says_so_and_is_scaled_when_asked() {
        let none = RunSpec::default();
        let error = fit(&suite(3), &none, 2, false).unwrap_err();
        insta::assert_snapshot!(error, @"suite 'many' gives a server 3 CPUs, but this machine has 2: add --scale-to-machine to give it 1 and keep the rest for the client; the record says so");
        let cpus = |run: &RunSpec| run.limits.cpus.as_ref().map(|cpus| cpus.value.0);
        let scaled = fit(&suite(3), &none, 2, true).unwrap();
        let from = Limits { cpus: 3, memory_bytes: None };
        assert_eq!((cpus(&scaled), scaled.scaled_from), (Some(1), Some(from)));
        let mut wide = none;
        wide.workload.client_threads = Some(Given::by_default(Count(4), "--client-threads 4"));
        assert_eq!(cpus(&fit(&suite(8), &wide, 8, true).unwrap()), Some(4));
    }

    #[test]
    fn suite_that_fits_is_not_scaled() {
        for scale in [false, true] {
            let none = RunSpec::default();
            assert_eq!(fit(&suite(3), &none, 4, scale).unwrap(), none);
        }
        // CPUs given as an option may exceed the machine's; the record shows that they were shared.
        let mut typed = RunSpec::default();
        typed.limits.cpus = Some(Given::by_default(Count(3), "--cpus 3"));
        assert_eq!(fit(&suite(1), &typed, 2, false).unwrap(), typed);
    }
}
