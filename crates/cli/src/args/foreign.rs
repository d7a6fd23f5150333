//! Options of other load generators, answered with the equivalents of `rpcbench load`.

use clap::CommandFactory as _;

use super::Cli;

/// A line for each meaning: names without dashes, the kind of value that tells it from an option of ours, and what to give.
const OPTIONS: &str = include_str!("foreign.txt");

/// Options with one meaning.
#[derive(Clone, Copy, Debug)]
struct Foreign<'a> {
    names: &'a str,
    /// The kind of value without which it is not meant: `number` and the like. `None`: any, or none.
    kind: Option<&'a str>,
    instead: &'a str,
}

impl<'a> Foreign<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (names, instead) = line.split_once(": ")?;
        let (names, kind) = match names.split_once(" <") {
            Some((names, kind)) => (names, Some(kind.strip_suffix('>')?)),
            None => (names, None),
        };
        Some(Self { names, kind, instead })
    }

    fn is_named(&self, name: &str) -> bool {
        self.names.split(' ').any(|other| other == name)
    }

    /// True if `value`, which follows the name, is of its kind.
    fn fits(&self, value: &str) -> bool {
        match self.kind {
            None => true,
            Some("number") => !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()),
            Some("zero") => value == "0",
            Some("length") => is_length(value),
            Some("method") => {
                !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_uppercase())
            }
            Some("json") => value.starts_with('{') || value.ends_with(".json"),
            Some("unit") => ["ns", "us", "ms", "s", "m", "h"].contains(&value),
            Some(_) => false,
        }
    }
}

/// `30s`, `1.5m`.
fn is_length(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &value[number.len()..];
    number.parse::<f64>().is_ok() && ["ms", "s", "m", "h"].contains(&unit)
}

fn options() -> impl Iterator<Item = Foreign<'static>> {
    OPTIONS.lines().filter_map(Foreign::parse)
}

/// What to give instead of another tool's option, if the `arguments` of a load, which can't be used, have one.
pub fn hint(arguments: &[String]) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == "load")?;
    let given = &arguments[at + 1..];
    let next = |index: usize| given.get(index + 1).map(String::as_str).unwrap_or_default();
    given.iter().enumerate().find_map(|(index, argument)| answer(argument, next(index)))
}

/// The same for one argument, and the one after it.
fn answer(argument: &str, next: &str) -> Option<String> {
    let dashes = argument.len() - argument.trim_start_matches('-').len();
    let (name, value) =
        argument.get(dashes..)?.split_once('=').unwrap_or((&argument[dashes..], next));
    if !matches!(dashes, 1 | 2) || name.is_empty() {
        return None;
    }
    let dashed = &argument[..dashes + name.len()];
    let found = options().find(|it| it.is_named(name) && it.fits(value));
    if let Some(Foreign { instead, .. }) = found {
        return Some(format!("{dashed}: {instead}"));
    }
    if dashes == 1 && name.len() > 2 && is_own(name) {
        return Some(format!("{dashed}: give --{name}, with two dashes"));
    }
    // A letter with its value: -d30s, -R5000.
    let (letter, value) = name.split_at_checked(1).filter(|_| dashes == 1)?;
    let is_number = value.starts_with(|c: char| c.is_ascii_digit());
    let has_value = |it: &Foreign<'_>| it.fits(value) && (it.kind.is_some() || is_number);
    let found = options().find(|it| it.is_named(letter) && has_value(it));
    found.map(|Foreign { instead, .. }| format!("-{letter}: {instead}"))
}

