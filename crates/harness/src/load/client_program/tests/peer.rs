//! A client program in a thread: JSON over HTTP/1.1, one call at a time.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rpcbench_clock::{self as clock, Nanos};
use serde_json::{Value, json};

use crate::load::client_program::frame::{self, Kind};

/// How honest a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Honesty {
    /// Completely honest.
    Full,
    /// Accepts every reply as right.
    NoChecks,
    /// Reports every second call without making it.
    Invents,
    /// Makes every call twice and reports one.
    Hides,
    /// Compares only the field with the nonce.
    ComparesNonces,
    /// Reuses a connection after a timeout.
    KeepsLateConnections,
    /// Opens a second connection for each one.
    OpensMore,
    /// In an open loop, reports when it sent a call, not when the call was due.
    HidesLateness,
    /// In an open loop, leaves out the last call.
    LeavesOut,
}

/// How late calls of an open loop are.
const LATE: Nanos = Nanos::from_millis(5);

/// The first message of a program.
pub fn hello(version: u32, clock: Nanos) -> String {
    json!({
        "type": "hello", "version": version, "language": "rust", "library": "std", "library_version": "1",
        "runtime": "none", "checks": "all", "clock_ns": clock.0,
    })
    .to_string()
}

/// A record of a call.
pub fn record(start: Nanos, done: Nanos, call: u32, outcome: u8) -> Vec<u8> {
    with_status(start, done, call, (outcome, 0))
}

fn with_status(start: Nanos, done: Nanos, call: u32, (outcome, status): (u8, u16)) -> Vec<u8> {
    let times = [start.0.to_le_bytes(), done.0.to_le_bytes()].concat();
    let status = status.to_le_bytes();
    [&times[..], &call.to_le_bytes(), &[outcome, 0], &status].concat()
}

/// A client program.
pub struct Peer {
    control: UnixStream,
    honesty: Honesty,
    target: String,
    shape: Shape,
    requests: Vec<Vec<u8>>,
    timeout: Duration,
    slots: Vec<Option<TcpStream>>,
    unused: Vec<TcpStream>,
}

/// A method, the key of its message, and the field with the nonce; `None` if the message is the text itself.
type Shape = (&'static str, &'static str, Option<&'static str>);

fn shape(name: &str) -> Shape {
    match name {
        "record" => ("Record", "record", Some("field1")),
        "dto" => ("Dto", "dto", Some("prop1")),
        "tree" => ("Tree", "tree", Some("name")),
        _ => ("Text", "text", None),
    }
}

/// The text that contains the nonce, in a request or a reply.
fn nonce_text<'a>(content: &'a mut Value, field: Option<&str>) -> &'a mut Value {
    match field {
        Some(field) => &mut content[field],
        None => content,
    }
}

