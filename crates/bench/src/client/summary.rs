//! Computes figures from samples: medians, ratios within a round, and whether bars are met.

use std::time::Duration;

use statrs::statistics::{Data, OrderStatistics};

use super::lineup::{Client, Row, Step};
use super::parse::Counts;

#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub step: Step,
    /// Calls and cost, or why it is void.
    pub result: Result<Usage, String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Calls that succeeded.
    pub calls: u64,
    /// User and system time of the client process.
    pub cpu: Duration,
}

impl Usage {
    /// Of a client that made `counts` calls in `cpu` time. An error if a call failed or there was none.
    pub fn new(counts: Counts, cpu: Duration) -> Result<Self, String> {
        match counts {
            Counts { failed: 0, ok: 0 } => Err("no calls".to_owned()),
            Counts { failed: 0, ok } => Ok(Self { calls: ok, cpu }),
            Counts { ok, failed } => Err(format!("{failed} of {} calls failed", ok + failed)),
        }
    }

    fn calls_per_cpu_s(&self) -> f64 {
        self.calls as f64 / self.cpu.as_secs_f64()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    fn of(values: Vec<f64>) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let mut data = Data::new(values);
        Some(Self {
            median: data.median(),
            low: data.lower_quartile(),
            high: data.upper_quartile(),
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub row: Row,
    pub client: Client,
    /// Its figures, or why it is void.
    pub figures: Result<Figures, String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub calls_per_cpu_s: Spread,
    pub calls_per_s: Spread,
    /// Median share of its CPU that the client used.
    pub cpu_share: f64,
    /// rpcbench's calls per client CPU-second divided by this client's, by round. `None` for rpcbench itself, and if
    /// rpcbench failed.
    pub ratio: Option<Spread>,
}

impl Line {
    /// True if the line has a bar and its median reaches it.
    pub fn is_met(&self) -> bool {
        let reached = self.figures.as_ref().ok().and_then(|figures| match self.client {
            Client::Rpcbench => Some(figures.calls_per_s.median),
            _ => Some(figures.ratio?.median),
        });
        self.row.bar(self.client).zip(reached).is_some_and(|(bar, reached)| reached >= bar)
    }
}

/// The figures of every client that has samples, by row. A failed call voids the client's line; if the client is rpcbench,
/// the row has no ratios.
pub fn summarise(rows: &[Row], samples: &[Sample], seconds: u64) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let usages = |client| usages(samples, index, client);
        let ours = usages(Client::Rpcbench).and_then(Result::ok);
        let clients = row.clients.iter().map(|(client, _)| *client);
        for client in std::iter::once(Client::Baseline).chain(clients) {
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

/// The results of a client by round. `None` if it never ran.
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
        Spread::of(theirs.iter().map(figure).collect()).ok_or_else(|| "no rounds".to_owned())
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
    use crate::client::lineup::ROWS;

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
        let median = |spread: Spread| spread.median;
        assert_eq!(h2load.ratio.map(median), Some(4.0));
        assert_eq!(median(h2load.calls_per_cpu_s), 100.0);
        assert_eq!(median(h2load.calls_per_s), 50.0);
        assert_eq!(h2load.cpu_share, 0.5);
        assert!(line(&lines, Client::H2load).is_met());
        assert_eq!(line(&lines, Client::Rpcbench).figures.unwrap().ratio, None);
    }

    #[test]
    fn another_build_may_be_one_percent_better() {
        let samples = |calls: [u64; 5]| -> Vec<Sample> {
            let pair = |(round, calls)| {
                [
                    sample(round, Client::Baseline, Ok((1000, 1_000))),
                    sample(round, Client::Rpcbench, Ok((calls, 1_000))),
                ]
            };
            (0..).zip(calls).flat_map(pair).collect()
        };
        let baseline =
            line(&summarise(&ROWS, &samples([990, 980, 1100, 995, 900]), 2), Client::Baseline);
        let ratio = baseline.figures.as_ref().unwrap().ratio.unwrap();
        assert_eq!(ratio.median, 0.99);
        assert!((0.9..0.99).contains(&ratio.low) && (0.99..1.1).contains(&ratio.high));
        assert!(baseline.is_met());
        let worse = summarise(&ROWS, &samples([989; 5]), 2);
        assert!(!line(&worse, Client::Baseline).is_met());
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
            sample(0, Client::Rpcbench, Err("no calls")),
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
        assert_eq!(usage(0, 0), Err("no calls".to_owned()));
        assert_eq!(usage(7, 3), Err("3 of 10 calls failed".to_owned()));
    }

    #[test]
    fn rpcbench_has_a_bar_for_its_rate() {
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