/// True if `load` has an option of this name.
fn is_own(name: &str) -> bool {
    let command = Cli::command();
    let load = command.find_subcommand("load");
    load.is_some_and(|load| load.get_arguments().any(|it| it.get_long() == Some(name)))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    /// What is said of a command line that can't be read.
    fn said(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        assert!(Cli::try_parse_from(&words).is_err(), "{line}");
        hint(&words).expect(line)
    }

    #[test]
    fn options_of_other_tools_are_answered_with_ours() {
        insta::assert_snapshot!(said("rpcbench load http://h/ -q 500"), @"-q: -q prints no progress; give --rate (-r) for calls a second");
        insta::assert_snapshot!(said("rpcbench load h:1 -t 20s"), @"-t: -t is the number of client threads; give --timeout for a call's limit, or --duration (-z)");
        insta::assert_snapshot!(said("rpcbench load h:1 --concurrency 50"), @"--concurrency: -c is the number of connections, and -m that of calls in flight on each");
        insta::assert_snapshot!(said("rpcbench load h:1 -rps 50"), @"-rps: give --rate (-r) for calls a second over all connections");
        insta::assert_snapshot!(said("rpcbench load h:1 --total=50"), @"--total: give --calls (-n)");
        insta::assert_snapshot!(said("rpcbench load h:1 --skipTLS"), @"--skipTLS: give --insecure-skip-verify (-k)");
        insta::assert_snapshot!(said("rpcbench load h:1 --cafile ca.pem"), @"--cafile: give --cacert FILE");
        insta::assert_snapshot!(said("rpcbench load http://h/ --http2 -p 20"), @"--http2: give --http 2");
        insta::assert_snapshot!(said("rpcbench load http://h/ -R 2000"), @"-R: give --rate (-r) for calls a second over all connections");
        insta::assert_snapshot!(said("rpcbench load http://h/ -m POST"), @"-m: -m is the number of calls in flight on each connection; give --method (-X)");
        insta::assert_snapshot!(said("rpcbench load http://h/ -duration 30s"), @"-duration: give --duration, with two dashes");
        insta::assert_snapshot!(said("rpcbench load h:1 --stream-interval 1s"), @"--stream-interval: streams are not supported; docs/migrating.md names a tool for them");
        let own = ["rpcbench", "load", "h:1", "--nonsense"].map(str::to_owned);
        assert_eq!(hint(&own), None);
    }

    #[test]
    fn option_of_another_tool_is_recognized_by_its_value() {
        for (argument, next, expected) in [
            ("-m", "{\"a\":\"b\"}", Some("give -H")),
            ("-m", "20", None),
            ("-u", "10", Some("-c is")),
            ("-u", "ms", Some("times have their unit")),
            ("-u", "ann:x", None),
            ("-d30s", "", Some("--duration (-z)")),
            ("-d", "30s", Some("--duration (-z)")),
            ("-d", "{}", None),
            ("-D", "30", Some("--duration (-z)")),
            ("-D30", "", Some("--duration (-z)")),
            ("-D", "a.jsonl", None),
            ("-R5000", "", Some("--rate (-r)")),
            ("-Rest", "", None),
            ("-c", "50", None),
            ("-x", "http://proxy:1", Some("proxies")),
            ("-x", "30s", Some("--duration")),
            ("-r", "0", Some("redirects")),
            ("-r", "500", None),
        ] {
            let said = answer(argument, next);
            let is_expected = match (&said, expected) {
                (Some(said), Some(part)) => said.contains(part),
                (None, None) => true,
                _ => false,
            };
            assert!(is_expected, "{argument} {next}: {said:?}");
        }
    }

    /// All options of ghz 0.121 and of oha 1.15, as their `--help` lists them.
    const GHZ: &str = "-h --help --help-long --config --proto --protoset --call -i --import-paths --cacert --cert --key \
        --cname --skipTLS --insecure --authority --async -r --rps --load-schedule --load-start --load-step --load-end \
        --load-step-duration --load-max-duration -c --concurrency --concurrency-schedule --concurrency-start \
        --concurrency-end --concurrency-step --concurrency-step-duration --concurrency-max-duration -n --total -t --timeout \
        -z --duration -x --max-duration --duration-stop -d --data -D --data-file -b --binary -B --binary-file -m --metadata \
        -M --metadata-file --stream-interval --stream-call-duration --stream-call-count --stream-dynamic-messages \
        --reflect-metadata -o --output -O --format --skipFirst --count-errors --connections --connect-timeout --keepalive \
        --name --tags --cpus --debug -e --enable-compression --lb-strategy --max-recv-message-size \
        --max-send-message-size --disable-template-functions --disable-template-data -v --version";
    const OHA: &str = "-n -c -p -z -w --wait-ongoing-requests-after-deadline -q --burst-delay --burst-rate \
        --rand-regex-url --urls-from-file --max-repeat --dump-urls --latency-correction --no-tui --fps -m --method -H \
        --proxy-header -t --connect-timeout -A -d -D -Z -F --form -T -a --aws-session --aws-sigv4 -x --proxy-http-version \
        --proxy-http2 --http-version --http2 --host --disable-compression -r --redirect --disable-keepalive \
        --no-pre-lookup --ipv6 --ipv4 --cacert --cert --key --insecure --connect-to --no-color --unix-socket \
        --stats-success-breakdown --db-url --debug -o --output --output-format -u --time-unit -h --help -V --version";

    #[test]
    fn page_has_an_answer_to_every_option_of_ghz_and_oha() {
        let page = include_str!("../../../../docs/migrating.md");
        let (_, table) = page.split_once("| | ghz | oha | rpcbench load |\n").expect("the table");
        let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
        let rows: Vec<Vec<&str>> =
            rows.map(|row| row.split('|').map(str::trim).collect()).collect();
        for (column, options) in [(2, GHZ), (3, OHA)] {
            for option in options.split_whitespace() {
                let quoted = format!("`{option}`");
                let row = rows.iter().find(|row| row[column].contains(&quoted));
                let row = row.unwrap_or_else(|| panic!("no {option} in column {column}"));
                assert!(row.len() == 6 && !row[4].is_empty(), "{row:?}");
            }
        }
        let ours = rows.iter().flat_map(|row| row[4].split([' ', '`', ',', ';']));
        for name in ours.filter_map(|word| word.strip_prefix("--")) {
            assert!(is_own(name) || ["help", "version", "color"].contains(&name), "--{name}");
        }
    }

    #[test]
    fn foreign_options_with_our_names_take_another_kind_of_value() {
        assert_eq!(options().count(), OPTIONS.lines().count());
        let command = Cli::command();
        let load = command.find_subcommand("load").unwrap();
        let names = load.get_arguments().flat_map(|it| {
            it.get_long().map(str::to_owned).into_iter().chain(it.get_short().map(String::from))
        });
        for name in names {
            let taken = options().find(|it| it.kind.is_none() && it.is_named(&name));
            assert!(taken.is_none(), "{name}: {taken:?}");
        }
    }
}
