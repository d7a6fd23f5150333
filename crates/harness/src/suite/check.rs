//! What a suite must satisfy, with or without values from the command line.

use rpcbench_record::{WarmUp, Window, Workload, units};

use super::{Overrides, Suite, SuiteError};

/// Shortest window, milliseconds: one slice of a trial's series.
const SHORTEST_WINDOW_MS: u64 = 100;
/// Most calls of a trial whose calls are logged.
const MOST_LOGGED: u64 = 1_000_000;
/// Longest measured window, milliseconds.
const LONGEST_WINDOW_MS: u64 = 48 * 3_600_000;

/// Checks a suite's values, and those against each other. `overrides` tells where each came from.
pub(super) fn suite(suite: &Suite, overrides: &Overrides) -> Result<(), SuiteError> {
    let places = Places { suite, workload: None };
    let rounds = places.given("rounds", "--rounds", suite.rounds, overrides.rounds.is_some());
    let typed = overrides.processes.is_some();
    let processes = places.given("processes", "--processes", suite.processes, typed);
    let cpus = places.given("limits.cpus", "--cpus", suite.limits.cpus, overrides.cpus.is_some());
    for given in [&rounds, &processes, &cpus] {
        given.positive()?;
    }
    stopping(&places, overrides)?;
    names(suite)?;
    suite.workloads.iter().try_for_each(|w| {
        workload(suite, w, overrides)?;
        capacity(suite, w)
    })
}

/// Most trials of a plan: each has its place in memory and in the record, and this many of the shortest take 28 hours.
const MOST_TRIALS: u64 = 1_000_000;

/// Refuses more trials than [`MOST_TRIALS`].
pub(super) fn trials(
    suite: &Suite,
    overrides: &Overrides,
    entries: usize,
) -> Result<(), SuiteError> {
    let (processes, rounds) = (suite.processes, suite.rounds);
    let loads = suite.workloads.len() * entries;
    let trials = u128::from(processes) * u128::from(rounds) * loads as u128;
    if trials <= u128::from(MOST_TRIALS) {
        return Ok(());
    }
    let places = Places { suite, workload: None };
    let given = match processes >= rounds {
        true => places.given("processes", "--processes", processes, overrides.processes.is_some()),
        false => places.given("rounds", "--rounds", rounds, overrides.rounds.is_some()),
    };
    Err(given.bad(&format!(
        "{processes} processes x {rounds} rounds of {entries} entries under {} loads are more trials than the {} that a plan may have; give fewer",
        suite.workloads.len(),
        units::count(MOST_TRIALS),
    )))
}

/// Refuses a rule that could never hold, and one that would stop before anything was measured.
fn stopping(places: &Places<'_>, overrides: &Overrides) -> Result<(), SuiteError> {
    let suite = places.suite;
    let Some(stopping) = suite.stopping else { return Ok(()) };
    let least = places.given("processes", "--processes", stopping.least_processes, false);
    let most = places.given("max_processes", "--precision", suite.processes, false);
    least.positive()?;
    most.at_least(&least, "the second is the least; raise the first")?;
    if let Some(time) = stopping.max_time_ms {
        places.time("max_time", "--max-time", time, overrides.max_time_ms.is_some()).positive()?;
    }
    Ok(())
}

/// Refuses a share of a capacity that no workload before it measures.
fn capacity(suite: &Suite, w: &Workload) -> Result<(), SuiteError> {
    if !w.arrivals.needs_capacity() || w.capacity_from(&suite.workloads).is_some() {
        return Ok(());
    }
    let path = suite.path.display();
    let problem = "it is a share of a capacity that nothing measures: put a workload before it that differs in \
                   name, arrivals and duration at the most, in a closed loop";
    let given = match w.find_max {
        Some(threshold) => format!("{path}: workload '{}': find_max = \"{threshold}\"", w.name),
        None => format!("{path}: workload '{}': arrivals = \"{}\"", w.name, w.arrivals),
    };
    Err(SuiteError::Value { given, problem: problem.to_owned() })
}

