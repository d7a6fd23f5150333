//! Tables of runs and of what they come to.

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use rpcbench_stats::median;

use crate::change::Compared;
use crate::design::{DESIGNS, Design};
use crate::judge::{Judged, Score};
use crate::noise::Noise;
use crate::results::Results;

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
const COMPARED: [&str; 8] = [
    "design",
    "run",
    "beside",
    "machine",
    "equals told apart",
    "slower",
    "smallest change",
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

/// A line for each run and each comparison, what each design comes to, and what the noise was; ends in a line feed.
pub fn render(results: &Results, style: Style) -> String {
    let Results { runs, compared } = results;
    let scores = |of: &dyn Fn(Design) -> Option<Score>| -> String {
        DESIGNS.into_iter().filter_map(|design| Some(verdict(design, of(design)?))).collect()
    };
    let noise = DESIGNS.iter().filter_map(|it| noise_cells(runs, *it));
    [
        section("Each run by itself", &table(&RUNS, 2, runs.iter().map(run_cells), style)),
        scores(&|design| results.score(design)),
        section(
            "Each beside the last run of equal entries before it, and new builds beside old ones, by rpcbench compare",
            &table(&COMPARED, 3, compared.iter().map(compared_cells), style),
        ),
        scores(&|design| results.score_compared(design)),
        section(
            "Standard deviation of windows, median of the runs",
            &table(&NOISE, 1, noise, style),
        ),
    ]
    .join("\n")
}

fn section(title: &str, table: &Table) -> String {
    format!("{title}:\n\n{table}\n")
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
        costlier => format!("{} of {}", run.found, costlier.equals()),
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
        yes_or_no(run.is_right()).to_owned(),
    ]
}

fn compared_cells(compared: &Compared) -> [String; 8] {
    [
        compared.design.to_string(),
        compared.name.clone(),
        compared.base.clone(),
        percent(compared.machine.map(|it| it - 1.0)),
        compared.wrong.to_string(),
        compared.found.map_or("", yes_or_no).to_owned(),
        percent(compared.resolution),
        yes_or_no(compared.is_right()).to_owned(),
    ]
}

fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

fn verdict(design: Design, score: Score) -> String {
    let Score { right, all, bar } = score;
    let met = if score.is_met() { "met" } else { "not met" };
    format!("{design}: {right} of {all} right; the bar is {:.0} %: {met}\n", bar * 100.0)
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

    fn beside(design: Design, found: Option<bool>, wrong: usize) -> Compared {
        Compared {
            design,
            name: "2026-11-23T11-00-00".to_owned(),
            base: "2026-11-23T10-00-00".to_owned(),
            machine: Some(1.083),
            wrong,
            found,
            resolution: Some(0.0723),
        }
    }

    #[test]
    fn what_was_right_and_what_took_the_noise_away_are_shown() {
        let runs = vec![
            run(Design::Equal, 0, 0, 0.2),
            run(Design::Equal, 0, 1, 0.1),
            run(Design::Costlier10, 5, 0, 0.12),
            Judged { seconds: None, resolution: None, ..run(Design::Costlier10, 4, 0, 0.14) },
            run(Design::Equal, 0, 0, 0.3),
        ];
        let compared = vec![
            beside(Design::Equal, None, 0),
            Compared { machine: None, ..beside(Design::Costlier10, Some(true), 0) },
            beside(Design::Costlier10, Some(true), 1),
            Compared { resolution: None, ..beside(Design::Costlier5, Some(false), 0) },
        ];
        insta::assert_snapshot!(render(&Results { runs, compared }, Style::Markdown));
    }
}
