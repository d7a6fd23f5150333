//! Prints runs, comparisons, scores and noise as tables.

use comfy_table::Table;
use rpcbench_stats::median;

use super::alone::{self, SoloRun};
use super::change::Compared;
use super::design::{DESIGNS, Experiment, Goal};
use super::halves::{self, HalfWindows};
use super::judge::{Judged, Score};
use super::noise::Noise;
use super::results::Results;
use crate::table::{Style, table};

const RUNS: [&str; 9] = [
    "design",
    "run",
    "time",
    "processes",
    "unranked",
    "false differences",
    "slower than",
    "smallest difference",
    "right",
];
const COMPARED: [&str; 8] = [
    "design",
    "run",
    "baseline",
    "machine",
    "false differences",
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

const ALONE: [&str; 4] = ["server", "runs", "in the table / alone", "met"];
const HALVES: [&str; 4] = ["server", "windows", "second half / first", "met"];

/// A line for each run and each comparison, the score of each design, servers alone, halves of windows, and the noise.
pub fn render(results: &Results, style: Style) -> String {
    let Results { runs, compared, alone, halves } = results;
    let scores = |of: &dyn Fn(Experiment) -> Option<Score>| -> String {
        DESIGNS.into_iter().filter_map(|design| Some(verdict(design, of(design)?))).collect()
    };
    let noise = DESIGNS.iter().filter_map(|it| noise_cells(runs, *it));
    let sections = [
        section("Runs", &table(&RUNS, 2..9, runs.iter().map(run_cells), style)),
        scores(&|design| results.score(design)),
        section(
            &format!(
                "In the table, relative to one load without a break right after it, median of the runs; the bar is {:.0} %",
                alone::BAR * 100.0
            ),
            &table(&ALONE, 1..3, alone.iter().map(alone_cells), style),
        ),
        section(
            &format!(
                "Calls in the second half of windows in the table, relative to the first; at most {:.0} % more are right",
                halves::BAR * 100.0
            ),
            &table(&HALVES, 1..3, halves.iter().map(halves_cells), style),
        ),
        section(
            "Comparisons by rpcbench compare: with the last run of equal entries, and of new builds with old ones",
            &table(&COMPARED, 3..8, compared.iter().map(compared_cells), style),
        ),
        scores(&|design| results.score_compared(design)),
        section(
            "Standard deviation of windows, median of the runs",
            &table(&NOISE, 1..7, noise, style),
        ),
    ];
    sections.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Nothing for a table without rows.
fn section(title: &str, table: &Table) -> String {
    if table.is_empty() { String::new() } else { format!("{title}:\n\n{table}\n") }
}

fn alone_cells(alone: &SoloRun) -> [String; 4] {
    [
        alone.entry.clone(),
        alone.ratios.len().to_string(),
        alone.median().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
        yes_or_no(alone.is_met()).to_owned(),
    ]
}

fn halves_cells((entry, halves): (&String, &HalfWindows)) -> [String; 4] {
    [
        entry.clone(),
        halves.windows.to_string(),
        format!("{:.3}", halves.ratio()),
        yes_or_no(halves.is_met()).to_owned(),
    ]
}

fn run_cells(run: &Judged) -> [String; 9] {
    let found = match run.design.spec().goal {
        Goal::Finds(_) => run.found.to_string(),
        Goal::Sees(_) | Goal::Ranks => String::new(),
    };
    [
        run.design.to_string(),
        run.name.clone(),
        run.seconds.map_or_else(|| "unfinished".to_owned(), |it| format!("{it:.0} s")),
        run.processes.to_string(),
        run.unranked.to_string(),
        format!("{} of {}", run.wrong, run.equal_pairs),
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

fn verdict(design: Experiment, score: Score) -> String {
    let Score { right, all, bar } = score;
    let met = if score.is_met() { "met" } else { "not met" };
    format!("{design}: {right} of {all} right; the bar is {:.0} %: {met}\n", bar * 100.0)
}

fn noise_cells(runs: &[Judged], design: Experiment) -> Option<[String; 7]> {
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

    fn run(design: Experiment, found: usize, wrong: usize, windows: f64) -> Judged {
        Judged {
            design,
            name: "2026-11-23T10-00-00".to_owned(),
            processes: 9,
            seconds: Some(371.4),
            unranked: 0,
            equal_pairs: 15,
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

    fn compared(design: Experiment, found: Option<bool>, wrong: usize) -> Compared {
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
    fn runs_comparisons_and_noise_are_tables() {
        let runs = vec![
            run(Experiment::Equal, 0, 0, 0.2),
            run(Experiment::Equal, 0, 1, 0.1),
            run(Experiment::Costlier10, 5, 0, 0.12),
            Judged { seconds: None, resolution: None, ..run(Experiment::Costlier10, 4, 0, 0.14) },
            run(Experiment::Equal, 0, 0, 0.3),
        ];
        let compared = vec![
            compared(Experiment::Equal, None, 0),
            Compared { machine: None, ..compared(Experiment::Costlier10, Some(true), 0) },
            compared(Experiment::Costlier10, Some(true), 1),
            Compared { resolution: None, ..compared(Experiment::Costlier5, Some(false), 0) },
        ];
        let of = |entry: &str, ratios: &[f64]| SoloRun {
            entry: entry.to_owned(),
            ratios: ratios.to_vec(),
        };
        let alone = vec![of("go-grpc", &[0.99, 1.04, 1.02]), of("java-grpc", &[0.95, 1.01, 0.96])];
        let half = |first, second| HalfWindows { windows: 10, first, second };
        let halves = [("go-grpc", half(500, 510)), ("node-grpc-js", half(400, 560))];
        let halves = halves.map(|(entry, halves)| (entry.to_owned(), halves)).into();
        let results = Results { runs, compared, alone, halves };
        insta::assert_snapshot!(render(&results, Style::Markdown));
    }
}
