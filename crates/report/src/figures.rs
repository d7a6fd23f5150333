//! The figures of a cell over all its trials.

use rpcbench_record::{Latency, Limits, Measured, Outcomes, in_parallel};
use rpcbench_stats::{Histogram, Range};

use crate::connection_churn::ConnectionChurn;
use crate::format;
use crate::openings::Openings;
use crate::runtime::RuntimeFigures;

/// A figure of a cell, with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure, with less weight on outlying windows.
    pub value: f64,
    /// The figure with full weight on outlying windows.
    pub raw: f64,
    /// The interval for comparing entries of a table: two entries differ clearly if these do not overlap. For a single entry, the
    /// figure's own interval. `None` with one window.
    pub range: Option<Range>,
    /// The entry's own 95 % interval, including effects shared by all entries of the run. `None` with one window.
    pub own: Option<Range>,
}

impl Estimate {
    /// A figure as measured, without an interval.
    pub fn raw(value: f64) -> Self {
        Self { value, raw: value, range: None, own: None }
    }

    /// Half the width of the interval, as a share of the value.
    pub fn half_width(&self) -> Option<f64> {
        let range = self.range?;
        (self.value > 0.0).then(|| (range.high - range.low) / 2.0 / self.value)
    }

    /// `98.2k ±1.6 %`, padded to align with other rows; `98.2k ±?` if the interval is wider than the figure.
    pub(crate) fn rate(&self) -> String {
        let percent = match self.half_width() {
            None => format!("{}  ", format::NOTHING),
            Some(share) if share > 0.5 => "?  ".to_owned(),
            Some(share) if share < 0.095 => format!("{:.1} %", share * 100.0),
            Some(share) => format!("{:.0} %", share * 100.0),
        };
        format!("{} ±{percent:>5}", format::si(self.value))
    }
}

/// Response times of correct answers over all trials of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Smallest, exact, nanoseconds.
    pub min_ns: u64,
    /// Mean, exact, nanoseconds.
    pub mean_ns: f64,
    /// Standard deviation of the population, nanoseconds.
    pub stddev_ns: f64,
    /// Largest, exact, nanoseconds.
    pub max_ns: u64,
    /// Every response time.
    histogram: Histogram,
    /// True if the histogram of each trial has as many calls as its latency claims.
    pub(crate) is_whole: bool,
}

impl Response {
    /// Merges the trials' distributions. `None` if no call was answered or no histogram can be read.
    pub fn merged(parts: &[&Latency]) -> Option<Self> {
        let parts: Vec<&Latency> = parts.iter().copied().filter(|l| l.count > 0).collect();
        let min_ns = parts.iter().map(|l| l.min_ns).min()?;
        let (histogram, is_whole) = merged_and_counted(&parts)?;
        let (mean_ns, stddev_ns) = pooled(&parts);
        Some(Self {
            min_ns,
            mean_ns,
            stddev_ns,
            max_ns: parts.iter().map(|l| l.max_ns).max()?,
            histogram,
            is_whole,
        })
    }

    /// Every response time.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The quantile `q`, nanoseconds, to the histogram's resolution: see [`Histogram::quantile`].
    pub fn quantile(&self, q: f64) -> u64 {
        self.histogram.quantile(q).map_or(self.max_ns, |value| value.min(self.max_ns))
    }
}

fn records_per_reply(trials: &[&Measured], outcomes: &Outcomes) -> Option<f64> {
    let records: u64 = trials.iter().map(|t| t.client.tls_records).sum();
    (records > 0 && outcomes.ok > 0).then(|| share(records as f64, outcomes.ok as f64))
}

/// The distribution of all parts. `None` if a histogram can't be read.
pub(crate) fn merged<'a>(parts: impl IntoIterator<Item = &'a Latency>) -> Option<Histogram> {
    let parts: Vec<&Latency> = parts.into_iter().collect();
    Some(merged_and_counted(&parts)?.0)
}

