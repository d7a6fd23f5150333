//! The calls of a run, one file per trial.

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use anyhow::{Context as _, bail};
use rpcbench_engine::LoggedCall;
use rpcbench_record::Trial;
use rpcbench_report::Calls;

use super::{CallWriter, OutFile, draw, drawn, parquet};
use crate::commands::report::{CALLS_FOLDER, write_drawn};

/// Writes the calls of each trial when it ends. Until then they stay in memory; the plan bounds their number.
pub struct CallFiles {
    folder: PathBuf,
    calls: Receiver<Vec<LoggedCall>>,
}

impl CallFiles {
    /// The files of a run in `folder`.
    pub fn new(folder: &Path, calls: Receiver<Vec<LoggedCall>>) -> Self {
        Self { folder: folder.join(CALLS_FOLDER), calls }
    }

    /// Discards the calls of the window that just ended.
    pub fn forget(&self) {
        self.calls.try_iter().for_each(drop);
    }

    /// Writes the calls of the trial that just ended to `calls/ENTRY.WORKLOAD.NUMBER.parquet`, and what a page draws of them to
    /// `calls/ENTRY.WORKLOAD.json`, replacing that of an earlier trial.
    pub fn write(&self, trial: &Trial) -> anyhow::Result<()> {
        let batches: Vec<_> = self.calls.try_iter().collect();
        let Some(measured) = trial.measured() else { return Ok(()) };
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        let cell = format!("{}.{}", trial.entry, trial.workload);
        let file = self.folder.join(format!("{cell}.{}.parquet", trial.number));
        let file = OutFile::open(&file, parquet::BEGINS.as_bytes())?;
        let mut writer: Box<dyn CallWriter> =
            Box::new(parquet::Parquet::new(BufWriter::new(file))?);
        let (mut logged, mut calls) = (0, Calls::default());
        for batch in batches {
            writer.add(&batch)?;
            draw(&mut calls, &batch);
            logged += batch.len() as u64;
        }
        let counted = measured.outcomes.total();
        if logged != counted {
            bail!(
                "logged {logged} of {counted} calls, as no more fit in memory; use shorter windows, or fewer calls"
            );
        }
        writer.finish()?.commit()?;
        write_drawn(&self.folder.join(format!("{cell}.json")), &drawn(trial, calls))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use jiff::Timestamp;
    use rpcbench_clock::Nanos;
    use rpcbench_engine::{Ended, call_log};
    use rpcbench_record::{Measured, Outcomes, TrialResult};

    use super::*;

    #[test]
    fn calls_of_a_window_that_is_measured_again_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let (log, calls) = call_log();
        let files = CallFiles { folder: folder.path().to_owned(), calls };
        let call = LoggedCall { due: Nanos(1), written: None, done: Nanos(2), ended: Ended::Ok };
        log.send(vec![call; 5]).unwrap();
        files.forget();
        log.send(vec![call; 3]).unwrap();
        let outcomes = Outcomes { ok: 3, ..Outcomes::default() };
        let trial = Trial {
            entry: "go-grpc".to_owned(),
            workload: "quick".to_owned(),
            process: 1,
            number: 1,
            started: Timestamp::UNIX_EPOCH,
            arrivals: None,
            search: None,
            unmeasured: None,
            result: TrialResult::from(Measured { outcomes, ..Measured::default() }),
        };
        files.write(&trial).unwrap();
        let file = File::open(folder.path().join("go-grpc.quick.1.parquet")).unwrap();
        let read = SerializedFileReader::new(file).unwrap();
        assert_eq!(read.metadata().file_metadata().num_rows(), 3);
    }
}
