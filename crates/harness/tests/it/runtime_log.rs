//! The lines of the runtime log, and what of them belongs to a window.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Command;

use rpcbench_clock::{Nanos, Span};
use rpcbench_harness::host::freezes::Freezes;
use rpcbench_harness::host::runtime_log::RuntimeLog;
use rpcbench_record::RuntimeStatistics;

/// A log with these lines.
fn log(lines: &str) -> (tempfile::TempDir, RuntimeLog) {
    let folder = tempfile::tempdir().unwrap();
    let log = RuntimeLog::create_at(folder.path().join("log"), Nanos(0)).unwrap();
    append(&log, lines);
    (folder, log)
}

fn append(log: &RuntimeLog, lines: &str) {
    let mut file = OpenOptions::new().append(true).open(log.path()).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

fn over(log: &mut RuntimeLog, start: u64, end: u64) -> Option<RuntimeStatistics> {
    log.over(&[Span { start: Nanos(start), end: Nanos(end) }], &Freezes::default()).unwrap()
}

#[test]
fn pause_belongs_to_the_window_in_which_it_ends() {
    let (_folder, mut log) = log("7 begin 1\n\
         7 pause 99 50 young -\n\
         7 pause 100 30 young -\n\
         7 pause 150 10 old 4000\n\
         8 begin 1\n\
         8 pause 199 40 young -\n\
         8 pause 200 99 young -\n");
    let first = over(&mut log, 100, 200).unwrap();
    let kinds: Vec<_> =
        first.pauses.iter().map(|(k, p)| (k.as_str(), p.count, p.total_ns, p.max_ns)).collect();
    assert_eq!(kinds, [("old", 1, 10, 10), ("young", 2, 70, 40)]);
    let all = first.all();
    assert_eq!((all.count, all.total_ns, all.max_ns), (3, 80, 40));
    assert_eq!(first.allocated_bytes, None);
    // The next window begins where this one ended.
    assert_eq!(over(&mut log, 200, 300).unwrap().all().total_ns, 99);
}

#[test]
fn frozen_time_is_no_pause_and_gaps_do_not_count() {
    let (_folder, mut log) = log("7 begin 1\n\
         7 reading 0 10 0\n\
         7 pause 140 30 young -\n\
         7 pause 170 5 young -\n\
         7 pause 510 340 old -\n\
         7 reading 600 10 300\n");
    // Frozen from 180 to 480: 100 ns own time later it is 500.
    let mut freezes = Freezes::default();
    freezes.begin(Nanos(180));
    freezes.end(Nanos(480));
    let slices =
        [(100, 150), (500, 550)].map(|(start, end)| Span { start: Nanos(start), end: Nanos(end) });
    let statistics = log.over(&slices, &freezes).unwrap().unwrap();
    let kinds: Vec<_> = statistics.pauses.iter().map(|(k, p)| (k.as_str(), p.total_ns)).collect();
    assert_eq!(kinds, [("old", 40), ("young", 30)]);
    // 300 bytes in 300 ns of own time, of which 100 count.
    assert_eq!(statistics.allocated_bytes, Some(100));
    // Of the second pause, 10 ns lie in the second slice.
    assert_eq!(statistics.paused_ns, [30 + 10]);
}

/// Slices are 100 ms long, the last one 50; times here are milliseconds.
#[test]
fn pause_is_placed_on_the_time_axis() {
    let (_folder, mut log) = log(&[
        (7, 1_010, 30), // begins before the window
        (7, 1_120, 5),
        (8, 1_320, 130), // over three slices
        (8, 1_349, 9),
        (8, 1_350, 99), // of the next window
    ]
    .map(|(process, end, length)| format!("{process} pause {end}000000 {length}000000 young -\n"))
    .concat());
    let mut paused = |start: u64, end: u64| {
        let statistics = over(&mut log, start * 1_000_000, end * 1_000_000).unwrap();
        statistics.paused_ns.iter().map(|ns| ns / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(paused(1_000, 1_350), [10, 5 + 10, 100, 20 + 9]);
    assert_eq!(paused(1_350, 1_450), [0]);
    assert_eq!(paused(1_450, 1_550), [0; 0]);
}

#[test]
fn allocation_is_the_difference_of_two_readings() {
    let (_folder, mut log) = log("7 reading 0 10 1000\n\
         7 reading 100 30 2000\n\
         7 reading 200 50 5000\n\
         7 reading 300 20 6000\n\
         7 pause 210 5 young 70\n\
         8 reading 90 1 100\n\
         8 reading 240 2 250\n\
         8 reading 260 3 270\n");
    // Process 7: 1500 at 50, 5500 at 250; process 8 has not begun at 50.
    assert_eq!(over(&mut log, 50, 250).unwrap().allocated_bytes, None);
    let (_folder, mut log) = self::log(
        "7 reading 0 10 1000\n\
         7 reading 100 30 2000\n\
         7 reading 200 50 5000\n\
         7 reading 300 20 6000\n\
         7 pause 210 5 young 70\n\
         8 reading 40 1 100\n\
         8 reading 60 9 200\n\
         8 reading 240 2 300\n\
         8 reading 260 3 400\n",
    );
    let statistics = over(&mut log, 50, 250).unwrap();
    assert_eq!(statistics.allocated_bytes, Some(5500 - 1500 + 350 - 150));
    assert_eq!(statistics.heap_peak_bytes, Some(70 + 9));
}

#[test]
fn reading_before_a_window_is_kept() {
    let (_folder, mut log) = log("7 reading 0 - 0\n7 reading 100 - 100\n7 reading 190 - 190\n");
    append(&log, "7 reading 210 - 210\n");
    assert_eq!(over(&mut log, 100, 200).unwrap().allocated_bytes, Some(100));
    append(&log, "7 reading 900 - 210\n7 reading 1000 - 310\n7 reading 1100 - 410\n");
    assert_eq!(over(&mut log, 950, 1050).unwrap().allocated_bytes, Some(100));
    assert_eq!(over(&mut log, 1060, 1100).unwrap().allocated_bytes, Some(40));
}

#[test]
fn missing_reading_is_not_invented() {
    let (_folder, mut log) = log("7 reading 0 5 0\n7 reading 100 6 100\n7 pause 50 9 young -\n");
    let statistics = over(&mut log, 0, 200).unwrap();
    assert_eq!((statistics.allocated_bytes, statistics.heap_peak_bytes), (None, Some(6)));
    assert_eq!(statistics.all().count, 1);
}

#[test]
fn silent_server_is_not_one_without_collections() {
    let (_folder, mut silent) = log("");
    assert_eq!(over(&mut silent, 0, 100), None);
    let (_folder, mut calm) = log("7 begin 5\n");
    let statistics = over(&mut calm, 0, 100).unwrap();
    assert_eq!(statistics, RuntimeStatistics::default());
}

#[test]
fn impossible_readings_are_refused_with_the_reason() {
    let refused = |lines: &str| {
        let (_folder, mut log) = log(lines);
        let statistics = over(&mut log, 1_000, 2_000).unwrap();
        assert!(statistics.refused.is_none() || statistics.pauses.is_empty());
        statistics.refused
    };
    let because = |lines| refused(lines).unwrap();
    assert_eq!(
        because("7 begin 900\n7 pause 1500 601 young -\n"),
        "a pause of 601 ns in a process that had lived for 600 ns"
    );
    assert_eq!(refused("7 begin 900\n7 pause 1500 600 young -\n"), None);
    let many = "7 pause 1600 600 young -\n7 pause 1900 450 old -\n";
    assert_eq!(because(many), "pauses of 1.05 us in a window of 1.00 us");
    // Two processes pause at once.
    assert_eq!(refused("7 pause 1600 600 young -\n8 pause 1900 450 old -\n"), None);
    assert_eq!(
        because("7 reading 900 - 4096\n7 reading 1500 - 2048\n7 reading 2000 - 8192\n"),
        "the bytes allocated since it began fell from 4 KiB to 2 KiB"
    );
    assert_eq!(
        because("7 reading 1900 - 1\n7 reading 1500 - 2\n7 reading 2000 - 3\n"),
        "its readings go back in time"
    );
    // A process that was started after the log was created can't have lived since the machine began.
    let folder = tempfile::tempdir().unwrap();
    let mut log = RuntimeLog::create_at(folder.path().join("log"), Nanos(800)).unwrap();
    append(&log, "7 begin 0\n7 pause 1500 1000 young -\n");
    let why = over(&mut log, 1_000, 2_000).unwrap().refused.unwrap();
    assert_eq!(why, "a pause of 1.00 us in a process that had lived for 700 ns");
}

#[test]
fn incomplete_line_waits_for_its_end() {
    let (_folder, mut log) = log("7 begin 1\n7 pause 5 1 you");
    append(&log, "ng -\n");
    assert_eq!(over(&mut log, 0, 10).unwrap().pauses["young"].count, 1);
    append(&log, "7 pause 15 1 yo");
    assert_eq!(over(&mut log, 10, 20).unwrap().all().count, 0);
    append(&log, "ung -\n");
    assert_eq!(over(&mut log, 10, 20).unwrap().all().count, 1);
}

#[test]
fn unknown_lines_are_refused() {
    let wrong = [
        "7",
        "x begin 1",
        "7 begin",
        "7 reading 1 2",
        "7 pause 1 2 young",
        "7 pause 1 -2 young -",
        "7 pause 1 2  -",
        "7 stop 1",
        "",
        "7 reading 1 x 2",
    ];
    for line in wrong {
        let (_folder, mut log) = log(&format!("7 begin 1\n{line}\n"));
        let error = log
            .over(&[Span { start: Nanos(0), end: Nanos(1) }], &Freezes::default())
            .expect_err(line);
        assert!(error.to_string().contains(&format!("'{line}' is not a line")), "{error}");
    }
}

/// A sparse file of 4 GiB costs the server nothing.
#[test]
fn sudden_growth_is_refused_without_reading_it() {
    let (_folder, mut log) = log("7 begin 1\n");
    OpenOptions::new().write(true).open(log.path()).unwrap().set_len(4 << 30).unwrap();
    let refused = log
        .over(&[Span { start: Nanos(1), end: Nanos(2) }], &Freezes::default())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("grew by more than 16 MiB between two readings"), "{refused}");
}

/// A named pipe without a reader blocks whoever opens it.
#[test]
fn pipe_in_place_of_the_log_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let log = RuntimeLog::create_at(path.clone(), Nanos(0)).unwrap();
    append(&log, "7 begin 1\n");
    assert!(fs::metadata(path).unwrap().is_file());
}
