//! The comparison as a table.

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};

use crate::lineup::{Client, Row};
use crate::machine::{Cpus, Machine};
use crate::summary::{Figures, Line, Spread};

/// How the table is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// For a terminal
    Text,
    /// Markdown, to be pasted
    Markdown,
}

/// What was run, for the lines above the table.
#[derive(Clone, Debug)]
pub struct Heading {
    /// Where it ran.
    pub machine: Machine,
    /// The clients' own words about their versions.
    pub versions: Vec<String>,
    /// Rounds, and the seconds that a client ran in each.
    pub rounds: u32,
    /// See `rounds`.
    pub seconds: u64,
    /// The seed of the order.
    pub seed: u64,
    /// Where client and server ran.
    pub cpus: Cpus,
}

const COLUMNS: [&str; 10] = [
    "server",
    "protocol",
    "load",
    "client",
    "calls per client CPU-s",
    "calls/s",
    "CPU used",
    "rpcbench / client",
    "bar",
    "met",
];

/// What was run, the table, and which lines are void and why; ends in a line feed.
#[must_use]
pub fn render(heading: &Heading, lines: &[Line], style: Style) -> String {
    let mut table = Table::new();
    table.load_style(match style {
        Style::Text => presets::NOTHING,
        Style::Markdown => presets::ASCII_MARKDOWN,
    });
    table.set_header(COLUMNS);
    for column in table.column_iter_mut().skip(4).take(5) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in lines {
        table.add_row(cells(line));
    }
    let mut out = above(heading, style);
    out.push_str(&format!("{table}\n\n{}", verdict(lines)));
    for Line { row, client, figures } in lines {
        if let Err(problem) = figures {
            out.push_str(&format!("- void: {row} {client}: {problem}\n"));
        }
    }
    out
}

fn above(heading: &Heading, style: Style) -> String {
    let Heading { machine, versions, rounds, seconds, seed, cpus } = heading;
    let Machine { cpu, cpus: logical, kernel } = machine;
    let lines = [
        format!(
            "{cpu}, {logical} CPUs, Linux {kernel}; client on CPU {}, server on CPU {}",
            cpus.client, cpus.server
        ),
        versions.join(", "),
        format!(
            "rounds: {rounds}, {seconds} s for each client; order drawn from seed {seed}; medians (least to greatest)"
        ),
    ];
    let mark = if style == Style::Markdown { "- " } else { "" };
    let lines: String = lines.iter().map(|line| format!("{mark}{line}\n")).collect();
    format!("{lines}\n")
}

fn cells(line: &Line) -> Vec<String> {
    let Line { row, client, figures } = line;
    let Row { target, protocol, load, .. } = row;
    let mut cells =
        vec![target.to_string(), protocol.to_string(), load.to_string(), client.to_string()];
    match figures {
        Ok(Figures { calls_per_cpu_s, calls_per_s, cpu_share, ratio, .. }) => cells.extend([
            spread(calls_per_cpu_s, thousands),
            thousands(calls_per_s.median),
            percent(*cpu_share),
            ratio
                .map_or_else(String::new, |it| spread(&it, |value| share_or_times(*client, value))),
        ]),
        Err(_) => cells.extend(["void", "", "", ""].map(str::to_owned)),
    }
    let bar = row.bar(*client);
    cells.push(bar.map_or_else(String::new, |bar| least(*client, bar)));
    cells.push(bar.map_or("", |_| if line.is_met() { "yes" } else { "no" }).to_owned());
    cells
}

fn spread(spread: &Spread, format: impl Fn(f64) -> String) -> String {
    let Spread { median, min, max } = *spread;
    format!("{} ({} to {})", format(median), format(min), format(max))
}

fn least(client: Client, bar: f64) -> String {
    match client {
        Client::Rpcbench => format!("{}/s", thousands(bar)),
        _ => share_or_times(client, bar),
    }
}

fn share_or_times(client: Client, ratio: f64) -> String {
    if client == Client::Floor { percent(ratio) } else { format!("{ratio:.1}x") }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}k", value / 1e3);
    match digits.len() {
        5.. => format!("{},{}", &digits[..digits.len() - 4], &digits[digits.len() - 4..]),
        _ => digits,
    }
}

fn verdict(lines: &[Line]) -> String {
    let bars = lines.iter().filter(|line| line.row.bar(line.client).is_some()).count();
    let met = lines.iter().filter(|line| line.is_met()).count();
    format!("{met} of {bars} bars met\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lineup::ROWS;

    fn of(median: f64) -> Spread {
        Spread { median, min: median * 0.9, max: median * 1.2 }
    }

    fn lines() -> Vec<Line> {
        let figures = |per_cpu_s, ratio: Option<f64>| {
            let calls_per_s = of(per_cpu_s * 0.9);
            let (calls_per_cpu_s, ratio) = (of(per_cpu_s), ratio.map(of));
            Ok(Figures { calls_per_cpu_s, calls_per_s, cpu_share: 0.9, ratio })
        };
        vec![
            Line { row: ROWS[0], client: Client::Ghz, figures: figures(33_000.0, Some(30.0)) },
            Line {
                row: ROWS[1],
                client: Client::H2load,
                figures: Err("round 2: 3 of 10 calls failed".to_owned()),
            },
            Line { row: ROWS[1], client: Client::Floor, figures: figures(3.5e6, Some(0.68)) },
            Line { row: ROWS[1], client: Client::Rpcbench, figures: figures(2_449_900.0, None) },
            Line { row: ROWS[6], client: Client::Wrk, figures: figures(120_000.0, Some(1.6)) },
        ]
    }

    fn heading() -> Heading {
        Heading {
            machine: Machine { cpu: "AMD EPYC".to_owned(), cpus: 2, kernel: "6.18.44".to_owned() },
            versions: vec!["rpcbench 0.1.0".to_owned(), "h2load nghttp2/1.52.0".to_owned()],
            rounds: 5,
            seconds: 2,
            seed: 1,
            cpus: Cpus { client: 0, server: 1 },
        }
    }

    #[test]
    fn text() {
        insta::assert_snapshot!(render(&heading(), &lines(), Style::Text));
    }

    #[test]
    fn markdown() {
        insta::assert_snapshot!(render(&heading(), &lines(), Style::Markdown));
    }

    #[test]
    fn thousands_have_a_comma_from_a_million_on() {
        let figures = [999.0, 12_400.0, 999_499.0, 1_000_000.0, 12_345_678.0];
        assert_eq!(figures.map(thousands), ["1k", "12k", "999k", "1,000k", "12,346k"]);
    }
}
