//! Limits and contradictions of a merged spec.

use rpcbench_record::{Arrivals, Contradiction, Protocol, WarmUp, Window, Workload};

use super::arrivals::Loads;
use super::suite::example_of;
use super::values::WarmUpValue;
use super::workload::WorkloadSpec;
use crate::config::{ConfigError, Count, Given, Length, NonZeroLength, SourceFile};

/// Minimum length of a window, milliseconds: one slice of its series.
const MIN_WINDOW_MS: u64 = 100;
/// Maximum length of a window, milliseconds: each slice of its series takes memory.
const MAX_WINDOW_MS: u64 = 48 * 3_600_000;
/// Maximum calls of a window with `log_calls`.
const MAX_LOGGED: u64 = 1_000_000;
/// Default timeout, milliseconds; far longer than any useful reply takes.
const TIMEOUT_MS: u64 = 10_000;
/// Default grace, milliseconds; capped at the timeout.
const GRACE_MS: u64 = 5000;
/// Default calls in flight on each connection of a load.
const IN_FLIGHT_EACH: u32 = 20;
/// Default calls in flight on each connection in open loop: an upper limit, so that a stalled server can't exhaust memory.
const IN_FLIGHT_EACH_OPEN: u32 = 100;
/// Name of the workload that measures capacity.
pub(crate) const CAPACITY: &str = "capacity";
/// How long a load's closed loop runs before the capacity is measured, and how long it is measured, milliseconds.
const CAPACITY_SETTLE_MS: u64 = 1000;
const CAPACITY_WINDOW_MS: u64 = 3000;

/// Where a workload comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SpecSource<'a> {
    /// A table of a suite, with options on top.
    Suite {
        name: &'a str,
        file: &'a SourceFile,
        /// Where the workload's table begins.
        table: usize,
        log_calls: bool,
    },
    /// `rpcbench load`, whose protocol is known.
    Load(Protocol),
}

impl SpecSource<'_> {
    /// A value as given.
    pub fn shown<T>(self, given: &Given<T>) -> String {
        match self {
            Self::Suite { file, .. } => given.shown(Some(file)),
            Self::Load(_) => given.shown(None),
        }
    }

    pub(super) fn contradiction<A, B>(
        self,
        first: &Given<A>,
        second: &Given<B>,
        remedy: &str,
    ) -> ConfigError {
        ConfigError::contradiction(self.shown(first), self.shown(second), remedy)
    }

    pub(super) fn require<'g, T>(
        self,
        given: &'g Option<Given<T>>,
        key: &str,
    ) -> Result<&'g Given<T>, ConfigError> {
        given.as_ref().ok_or_else(|| {
            let problem = format!("'{key}' is missing; add a line such as {}", example_of(key));
            ConfigError::value(self.place(), problem)
        })
    }

    /// File and line of the workload's table.
    pub fn place(self) -> String {
        match self {
            Self::Suite { file, table, .. } => file.line(&(table..table)),
            Self::Load(_) => "load".to_owned(),
        }
    }
}

/// The loads of `rpcbench load`, in order. If a rate is a share of the capacity, a load that measures the capacity comes first.
pub fn load_workloads(
    spec: &WorkloadSpec,
    protocol: Protocol,
) -> Result<Vec<Workload>, ConfigError> {
    let spec = spec.layered_on(&WorkloadSpec::load_defaults());
    let workloads = spec.resolve(SpecSource::Load(protocol))?;
    let capacity = Workload {
        name: CAPACITY.to_owned(),
        settle_ms: CAPACITY_SETTLE_MS,
        window: Window::Duration { length_ms: CAPACITY_WINDOW_MS },
        ..workloads[0].clone()
    };
    Ok(with_capacity(workloads, capacity))
}

/// Inserts a closed loop like `capacity` before the loads if a rate is a share of the capacity.
pub(crate) fn with_capacity(mut loads: Vec<Workload>, capacity: Workload) -> Vec<Workload> {
    if loads.iter().any(|load| load.arrivals.needs_capacity()) {
        loads.insert(0, Workload { arrivals: Arrivals::Closed, find_max: None, ..capacity });
    }
    loads
}

