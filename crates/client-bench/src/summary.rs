//! From samples to figures: medians, ratios within a round, bars.

use std::time::Duration;

use statrs::statistics::{Data, Max, Min, OrderStatistics};

use crate::lineup::{Client, Row, Step};
use crate::parse::Counts;

/// What one step came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When and what.
    pub step: Step,
    /// What was counted, or why it counts for nothing.
    pub result: Result<Usage, String>,
}

/// Calls, and what they cost the client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Calls that succeeded.
    pub calls: u64,
    /// User and system time of the whole client process.
    pub cpu: Duration,
}

impl Usage {
    /// What a client that made `counts` calls used.
    ///
    /// # Errors
    /// If a call failed, or there was none: then the figures would be of something else.
    pub fn new(counts: Counts, cpu: Duration) -> Result<Self, String> {
        match counts {
            Counts { failed: 0, ok: 0 } => Err("made no calls".to_owned()),
            Counts { failed: 0, ok } => Ok(Self { calls: ok, cpu }),
            Counts { ok, failed } => Err(format!("{failed} of {} calls failed", ok + failed)),
        }
    }

    fn calls_per_cpu_s(&self) -> f64 {
        self.calls as f64 / self.cpu.as_secs_f64()
    }
}

/// A median and what is around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Spread {
    /// Of at least one value.
    fn of(values: Vec<f64>) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let mut data = Data::new(values);
        Some(Self { median: data.median(), min: data.min(), max: data.max() })
    }
}

/// A client under a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The row.
    pub row: Row,
    /// The client.
    pub client: Client,
    /// Its figures, or why there are none.
    pub figures: Result<Figures, String>,
}

/// The figures of a client under a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Calls per client CPU-second.
    pub calls_per_cpu_s: Spread,
    /// Calls a second.
    pub calls_per_s: Spread,
    /// Share of its CPU that the client used, median.
    pub cpu_share: f64,
    /// rpcbench's calls per client CPU-second over this client's, round by round; `None` for rpcbench
    /// itself, and where rpcbench failed.
    pub ratio: Option<Spread>,
}

impl Line {
    /// Whether the line has a bar and its median reaches it.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let reached = self.figures.as_ref().ok().and_then(|figures| match self.client {
            Client::Rpcbench => Some(figures.calls_per_s.median),
            _ => Some(figures.ratio?.median),
        });
        self.row.bar(self.client).zip(reached).is_some_and(|(bar, reached)| reached >= bar)
    }
}

/// The figures of every client of every row that has samples. One failed call of a client voids its line,
/// and where it was rpcbench's, every ratio of the row.
#[must_use]
pub fn summarise(rows: &[Row], samples: &[Sample], seconds: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let usages = |client| usages(samples, index, client);
        let ours = usages(Client::Rpcbench).and_then(Result::ok);
        for &(client, _) in row.clients {
            let Some(theirs) = usages(client) else { continue };
            let figures = theirs.and_then(|theirs| {
                let ours = ours.as_deref().filter(|_| client != Client::Rpcbench);
                figures(&theirs, ours, seconds)
            });
            lines.push(Line { row: *row, client, figures });
        }
    }
    lines
}

/// What a client used, round by round; `None` if it never ran.
fn usages(samples: &[Sample], row: usize, client: Client) -> Option<Result<Vec<Usage>, String>> {
    let here = |sample: &&Sample| sample.step.row == row && sample.step.client == client;
    let results = samples.iter().filter(here).map(|sample| {
        let voided = |problem: &String| format!("round {}: {problem}", sample.step.round + 1);
        sample.result.as_ref().map(|usage| *usage).map_err(voided)
    });
    let results: Vec<Result<Usage, String>> = results.collect();
    (!results.is_empty()).then(|| results.into_iter().collect())
}

