//! Generates the page of a suite's keys from the options of the same names.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};

use crate::config::FileKind as _;
use crate::spec::{LimitsSpec, SuiteSpec, TlsOption, WarmUpOptions, WorkloadSpec};

const HEAD: &str = "# Keys of a suite

A suite is a TOML file: `rpcbench run --suite mine.toml`. Keys and options have the same names, with `_` in one and `-` in the
other, and the same values; an option replaces the value of the file. The suites in `suites/` are examples.
";

const TOP: &str = "at the top of the file";
const WORKLOAD: &str = "in [[workload]]";
const PUBLISHED: &str = "in [[published]]";

/// Keys without an option: table as in `SuiteSpec::tables`, key, meaning.
const MEANINGS: [(&str, &str, &str); 11] = [
    (TOP, "description", "Its purpose, one line"),
    (
        TOP,
        "agreement",
        "A cell ends after two windows in a row whose standard deviations of response time differ by at most this share",
    ),
    (TOP, "protocols", "Only entries of these protocols"),
    (TOP, "limits", "What each server may use"),
    (TOP, "workload", "A load; any number of tables"),
    (
        TOP,
        "published",
        "Figures measured elsewhere, of which reports compare the ratios; any number of tables",
    ),
    (WORKLOAD, "name", "Name of the workload within the suite; the suite's name by default"),
    (PUBLISHED, "workload", "Name of the workload under which it was measured"),
    (PUBLISHED, "entry", "The entry that comes nearest to what was measured"),
    (PUBLISHED, "calls_per_s", "Its rate there, correct answers per second"),
    (PUBLISHED, "source", "Who published it, and where"),
];

/// The meaning of a key, or else the help of the option of the same name.
fn help(table: &str, key: &str) -> String {
    let fixed = MEANINGS.iter().find(|(of, name, _)| (*of, *name) == (table, key));
    if let Some((.., meaning)) = fixed {
        return (*meaning).to_owned();
    }
    let command = [
        SuiteSpec::augment_args,
        LimitsSpec::augment_args,
        WorkloadSpec::augment_args,
        WarmUpOptions::augment_args,
        TlsOption::augment_args,
    ]
    .into_iter()
    .fold(Command::new("suite"), |command, augment| augment(command));
    let option = key.replace('_', "-");
    let is_it = |argument: &&clap::Arg| argument.get_long() == Some(&*option);
    let found = command.get_arguments().find(is_it).unwrap_or_else(|| panic!("no help of '{key}'"));
    let help = found.get_help().unwrap_or_else(|| panic!("no help of '{key}'")).to_string();
    help.replace('\n', " ").replace('|', "\\|")
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (table, keys) in SuiteSpec::tables() {
        let title = match table.split_once('[') {
            Some((before, name)) => format!("{before}`[{name}`"),
            None => table.to_owned(),
        };
        let _ = write!(page, "\n## Keys {title}\n\n| key | meaning |\n|---|---|\n");
        for key in keys {
            let _ = writeln!(page, "| `{key}` | {} |", help(table, &key));
        }
    }
    page
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/suites.md")
}

#[test]
fn page_of_keys_is_current() {
    let written = fs::read_to_string(file()).unwrap_or_default();
    assert!(written == page(), "derive it again: derive_the_keys (CONTRIBUTING.md)");
}

#[test]
#[ignore = "writes docs/suites.md"]
fn derive_the_keys() {
    fs::write(file(), page()).unwrap();
}