impl WorkloadSpec {
    pub(super) fn workload_name(&self, setting: SpecSource<'_>) -> String {
        let default = match setting {
            SpecSource::Suite { name, .. } => name,
            SpecSource::Load(_) => "load",
        };
        self.name.as_ref().map_or_else(|| default.to_owned(), |name| name.value.0.clone())
    }

    /// Calls in flight over all connections.
    pub(super) fn total_in_flight(
        &self,
        connections: u32,
        loads: &Loads,
        setting: SpecSource<'_>,
    ) -> Result<u32, ConfigError> {
        let key = "in_flight_per_connection";
        let each = match (&self.in_flight_per_connection, setting) {
            (None, SpecSource::Load(protocol)) => {
                return Ok(connections.saturating_mul(self.default_in_flight(protocol, loads)));
            }
            (given, _) => setting.require(given, key)?,
        };
        connections.checked_mul(each.value.0).ok_or_else(|| {
            let problem = format!(
                "on each of {connections} connections is more than {} calls in all; give fewer",
                u32::MAX
            );
            ConfigError::value(setting.shown(each), problem)
        })
    }

    /// Calls in flight on each connection of a load.
    fn default_in_flight(&self, protocol: Protocol, loads: &Loads) -> u32 {
        let default = match loads.arrivals.is_open() {
            _ if protocol.takes_one_call_at_a_time() && !self.is_pipelining() => 1,
            true => IN_FLIGHT_EACH_OPEN,
            false => IN_FLIGHT_EACH,
        };
        let life = self.connection_life.as_ref().and_then(|life| life.value.calls());
        default.min(life.unwrap_or(u32::MAX))
    }

    /// Refuses a load that is impossible, or that the protocol (if known) can't carry.
    pub(super) fn check(
        &self,
        load: &Workload,
        setting: SpecSource<'_>,
    ) -> Result<(), ConfigError> {
        let protocol = match setting {
            SpecSource::Suite { .. } => None,
            SpecSource::Load(protocol) => Some(protocol),
        };
        if let Some(Contradiction { first, second, remedy }) = load.contradiction(protocol) {
            let shown = |key| self.key_shown(key, setting);
            return Err(ConfigError::contradiction(shown(first), shown(second), remedy));
        }
        let problem = protocol.and_then(|protocol| Some((protocol, load.problem_under(protocol)?)));
        problem.map_or(Ok(()), |(protocol, problem)| {
            Err(ConfigError::value(format!("--protocol {protocol}"), problem))
        })
    }

    /// A key and its value as given, or with the value in effect if it was not given.
    fn key_shown(&self, (key, value): (&str, String), setting: SpecSource<'_>) -> String {
        let shown = |given: Option<String>| given.unwrap_or_else(|| format!("{key} = {value}"));
        let count = |given: &Option<Given<Count>>| given.as_ref().map(|given| setting.shown(given));
        match key {
            "connections" => shown(count(&self.connections)),
            "in_flight_per_connection" => shown(count(&self.in_flight_per_connection)),
            "client_threads" => shown(count(&self.client_threads)),
            "connection_life" => {
                shown(self.connection_life.as_ref().map(|given| setting.shown(given)))
            }
            _ => format!("--{key} {value}"),
        }
    }

    fn is_pipelining(&self) -> bool {
        self.pipelining.as_ref().is_some_and(|given| given.value)
    }

    pub(super) fn checked_pipelining(&self, setting: SpecSource<'_>) -> Result<bool, ConfigError> {
        match (setting, &self.pipelining) {
            (SpecSource::Load(protocol), Some(given))
                if given.value && !protocol.takes_one_call_at_a_time() =>
            {
                let protocol = format!("--protocol {protocol}");
                let remedy =
                    "it always takes many calls in flight on a connection; leave --pipelining out";
                Err(ConfigError::contradiction(setting.shown(given), protocol, remedy))
            }
            _ => Ok(self.is_pipelining()),
        }
    }