fn figures(theirs: &[Usage], ours: Option<&[Usage]>, seconds: u64) -> Result<Figures, String> {
    let spread = |figure: &dyn Fn(&Usage) -> f64| {
        Spread::of(theirs.iter().map(figure).collect()).ok_or_else(|| "never ran".to_owned())
    };
    let share = spread(&|usage| usage.cpu.as_secs_f64() / seconds as f64)?;
    let ratios = ours.map(|ours| {
        let pairs = ours.iter().zip(theirs);
        pairs.map(|(ours, theirs)| ours.calls_per_cpu_s() / theirs.calls_per_cpu_s()).collect()
    });
    Ok(Figures {
        calls_per_cpu_s: spread(&Usage::calls_per_cpu_s)?,
        calls_per_s: spread(&|usage| usage.calls as f64 / seconds as f64)?,
        cpu_share: share.median,
        ratio: ratios.and_then(Spread::of),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lineup::ROWS;

    fn sample(round: u32, client: Client, result: Result<(u64, u64), &str>) -> Sample {
        let usage = |(calls, ms)| Usage { calls, cpu: Duration::from_millis(ms) };
        let result = result.map(usage).map_err(str::to_owned);
        Sample { step: Step { round, row: 0, client }, result }
    }

    fn line(lines: &[Line], client: Client) -> Line {
        lines.iter().find(|line| line.client == client).unwrap().clone()
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let samples = [
            sample(0, Client::Rpcbench, Ok((800, 1_000))),
            sample(0, Client::H2load, Ok((200, 1_000))),
            sample(1, Client::H2load, Ok((100, 2_000))),
            sample(1, Client::Rpcbench, Ok((300, 2_000))),
            sample(2, Client::H2load, Ok((100, 1_000))),
            sample(2, Client::Rpcbench, Ok((500, 500))),
        ];
        let lines = summarise(&ROWS, &samples, 2);
        assert_eq!(lines.len(), 2, "ghz did not run");
        let h2load = line(&lines, Client::H2load).figures.unwrap();
        assert_eq!(h2load.ratio, Some(Spread { median: 4.0, min: 3.0, max: 10.0 }));
        assert_eq!(h2load.calls_per_cpu_s, Spread { median: 100.0, min: 50.0, max: 200.0 });
        assert_eq!(h2load.calls_per_s, Spread { median: 50.0, min: 50.0, max: 100.0 });
        assert_eq!(h2load.cpu_share, 0.5);
        assert!(line(&lines, Client::H2load).is_met());
        assert_eq!(line(&lines, Client::Rpcbench).figures.unwrap().ratio, None);
    }

    #[test]
    fn a_failed_call_voids_the_line() {
        let samples = [
            sample(0, Client::Rpcbench, Ok((800, 1_000))),
            sample(0, Client::Ghz, Ok((10, 1_000))),
            sample(1, Client::Ghz, Err("3 of 10 calls failed")),
            sample(1, Client::Rpcbench, Ok((800, 1_000))),
        ];
        let lines = summarise(&ROWS, &samples, 2);
        let problem = line(&lines, Client::Ghz).figures.unwrap_err();
        assert_eq!(problem, "round 2: 3 of 10 calls failed");
        assert!(line(&lines, Client::Rpcbench).figures.is_ok());
    }

    #[test]
    fn without_rpcbench_there_is_no_ratio_and_no_bar_is_met() {
        let samples = [
            sample(0, Client::Rpcbench, Err("made no calls")),
            sample(0, Client::H2load, Ok((200, 1_000))),
        ];
        let h2load = line(&summarise(&ROWS, &samples, 2), Client::H2load);
        assert!(!h2load.is_met());
        assert_eq!(h2load.figures.unwrap().ratio, None);
    }

    #[test]
    fn only_a_run_whose_calls_all_succeeded_counts() {
        let cpu = Duration::from_millis(1);
        let usage = |ok, failed| Usage::new(Counts { ok, failed }, cpu);
        assert_eq!(usage(5, 0), Ok(Usage { calls: 5, cpu }));
        assert_eq!(usage(0, 0), Err("made no calls".to_owned()));
        assert_eq!(usage(7, 3), Err("3 of 10 calls failed".to_owned()));
    }

    #[test]
    fn a_rate_has_a_bar_of_its_own() {
        let samples = |calls| {
            let mut sample = sample(0, Client::Rpcbench, Ok((calls, 1_000)));
            sample.step.row = 1;
            [sample]
        };
        let is_met = |calls| summarise(&ROWS, &samples(calls), 2)[0].is_met();
        assert!(is_met(4_000_000));
        assert!(!is_met(3_999_998));
    }
}
