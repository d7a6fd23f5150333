//! Reads and writes a record on disk.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::iter;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interim_analysis::InterimAnalysis;
use crate::parallel::in_parallel;
use crate::preparation::Preparation;
use crate::regular;
use crate::run::{Header, Run};
use crate::trial::Trial;

const HEADER: &str = "run.json";
const EVENTS: &str = "events.jsonl";
/// The other files of a record: the events, and the views generated from it.
const OTHER_FILES: [&str; 6] =
    [EVENTS, "report.html", "report.md", "cells.csv", "trials.csv", "calls.json"];

/// Maximum length of a record's line or header, bytes: that of a window of 48 h, with room to spare. No run writes longer ones,
/// and reading them would only cost memory.
const MAX_LINE: u64 = 256 << 20;

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A process was prepared, skipped, or failed to become ready.
    Prepared(Box<Preparation>),
    /// A trial ended.
    Trial(Box<Trial>),
    /// An interim analysis of a workload.
    InterimAnalysis(InterimAnalysis),
    /// Every trial of the plan has ended.
    Finished {
        /// Wall-clock time of the event.
        at: Timestamp,
    },
}

/// Reason why a record can't be read or written.
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
    /// The folder already has a record; records are never replaced.
    #[error("{path}: already holds a run record; choose another folder", path = .0.display())]
    Exists(PathBuf),
    /// The folder has no record, but a file with the name of one of a record's files.
    #[error("{path}: already exists and would be overwritten; choose another folder", path = .0.display())]
    Foreign(PathBuf),
    /// The path is a file, not a folder.
    #[error("{path}: is a file; expected a folder", path = .0.display())]
    NoFolder(PathBuf),
    /// Another process is writing the record.
    #[error("{path}: process {writer} is writing this record; wait for its end, or stop it", path = path.display(), writer = writer.map_or_else(|| "(unknown)".to_owned(), |id| id.to_string()))]
    Busy {
        /// The file of events.
        path: PathBuf,
        /// Process id of the writer, if the kernel shows it.
        writer: Option<u32>,
    },
    /// A file of a record to resume is a link.
    #[error("{path}: a link; a run writes only to its own folder, so replace the link by a file to resume it", path = .0.display())]
    Link(PathBuf),
    /// The events were deleted, or replaced by another file, during the run.
    #[error("{path}: deleted or replaced while the run was writing it; the record is lost", path = .0.display())]
    Lost(PathBuf),
    /// The folder has no record.
    #[error("{path}: no run record here ({HEADER} is missing); expected a folder written by `rpcbench run`", path = .0.display())]
    Missing(PathBuf),
    /// A file has content that does not belong to a record.
    #[error("{path}:{line}: not a run record of schema {schema}: {source}", path = path.display(), schema = crate::SCHEMA)]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A line is longer than any line that a run writes.
    #[error("{path}:{line}: not a run record: the line is longer than {limit}", path = path.display(), limit = crate::units::bytes(MAX_LINE))]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// The record was written by another version of rpcbench.
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

/// Writes a record event by event. Each event is on disk when the call returns.
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
        let mut json =
            serde_json::to_vec_pretty(header).map_err(|error| at(&path)(error.into()))?;
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

    /// Opens an existing record for appending. Removes a last line cut short by a crash.
    ///
    /// # Errors
    /// If the folder can't be written, has links, or has another writer.
    pub fn resume(dir: &Path) -> Result<Self, StoreError> {
        refuse_links(dir)?;
        let writer = Self::open(dir)?;
        let whole = File::open(&writer.path).and_then(|mut file| whole_lines(&mut file));
        let cut = whole.and_then(|whole| writer.events.set_len(whole));
        cut.map_err(at(&writer.path))?;
        Ok(writer)
    }

    fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(EVENTS);
        let events = regular::append(&path).map_err(at(&path))?;
        match events.try_lock() {
            Ok(()) => Ok(Self { path, events }),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::Busy { writer: lock_holder(&events), path })
            }
            Err(TryLockError::Error(error)) => Err(at(&path)(error)),
        }
    }

    /// Appends an event and waits until it is on disk.
    ///
    /// # Errors
    /// If the event can't be written, for example to a full disk, or if the record was deleted meanwhile.
    pub fn append(&mut self, event: &Event) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(event).map_err(|error| at(&self.path)(error.into()))?;
        line.push(b'\n');
        let before = self.events.metadata().map_err(at(&self.path))?;
        let written = self.events.write_all(&line).and_then(|()| self.events.sync_data());
        if let Err(error) = written {
            // Half a line would hide all later ones.
            let _ = self.events.set_len(before.len());
            return Err(at(&self.path)(error));
        }
        // A deleted file accepts every write and keeps none.
        let same = |there: Metadata| (there.dev(), there.ino()) == (before.dev(), before.ino());
        match fs::metadata(&self.path).is_ok_and(same) {
            true => Ok(()),
            false => Err(StoreError::Lost(self.path.clone())),
        }
    }
}

/// Refuses links in a record's folder and its subfolders, as they lead outside.
fn refuse_links(dir: &Path) -> Result<(), StoreError> {
    for item in fs::read_dir(dir).map_err(at(dir))? {
        let item = item.map_err(at(dir))?;
        let kind = item.file_type().map_err(at(dir))?;
        if kind.is_symlink() {
            return Err(StoreError::Link(item.path()));
        }
        if kind.is_dir() {
            refuse_links(&item.path())?;
        }
    }
    Ok(())
}

/// The process that holds the lock on a file, from /proc/locks (proc_locks(5)): `1: FLOCK ADVISORY WRITE 708 08:01:13 0 EOF`.
fn lock_holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let holder = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, id, file, ..] = words[..] else { return None };
        (file.rsplit(':').next() == Some(&inode)).then(|| id.parse().ok())?
    };
    locks.lines().find_map(holder)
}

