//! Observations with dense numbers.

use std::collections::BTreeSet;

use super::Observation;
use super::two_way::Cell;

/// An observation as logarithms, with dense numbers.
pub(super) struct Window {
    pub entry: usize,
    /// Index among the processes of all entries.
    pub process: usize,
    /// Among the rounds of all processes: only the windows of processes of one number are near each other in time.
    pub round: usize,
    pub value: f64,
    pub reference: Option<f64>,
}

/// The valid observations.
pub(super) struct Windows {
    pub list: Vec<Window>,
    /// The caller's number of each observed entry.
    pub present: Vec<usize>,
    /// The processes of all entries. Those with a single window each can't be separated from their windows: on request they are
    /// merged, and count as windows.
    pub processes: Vec<Process>,
    pub rounds: usize,
}

pub(super) struct Process {
    pub entry: usize,
    /// Number of processes merged into it.
    pub count: f64,
    /// Variance that it adds to its level, in units of the variance between processes.
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
        let processes = processes.iter().filter_map(|(entry, _)| {
            let entry = present.binary_search(entry).ok()?;
            let (count, part) = if merged { (counts[entry] as f64, 0.0) } else { (1.0, 1.0) };
            Some(Process { entry, count, part })
        });
        Self { list, processes: processes.collect(), present, rounds: rounds.len() }
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

fn numbers<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.collect::<BTreeSet<T>>().into_iter().collect()
}

/// Sum of squares about the mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}
