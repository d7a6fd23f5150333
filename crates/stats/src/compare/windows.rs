//! Observations with dense numbers.

use std::collections::BTreeSet;

use super::Observation;
use super::two_way::Cell;

/// An observation with logarithmic values and dense numbers.
pub(super) struct Window {
    pub entry: usize,
    /// Index among the processes of all entries.
    pub process: usize,
    /// Index among the rounds of all processes: only windows of processes with the same number are close in time.
    pub round: usize,
    pub value: f64,
    pub reference: Option<f64>,
}

/// The valid observations.
pub(super) struct Windows {
    pub list: Vec<Window>,
    /// The caller's number of each observed entry.
    pub present: Vec<usize>,
    /// The processes of all entries. If each has a single window, they can't be separated from their windows: on request they are
    /// merged, and count as windows.
    pub processes: Vec<Process>,
    pub rounds: usize,
    /// The assumed variance between processes, averaged over the entries, if no entry has two processes. `None` otherwise.
    pub assumed: Option<f64>,
}

pub(super) struct Process {
    pub entry: usize,
    /// Number of processes merged into this one.
    pub count: f64,
    /// Variance added to its level, in units of the variance between processes.
    pub part: f64,
}

impl Windows {
    pub fn new(observations: &[Observation], entries: usize, merge: bool) -> Self {
        let counts = |o: &&Observation| o.entry < entries && o.value.is_finite() && o.value > 0.0;
        let counted: Vec<&Observation> = observations.iter().filter(counts).collect();
        let present = numbers(counted.iter().map(|o| o.entry));
        let mut processes = numbers(counted.iter().map(|o| (o.entry, o.process)));
        let count = |entry: usize| processes.iter().filter(|(own, _)| *own == entry).count();
        let counts: Vec<usize> = present.iter().map(|entry| count(*entry)).collect();
        let merged = merge && processes.len() == counted.len();
        let number = |o: &Observation| if merged { 0 } else { o.process };
        if merged {
            processes = present.iter().map(|entry| (*entry, 0)).collect();
        }
        let rounds = numbers(counted.iter().map(|o| (o.round, o.process)));
        let list = counted.iter().filter_map(|o| {
            let reference = o.reference.filter(|x| x.is_finite() && *x > 0.0);
            Some(Window {
                entry: present.binary_search(&o.entry).ok()?,
                process: processes.binary_search(&(o.entry, number(o))).ok()?,
                round: rounds.binary_search(&(o.round, o.process)).ok()?,
                value: o.value.ln(),
                reference: reference.map(f64::ln),
            })
        });
        let list = list.collect();
        let (assumed, parts) = assumed(&counted, &present, &processes).unzip();
        let processes = processes.iter().filter_map(|(entry, _)| {
            let entry = present.binary_search(entry).ok()?;
            let part = parts.as_ref().map_or(1.0, |parts: &Vec<f64>| parts[entry]);
            let (count, part) = if merged { (counts[entry] as f64, 0.0) } else { (1.0, part) };
            Some(Process { entry, count, part })
        });
        Self { list, processes: processes.collect(), present, rounds: rounds.len(), assumed }
    }

    pub fn entries(&self) -> usize {
        self.present.len()
    }

    /// Processes by round, with the weight of each entry's windows.
    pub fn cells(&self, weight: impl Fn(usize) -> f64) -> Vec<Cell> {
        let cell = |w: &Window| Cell { row: w.process, column: w.round, weight: weight(w.entry) };
        self.list.iter().map(cell).collect()
    }

    pub fn values(&self) -> Vec<f64> {
        self.list.iter().map(|window| window.value).collect()
    }
}

/// The mean of the variances assumed for the entries present, and each as a multiple of it. `None` if an entry has two processes.
fn assumed(
    counted: &[&Observation],
    present: &[usize],
    processes: &[(usize, u32)],
) -> Option<(f64, Vec<f64>)> {
    let mut spreads = vec![0.0; present.len()];
    for observation in counted {
        let entry = present.binary_search(&observation.entry).ok()?;
        spreads[entry] = observation.spread;
    }
    let squares: Vec<f64> = spreads.iter().map(|spread| spread * spread).collect();
    // Positive even without entries.
    let mean = (squares.iter().sum::<f64>() / squares.len() as f64).max(f64::MIN_POSITIVE);
    let alone = processes.windows(2).all(|pair| pair[0].0 != pair[1].0);
    alone.then(|| (mean, squares.iter().map(|square| square / mean).collect()))
}

fn numbers<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.collect::<BTreeSet<T>>().into_iter().collect()
}

/// Sum of squares about the mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}
