//! What a server's runtime tells of itself, in a file that its processes append lines to (`contract/README.md`).
//!
//! The lines bear the time of the clock that windows are measured by, so a window's part is cut out of them afterwards,
//! and nobody talks to the server while it is measured.

mod events;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rpcbench_engine::Span;
use rpcbench_engine::clock::{self, Nanos};
use rpcbench_record::RuntimeStatistics;
use thiserror::Error;

use events::RuntimeEvents;

/// How long to wait for the first reading after a window: many times the distance between two of them.
const PATIENCE: Nanos = Nanos::from_millis(500);
/// The pause between two looks.
const PAUSE: Nanos = Nanos::from_millis(1);

/// Why it can't be read.
#[derive(Debug, Error)]
pub enum RuntimeLogError {
    /// The file can't be made or read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The server wrote something else.
    #[error(
        "{}: '{line}' is no line of a runtime log; contract/README.md describes them", path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// As written.
        line: String,
    },
}

/// The file of one server, read as it grows.
#[derive(Debug)]
pub struct RuntimeLog {
    path: PathBuf,
    file: File,
    /// Bytes behind the last line end.
    rest: Vec<u8>,
    events: RuntimeEvents,
}

impl RuntimeLog {
    /// Names the file to the server.
    pub const VARIABLE: &'static str = "RPCBENCH_RUNTIME_LOG";

    /// An empty file, in place of one that may be there.
    ///
    /// # Errors
    /// If it can't be made.
    pub fn create(path: PathBuf) -> Result<Self, RuntimeLogError> {
        let file = File::create(&path).and_then(|_| File::open(&path));
        match file {
            Ok(file) => Ok(Self { path, file, rest: Vec::new(), events: RuntimeEvents::default() }),
            Err(source) => Err(RuntimeLogError::File { path, source }),
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was told of a window that is over; what lies before it is forgotten. Waits for the first reading after
    /// it, as all that belongs to the window has been written by then. `None` where no process tells anything.
    ///
    /// # Errors
    /// If the file can't be read, or has other lines.
    pub fn over(&mut self, window: Span) -> Result<Option<RuntimeStatistics>, RuntimeLogError> {
        let deadline = clock::now() + PATIENCE;
        loop {
            self.read()?;
            let now = clock::now();
            if self.events.is_complete(window.end) || now >= deadline {
                break;
            }
            clock::sleep_until(now + PAUSE);
        }
        let statistics = self.events.over(window);
        self.events.forget_before(window.end);
        Ok(statistics)
    }

    /// Takes in the lines that have come since.
    fn read(&mut self) -> Result<(), RuntimeLogError> {
        let Self { path, file, rest, events } = self;
        let read = file.read_to_end(rest);
        read.map_err(|source| RuntimeLogError::File { path: path.clone(), source })?;
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = String::from_utf8_lossy(&rest[..whole]).into_owned();
        rest.drain(..whole);
        for line in lines.lines() {
            let wrong = || RuntimeLogError::Line { path: path.clone(), line: line.to_owned() };
            events.take(line).ok_or_else(wrong)?;
        }
        Ok(())
    }
}
