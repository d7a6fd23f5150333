//! Frames to and from rpcbench (contract/clients.md).

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{Failure, Outcome};

const MESSAGE: u32 = 1;
const RECORDS: u32 = 2;
const HEADER_BYTES: usize = 8;
const RECORD_BYTES: usize = 24;
/// Payload of a full frame of records.
const RECORDS_BYTES: usize = 4096 / RECORD_BYTES * RECORD_BYTES;
const MAX_FRAME: usize = 65_536;

/// A message from rpcbench.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Command {
    Open(Open),
    Start(Start),
    Stop { at_ns: u64 },
    Close,
}

#[derive(Deserialize)]
pub struct Open {
    pub target: String,
    pub shape: String,
    pub requests: String,
    pub connections: usize,
    pub in_flight: usize,
    pub timeout_ns: u64,
    #[serde(default)]
    pub calls_per_connection: u64,
}

#[derive(Deserialize)]
pub struct Start {
    pub at_ns: u64,
    #[serde(default)]
    pub calls: u64,
    pub schedule: Option<String>,
    #[serde(default)]
    pub in_flight_max: usize,
}

/// A message to rpcbench.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Answer<'a> {
    Hello {
        version: u32,
        language: &'a str,
        library: &'a str,
        library_version: &'a str,
        runtime: &'a str,
        checks: &'a str,
        clock_ns: u64,
    },
    Opened {
        connections: usize,
    },
    Failed {
        error: String,
    },
    Ack {
        of: &'a str,
        received_ns: u64,
    },
    Stopped {
        calls: u64,
    },
}

/// Writes frames, in order.
pub struct Wire {
    output: Mutex<Output>,
}

struct Output {
    socket: UnixStream,
    /// A frame that is not full yet, with space for its header.
    records: Vec<u8>,
}

impl Wire {
    pub fn new(socket: UnixStream) -> Self {
        let mut records = Vec::with_capacity(HEADER_BYTES + RECORDS_BYTES);
        records.resize(HEADER_BYTES, 0);
        Self { output: Mutex::new(Output { socket, records }) }
    }

    /// Adds a call that ended.
    pub fn record(&self, start: u64, done: u64, call: u32, outcome: Outcome) {
        let (kind, status) = outcome.code();
        let mut output = self.lock();
        let records = &mut output.records;
        records.extend_from_slice(&start.to_le_bytes());
        records.extend_from_slice(&done.to_le_bytes());
        records.extend_from_slice(&call.to_le_bytes());
        records.extend_from_slice(&[kind, 0]);
        records.extend_from_slice(&status.to_le_bytes());
        if records.len() == HEADER_BYTES + RECORDS_BYTES {
            output.flush();
        }
    }

    /// Sends the pending records.
    pub fn flush(&self) {
        self.lock().flush();
    }

    /// Sends a message after the pending records.
    pub fn send(&self, message: &Answer<'_>) {
        let mut frame = vec![0; HEADER_BYTES];
        serde_json::to_writer(&mut frame, message).expect("numbers and strings are JSON");
        let mut output = self.lock();
        output.flush();
        output.write(&mut frame, MESSAGE);
    }

    fn lock(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Output {
    fn flush(&mut self) {
        if self.records.len() > HEADER_BYTES {
            let mut records = std::mem::take(&mut self.records);
            self.write(&mut records, RECORDS);
            records.truncate(HEADER_BYTES);
            self.records = records;
        }
    }

    /// Fills in the header and writes a frame. Ends the program if rpcbench has closed the socket.
    fn write(&mut self, frame: &mut [u8], kind: u32) {
        let length = (frame.len() - HEADER_BYTES) as u32;
        frame[..4].copy_from_slice(&length.to_le_bytes());
        frame[4..HEADER_BYTES].copy_from_slice(&kind.to_le_bytes());
        if self.socket.write_all(frame).is_err() {
            process::exit(0);
        }
    }
}

/// Reads the text of a message. `None` if rpcbench has closed the socket, even within a message.
pub fn read_message(socket: &mut impl Read) -> Result<Option<Vec<u8>>, Failure> {
    let mut header = [0; HEADER_BYTES];
    if !read(socket, &mut header)? {
        return Ok(None);
    }
    let [length, kind] = [&header[..4], &header[4..]]
        .map(|number| u32::from_le_bytes([number[0], number[1], number[2], number[3]]));
    if kind != MESSAGE || length as usize > MAX_FRAME {
        let expected = format!("expected kind {MESSAGE} with at most {MAX_FRAME}");
        return Err(format!("a frame of kind {kind} with {length} bytes; {expected}").into());
    }
    let mut text = vec![0; length as usize];
    Ok(read(socket, &mut text)?.then_some(text))
}

/// Fills the buffer. False if the socket ends before that.
fn read(socket: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match socket.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}
