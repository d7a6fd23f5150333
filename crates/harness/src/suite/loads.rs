//! The arrival processes that a workload of a file stands for: its keys `arrivals`, `sweep` and `find_max`.

use rpcbench_record::{Arrivals, Rate, Threshold};

use super::SuiteError;
use super::file::WorkloadFile;
use crate::config::At;
use crate::search::at_rate;

/// Where a search begins, in percent of the capacity: far enough below it to be met by most, near
/// enough to take few steps.
const SEARCH_FROM: Rate = Rate::OfCapacity(50);

/// One load.
pub(super) struct Load {
    /// What is added to the workload's name: `-10`. Empty where it is the only one.
    pub suffix: String,
    pub arrivals: Arrivals,
    pub find_max: Option<Threshold>,
}

pub(super) fn loads(file: &WorkloadFile) -> Result<Vec<Load>, SuiteError> {
    let arrivals = file.arrivals.as_ref();
    match (&file.sweep, &file.find_max) {
        (None, None) => {
            let arrivals = arrivals.map_or(Ok(Arrivals::Closed), |given| {
                given.value.parse::<Arrivals>().map_err(|error| given.bad(error))
            })?;
            Ok(vec![Load { suffix: String::new(), arrivals, find_max: None }])
        }
        (Some(sweep), None) => {
            let kind = without_rate(arrivals, sweep)?;
            let load = |rate: &Rate| {
                let suffix = format!("-{}", rate.to_string().trim_end_matches('%'));
                Some(Load { suffix, arrivals: at_rate(kind, *rate)?, find_max: None })
            };
            Ok(sweep.value.rates().iter().filter_map(load).collect())
        }
        (None, Some(threshold)) => {
            let arrivals = without_rate(arrivals, threshold)?;
            if !threshold.value.bounds_load() {
                let problem = "only a response time or errors below a limit have a highest rate, such as \"p99<10ms\"";
                return Err(threshold.bad(problem).into());
            }
            let find_max = Some(threshold.value);
            Ok(vec![Load { suffix: String::new(), arrivals, find_max }])
        }
        (Some(sweep), Some(find_max)) => Err(SuiteError::Contradiction {
            first: sweep.to_string(),
            second: find_max.to_string(),
            remedy: "a workload has one of them; make it two workloads",
        }),
    }
}

