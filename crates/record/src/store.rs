//! A record on disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::preparation::Preparation;
use crate::run::{Header, Run};
use crate::trial::Trial;
use crate::upgrade;

const HEADER: &str = "run.json";
const EVENTS: &str = "events.jsonl";
/// Files that stand beside the header: the events, and the views that are made of both.
const BESIDE: [&str; 6] =
    [EVENTS, "report.html", "report.md", "cells.csv", "trials.csv", "calls.json"];

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A server was made ready, or could not be.
    Prepared(Box<Preparation>),
    /// A trial ended.
    Trial(Box<Trial>),
    /// Every trial of the plan has ended.
    Finished {
        /// When.
        at: Timestamp,
    },
}

/// Why a record can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A record is there already, and is never replaced.
    #[error("{path}: a run record is here already; name another folder", path = .0.display())]
    Exists(PathBuf),
    /// The folder holds a file that is no record's and has the name of one of its files.
    #[error("{path}: is there already, and would be lost; name another folder", path = .0.display())]
    Foreign(PathBuf),
    /// A file is in the place of a record's folder.
    #[error("{path}: is a file; name a folder", path = .0.display())]
    NoFolder(PathBuf),
    /// No record there.
    #[error("{path}: no run record here ({HEADER} is missing); name a folder that `rpcbench run` made", path = .0.display())]
    Missing(PathBuf),
    /// The content is not a record's.
    #[error("{path}:{line}: not a run record of schema {schema}: {source}", path = path.display(), schema = crate::SCHEMA)]
    Parse {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// Made by a newer version.
    #[error("{path}: record of schema {found}, this rpcbench reads schemas up to {schema}; read it with the rpcbench that made it, or a newer one", path = path.display(), schema = crate::SCHEMA)]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
    },
}

fn at(path: &Path) -> impl Fn(io::Error) -> StoreError + '_ {
    move |source| StoreError::Io { path: path.to_owned(), source }
}

/// Writes a record, an event at a time; each is on disk when the call returns.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    events: File,
}

impl Writer {
    /// Makes the folder and writes the header.
    ///
    /// # Errors
    /// When the folder can't be made or written.
    pub fn create(dir: &Path, header: &Header) -> Result<Self, StoreError> {
        if dir.is_file() {
            return Err(StoreError::NoFolder(dir.to_owned()));
        }
        fs::create_dir_all(dir).map_err(at(dir))?;
        let path = dir.join(HEADER);
        let lost = BESIDE.iter().map(|name| dir.join(name)).find(|path| path.exists());
        if let Some(lost) = lost.filter(|_| !path.exists()) {
            return Err(StoreError::Foreign(lost));
        }
        let mut json = serde_json::to_vec_pretty(header).map_err(|source| StoreError::Parse {
            path: path.clone(),
            line: 0,
            source,
        })?;
        json.push(b'\n');
        let mut file = match File::create_new(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Exists(dir.to_owned()));
            }
            made => made.map_err(at(&path))?,
        };
        file.write_all(&json).and_then(|()| file.sync_all()).map_err(at(&path))?;
        Self::open(dir)
    }

    /// Goes on with a record that exists. A last line cut short by a crash is removed.
    ///
    /// # Errors
    /// When the folder can't be written.
    pub fn resume(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(EVENTS);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(at(&path)(e)),
        };
        let whole = text.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        let writer = Self::open(dir)?;
        writer.events.set_len(whole as u64).map_err(at(&path))?;
        Ok(writer)
    }

    fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(EVENTS);
        let events = OpenOptions::new().create(true).append(true).open(&path).map_err(at(&path))?;
        Ok(Self { path, events })
    }

    /// Appends an event and waits until it is on disk.
    ///
    /// # Errors
    /// When the disk is full, say.
    pub fn append(&mut self, event: &Event) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(event).map_err(|source| StoreError::Parse {
            path: self.path.clone(),
            line: 0,
            source,
        })?;
        line.push(b'\n');
        let before = self.events.metadata().map_err(at(&self.path))?.len();
        let written = self.events.write_all(&line).and_then(|()| self.events.sync_data());
        if let Err(error) = written {
            // Half a line would hide every later one.
            let _ = self.events.set_len(before);
            return Err(at(&self.path)(error));
        }
        Ok(())
    }
}

/// Reads a record from its folder.
///
/// # Errors
/// When there is none, or its content is not one.
pub fn read(dir: &Path) -> Result<Run, StoreError> {
    if dir.is_file() {
        return read_load(dir);
    }
    let (header, schema) = read_header(dir)?;
    let mut run = Run { header, preparations: Vec::new(), trials: Vec::new(), finished: None };
    let path = dir.join(EVENTS);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(run),
        Err(e) => return Err(at(&path)(e)),
    };
    for (i, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            break; // Cut short by a crash: it was never acknowledged.
        }
        let parse = |source| StoreError::Parse { path: path.clone(), line: i + 1, source };
        match read_event(line, schema, &run.header.plan).map_err(parse)? {
            Event::Prepared(preparation) => run.preparations.push(*preparation),
            Event::Trial(trial) => run.trials.push(*trial),
            Event::Finished { at } => run.finished = Some(at),
        }
    }
    Ok(run)
}

/// The run of a load in a file of its own, as loads were written before they were runs.
fn read_load(path: &Path) -> Result<Run, StoreError> {
    let text = fs::read_to_string(path).map_err(at(path))?;
    let parse = |source: serde_json::Error| StoreError::Parse {
        path: path.to_owned(),
        line: source.line().max(1),
        source,
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(parse)?;
    let schema = known_schema(path, &value)?.unwrap_or(u64::from(crate::SCHEMA));
    serde_json::from_value(upgrade::load(value, schema)).map_err(parse)
}

fn read_event(line: &str, schema: u64, plan: &Plan) -> serde_json::Result<Event> {
    if schema == u64::from(crate::SCHEMA) {
        return serde_json::from_str(line);
    }
    let mut value = serde_json::from_str(line)?;
    upgrade::event(&mut value, schema, plan);
    serde_json::from_value(value)
}

/// The schema of a record, if it says it. Newer ones are refused.
pub(crate) fn known_schema(
    path: &Path,
    record: &serde_json::Value,
) -> Result<Option<u64>, StoreError> {
    match upgrade::schema(record) {
        Some(found) if found > u64::from(crate::SCHEMA) => {
            Err(StoreError::Newer { path: path.to_owned(), found })
        }
        schema => Ok(schema),
    }
}

/// The header, and the schema that it was written in.
fn read_header(dir: &Path) -> Result<(Header, u64), StoreError> {
    let path = dir.join(HEADER);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Missing(dir.to_owned()));
        }
        Err(e) => return Err(at(&path)(e)),
    };
    let parse = |source| StoreError::Parse { path: path.clone(), line: 1, source };
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(parse)?;
    let schema = known_schema(&path, &value)?;
    if let Some(schema) = schema {
        upgrade::header(&mut value, schema);
    }
    let schema = schema.unwrap_or(u64::from(crate::SCHEMA));
    serde_json::from_value(value).map(|header| (header, schema)).map_err(parse)
}
