//! The runtime log of a server: a file to which its processes append lines (`contract/README.md`).
//!
//! The lines carry the time of the clock that measures windows, so the events of a window are extracted afterwards, without
//! disturbing the server while it is measured. Times are converted to the server's own time: a pause is shortened by the time for
//! which the server was frozen.

mod events;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::freezes::Freezes;
use crate::error::about;
use events::RuntimeEvents;
use rpcbench_clock::{self as clock, Nanos, Span};
use rpcbench_record::{RuntimeStatistics, regular, units};

/// How long to wait for the first reading after a window; many times the interval of readings.
const TIMEOUT: Nanos = Nanos::from_millis(500);
/// Maximum growth of a log between two readings, bytes; thousands of times what a busy collector writes in a window.
const MAX_GROWTH: u64 = 16 << 20;
const PAUSE: Nanos = Nanos::from_millis(1);

/// The runtime log of one server, read as it grows.
#[derive(Debug)]
pub struct RuntimeLog {
    path: PathBuf,
    file: File,
    /// When it was created; the server is started later.
    created: Nanos,
    /// Bytes after the last newline.
    rest: Vec<u8>,
    events: RuntimeEvents,
}

impl RuntimeLog {
    /// Environment variable with the file's path.
    pub const VARIABLE: &'static str = "RPCBENCH_RUNTIME_LOG";

    /// Creates an empty file, replacing an existing one.
    pub fn create(path: PathBuf) -> io::Result<Self> {
        Self::create_at(path, clock::now())
    }

    /// Like [`Self::create`], for a server that was started after `created`.
    pub fn create_at(path: PathBuf, created: Nanos) -> io::Result<Self> {
        let file = regular::recreate(&path).map_err(about(path.display()))?;
        Ok(Self { path, file, created, rest: Vec::new(), events: RuntimeEvents::default() })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Summarizes a finished window of one or several spans, and forgets earlier events. Waits for the first reading after the
    /// window; all events of the window have been written by then. `None` if no process reports anything.
    pub fn over(
        &mut self,
        window: &[Span],
        freezes: &Freezes,
    ) -> io::Result<Option<RuntimeStatistics>> {
        let window: Vec<Span> = window.iter().map(|span| freezes.own_span(*span)).collect();
        let end = window.last().map_or(Nanos(0), |span| span.end);
        let deadline = clock::now() + TIMEOUT;
        loop {
            self.read(freezes)?;
            let now = clock::now();
            if self.events.is_complete(end) || now >= deadline {
                break;
            }
            clock::sleep_until(now + PAUSE);
        }
        let statistics = self.events.over(&window, self.created);
        self.events.forget_before(end);
        Ok(statistics)
    }

    fn read(&mut self, freezes: &Freezes) -> io::Result<()> {
        let Self { path, file, rest, events, .. } = self;
        let room = MAX_GROWTH - rest.len() as u64 + 1;
        file.take(room).read_to_end(rest).map_err(about(path.display()))?;
        if rest.len() as u64 > MAX_GROWTH {
            let (path, limit) = (path.display(), units::bytes(MAX_GROWTH));
            let long = format!(
                "{path}: grew by more than {limit} between two readings; write less to the runtime log"
            );
            return Err(io::Error::other(long));
        }
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = String::from_utf8_lossy(&rest[..whole]).into_owned();
        rest.drain(..whole);
        for line in lines.lines() {
            let path = path.display();
            let wrong = || {
                format!(
                    "{path}: '{line}' is not a line of a runtime log; contract/README.md describes them"
                )
            };
            events.take(line, freezes).ok_or_else(|| io::Error::other(wrong()))?;
        }
        Ok(())
    }
}