/// The kind of arrivals for a key that gives the rates.
fn without_rate<T>(arrivals: Option<&At<String>>, rates: &At<T>) -> Result<Arrivals, SuiteError> {
    match arrivals.map(|given| given.value.as_str()) {
        Some("poisson") => Ok(Arrivals::Poisson { rate: SEARCH_FROM }),
        Some("constant") => Ok(Arrivals::Constant { rate: SEARCH_FROM }),
        _ => Err(SuiteError::Contradiction {
            first: rates.to_string(),
            second: arrivals.map_or("arrivals = \"closed\"".to_owned(), ToString::to_string),
            remedy: "it gives the rates of an open loop; write arrivals = \"poisson\" or arrivals = \"constant\" without a rate",
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Suite;
    use super::*;

    /// A suite of a capacity workload and one with these keys.
    fn suite(keys: &str) -> Result<Suite, SuiteError> {
        let load = "shape = \"text:100\"\nconnections = 5\nin_flight = 10\nwarm_up = \"1s\"";
        let text = format!(
            "description = \"\"\nprocesses = 1\n[limits]\ncpus = 1\n\
             [[workload]]\nname = \"capacity\"\nduration = \"1s\"\n{load}\n\
             [[workload]]\nname = \"load\"\nduration = \"3s\"\n{load}\n{keys}\n"
        );
        Suite::parse(Path::new("suites/mine.toml"), &text)
    }

    fn loads(keys: &str) -> Vec<String> {
        let suite = suite(keys).expect("a good suite");
        let loads = suite.workloads.iter().skip(1).map(|w| {
            let find = w.find_max.map(|threshold| format!(" for {threshold}"));
            format!("{}: {}{}", w.name, w.arrivals, find.unwrap_or_default())
        });
        loads.collect()
    }

    fn refused(keys: &str) -> String {
        suite(keys).expect_err("a refusal").to_string()
    }

    #[test]
    fn a_workload_has_an_arrival_process_a_sweep_or_a_search() {
        assert_eq!(loads(""), ["load: closed"]);
        assert_eq!(loads("arrivals = \"constant:2k\""), ["load: constant:2000"]);
        assert_eq!(loads("arrivals = \"poisson:40%\""), ["load: poisson:40%"]);
        assert_eq!(
            loads("arrivals = \"poisson\"\nsweep = \"20%..40%\""),
            ["load-20: poisson:20%", "load-30: poisson:30%", "load-40: poisson:40%"]
        );
        assert_eq!(
            loads("arrivals = \"constant\"\nsweep = \"1k..2k+1k\""),
            ["load-1000: constant:1000", "load-2000: constant:2000"]
        );
        assert_eq!(
            loads("arrivals = \"poisson\"\nfind_max = \"p99 < 10ms\""),
            ["load: poisson:50% for p99<10ms"]
        );
    }

    #[test]
    fn loads_of_one_process_take_shares_of_the_closed_loop_before_them() {
        let suite = suite("arrivals = \"poisson\"\nsweep = \"10%..20%\"").expect("a good suite");
        let [capacity, low, high] = suite.workloads.as_slice() else { panic!("three workloads") };
        assert!(low.shares_process(high) && low.shares_process(capacity));
        assert_eq!(high.capacity_from(&suite.workloads), Some(capacity));
        assert_eq!(capacity.capacity_from(&suite.workloads), None);
        let other = rpcbench_record::Workload { connections: 6, ..low.clone() };
        assert!(!other.shares_process(low));
        assert_eq!(other.capacity_from(&suite.workloads), None);
    }

    #[test]
    fn what_contradicts_is_refused_with_the_remedy() {
        insta::assert_snapshot!(refused("arrivals = \"open\""), @r#"suites/mine.toml:19: workload[1].arrivals = "open": 'open' is no arrival process; write closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or steps:FROM..TO+STEP/LENGTH, with rates in calls a second such as 500, 20k or (constant and poisson) 40% of the measured capacity, and lengths such as 30s; steps must rise"#);
        insta::assert_snapshot!(refused("arrivals = \"poisson\""), @r#"suites/mine.toml:19: workload[1].arrivals = "poisson": 'poisson' is no arrival process; write closed, constant:RATE, poisson:RATE, ramp:FROM..TO/LENGTH or steps:FROM..TO+STEP/LENGTH, with rates in calls a second such as 500, 20k or (constant and poisson) 40% of the measured capacity, and lengths such as 30s; steps must rise"#);
        insta::assert_snapshot!(refused("sweep = \"10%..90%\""), @r#"suites/mine.toml:19: workload[1].sweep = "10%..90%" contradicts arrivals = "closed": it gives the rates of an open loop; write arrivals = "poisson" or arrivals = "constant" without a rate"#);
        insta::assert_snapshot!(refused("arrivals = \"poisson:10%\"\nsweep = \"10%..90%\""), @r#"suites/mine.toml:20: workload[1].sweep = "10%..90%" contradicts suites/mine.toml:19: workload[1].arrivals = "poisson:10%": it gives the rates of an open loop; write arrivals = "poisson" or arrivals = "constant" without a rate"#);
        insta::assert_snapshot!(refused("arrivals = \"poisson\"\nsweep = \"10%\""), @r#"suites/mine.toml:20: workload[1].sweep = "10%": '10%' is no sweep; write FROM..TO or FROM..TO+STEP, such as '10%..90%' of the measured capacity or '1k..10k+1k' calls a second"#);
        insta::assert_snapshot!(refused("find_max = \"p99<10ms\""), @r#"suites/mine.toml:19: workload[1].find_max = "p99<10ms" contradicts arrivals = "closed": it gives the rates of an open loop; write arrivals = "poisson" or arrivals = "constant" without a rate"#);
        insta::assert_snapshot!(refused("arrivals = \"closed\"\nfind_max = \"p99<10ms\""), @r#"suites/mine.toml:20: workload[1].find_max = "p99<10ms" contradicts suites/mine.toml:19: workload[1].arrivals = "closed": it gives the rates of an open loop; write arrivals = "poisson" or arrivals = "constant" without a rate"#);
        insta::assert_snapshot!(refused("arrivals = \"poisson:1k\"\nfind_max = \"p99<10ms\""), @r#"suites/mine.toml:20: workload[1].find_max = "p99<10ms" contradicts suites/mine.toml:19: workload[1].arrivals = "poisson:1k": it gives the rates of an open loop; write arrivals = "poisson" or arrivals = "constant" without a rate"#);
        insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99>10ms\""), @r#"suites/mine.toml:20: workload[1].find_max = "p99>10ms": only a response time or errors below a limit have a highest rate, such as "p99<10ms""#);
        insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99<10\""), @r#"suites/mine.toml:20: workload[1].find_max = "p99<10": 'p99<10': '10' is no limit for p99; write a time with its unit, such as 500us, 10ms or 1.5s"#);
        insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99<1s\"\nsweep = \"10%..90%\""), @r#"suites/mine.toml:21: workload[1].sweep = "10%..90%" contradicts suites/mine.toml:20: workload[1].find_max = "p99<1s": a workload has one of them; make it two workloads"#);
        // Other connections are another process, and its capacity is not measured.
        insta::assert_snapshot!(refused("arrivals = \"poisson:10%\"\ntimeout = \"9s\""), @r#"suites/mine.toml: workload 'load': arrivals = "poisson:10%": it is a share of a capacity that nothing measures: put a workload before it that differs in name, arrivals and duration at the most, in a closed loop"#);
        insta::assert_snapshot!(refused("arrivals = \"poisson\"\nfind_max = \"p99<1s\"\ntimeout = \"9s\""), @r#"suites/mine.toml: workload 'load': find_max = "p99<1s": it is a share of a capacity that nothing measures: put a workload before it that differs in name, arrivals and duration at the most, in a closed loop"#);
    }
}
