//! Prints the comparison as a table.

use rpcbench_record::Machine;

use super::Cpus;
use super::lineup::{Client, Row};
use super::summary::{Figures, Line, Spread};
use crate::table::{Style, table};

/// The lines above the table.
#[derive(Clone, Debug)]
pub struct Heading {
    pub machine: Machine,
    pub versions: Vec<String>,
    pub rounds: u32,
    pub seconds: u64,
    pub seed: u64,
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

/// The heading, the table, the bars met, and why lines are void.
pub fn render(heading: &Heading, lines: &[Line], style: Style) -> String {
    let table = table(&COLUMNS, 4..9, lines.iter().map(cells), style);
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
    let Machine { cpu, kernel, .. } = machine;
    let lines = [
        format!(
            "{}, {} CPUs, Linux {kernel}; client on CPU {}, server on CPU {}",
            cpu.model, cpu.logical, cpus.client, cpus.server
        ),
        versions.join(", "),
        format!(
            "rounds: {rounds}, {seconds} s for each client; order drawn from seed {seed}; medians (quartiles)"
        ),
    ];
    let mark = if style == Style::Markdown { "- " } else { "" };
    let lines: String = lines.iter().map(|line| format!("{mark}{line}\n")).collect();
    format!("{lines}\n")
}

fn cells(line: &Line) -> [String; 10] {
    let Line { row, client, figures } = line;
    let Row { server, protocol, load, .. } = row;
    let [per_cpu_s, per_s, share, ratio] = match figures {
        Ok(Figures { calls_per_cpu_s, calls_per_s, cpu_share, ratio }) => [
            spread(calls_per_cpu_s, thousands),
            thousands(calls_per_s.median),
            percent(*cpu_share),
            ratio.map(|it| spread(&it, |it| multiple(*client, it))).unwrap_or_default(),
        ],
        Err(_) => ["void", "", "", ""].map(str::to_owned),
    };
    let bar = row.bar(*client);
    let is_met = bar.map_or("", |_| if line.is_met() { "yes" } else { "no" });
    [
        server.to_string(),
        protocol.to_string(),
        load.to_string(),
        client.to_string(),
        per_cpu_s,
        per_s,
        share,
        ratio,
        bar.map(|bar| least(*client, bar)).unwrap_or_default(),
        is_met.to_owned(),
    ]
}

fn spread(spread: &Spread, format: impl Fn(f64) -> String) -> String {
    let Spread { median, low, high } = *spread;
    format!("{} ({} to {})", format(median), format(low), format(high))
}

fn least(client: Client, bar: f64) -> String {
    match client {
        Client::Rpcbench => format!("{}/s", thousands(bar)),
        _ => multiple(client, bar),
    }
}

fn multiple(client: Client, ratio: f64) -> String {
    match client {
        Client::Floor => percent(ratio),
        Client::Baseline => format!("{ratio:.3}"),
        _ => format!("{ratio:.1}x"),
    }
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
    use crate::client::lineup::ROWS;
    use rpcbench_record::Cpu;

    fn of(median: f64) -> Spread {
        Spread { median, low: median * 0.9, high: median * 1.2 }
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
            Line { row: ROWS[7], client: Client::Baseline, figures: figures(2e6, Some(0.9934)) },
        ]
    }

    fn machine() -> Machine {
        let cpu = Cpu { model: "AMD EPYC".to_owned(), logical: 2, cores: 2, ..Cpu::default() };
        Machine { kernel: "6.18.44".to_owned(), cpu, ..Machine::default() }
    }

    fn heading() -> Heading {
        Heading {
            machine: machine(),
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