impl Peer {
    pub fn new(control: UnixStream, honesty: Honesty) -> Self {
        Self {
            control,
            honesty,
            target: String::new(),
            shape: shape("text"),
            requests: Vec::new(),
            timeout: Duration::ZERO,
            slots: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Follows commands until the socket closes.
    pub fn serve(mut self) {
        self.say(&hello(1, clock::now()));
        let mut content = Vec::new();
        while let Ok(Kind::Message) = frame::read(&mut self.control, &mut content) {
            let message: Value = serde_json::from_slice(&content).unwrap();
            match message["type"].as_str().unwrap() {
                "open" => self.open(&message),
                "start" => {
                    let at = Nanos(message["at_ns"].as_u64().unwrap());
                    clock::sleep_until(at);
                    match message["schedule"].as_str() {
                        Some(path) => self.planned_calls(at, &fs::read(path).unwrap()),
                        None => self.calls(message["calls"].as_u64().unwrap()),
                    }
                }
                _ => {}
            }
        }
    }

    fn say(&mut self, message: &str) {
        frame::write(&mut self.control, message.as_bytes()).unwrap();
    }

    fn open(&mut self, message: &Value) {
        self.target = message["target"].as_str().unwrap().to_owned();
        self.shape = shape(message["shape"].as_str().unwrap());
        self.timeout = Duration::from_nanos(message["timeout_ns"].as_u64().unwrap());
        let file = fs::read(message["requests"].as_str().unwrap()).unwrap();
        let mut rest = &file[..];
        self.requests.clear();
        while let Some((length, after)) = rest.split_first_chunk() {
            let (request, after) = after.split_at(u32::from_le_bytes(*length) as usize);
            self.requests.push(request.to_vec());
            rest = after;
        }
        let connections = message["connections"].as_u64().unwrap();
        self.slots = (0..connections).map(|_| None).collect();
        self.unused.clear();
        self.say(&json!({"type": "opened", "connections": connections}).to_string());
    }

    fn calls(&mut self, calls: u64) {
        let mut records = Vec::new();
        for number in 0..calls {
            let slot = number as usize % self.slots.len();
            let start = clock::now();
            let is_made = self.honesty != Honesty::Invents || number.is_multiple_of(2);
            let ended = if is_made { self.call(slot, number) } else { (0, 0) };
            if self.honesty == Honesty::Hides {
                self.call(slot, number);
            }
            records.extend(with_status(start, clock::now(), slot as u32, ended));
        }
        self.report(&records, calls);
    }

    /// Runs an open loop whose calls are all late.
    fn planned_calls(&mut self, at: Nanos, schedule: &[u8]) {
        let (entries, _) = schedule.as_chunks();
        let left_out = usize::from(self.honesty == Honesty::LeavesOut);
        let calls = entries.len() - left_out;
        let mut records = Vec::new();
        for (index, entry) in entries[..calls].iter().enumerate() {
            let due = at + Nanos(u64::from_le_bytes(*entry));
            clock::sleep_until(due + LATE);
            let sent = clock::now();
            let ended = self.call(index % self.slots.len(), index as u64);
            let start = if self.honesty == Honesty::HidesLateness { sent } else { due };
            records.extend(with_status(start, clock::now(), index as u32, ended));
        }
        self.report(&records, calls as u64);
    }

    /// Sends the records, and `stopped`.
    fn report(&mut self, records: &[u8], calls: u64) {
        let head = [(records.len() as u32).to_le_bytes(), 2_u32.to_le_bytes()].concat();
        self.control.write_all(&[&head, records].concat()).unwrap();
        self.say(&json!({"type": "stopped", "calls": calls}).to_string());
    }

    /// Makes a call and returns its outcome and status.
    fn call(&mut self, slot: usize, number: u64) -> (u8, u16) {
        let request = &self.requests[number as usize % self.requests.len()];
        let mut request: Value = serde_json::from_slice(request).unwrap();
        let (_, key, field) = self.shape;
        let text = nonce_text(&mut request[key], field);
        *text = format!("{number:08}{}", &text.as_str().unwrap()[8..]).into();
        let reply = self.exchange(slot, &request.to_string());
        let (status, body) = match reply {
            Ok(reply) => reply,
            Err(error) => {
                let late = error.kind() == io::ErrorKind::WouldBlock;
                if !late || self.honesty != Honesty::KeepsLateConnections {
                    self.slots[slot] = None;
                }
                return if late { (3, 0) } else { (4, 0) };
            }
        };
        let is_right = serde_json::from_slice::<Value>(&body)
            .is_ok_and(|mut reply| self.is_right(&mut request[key], &mut reply["echo"], number));
        match status {
            200 if is_right || self.honesty == Honesty::NoChecks => (0, 0),
            200 => (1, 0),
            other => (2, other),
        }
    }

    /// True if the compared part of a reply is right.
    fn is_right(&self, sent: &mut Value, echo: &mut Value, number: u64) -> bool {
        let is_whole = number.is_multiple_of(16) && self.honesty != Honesty::ComparesNonces;
        let (_, _, field) = self.shape;
        match is_whole || echo.is_null() {
            true => sent == echo,
            false => nonce_text(sent, field) == nonce_text(echo, field),
        }
    }

    fn exchange(&mut self, slot: usize, body: &str) -> io::Result<(u16, Vec<u8>)> {
        if self.honesty == Honesty::OpensMore && self.slots[slot].is_none() {
            // Accepted before the connection that is used.
            self.unused.push(TcpStream::connect(&self.target)?);
        }
        let (method, ..) = self.shape;
        let stream = match &mut self.slots[slot] {
            Some(stream) => stream,
            none => none.insert(TcpStream::connect(&self.target)?),
        };
        stream.set_read_timeout(Some(self.timeout))?;
        let length = body.len();
        let head =
            format!("POST /rpcbench.v1.Echo/{method} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{body}").as_bytes())?;
        let mut bytes = Vec::new();
        loop {
            let mut more = [0; 4096];
            let length = stream.read(&mut more)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes.extend_from_slice(&more[..length]);
            if let Some(reply) = parse(&bytes) {
                return Ok(reply);
            }
        }
    }
}

/// Status and body of a reply, if it is complete.
fn parse(bytes: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = str::from_utf8(&bytes[..end]).ok()?;
    let length: usize = head.lines().last()?.strip_prefix("Content-Length: ")?.parse().ok()?;
    let body = bytes.get(end + 4..end + 4 + length)?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_vec()))
}
