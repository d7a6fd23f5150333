//! A running client program: sends it messages, and reads its reports on a thread.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use rustix::thread::gettid;

use super::failed;
use super::frame::{self, Kind};
use super::message::{Command, Hello, Report};
use super::records::Counted;
use crate::host::control_socket::{ControlSocket, SharedFolder};
use crate::interrupt::Interrupt;
use crate::load::LoadError;

/// The supported version of contract/clients.md.
const VERSION: u32 = 1;
/// Maximum length of the sentence on its checks, bytes.
const MAX_CHECKS: usize = 300;
/// Interval at which a wait checks for Ctrl-C.
const INTERRUPT_POLL: Duration = Duration::from_millis(20);
/// How long a program may leave messages unread.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// A connected program. Dropping it closes the connection, which ends the program.
#[derive(Debug)]
pub struct Program {
    stream: UnixStream,
    folder: SharedFolder,
    shared: Arc<Shared>,
    /// The thread that reads its reports, and its thread ID.
    reader: Option<JoinHandle<()>>,
    reader_id: u32,
}

#[derive(Debug, Default)]
struct Shared {
    /// An instant before the program was started.
    started: Nanos,
    state: Mutex<State>,
    changed: Condvar,
}

/// The reports of a program so far.
#[derive(Debug, Default)]
pub(super) struct State {
    hello: Option<Hello>,
    /// The answer to the last `open`: the number of connections, or an error.
    pub opened: Option<Result<u32, String>>,
    /// Number of calls of the last load, once it has stopped.
    pub stopped: Option<u64>,
    /// The program's calls. `None` before the first `open`.
    pub counted: Option<Counted>,
    /// Why nothing more can be read.
    broken: Option<String>,
}

impl Program {
    /// Starts reading from a program that connected to a control socket by `stream`.
    pub fn start(stream: UnixStream, control: &ControlSocket) -> io::Result<Self> {
        stream.set_write_timeout(Some(SEND_TIMEOUT))?;
        let shared = Shared { started: control.created(), ..Shared::default() };
        let (shared, mut from) = (Arc::new(shared), stream.try_clone()?);
        let theirs = Arc::clone(&shared);
        let named = thread::Builder::new().name("client-reports".to_owned());
        let (id, ids) = channel();
        let reader = named.spawn(move || {
            // `start` is waiting for this.
            let _ = id.send(gettid().as_raw_nonzero().get().unsigned_abs());
            let problem = theirs.read(&mut from);
            theirs.lock().broken = Some(problem);
            theirs.changed.notify_all();
        })?;
        let reader_id = ids.recv().map_err(io::Error::other)?;
        let folder = control.folder().clone();
        Ok(Self { stream, folder, shared, reader: Some(reader), reader_id })
    }

    /// The program's introduction. `None` until it arrives.
    pub fn hello(&self) -> Result<Option<Hello>, LoadError> {
        self.with(|state| state.hello.clone())
    }