/// The same, and whether each histogram has as many calls as its latency claims.
fn merged_and_counted(parts: &[&Latency]) -> Option<(Histogram, bool)> {
    let merged = in_parallel(parts, parts.len(), |parts| {
        let (mut all, mut is_whole) = (Histogram::new(), true);
        for part in parts {
            is_whole &= all.merge_base64(&part.histogram).ok()? == part.count;
        }
        Some((all, is_whole))
    });
    let both = |one: Option<(Histogram, bool)>, other| {
        let ((mut all, is_whole), (part, is_part_whole)) = one.zip(other)?;
        all.merge(&part);
        Some((all, is_whole && is_part_whole))
    };
    merged.into_iter().reduce(both)?
}

/// Mean and standard deviation of the union of several populations.
fn pooled(parts: &[&Latency]) -> (f64, f64) {
    let calls: f64 = parts.iter().map(|l| l.count as f64).sum();
    let mean = parts.iter().map(|l| l.mean_ns * l.count as f64).sum::<f64>() / calls;
    let spread = |l: &Latency| l.stddev_ns.powi(2) + (l.mean_ns - mean).powi(2);
    let variance = parts.iter().map(|l| spread(l) * l.count as f64).sum::<f64>() / calls;
    (mean, variance.sqrt())
}

/// The server's resource use over all trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerFigures {
    /// CPU time as a share of the CPU limit.
    pub cpu_share: f64,
    /// CPU time in user mode, seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, seconds.
    pub cpu_system_s: f64,
    /// Correct answers per second of its CPU time, over all trials. `None` if it used no CPU time.
    pub calls_per_cpu_s: Option<Estimate>,
    /// Peak memory use without page cache, bytes.
    pub memory_peak_bytes: u64,
    /// Anonymous memory at the end of a trial, averaged over trials, bytes.
    pub memory_anon_bytes: u64,
    /// Share of the windows in which the CPU controller throttled the server. `None` if unknown.
    pub throttled_share: Option<f64>,
}

/// The client's CPU use over all trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientFigures {
    /// CPU time as a share of one CPU per client thread.
    pub cpu_share: f64,
    /// The part spent busy-waiting, as a share of one CPU per client thread.
    pub awake_share: f64,
    /// The busiest thread of each trial, as a share of one CPU, including waiting for a CPU and excluding busy-waiting.
    pub busiest_share: f64,
    /// Correct answers per second of the client's CPU time. `None` if it used none.
    pub calls_per_cpu_s: Option<f64>,
}

/// All figures of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Correct answers per second, mean over trials.
    pub calls_per_s: Estimate,
    /// Response times. `None` if no call was answered.
    pub response: Option<Response>,
    /// Connects, and calls without connects. `None` for long connections.
    pub churn: Option<ConnectionChurn>,
    /// The steps of connects, and TLS handshakes.
    pub openings: Openings,
    /// TLS records received by the client per answered call. `None` without TLS.
    pub records_per_reply: Option<f64>,
    /// Calls by outcome.
    pub outcomes: Outcomes,
    /// `None` if the server's resource use is unknown.
    pub server: Option<ServerFigures>,
    /// `None` without statistics of the server's runtime.
    pub runtime: Option<RuntimeFigures>,
    /// The same for the server called by a client under test.
    pub counterpart_runtime: Option<RuntimeFigures>,
    /// The load threads.
    pub client: ClientFigures,
    /// Time stolen by the hypervisor, nanoseconds.
    pub steal_ns: u64,
}

impl Figures {
    /// The figures of a cell's trials. `None` without trials.
    pub fn of(trials: &[&Measured], limits: Option<Limits>) -> Option<Self> {
        let rates: Vec<f64> = trials.iter().filter_map(|t| t.ok_per_s()).collect();
        let mut outcomes = Outcomes::default();
        trials.iter().for_each(|t| outcomes.add(&t.outcomes));
        let latencies: Vec<&Latency> = trials.iter().filter_map(|t| t.latency.as_ref()).collect();
        Some(Self {
            calls_per_s: Estimate::raw(mean(&rates)?),
            response: Response::merged(&latencies),
            churn: ConnectionChurn::of(trials),
            openings: Openings::of(trials),
            records_per_reply: records_per_reply(trials, &outcomes),
            outcomes,
            server: limits.and_then(|limits| ServerFigures::of(trials, limits)),
            runtime: RuntimeFigures::of(trials, |it| &it.runtime),
            counterpart_runtime: RuntimeFigures::of(trials, |it| &it.counterpart_runtime),
            client: client(trials),
            steal_ns: trials.iter().map(|t| t.machine.steal_ns).sum(),
        })
    }
}

