use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{Failure, Library};

/// Where and how to open connections.
#[derive(Clone)]
pub struct Target {
    /// host:port.
    pub address: String,
    /// Maximum size of a pool.
    pub connections: usize,
    /// Timeout of a call.
    pub timeout: Duration,
    /// Calls after which a connection is closed; 0 for no limit.
    pub calls_per_connection: u64,
}

/// Decides which calls close their connection, for pools with such an option per call.
pub struct Life {
    calls: u64,
    made: AtomicU64,
}

impl Life {
    pub fn new(target: &Target) -> Self {
        Self { calls: target.calls_per_connection, made: AtomicU64::new(0) }
    }

    /// True if this call closes its connection, so that connections carry their number of calls on average.
    pub fn ends(&self) -> bool {
        self.calls > 0 && (self.made.fetch_add(1, Relaxed) + 1).is_multiple_of(self.calls)
    }
}

/// A connection or pool. Opens another client after a number of calls.
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

    /// Returns the client for the next call. One that has reached its number of calls is closed when the last of them has ended.
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