    /// Timeout and grace, milliseconds.
    pub(super) fn waits(&self, setting: SpecSource<'_>) -> Result<(u64, u64), ConfigError> {
        let ms = |given: &Option<Given<NonZeroLength>>| given.as_ref().map(|it| it.value.ms());
        let timeout = ms(&self.timeout).unwrap_or(TIMEOUT_MS);
        let grace = ms(&self.grace).unwrap_or(GRACE_MS.min(timeout));
        match (&self.timeout, &self.grace) {
            (_, None) => {}
            (None, Some(given)) if grace > timeout => {
                let problem = "the grace can't exceed the timeout, 10s by default; raise --timeout or lower --grace";
                return Err(ConfigError::value(setting.shown(given), problem));
            }
            (None, Some(_)) => {}
            (Some(above), Some(below)) => {
                let remedy =
                    "the grace can't exceed the timeout; raise the first or lower the second";
                at_least(setting, (above, above.value), (below, below.value), remedy)?;
            }
        }
        Ok((timeout, grace))
    }

    /// A length, or a number of calls.
    pub(super) fn checked_window(&self, setting: SpecSource<'_>) -> Result<Window, ConfigError> {
        let is_logged = matches!(setting, SpecSource::Suite { log_calls: true, .. });
        if let Some(find_max) = self.find_max.as_ref().filter(|_| is_logged) {
            let problem = "with log_calls, a trial has one window, but a search has many; log calls at a given rate";
            return Err(ConfigError::value(setting.shown(find_max), problem));
        }
        let Some(calls) = &self.calls else { return self.timed_window(setting) };
        if let Some(length) = &self.duration {
            let remedy = "a window has a length or a number of calls; remove one of them";
            return Err(setting.contradiction(calls, length, remedy));
        }
        if let Some(find_max) = &self.find_max {
            let remedy = "a search compares windows of one length; give a duration";
            return Err(setting.contradiction(calls, find_max, remedy));
        }
        if let Some(sweep) = &self.sweep {
            let remedy = "the loads of a sweep have windows of one length; give a duration";
            return Err(setting.contradiction(calls, sweep, remedy));
        }
        if is_logged && calls.value.0 > MAX_LOGGED {
            let problem = format!(
                "with log_calls, a window has at most {MAX_LOGGED} calls: they are kept in memory until its end"
            );
            return Err(ConfigError::value(setting.shown(calls), problem));
        }
        Ok(Window::Calls { calls: calls.value.0 })
    }

    fn timed_window(&self, setting: SpecSource<'_>) -> Result<Window, ConfigError> {
        let length = setting.require(&self.duration, "duration")?;
        let length_ms = length.value.ms();
        let problem = match length_ms {
            ..MIN_WINDOW_MS => "must be at least 100ms, one slice of its series",
            MIN_WINDOW_MS..=MAX_WINDOW_MS => return Ok(Window::Duration { length_ms }),
            _ => "must be at most 48h: every 100ms of it takes memory",
        };
        Err(ConfigError::value(setting.shown(length), problem))
    }

    pub(super) fn checked_warm_up(&self, setting: SpecSource<'_>) -> Result<WarmUp, ConfigError> {
        let given = setting.require(&self.warmup, "warmup")?;
        let (least, cap) = (&self.warmup_min, &self.warmup_max);
        let WarmUpValue(warm_up) = given.value;
        if !matches!(warm_up, WarmUp::UntilSteady { .. }) {
            let least = least.as_ref().map(|least| setting.shown(least));
            let bound = least.or_else(|| cap.as_ref().map(|cap| setting.shown(cap)));
            let remedy = "only a warm-up until steady has bounds; leave one of them out";
            return match bound {
                None => Ok(warm_up),
                Some(bound) => Err(ConfigError::contradiction(bound, setting.shown(given), remedy)),
            };
        }
        if let (Some(least), Some(cap)) = (least, cap) {
            let ends = (cap, Length::from(cap.value));
            let remedy = "a warm-up can't end before its minimum; raise the first";
            at_least(setting, ends, (least, least.value), remedy)?;
        }
        Ok(WarmUp::UntilSteady {
            least_ms: least.as_ref().map_or(0, |least| least.value.ms()),
            cap_ms: cap.as_ref().map(|cap| cap.value.ms()),
        })
    }
}

/// Fails if the first value is below the second.
fn at_least<A, B, T: PartialOrd>(
    setting: SpecSource<'_>,
    (first, one): (&Given<A>, T),
    (second, other): (&Given<B>, T),
    remedy: &'static str,
) -> Result<(), ConfigError> {
    match one >= other {
        true => Ok(()),
        false => Err(setting.contradiction(first, second, remedy)),
    }
}