impl ServerFigures {
    /// The figures of a cell's trials. `None` if a trial lacks the server's usage.
    pub(crate) fn of(trials: &[&Measured], limits: Limits) -> Option<Self> {
        let used: Vec<_> = trials.iter().filter_map(|t| t.server.as_ref()).collect();
        if used.is_empty() || used.len() < trials.len() {
            return None;
        }
        let user = used.iter().map(|s| s.cpu_user_ns).sum::<u64>() as f64;
        let system = used.iter().map(|s| s.cpu_system_ns).sum::<u64>() as f64;
        let time = used.iter().map(|s| s.interval_ns).sum::<u64>() as f64;
        let anon = used.iter().map(|s| s.memory_anon_bytes).sum::<u64>();
        let throttled: Option<u64> = used.iter().map(|s| s.throttled_ns).sum();
        Some(Self {
            cpu_share: share(user + system, time * f64::from(limits.cpus)),
            cpu_user_s: user / 1e9,
            cpu_system_s: system / 1e9,
            calls_per_cpu_s: calls_per_cpu_s(trials).map(Estimate::raw),
            memory_peak_bytes: used.iter().map(|s| s.memory_peak_bytes).max().unwrap_or_default(),
            memory_anon_bytes: anon / used.len() as u64,
            throttled_share: throttled.map(|ns| share(ns as f64, time)),
        })
    }
}

/// Correct answers per second of server CPU time over the windows. `None` if the server used none.
fn calls_per_cpu_s(trials: &[&Measured]) -> Option<f64> {
    let windows = trials.iter().filter_map(|t| Some((t.ok_pro_rata, t.server_cpu_s()?)));
    let (answered, seconds) = windows.fold((0.0, 0.0), |sum, w| (sum.0 + w.0, sum.1 + w.1));
    (seconds > 0.0).then(|| answered / seconds)
}

fn client(trials: &[&Measured]) -> ClientFigures {
    let allowed = sum(trials, |t| t.window_ns * u64::from(t.client.threads));
    let answered: f64 = trials.iter().map(|t| t.ok_pro_rata).sum();
    let cpu_s = sum(trials, |t| t.client.cpu_ns) / 1e9;
    ClientFigures {
        calls_per_cpu_s: (cpu_s > 0.0).then(|| answered / cpu_s),
        cpu_share: share(sum(trials, |t| t.client.cpu_ns), allowed),
        awake_share: share(sum(trials, |t| t.client.awake_ns), allowed),
        busiest_share: share(sum(trials, |t| t.client.busiest_ns), sum(trials, |t| t.window_ns)),
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn sum(trials: &[&Measured], of: impl Fn(&Measured) -> u64) -> f64 {
    trials.iter().map(|t| of(t)).sum::<u64>() as f64
}

/// `part / whole`; 0 if `whole` is 0.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_wider_than_figure_is_question_mark() {
        let rate = |low: f64, high: f64| {
            let range = Some(Range { low, high });
            Estimate { range, ..Estimate::raw(1000.0) }.rate()
        };
        assert_eq!(rate(990.0, 1010.0), "1.00k ±1.0 %");
        assert_eq!(rate(600.0, 1590.0), "1.00k ± 50 %");
        assert_eq!(rate(600.0, 1610.0), "1.00k ±  ?  ");
        assert_eq!(rate(20.0, 9000.0), "1.00k ±  ?  ");
        assert_eq!(Estimate::raw(1000.0).rate(), "1.00k ±  -  ");
    }
}