/// Refuses bounds where no workload warms until steady, and beside a fixed length.
pub(super) fn overrides(suite: &Suite, overrides: &Overrides) -> Result<(), SuiteError> {
    let (least, cap) = (overrides.warm_up_least_ms, overrides.warm_up_cap_ms);
    let bounds = [("--warmup-min", least), ("--warmup-max", cap)];
    let given = bounds.into_iter().find_map(|(option, bound)| Some((option, bound?)));
    let Some((option, bound)) = given else { return Ok(()) };
    let first = format!("{option} {}", time(bound));
    let remedy =
        "only a warm-up until steady has bounds; leave this one out, or add --warmup until-steady";
    if let Some(fixed) = overrides.warm_up.and_then(without_bounds) {
        let second = format!("--warmup {fixed}");
        return Err(SuiteError::Contradiction { first, second, remedy });
    }
    let of_suite = suite.workloads.iter().filter(|_| overrides.warm_up.is_none());
    let fixed = of_suite.filter_map(|w| Some((w, without_bounds(w.warm_up)?))).next();
    let Some((workload, fixed)) = fixed else { return Ok(()) };
    let places = Places { suite, workload: Some(workload) };
    let second = format!("{} = \"{fixed}\"", places.file("warm_up"));
    Err(SuiteError::Contradiction { first, second, remedy })
}

/// A warm-up that has no bounds, as written.
fn without_bounds(warm_up: WarmUp) -> Option<String> {
    match warm_up {
        WarmUp::UntilSteady { .. } => None,
        WarmUp::Fixed { length_ms } => Some(time(length_ms)),
        WarmUp::Calls { calls, clients } => Some(format!("calls:{calls}/{clients}")),
    }
}

fn names(suite: &Suite) -> Result<(), SuiteError> {
    let bad = |value: &str, problem: &str| {
        Err(SuiteError::Value {
            given: format!("{}: workload.name = \"{value}\"", suite.path.display()),
            problem: problem.to_owned(),
        })
    };
    if suite.workloads.is_empty() {
        return Err(SuiteError::Value {
            given: format!("{}: workload = []", suite.path.display()),
            problem: "a suite needs at least one [[workload]]".to_owned(),
        });
    }
    for (at, workload) in suite.workloads.iter().enumerate() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if workload.name.is_empty() || !workload.name.chars().all(plain) {
            return bad(&workload.name, "use small letters, digits and '-'");
        }
        if suite.workloads.iter().take(at).any(|w| w.name == workload.name) {
            return bad(&workload.name, "two workloads have this name; give each its own");
        }
    }
    Ok(())
}

fn workload(suite: &Suite, w: &Workload, overrides: &Overrides) -> Result<(), SuiteError> {
    let places = Places { suite, workload: Some(w) };
    let o = overrides;
    let number = |key, option, value, given: bool| places.given(key, option, value, given);
    let length = |key, option, value, given: bool| places.time(key, option, value, given);
    let connections =
        number("connections", "--connections", w.connections, o.connections.is_some());
    let in_flight = number("in_flight", "--in-flight", w.in_flight, o.in_flight.is_some());
    let threads =
        number("client_threads", "--client-threads", w.client_threads, o.client_threads.is_some());
    let length_ms = w.window.length_ms().unwrap_or(SHORTEST_WINDOW_MS);
    if let Window::Calls { calls } = w.window {
        let (place, separator) = places.place("calls", "--calls", o.calls.is_some());
        window_calls(suite, &Given { place, value: calls, shown: calls.to_string(), separator })?;
    }
    let window = length("duration", "--duration", length_ms, o.duration_ms.is_some());
    let timeout = length("timeout", "--timeout", w.timeout_ms, o.timeout_ms.is_some());
    let grace = length("grace", "--grace", w.grace_ms, o.grace_ms.is_some());
    for given in [&connections, &in_flight, &threads, &window, &timeout, &grace] {
        given.positive()?;
    }
    if let WarmUp::UntilSteady { least_ms, cap_ms: Some(cap) } = w.warm_up {
        let cap = length("warm_up_cap", "--warmup-max", cap, o.warm_up_cap_ms.is_some());
        cap.positive()?;
        let least = length("warm_up_least", "--warmup-min", least_ms, o.warm_up_least_ms.is_some());
        cap.at_least(&least, "warming can't end before it may; raise the first")?;
    }
    if window.value < SHORTEST_WINDOW_MS {
        return Err(window.bad("must be at least 100ms, one slice of a trial's series"));
    }
    if window.value > LONGEST_WINDOW_MS {
        return Err(window.bad("must be at most 48h: every 100ms of it has a place in memory"));
    }
    if let Some(problem) = w.rate_problem() {
        let place = places.place("arrivals", "--arrivals", o.loads.is_some());
        return Err(SuiteError::Value {
            given: format!("{}{}{}", place.0, place.1, w.arrivals),
            problem,
        });
    }
    in_flight.at_least(
        &connections,
        "every connection carries at least one call; raise the first or lower the second",
    )?;
    connection_life(&places, &in_flight, &connections)?;
    connections.at_least(
        &threads,
        "every client thread needs a connection; raise the first or lower the second",
    )?;
    timeout.at_least(
        &grace,
        "no call is waited for beyond its timeout; raise the first or lower the second",
    )
}

