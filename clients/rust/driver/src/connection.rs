use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{Failure, Library};

/// Where to, and how, connections are opened.
#[derive(Clone)]
pub struct Target {
    /// host:port.
    pub address: String,
    /// Maximum connections of a pool.
    pub connections: usize,
    /// Timeout of a call.
    pub timeout: Duration,
    /// Calls after which a pool closes a connection; 0 if it keeps them.
    pub calls_per_connection: u64,
}

/// Says which calls close their connection, for pools that can be asked to.
pub struct Life {
    calls: u64,
    made: AtomicU64,
}

impl Life {
    pub fn new(target: &Target) -> Self {
        Self { calls: target.calls_per_connection, made: AtomicU64::new(0) }
    }

    /// True if the connection of this call closes after it. Connections have their number of calls on average.
    pub fn ends(&self) -> bool {
        self.calls > 0 && (self.made.fetch_add(1, Relaxed) + 1).is_multiple_of(self.calls)
    }
}

/// A connection or pool. It is opened again when it has made its number of calls.
pub struct Connection<L> {
    target: Target,
    line: Mutex<Line<L>>,
}

struct Line<L> {
    client: L,
    calls: u64,
}

impl<L: Library> Connection<L> {
    pub async fn open(target: Target) -> Result<Self, Failure> {
        let client = L::connect(&target).await?;
        Ok(Self { target, line: Mutex::new(Line { client, calls: 0 }) })
    }

    /// What makes the next call. A line that has made its number of calls closes when the last one has ended.
    pub fn take(&self) -> Result<L, Failure> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = self.target.calls_per_connection;
        if !L::POOLED && limit > 0 && line.calls == limit {
            *line = Line { client: L::reconnect(&self.target)?, calls: 0 };
        }
        line.calls += 1;
        Ok(line.client.clone())
    }
}