/// Length of a file without an unterminated last line.
fn whole_lines(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    const STEP: u64 = 64 << 10;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut chunk = Vec::new();
    while end > 0 {
        let from = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(from))?;
        chunk.clear();
        file.take(end - from).read_to_end(&mut chunk)?;
        if let Some(last) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(from + last as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

/// Reads a record from its folder.
///
/// # Errors
/// If the folder has no record, or the record can't be read.
pub fn read(dir: &Path) -> Result<Run, StoreError> {
    if dir.is_file() {
        return Err(StoreError::NoFolder(dir.to_owned()));
    }
    let header = read_header(dir)?;
    let mut run = Run::new(header);
    let path = dir.join(EVENTS);
    let mut file = match regular::open(&path) {
        Ok(file) => BufReader::with_capacity(CHUNK, file),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(run),
        Err(e) => return Err(at(&path)(e)),
    };
    let mut batch = Batch::default();
    let mut first = 1;
    loop {
        batch.read(&mut file, MAX_LINE).map_err(at(&path))?;
        for (line, event) in (first..).zip(parse(&batch.lines())) {
            match event.map_err(|source| StoreError::Parse { path: path.clone(), line, source })? {
                Event::Prepared(preparation) => run.preparations.push(*preparation),
                Event::Trial(trial) => run.trials.push(*trial),
                Event::InterimAnalysis(it) => run.interim_analyses.push(it),
                Event::Finished { at } => run.finished = Some(at),
            }
        }
        first += batch.ends.len();
        match batch.next {
            Next::Line => {}
            Next::TooLong => return Err(StoreError::TooLong { path, line: first }),
            Next::End => return Ok(run),
        }
    }
}

/// Bytes per read.
const CHUNK: usize = 64 << 10;
/// Bytes of lines to read before they are parsed on all CPUs.
const BATCH: usize = 4 << 20;

/// A batch of lines, and what follows them.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    /// End of each line.
    ends: Vec<usize>,
    next: Next,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Line,
    TooLong,
    /// Possibly after a partial line: a crash cut it short before it was acknowledged.
    End,
}

impl Batch {
    /// Replaces the batch with the next complete lines of at most `limit` bytes each. The rest of a longer line is not read.
    fn read(&mut self, from: &mut impl BufRead, limit: u64) -> io::Result<()> {
        self.text.clear();
        self.ends.clear();
        while self.next == Next::Line && self.text.len() < BATCH {
            let read = from.take(limit + 1).read_until(b'\n', &mut self.text)?;
            if read as u64 > limit {
                self.next = Next::TooLong;
            } else if self.text.ends_with(b"\n") && read > 0 {
                self.ends.push(self.text.len());
            } else {
                self.next = Next::End;
            }
        }
        Ok(())
    }

    fn lines(&self) -> Vec<&[u8]> {
        let starts = iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end]).collect()
    }
}

/// Parses lines. Keeps their order.
fn parse(lines: &[&[u8]]) -> impl Iterator<Item = serde_json::Result<Event>> {
    let events = |part: &[&[u8]]| part.iter().map(|line| serde_json::from_slice(line)).collect();
    in_parallel(lines, usize::MAX, events).into_iter().flat_map(|part: Vec<_>| part)
}

/// Reads when a run began.
///
/// # Errors
/// As [`read`], for the header.
pub fn started(dir: &Path) -> Result<Timestamp, StoreError> {
    Ok(read_header(dir)?.started)
}

fn read_header(dir: &Path) -> Result<Header, StoreError> {
    /// The part of the header that every version has.
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let path = dir.join(HEADER);
    let file = match regular::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::Missing(dir.to_owned()));
        }
        Err(e) => return Err(at(&path)(e)),
    };
    let mut text = Vec::new();
    file.take(MAX_LINE + 1).read_to_end(&mut text).map_err(at(&path))?;
    if text.len() as u64 > MAX_LINE {
        return Err(StoreError::TooLong { path, line: 1 });
    }
    let parse = |source: serde_json::Error| StoreError::Parse {
        path: path.clone(),
        line: source.line().max(1),
        source,
    };
    match serde_json::from_slice(&text).map_err(parse)? {
        Version { schema: crate::SCHEMA } => serde_json::from_slice(&text).map_err(parse),
        Version { schema: found } => Err(StoreError::OtherSchema { path: path.clone(), found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_line_is_read_up_to_limit() {
        let mut endless = BufReader::new(io::repeat(b'x'));
        let mut batch = Batch::default();
        batch.read(&mut endless, 1000).unwrap();
        assert_eq!((batch.text.len(), batch.next), (1001, Next::TooLong));
        let read = |text: &str| {
            let mut batch = Batch::default();
            batch.read(&mut io::Cursor::new(text), 4).unwrap();
            let lines = batch.lines().concat();
            (String::from_utf8(lines).unwrap(), batch.ends.len(), batch.next)
        };
        assert_eq!(read("one\n\ntwo"), ("one\n\n".to_owned(), 2, Next::End));
        assert_eq!(read("one\nthree\n"), ("one\n".to_owned(), 1, Next::TooLong));
        assert_eq!(read(""), (String::new(), 0, Next::End));
    }

    #[test]
    fn last_line_end_is_found_at_any_distance() {
        for (lines, cut) in [(0, 0), (0, 200_000), (3, 0), (3, 10), (3, 65_536), (100_000, 150_000)]
        {
            let whole = "line\n".repeat(lines);
            let text = format!("{whole}{}", "x".repeat(cut));
            let found = whole_lines(&mut io::Cursor::new(text)).unwrap();
            assert_eq!(found, whole.len() as u64, "{lines} lines, {cut} bytes cut short");
        }
    }
}