/// Refuses a window without calls, and one of which not every call could be written down.
fn window_calls(suite: &Suite, calls: &Given) -> Result<(), SuiteError> {
    calls.positive()?;
    if suite.log_calls && calls.value > MOST_LOGGED {
        return Err(calls.bad(
            "with log_calls, a trial has at most 1000000 calls: they wait in memory for its end",
        ));
    }
    Ok(())
}

/// Refuses more calls in flight on a connection than it lives for.
fn connection_life(
    places: &Places<'_>,
    in_flight: &Given,
    connections: &Given,
) -> Result<(), SuiteError> {
    let life = places.workload.map(|w| w.connection_life).unwrap_or_default();
    let Some(calls) = life.calls() else { return Ok(()) };
    if in_flight.value.div_ceil(connections.value) <= u64::from(calls) {
        return Ok(());
    }
    Err(SuiteError::Contradiction {
        first: in_flight.text(),
        second: format!("{} and a connection life of '{life}'", connections.text()),
        remedy: "a connection can't have more calls in flight than it lives for; give each call in flight a \
                 connection, or connections a longer life",
    })
}

/// Where values stand.
struct Places<'a> {
    suite: &'a Suite,
    workload: Option<&'a Workload>,
}

/// A value, where it stands, and how it reads there.
struct Given {
    place: String,
    value: u64,
    shown: String,
    separator: &'static str,
}

impl Places<'_> {
    fn file(&self, key: &str) -> String {
        let path = self.suite.path.display();
        match self.workload {
            Some(workload) if self.suite.workloads.len() > 1 => {
                format!("{path}: workload '{}': {key}", workload.name)
            }
            _ => format!("{path}: {key}"),
        }
    }

    fn given(&self, key: &str, option: &str, value: u32, typed: bool) -> Given {
        let (place, separator) = self.place(key, option, typed);
        Given { place, value: u64::from(value), shown: value.to_string(), separator }
    }

    fn time(&self, key: &str, option: &str, value: u64, typed: bool) -> Given {
        let (place, separator) = self.place(key, option, typed);
        let shown = if typed { time(value) } else { format!("\"{}\"", time(value)) };
        Given { place, value, shown, separator }
    }

    fn place(&self, key: &str, option: &str, typed: bool) -> (String, &'static str) {
        if typed { (option.to_owned(), " ") } else { (self.file(key), " = ") }
    }
}

impl Given {
    fn positive(&self) -> Result<(), SuiteError> {
        if self.value == 0 { Err(self.bad("must be more than zero")) } else { Ok(()) }
    }

    fn at_least(&self, other: &Self, remedy: &'static str) -> Result<(), SuiteError> {
        if self.value >= other.value {
            return Ok(());
        }
        Err(SuiteError::Contradiction { first: self.text(), second: other.text(), remedy })
    }

    fn bad(&self, problem: &str) -> SuiteError {
        SuiteError::Value { given: self.text(), problem: problem.to_owned() }
    }

    fn text(&self) -> String {
        format!("{}{}{}", self.place, self.separator, self.shown)
    }
}

fn time(milliseconds: u64) -> String {
    units::length_ms(milliseconds)
}
