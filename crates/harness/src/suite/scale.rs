//! A suite on a machine that has fewer CPUs than it asks for.

use super::{Overrides, Suite, SuiteError};

/// The values from the command line for a machine of `cpus` CPUs: where the suite's servers would not leave one to each client
/// thread, `scale` lowers what a server may use, to one at the least.
///
/// # Errors
/// If a server is to have more CPUs than there are, and the run is not to be scaled.
pub fn fit(
    suite: &Suite,
    overrides: &Overrides,
    cpus: u32,
    scale: bool,
) -> Result<Overrides, SuiteError> {
    let given = overrides.clone();
    let wanted = given.cpus.unwrap_or(suite.limits.cpus);
    let of_suite = suite.workloads.iter().map(|workload| workload.client_threads).max();
    let clients = given.client_threads.or(of_suite).unwrap_or(1);
    let room = cpus.saturating_sub(clients).max(1);
    if scale && wanted > room {
        return Ok(Overrides { cpus: Some(room), scaled_from: Some(suite.limits), ..given });
    }
    if wanted > cpus && given.cpus.is_none() {
        return Err(SuiteError::TooFewCpus { suite: suite.name.clone(), wanted, cpus, room });
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rpcbench_record::Limits;

    use super::*;

    fn suite(cpus: u32) -> Suite {
        let text = format!(
            "description = \"d\"\nprocesses = 1\n[limits]\ncpus = {cpus}\n[[workload]]\nshape = \"record\"\n\
             connections = 10\nin_flight = 10\nwarm_up = \"none\"\nduration = \"1s\"\n"
        );
        Suite::parse(Path::new("suites/many.toml"), &text).unwrap()
    }

    #[test]
    fn a_suite_that_is_too_large_says_so_and_is_scaled_when_asked() {
        let overrides = Overrides::default();
        let error = fit(&suite(3), &overrides, 2, false).unwrap_err().to_string();
        assert_eq!(
            error,
            "suite 'many' gives a server 3 CPUs, and there are 2: add --scale-to-machine to give it 1, which leaves the \
             client its own and marks the record"
        );
        let scaled = fit(&suite(3), &overrides, 2, true).unwrap();
        let from = Limits { cpus: 3, memory_bytes: None };
        assert_eq!((scaled.cpus, scaled.scaled_from), (Some(1), Some(from)));
        let wide = Overrides { client_threads: Some(4), ..Overrides::default() };
        assert_eq!(fit(&suite(8), &wide, 8, true).unwrap().cpus, Some(4));
    }

    #[test]
    fn one_that_fits_stays_as_it_is() {
        for scale in [false, true] {
            let overrides = Overrides::default();
            assert_eq!(fit(&suite(3), &overrides, 4, scale).unwrap(), overrides);
        }
        // What was typed is meant, and shown as shared.
        let typed = Overrides { cpus: Some(3), ..Overrides::default() };
        assert_eq!(fit(&suite(1), &typed, 2, false).unwrap(), typed);
    }
}
