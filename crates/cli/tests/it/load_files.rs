//! The files of a load.

use std::fs;
use std::path::Path;

use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use rpcbench_record::Latency;
use rpcbench_stats::Histogram;
use serde_json::Value;

use crate::bench::{Target, look};
use crate::load_results::{load, window};

/// Every file says the same as the results that are printed.
#[test]
fn files_have_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let failing = Target::new("status-once:100");
    for (log, count) in [("calls.csv", csv as fn(&Path) -> [u64; 2]), ("calls.parquet", parquet)] {
        let words = format!(
            "--rate 1000 --duration 1s --out {} --hdr {} --log {}",
            at(&format!("record-of-{log}")).display(),
            at("run.hlog").display(),
            at(log).display()
        );
        let ended = load(&failing, &words).expect(1);
        let record = at(&format!("record-of-{log}"));
        let (run, measured) = window(&record);
        let (calls, failed) = (measured.outcomes.total(), measured.outcomes.errors());
        assert!(calls == 1000 && (9..=11).contains(&failed), "{failed} of {calls} failed");
        let plan = &run.header.plan;
        assert!(plan.servers[0].entry.ends_with(&failing.address().port().to_string()));
        assert!(run.header.arguments.contains(&"--hdr".to_owned()) && plan.seed == 1);
        let parts = [&measured.latency, &measured.service, &measured.send_lag];
        assert_eq!(hdr(&at("run.hlog")), parts.map(|part| sums(part.as_ref().unwrap())));
        assert_eq!(count(&at(log)), [calls, failed]);
        let again = look(&format!("report {}", record.display())).expect(0);
        assert_eq!(again.out, ended.out);
        let drawn = fs::read_to_string(record.join("calls.json")).unwrap();
        let drawn: Value = serde_json::from_str(&drawn).unwrap();
        let counts = drawn["counts"].as_array().unwrap();
        let sum = |of: usize| counts.iter().map(|count| count[of].as_u64().unwrap()).sum::<u64>();
        assert_eq!([sum(2) + sum(3), sum(3)], [calls, failed]);
        let page = record.join("again.html");
        look(&format!("report {} --html {}", record.display(), page.display())).expect(0);
        let page = |name: &str| fs::read_to_string(record.join(name)).unwrap();
        assert_eq!(page("again.html"), page("report.html"));
    }
    // Replaced and not added to, and nothing else left behind.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
}

/// Calls and median of a distribution.
fn sums(latency: &Latency) -> [u64; 2] {
    let histogram = Histogram::from_base64(&latency.histogram).unwrap();
    [latency.count, histogram.quantile(0.5).unwrap()]
}

/// Those of response, service and send lag.
fn hdr(path: &Path) -> [[u64; 2]; 3] {
    let log = fs::read(path).unwrap();
    let mut found = Vec::new();
    for entry in IntervalLogIterator::new(&log) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            let histogram = Histogram::from_base64(interval.encoded_histogram()).unwrap();
            let tag = interval.tag().unwrap().as_str().to_owned();
            found.push((tag, [histogram.count(), histogram.quantile(0.5).unwrap()]));
        }
    }
    ["response", "service", "send_lag"].map(|tag| found.iter().find(|(t, _)| t == tag).unwrap().1)
}

/// Calls, and those with status 13.
fn csv(path: &Path) -> [u64; 2] {
    let text = fs::read_to_string(path).unwrap();
    let rows = || text.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    for row in rows() {
        let [due, written, done, response] = [0, 1, 2, 3].map(|n| row[n].parse::<u64>().unwrap());
        assert!(due <= written && written <= done && response == done - due, "{row:?}");
    }
    let failed = rows().filter(|row| row[4..] == ["status", "13"]).count();
    [rows().count() as u64, failed as u64]
}

fn parquet(path: &Path) -> [u64; 2] {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let mut dues: Vec<i64> = rows.iter().map(|row| row.get_long(0).unwrap()).collect();
    dues.sort_unstable();
    let arrivals: Vec<i64> = (0..1000).map(|n| n * 1_000_000).collect();
    assert_eq!(dues, arrivals);
    let failed = rows.iter().filter(|row| row.get_int(5).ok() == Some(13)).count();
    [rows.len() as u64, failed as u64]
}

#[test]
fn unwritable_file_is_refused_before_the_load() {
    let place = "/no/such/folder/x.csv: can't be written: ";
    let cases = [
        ("--hdr /no/such/folder/x.csv", [place, "No such file"]),
        ("--log /no/such/folder/x.csv", [place, "No such file"]),
        ("--log /tmp/x.csv/", ["/tmp/x.csv/: can't be written: ", "it ends in '/'"]),
        (
            "--out Cargo.toml",
            ["--out: the record can't be written: Cargo.toml", "is a file; expected a folder"],
        ),
        (
            "--out /dev/null/x",
            ["--out: the record can't be written: /dev/null/x", "Not a directory"],
        ),
    ];
    let honest = Target::new("honest");
    for ((words, parts), cases) in cases.into_iter().zip(1..) {
        let ended = load(&honest, words).expect(2);
        ended.complains(&parts);
        assert!(honest.calls() <= cases, "no load");
    }
}

#[test]
fn existing_record_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("--duration 200ms --out {}", folder.path().display());
    load(&Target::new("honest"), &words).expect_ok_or_late();
    let before = fs::read(folder.path().join("events.jsonl")).unwrap();
    load(&Target::new("honest"), &words)
        .expect(2)
        .complains(&["--out: ", "already holds a run record; choose another folder"]);
    assert_eq!(fs::read(folder.path().join("events.jsonl")).unwrap(), before);
    let resumed = look(&format!("run --resume {}", folder.path().display())).expect(2);
    resumed.complains(&["the record of a load", "rpcbench report"]);
}

/// Files that a record would replace belong to the user.
#[test]
fn folder_with_other_files_is_left_unchanged() {
    for name in ["report.html", "cells.csv", "events.jsonl"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        fs::write(&file, "mine").unwrap();
        let honest = Target::new("honest");
        let words = format!("--duration 200ms --out {}", folder.path().display());
        let why = format!("{}: already exists and would be overwritten", file.display());
        load(&honest, &words).expect(2).complains(&["--out: ", &why]);
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), honest.calls()), ("mine", 1));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn full_disk_loses_the_file_but_not_the_results() {
    let ended = load(&Target::new("honest"), "--duration 200ms --hdr /dev/full").expect(2);
    ended.shows(&["ok calls/s", "p99.9"]);
    ended.complains(&["the results above are complete", "/dev/full", "No space left"]);
}