    /// Writes a file for the program, and returns its path as the program sees it.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, LoadError> {
        self.folder.write(name, bytes).map_err(failed)
    }

    /// ID of the thread that reads its reports.
    pub(super) fn reader(&self) -> u32 {
        self.reader_id
    }

    /// Starts counting the calls of a new load.
    pub(super) fn count(&self, counted: Counted) {
        let mut state = self.shared.lock();
        state.counted = Some(counted);
        (state.opened, state.stopped) = (None, None);
    }

    pub(super) fn send(&self, command: &Command<'_>) -> Result<(), LoadError> {
        let sent = serde_json::to_vec(command)
            .map_err(io::Error::other)
            .and_then(|message| frame::write(&mut &self.stream, &message));
        // If the program is gone, the reader knows a better reason.
        self.with(|_| ())?;
        sent.map_err(|error| LoadError::Failed(format!("it takes no messages: {error}")))
    }

    /// Passes the reports so far to `read`. Fails if reading them has failed.
    pub(super) fn with<T>(&self, read: impl FnOnce(&mut State) -> T) -> Result<T, LoadError> {
        let mut state = self.shared.lock();
        let seen = read(&mut state);
        match &state.broken {
            None => Ok(seen),
            Some(problem) => Err(LoadError::Failed(problem.clone())),
        }
    }

    /// Like [`Self::with`], for the counted calls.
    pub(super) fn counted<T>(&self, read: impl FnOnce(&mut Counted) -> T) -> Result<T, LoadError> {
        let seen = self.with(|state| state.counted.as_mut().map(read))?;
        seen.ok_or_else(|| LoadError::Failed("no load was opened".to_owned()))
    }

    /// Waits until `read` returns a value for the reports. `late` is the error at the deadline.
    pub(super) fn wait<T>(
        &self,
        deadline: Nanos,
        interrupt: &Interrupt,
        late: &str,
        mut read: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T, LoadError> {
        let mut state = self.shared.lock();
        loop {
            if let Some(found) = read(&mut state) {
                return Ok(found);
            }
            if let Some(problem) = &state.broken {
                return Err(LoadError::Failed(problem.clone()));
            }
            if interrupt.check().is_err() {
                return Err(LoadError::Stopped);
            }
            if clock::now() >= deadline {
                return Err(LoadError::Failed(late.to_owned()));
            }
            let waited = self.shared.changed.wait_timeout(state, INTERRUPT_POLL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads until an error, and returns it.
    fn read(&self, from: &mut UnixStream) -> String {
        let mut content = Vec::new();
        loop {
            let read = match frame::read(from, &mut content) {
                Ok(Kind::Records) => self.records(&content),
                Ok(Kind::Message) => self.message(&content),
                Err(problem) => Err(problem.to_string()),
            };
            if let Err(problem) = read {
                return problem;
            }
        }
    }

    fn records(&self, content: &[u8]) -> Result<(), String> {
        let now = clock::now();
        let mut state = self.lock();
        let counted = state.counted.as_mut().ok_or("it reported calls before `open`")?;
        counted.read(content, now).map_err(|problem| format!("it reported {problem}"))
    }

    fn message(&self, content: &[u8]) -> Result<(), String> {
        let report: Report = serde_json::from_slice(content).map_err(|error| {
            let text: String = String::from_utf8_lossy(content).chars().take(80).collect();
            format!("it sent a message that can't be read: {error}: {text}")
        })?;
        let mut state = self.lock();
        match report {
            Report::Hello(hello) => state.hello = Some(known(hello, self.started)?),
            Report::Opened { connections } => state.opened = Some(Ok(connections)),
            Report::Failed { error } if state.opened.is_none() => state.opened = Some(Err(error)),
            Report::Failed { error } => return Err(format!("it said: {error}")),
            Report::Ack {} => {}
            Report::Stopped { calls } => state.stopped = Some(calls),
        }
        self.changed.notify_all();
        Ok(())
    }
}

/// Fails if a program's records could not be interpreted, or it does not describe its checks. `started`: an instant before its
/// start.
fn known(hello: Hello, started: Nanos) -> Result<Hello, String> {
    let Hello { version, clock_ns, ref checks, .. } = hello;
    if version != VERSION {
        return Err(format!(
            "it speaks version {version} of contract/clients.md; expected version {VERSION}"
        ));
    }
    if !(1..=MAX_CHECKS).contains(&checks.len()) {
        return Err(format!(
            "`checks` of its `hello` has {} bytes; expected a sentence of 1 to {MAX_CHECKS}",
            checks.len()
        ));
    }
    let now = clock::now();
    if !(started.0..=now.0).contains(&clock_ns) {
        return Err(format!(
            "its clock says {clock_ns} ns, and CLOCK_MONOTONIC says {} ns and said {} ns before it was started; report instants \
             of that clock",
            now.0, started.0
        ));
    }
    Ok(hello)
}
