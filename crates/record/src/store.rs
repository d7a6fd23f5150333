//! Reads and writes a record on disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::preparation::Preparation;
use crate::run::{Header, Run};
use crate::trial::Trial;

const HEADER: &str = "run.json";
const EVENTS: &str = "events.jsonl";
/// The other files of a record: the events, and the views made from it.
const OTHER_FILES: [&str; 6] =
    [EVENTS, "report.html", "report.md", "cells.csv", "trials.csv", "calls.json"];

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A server was made ready, or failed to become so.
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
    /// The file system returned an error.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The folder has a record already; records are never replaced.
    #[error("{path}: already holds a run record; choose another folder", path = .0.display())]
    Exists(PathBuf),
    /// The folder has no record, but a file with the name of one of a record's files.
    #[error("{path}: already exists and would be overwritten; choose another folder", path = .0.display())]
    Foreign(PathBuf),
    /// The path is a file, not a folder.
    #[error("{path}: is a file; expected a folder", path = .0.display())]
    NoFolder(PathBuf),
    /// The folder has no record.
    #[error("{path}: no run record here ({HEADER} is missing); expected a folder written by `rpcbench run`", path = .0.display())]
    Missing(PathBuf),
    /// A file has content that is not part of a record.
    #[error("{path}:{line}: not a run record of schema {schema}: {source}", path = path.display(), schema = crate::SCHEMA)]
    Parse {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Another version of rpcbench wrote it.
    #[error("{path}: record of schema {found}; this rpcbench reads schema {schema}; read it with the rpcbench that wrote it", path = path.display(), schema = crate::SCHEMA)]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The record's schema.
        found: u32,
    },
}

fn at(path: &Path) -> impl Fn(io::Error) -> StoreError + '_ {
    move |source| StoreError::Io { path: path.to_owned(), source }
}

/// Writes a record event by event. Each is on disk when the call returns.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    events: File,
}

impl Writer {
    /// Creates the folder and writes the header.
    ///
    /// # Errors
    /// If the folder has a record or can't be written.
    pub fn create(dir: &Path, header: &Header) -> Result<Self, StoreError> {
        if dir.is_file() {
            return Err(StoreError::NoFolder(dir.to_owned()));
        }
        fs::create_dir_all(dir).map_err(at(dir))?;
        let path = dir.join(HEADER);
        let lost = OTHER_FILES.iter().map(|name| dir.join(name)).find(|path| path.exists());
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

    /// Opens an existing record to append to it. Removes a last line that a crash cut short.
    ///
    /// # Errors
    /// If the folder can't be written.
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
    /// If it can't be written: the disk is full, for example.
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
/// If the folder has no record, or one that can't be read.
pub fn read(dir: &Path) -> Result<Run, StoreError> {
    if dir.is_file() {
        return Err(StoreError::NoFolder(dir.to_owned()));
    }
    let header = read_header(dir)?;
    let mut run = Run { header, preparations: Vec::new(), trials: Vec::new(), finished: None };
    let path = dir.join(EVENTS);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(run),
        Err(e) => return Err(at(&path)(e)),
    };
    for (i, line) in text.split_inclusive('\n').enumerate() {
        if !line.ends_with('\n') {
            break; // A crash cut it short, before it was acknowledged.
        }
        let parse = |source| StoreError::Parse { path: path.clone(), line: i + 1, source };
        match serde_json::from_str(line).map_err(parse)? {
            Event::Prepared(preparation) => run.preparations.push(*preparation),
            Event::Trial(trial) => run.trials.push(*trial),
            Event::Finished { at } => run.finished = Some(at),
        }
    }
    Ok(run)
}

fn read_header(dir: &Path) -> Result<Header, StoreError> {
    /// What every version of the header has.
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let path = dir.join(HEADER);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Missing(dir.to_owned()));
        }
        Err(e) => return Err(at(&path)(e)),
    };
    let parse = |source: serde_json::Error| StoreError::Parse {
        path: path.clone(),
        line: source.line().max(1),
        source,
    };
    match serde_json::from_str(&text).map_err(parse)? {
        Version { schema: crate::SCHEMA } => serde_json::from_str(&text).map_err(parse),
        Version { schema: found } => Err(StoreError::OtherSchema { path: path.clone(), found }),
    }
}
