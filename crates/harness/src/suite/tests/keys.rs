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

/// Keys without an option.
const MEANINGS: [(&str, &str); 10] = [
    ("description", "Its purpose, one line"),
    (
        "agreement",
        "A cell ends after two windows in a row whose standard deviations of response time differ by at most this share",
    ),
    ("protocols", "Only entries of these protocols"),
    ("name", "Name of the workload within the suite; the suite's name by default"),
    ("workload", "A load; any number of tables"),
    ("limits", "What each server may use"),
    (
        "published",
        "Figures measured elsewhere, of which reports compare the ratios; any number of tables",
    ),
    ("entry", "The entry that comes nearest to what was measured"),
    ("calls_per_s", "Its rate there, correct answers per second"),
    ("source", "Who published it, and where"),
];

/// The help of an option, by its key.
fn help(key: &str) -> String {
    let fixed = MEANINGS.iter().find(|(name, _)| *name == key);
    if let Some((_, meaning)) = fixed {
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
    for (place, keys) in SuiteSpec::tables() {
        let place = match place.split_once('[') {
            Some((before, table)) => format!("{before}`[{table}`"),
            None => place.to_owned(),
        };
        let _ = write!(page, "\n## Keys {place}\n\n| key | meaning |\n|---|---|\n");
        for key in keys {
            let _ = writeln!(page, "| `{key}` | {} |", help(&key));
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
