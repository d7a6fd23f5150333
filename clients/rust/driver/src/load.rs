use std::{
    fs,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::runtime::Handle;

use crate::{
    Failure, Library, Outcome, Target, Unary,
    connection::Connection,
    method::Caller,
    run::{Bounds, Run},
    wire::{Open, Start, Wire},
};

/// The connections and requests between `open` and `close`, of any method.
pub trait Load<L>: Send + Sync {
    /// Open connections; 0 if a pool opens them with its first calls.
    fn opened(&self) -> usize;

    /// Prepares a run.
    fn prepare(self: Arc<Self>, start: &Start, bounds: Arc<Bounds>) -> Result<RunCalls, Failure>;
}

/// Makes the calls of a run. Blocks until the last one has ended, and returns their number.
pub type RunCalls = Box<dyn FnOnce(&Arc<Wire>, &Handle) -> u64 + Send>;

struct OpenLoad<L, U: Unary<L>> {
    connections: Vec<Arc<Connection<L>>>,
    encoded: Vec<u8>,
    /// Slots of the closed loop; empty while it runs.
    slots: Mutex<Vec<Slot<L, U>>>,
}

/// Makes calls one at a time, all on one connection or pool.
pub struct Slot<L, U: Unary<L>> {
    connection: Arc<Connection<L>>,
    caller: Caller<U::Request>,
}

impl<L: Library, U: Unary<L>> Slot<L, U> {
    pub async fn call(&mut self) -> Outcome {
        match self.connection.take() {
            Ok(client) => self.caller.call::<L, U>(&client).await,
            Err(_) => Outcome::Transport,
        }
    }
}

/// Opens connections and reads requests.
pub async fn open<L: Library>(open: &Open) -> Result<Arc<dyn Load<L>>, Failure> {
    match open.shape.as_str() {
        "text" => OpenLoad::<L, L::Text>::open(open).await,
        "record" => OpenLoad::<L, L::Record>::open(open).await,
        "dto" => OpenLoad::<L, L::Dto>::open(open).await,
        "tree" => OpenLoad::<L, L::Tree>::open(open).await,
        other => Err(format!("unknown shape '{other}'").into()),
    }
}

impl<L: Library, U: Unary<L>> OpenLoad<L, U> {
    async fn open(open: &Open) -> Result<Arc<dyn Load<L>>, Failure> {
        let Open { connections, in_flight, timeout_ns, calls_per_connection, .. } = *open;
        if connections < 1 || in_flight < 1 || timeout_ns < 1 {
            return Err("connections, in_flight and timeout_ns must be 1 or more".into());
        }
        if L::POOLED && in_flight > 1 {
            let library = L::NAME;
            return Err(format!(
                "in_flight is {in_flight}, but a connection of {library} makes one call at a time"
            )
            .into());
        }
        let encoded =
            fs::read(&open.requests).map_err(|error| format!("{}: {error}", open.requests))?;
        let target = Target {
            address: open.target.clone(),
            connections,
            timeout: Duration::from_nanos(timeout_ns),
            calls_per_connection,
        };
        let number = if L::POOLED { 1 } else { connections };
        let opening: Vec<_> =
            (0..number).map(|_| tokio::spawn(Connection::open(target.clone()))).collect();
        let mut connections = Vec::new();
        for connection in opening {
            connections.push(Arc::new(connection.await??));
        }
        let load = Self { connections, encoded, slots: Mutex::default() };
        let slots = load.new_slots(target.connections * in_flight)?;
        load.put_back(slots);
        Ok(Arc::new(load))
    }

    /// Slots that share the load's connections.
    fn new_slots(&self, number: usize) -> Result<Vec<Slot<L, U>>, Failure> {
        let requests = split_requests(&self.encoded)?;
        let slot = |at: usize| {
            let connection = self.connections[at % self.connections.len()].clone();
            Ok(Slot { connection, caller: Caller::new::<L, U>(&requests, at, number)? })
        };
        (0..number).map(slot).collect()
    }

    fn put_back(&self, slots: Vec<Slot<L, U>>) {
        *self.slots.lock().unwrap_or_else(PoisonError::into_inner) = slots;
    }
}

impl<L: Library, U: Unary<L>> Load<L> for OpenLoad<L, U> {
    fn opened(&self) -> usize {
        if L::POOLED { 0 } else { self.connections.len() }
    }

    fn prepare(self: Arc<Self>, start: &Start, bounds: Arc<Bounds>) -> Result<RunCalls, Failure> {
        let Some(path) = &start.schedule else {
            let slots =
                std::mem::take(&mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner));
            return Ok(Box::new(move |wire, handle| {
                let (slots, calls) = Run { bounds, wire, handle }.closed_loop(slots);
                self.put_back(slots);
                calls
            }));
        };
        if start.in_flight_max < 1 {
            return Err("in_flight_max must be 1 or more".into());
        }
        let schedule = read_schedule(path)?;
        let slots = self.new_slots(start.in_flight_max)?;
        Ok(Box::new(move |wire, handle| Run { bounds, wire, handle }.open_loop(&schedule, slots)))
    }
}

/// Splits a file of requests, each preceded by its length.
fn split_requests(file: &[u8]) -> Result<Vec<&[u8]>, Failure> {
    let (mut requests, mut rest) = (Vec::new(), file);
    while !rest.is_empty() {
        let split = rest
            .split_first_chunk()
            .and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
        let Some((request, others)) = split else {
            return Err(format!("request {} is cut short", requests.len()).into());
        };
        requests.push(request);
        rest = others;
    }
    if requests.is_empty() { Err("no requests".into()) } else { Ok(requests) }
}

/// Due times, relative to the start.
fn read_schedule(path: &str) -> Result<Vec<u64>, Failure> {
    let file = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    match file.as_chunks() {
        (due, []) => Ok(due.iter().map(|time| u64::from_le_bytes(*time)).collect()),
        _ => Err(format!("{path}: {} bytes; expected a multiple of 8", file.len()).into()),
    }
}
