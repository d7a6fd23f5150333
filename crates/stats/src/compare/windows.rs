//! Observations with dense numbers, and their means by process.

use std::collections::BTreeSet;

use super::Observation;
use super::two_way::{Cell, TwoWay};

/// An observation as logarithms, with dense numbers.
pub(super) struct Window {
    pub entry: usize,
    pub generation: usize,
    /// Within the generation.
    pub round: usize,
    pub value: f64,
    pub reference: Option<f64>,
}

/// The valid observations.
pub(super) struct Windows {
    pub list: Vec<Window>,
    /// The caller's number of each observed entry.
    pub present: Vec<usize>,
    /// Rounds of each generation.
    pub rounds: Vec<usize>,
}

impl Windows {
    pub fn new(observations: &[Observation], entries: usize) -> Self {
        let counts = |o: &&Observation| o.entry < entries && o.value.is_finite() && o.value > 0.0;
        let counted: Vec<&Observation> = observations.iter().filter(counts).collect();
        let present: Vec<usize> = numbers(counted.iter().map(|o| o.entry));
        let generations: Vec<u32> = numbers(counted.iter().map(|o| o.process));
        let rounds: Vec<Vec<u32>> = generations
            .iter()
            .map(|own| counted.iter().filter(|o| o.process == *own).map(|o| o.round))
            .map(numbers)
            .collect();
        let list = counted.iter().filter_map(|o| {
            let generation = generations.binary_search(&o.process).ok()?;
            let reference = o.reference.filter(|x| x.is_finite() && *x > 0.0);
            Some(Window {
                entry: present.binary_search(&o.entry).ok()?,
                generation,
                round: rounds[generation].binary_search(&o.round).ok()?,
                value: o.value.ln(),
                reference: reference.map(f64::ln),
            })
        });
        let list = list.collect();
        Self { list, present, rounds: rounds.iter().map(Vec::len).collect() }
    }

    pub fn entries(&self) -> usize {
        self.present.len()
    }

    pub fn generations(&self) -> usize {
        self.rounds.len()
    }

    /// Means by process of `values`, one per window, without effects shared by the windows of a round.
    pub fn processes(&self, values: &[f64]) -> Processes {
        let mut found = Processes {
            list: Vec::new(),
            rounds: vec![0.0; self.list.len()],
            rest: 0.0,
            freedom: 0.0,
            within: (0.0, 0.0),
        };
        for (generation, rounds) in self.rounds.iter().enumerate() {
            let (numbers, cells): (Vec<usize>, Vec<Cell>) = self
                .list
                .iter()
                .enumerate()
                .filter(|(_, window)| window.generation == generation)
                .map(|(at, window)| (at, cell(window.entry, window.round, values[at])))
                .unzip();
            let fit = TwoWay::fit(&cells, self.entries(), *rounds);
            numbers.iter().for_each(|at| found.rounds[*at] = fit.columns[self.list[*at].round]);
            let before = found.list.len();
            for (entry, mean) in fit.rows.iter().enumerate() {
                let own = cells.iter().filter(|cell| cell.row == entry).map(|cell| cell.value);
                let own: Vec<f64> = own.collect();
                if !own.is_empty() {
                    found.within.0 += squares(&own);
                    found.within.1 += (own.len() - 1) as f64;
                    found.list.push(Process { entry, generation, mean: *mean, windows: own.len() });
                }
            }
            let spent = rounds + found.list.len() - before;
            found.rest += fit.rest;
            found.freedom += (cells.len() + 1).saturating_sub(spent) as f64;
        }
        found
    }
}

pub(super) fn cell(row: usize, column: usize, value: f64) -> Cell {
    Cell { row, column, value, weight: 1.0 }
}

fn numbers<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.collect::<BTreeSet<T>>().into_iter().collect()
}

/// The mean of one process, as a logarithm.
pub(super) struct Process {
    pub entry: usize,
    pub generation: usize,
    pub mean: f64,
    pub windows: usize,
}

/// Means of all processes.
pub(super) struct Processes {
    pub list: Vec<Process>,
    /// The round's effect for each window.
    pub rounds: Vec<f64>,
    /// Sum of squares within processes and rounds.
    pub rest: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// Sum of squares within processes including rounds, and its degrees of freedom.
    pub within: (f64, f64),
}

impl Processes {
    /// The windows' contribution to the variance of the process's mean.
    pub fn of_windows(&self, process: &Process) -> f64 {
        self.rest / self.freedom.max(1.0) / process.windows as f64
    }
}

/// Sum of squares about the mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}
