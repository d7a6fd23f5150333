//! A line per call.

use std::io::BufWriter;

use anyhow::Context as _;
use rpcbench_engine::LoggedCall;

use super::{COLUMNS, CallWriter, outcome};
use crate::commands::out_file::OutFile;

/// Writes calls as CSV.
pub struct Csv {
    to: csv::Writer<BufWriter<OutFile>>,
}

impl Csv {
    pub fn new(to: BufWriter<OutFile>) -> anyhow::Result<Self> {
        let path = to.get_ref().path().display().to_string();
        let mut to = csv::WriterBuilder::new().has_headers(false).from_writer(to);
        to.write_record(COLUMNS).with_context(|| path)?;
        Ok(Self { to })
    }
}

impl CallWriter for Csv {
    fn add(&mut self, calls: &[LoggedCall]) -> anyhow::Result<()> {
        for call in calls {
            let (outcome, status) = outcome(call.ended);
            let written = call.written.map(|written| written.0);
            let response = call.done.since(call.due);
            self.to.serialize((call.due.0, written, call.done.0, response, outcome, status))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> anyhow::Result<OutFile> {
        let buffer = self.to.into_inner().map_err(|refused| refused.into_error())?;
        Ok(buffer.into_inner().map_err(|refused| refused.into_error())?)
    }
}
