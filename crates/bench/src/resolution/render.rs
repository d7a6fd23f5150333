//! Prints runs, comparisons, scores and noise as tables.

use comfy_table::Table;
use rpcbench_stats::median;

use super::change::Compared;
use super::design::{DESIGNS, Design};
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

/// A line for each run and each comparison, the score of each design, and the noise.
pub fn render(results: &Results, style: Style) -> String {
    let Results { runs, compared } = results;
    let scores = |of: &dyn Fn(Design) -> Option<Score>| -> String {
        DESIGNS.into_iter().filter_map(|design| Some(verdict(design, of(design)?))).collect()
    };
    let noise = DESIGNS.iter().filter_map(|it| noise_cells(runs, *it));
    [
        section("Runs", &table(&RUNS, 2..9, runs.iter().map(run_cells), style)),
        scores(&|design| results.score(design)),
        section(
            "Comparisons by rpcbench compare: with the last run of equal entries, and of new builds with old ones",
            &table(&COMPARED, 3..8, compared.iter().map(compared_cells), style),
        ),
        scores(&|design| results.score_compared(design)),
        section(
            "Standard deviation of windows, median of the runs",
            &table(&NOISE, 1..7, noise, style),
        ),
    ]
    .join("\n")
}

fn section(title: &str, table: &Table) -> String {
    format!("{title}:\n\n{table}\n")
}

fn run_cells(run: &Judged) -> [String; 9] {
    let found = match run.design {
        Design::Equal => String::new(),
        costlier => format!("{} of {}", run.found, costlier.spec().equals),
    };
    [
        run.design.to_string(),
        run.name.clone(),
        run.seconds.map_or_else(|| "unfinished".to_owned(), |it| format!("{it:.0} s")),
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

    fn compared(design: Design, found: Option<bool>, wrong: usize) -> Compared {
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
            run(Design::Equal, 0, 0, 0.2),
            run(Design::Equal, 0, 1, 0.1),
            run(Design::Costlier10, 5, 0, 0.12),
            Judged { seconds: None, resolution: None, ..run(Design::Costlier10, 4, 0, 0.14) },
            run(Design::Equal, 0, 0, 0.3),
        ];
        let compared = vec![
            compared(Design::Equal, None, 0),
            Compared { machine: None, ..compared(Design::Costlier10, Some(true), 0) },
            compared(Design::Costlier10, Some(true), 1),
            Compared { resolution: None, ..compared(Design::Costlier5, Some(false), 0) },
        ];
        insta::assert_snapshot!(render(&Results { runs, compared }, Style::Markdown));
    }
}
