//! Writes every measured call during the load, on a separate thread.

mod csv;
mod files;
mod parquet;

use std::io::BufWriter;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, anyhow, bail};
use rpcbench_engine::{CallLog, Ended, LoggedCall, call_log};
use rpcbench_record::{OutcomeKind, Trial};
use rpcbench_report::{Calls, TrialCalls};

use super::out_file::OutFile;
use crate::args::{CallsFile, CallsFormat};

pub use files::CallFiles;

/// Writes calls in one format.
trait CallWriter: Send {
    fn add(&mut self, calls: &[LoggedCall]) -> anyhow::Result<()>;

    /// Writes the rest and returns the file.
    fn finish(self: Box<Self>) -> anyhow::Result<OutFile>;
}

/// The columns, in order.
const COLUMNS: [&str; 6] = ["due_ns", "written_ns", "done_ns", "response_ns", "outcome", "status"];

/// A log that is not being written yet.
pub struct CallsLog {
    writer: Box<dyn CallWriter>,
    calls: Receiver<Vec<LoggedCall>>,
}

/// A log that is being written.
pub struct LogThread {
    thread: JoinHandle<anyhow::Result<(OutFile, u64, Calls)>>,
}

impl CallsLog {
    /// Opens a log. Returns it with the engine's end of its channel; the log ends when the last copy of that end is dropped.
    pub fn open(file: &CallsFile) -> anyhow::Result<(Self, CallLog)> {
        let begins = match file.format {
            CallsFormat::Csv => COLUMNS[0],
            CallsFormat::Parquet => parquet::BEGINS,
        };
        let to = BufWriter::new(OutFile::open(&file.path, begins.as_bytes())?);
        let writer: Box<dyn CallWriter> = match file.format {
            CallsFormat::Csv => Box::new(csv::Csv::new(to)?),
            CallsFormat::Parquet => Box::new(parquet::Parquet::new(to)?),
        };
        let (sender, calls) = call_log();
        Ok((Self { writer, calls }, sender))
    }

    /// Discards the calls sent so far.
    pub fn forget(&self) {
        while self.calls.try_recv().is_ok() {}
    }

    /// Starts writing calls.
    pub fn start(self) -> anyhow::Result<LogThread> {
        let Self { mut writer, calls } = self;
        let write = move || {
            let (mut count, mut drawn) = (0, Calls::default());
            for batch in calls {
                writer.add(&batch)?;
                count += batch.len() as u64;
                draw(&mut drawn, &batch);
            }
            Ok((writer.finish()?, count, drawn))
        };
        let thread = thread::Builder::new().name("rpcbench-log".to_owned()).spawn(write);
        Ok(LogThread { thread: thread.context("a thread for the log of calls")? })
    }
}

impl LogThread {
    /// Waits for the last calls after the end of the session, and puts the file in place if it has all `counted` calls. Returns
    /// the calls as a page draws them.
    pub fn finish(self, counted: u64) -> anyhow::Result<Calls> {
        let ended =
            self.thread.join().map_err(|_| anyhow!("the thread that writes calls panicked"));
        let (file, logged, drawn) = ended??;
        if logged != counted {
            bail!(
                "{}: holds {logged} of {counted} calls, as writing did not keep up; write to a faster disk, or lower the rate",
                file.path().display()
            );
        }
        file.commit()?;
        Ok(drawn)
    }
}

/// Counts calls as a page draws them.
fn draw(to: &mut Calls, calls: &[LoggedCall]) {
    for call in calls {
        to.add(call.due.0, call.done.since(call.due), call.ended == Ended::Ok);
    }
}

/// The calls of `trial`, as a page draws them.
pub fn drawn(trial: &Trial, calls: Calls) -> TrialCalls {
    let (entry, workload) = (trial.entry.clone(), trial.workload.clone());
    TrialCalls { entry, workload, number: trial.number, calls }
}

/// The name of an outcome, with its code if it has one.
fn outcome(ended: Ended) -> (&'static str, Option<u32>) {
    match ended {
        Ended::Ok => (OutcomeKind::Ok.key(), None),
        Ended::WrongAnswer => (OutcomeKind::WrongAnswer.key(), None),
        Ended::Status(code) => (OutcomeKind::Status.key(), Some(code)),
        Ended::Timeout => (OutcomeKind::Timeout.key(), None),
        Ended::Transport => (OutcomeKind::Transport.key(), None),
        Ended::NotSent => (OutcomeKind::NotSent.key(), None),
    }
}

#[cfg(test)]
mod tests;
