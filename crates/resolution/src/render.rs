//! Tables of runs and of what they come to.

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};

use crate::design::{DESIGNS, Design, ENTRIES};
use crate::judge::{Judged, Score};
use crate::noise::Noise;

/// How tables are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// For a terminal
    Text,
    /// Markdown, to be pasted
    Markdown,
}

const RUNS: [&str; 9] = [
    "design",
    "run",
    "time",
    "processes",
    "unranked",
    "equals told apart",
    "slower than",
    "smallest difference",
    "right",
];
const NOISE: [&str; 7] = [
    "design",
    "windows",
    "within rounds",
    "by syscalls",
    "by memory",
    "by arithmetic",
    "by all three",
];

/// A line for each run, what each design comes to, and what the noise was; ends in a line feed.
pub fn render(runs: &[Judged], style: Style) -> String {
    let scores = DESIGNS.iter().filter_map(|design| Score::of(runs, *design));
    let verdicts: String = scores.map(verdict).collect();
    let runs_table = table(&RUNS, 2, runs.iter().map(run_cells), style);
    let noise_table =
        table(&NOISE, 1, DESIGNS.iter().filter_map(|it| noise_cells(runs, *it)), style);
    format!(
        "{runs_table}\n\n{verdicts}\nStandard deviation of windows, median of the runs:\n\n{noise_table}\n"
    )
}

fn table<const N: usize>(
    titles: &[&str; N],
    words: usize,
    rows: impl Iterator<Item = [String; N]>,
    style: Style,
) -> Table {
    let mut table = Table::new();
    table.load_style(match style {
        Style::Text => presets::NOTHING,
        Style::Markdown => presets::ASCII_MARKDOWN,
    });
    table.set_header(titles);
    rows.for_each(|row| _ = table.add_row(row));
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn run_cells(run: &Judged) -> [String; 9] {
    let found = match run.design {
        Design::Equal => String::new(),
        Design::Dearer5 | Design::Dearer10 => format!("{} of {}", run.found, ENTRIES - 1),
    };
    [
        run.design.to_string(),
        run.name.clone(),
        run.seconds.map_or_else(|| "not ended".to_owned(), |it| format!("{it:.0} s")),
        run.processes.to_string(),
        run.unranked.to_string(),
        run.wrong.to_string(),
        found,
        percent(run.resolution),
        if run.is_right() { "yes" } else { "no" }.to_owned(),
    ]
}

fn verdict(score: Score) -> String {
    let Score { design, right, all } = score;
    let met = if score.is_met() { "met" } else { "not met" };
    format!("{design}: {right} of {all} right; the bar is {:.0} %: {met}\n", design.bar() * 100.0)
}

fn noise_cells(runs: &[Judged], design: Design) -> Option<[String; 7]> {
    let own: Vec<&Noise> =
        runs.iter().filter(|run| run.design == design).map(|run| &run.noise).collect();
    let middle = |figure: &dyn Fn(&Noise) -> Option<f64>| {
        percent(median(own.iter().filter_map(|noise| figure(noise)).collect()))
    };
    let [syscalls, memory, arithmetic] = [0, 1, 2].map(|at| middle(&|it| it.by_part[at]));
    (!own.is_empty()).then(|| {
        [
            design.to_string(),
            middle(&|it| it.windows),
            middle(&|it| it.in_rounds),
            syscalls,
            memory,
            arithmetic,
            middle(&|it| it.by_all),
        ]
    })
}

/// The greater of the two in the middle where their number is even.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |it| format!("{:.1} %", it * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(design: Design, found: usize, wrong: usize, windows: f64) -> Judged {
        Judged {
            design,
            name: "2026-11-23T10-00-00".to_owned(),
            processes: 9,
            seconds: Some(371.4),
            unranked: 0,
            wrong,
            found,
            resolution: Some(0.0312),
            noise: Noise {
                windows: Some(windows),
                in_rounds: Some(0.071),
                by_part: [Some(0.031), None, Some(0.069)],
                by_all: Some(0.03),
            },
        }
    }

    #[test]
    fn what_was_right_and_what_took_the_noise_away_are_shown() {
        let runs = [
            run(Design::Equal, 0, 0, 0.2),
            run(Design::Equal, 0, 1, 0.1),
            run(Design::Dearer10, 5, 0, 0.12),
            Judged { seconds: None, resolution: None, ..run(Design::Dearer10, 4, 0, 0.14) },
            run(Design::Equal, 0, 0, 0.3),
        ];
        insta::assert_snapshot!(render(&runs, Style::Markdown));
    }
}
