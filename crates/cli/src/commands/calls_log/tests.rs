//! Logs read back as written.

use std::fs::{self, File};
use std::path::Path;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::RowAccessor;
use rpcbench_clock::Nanos;

use super::*;

fn call(due: u64, written: Option<u64>, done: u64, ended: Ended) -> LoggedCall {
    LoggedCall { due: Nanos(due), written: written.map(Nanos), done: Nanos(done), ended }
}

fn some() -> Vec<LoggedCall> {
    vec![
        call(10, Some(12), 30, Ended::Ok),
        call(11, None, 5_000_000_011, Ended::NotSent),
        call(12, Some(12), 40, Ended::Status(14)),
        call(13, Some(20), 21, Ended::WrongAnswer),
        call(14, Some(15), 16, Ended::Transport),
        call(15, Some(16), 10_000_000_015, Ended::Timeout),
    ]
}

/// Writes `batches` through the thread.
fn log(path: &Path, batches: &[Vec<LoggedCall>]) -> anyhow::Result<()> {
    let file = path.to_str().unwrap().parse::<CallsFile>().unwrap();
    let (log, sender) = CallsLog::open(&file)?;
    sender.send(vec![call(1, None, 2, Ended::Ok); 10]).unwrap();
    log.forget();
    let thread = log.start()?;
    batches.iter().for_each(|batch| sender.send(batch.clone()).unwrap());
    drop(sender);
    thread.finish(batches.iter().map(|batch| batch.len() as u64).sum()).map(drop)
}

#[test]
fn csv_has_a_line_for_each_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.csv");
    log(&path, &[some()]).unwrap();
    insta::assert_snapshot!(fs::read_to_string(path).unwrap(), @"
    due_ns,written_ns,done_ns,response_ns,outcome,status
    10,12,30,20,ok,
    11,,5000000011,5000000000,not_sent,
    12,12,40,28,status,14
    13,20,21,8,wrong_answer,
    14,15,16,2,transport,
    15,16,10000000015,10000000000,timeout,
    ");
}

#[test]
fn parquet_reads_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.parquet");
    // More than a row group, in batches that do not divide it.
    let batches: Vec<Vec<LoggedCall>> = (0..30).map(|_| some().repeat(1000)).collect();
    log(&path, &batches).unwrap();
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 2);
    let names: Vec<String> = reader
        .metadata()
        .file_metadata()
        .schema_descr()
        .columns()
        .iter()
        .map(|column| column.name().to_owned())
        .collect();
    assert_eq!(names, COLUMNS);
    let mut rows = 0;
    for (row, call) in reader.get_row_iter(None).unwrap().zip(batches.iter().flatten()) {
        let row = row.unwrap();
        let (name, code) = outcome(call.ended);
        assert_eq!(row.get_long(0).unwrap(), call.due.0 as i64);
        assert_eq!(row.get_long(1).ok(), call.written.map(|written| written.0 as i64));
        assert_eq!(row.get_long(2).unwrap(), call.done.0 as i64);
        assert_eq!(row.get_long(3).unwrap(), (call.done.0 - call.due.0) as i64);
        assert_eq!(row.get_string(4).unwrap(), name);
        assert_eq!(row.get_int(5).ok(), code.map(|code| code as i32));
        rows += 1;
    }
    assert_eq!(rows, 180_000);
    assert_eq!(reader.metadata().file_metadata().num_rows(), 180_000);
}

#[test]
fn log_that_lacks_calls_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.csv");
    let file = path.to_str().unwrap().parse::<CallsFile>().unwrap();
    let (log, sender) = CallsLog::open(&file).unwrap();
    sender.send(some()).unwrap();
    drop(sender);
    let error = log.start().unwrap().finish(7).unwrap_err().to_string();
    assert!(error.contains("calls.csv: holds 6 of 7 calls, as writing did not keep up"), "{error}");
    assert!(!path.exists());
}

#[test]
fn full_disk_is_reported() {
    let file = CallsFile { path: "/dev/full".into(), format: CallsFormat::Csv };
    let (log, sender) = CallsLog::open(&file).unwrap();
    sender.send(some().repeat(1000)).unwrap();
    drop(sender);
    let error = format!("{:#}", log.start().unwrap().finish(6000).unwrap_err());
    assert!(error.contains("No space left"), "{error}");
}
