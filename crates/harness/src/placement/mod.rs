//! Where a server runs, and who starts it.
//!
//! A run knows a server only through two traits: [`Placement`] makes it run, and [`Running`] is what it has until
//! it is stopped. Another place for servers (containers, another machine) is another folder here:
//!
//! - [`native`]: a process of this machine, started and kept apart by the harness.
//! - [`Unmanaged`]: a server that somebody else runs, known by its address.

mod error;
pub mod native;
mod unmanaged;

use std::net::SocketAddr;
use std::time::Duration;

use rpcbench_engine::{ServerAddress, Span};
use rpcbench_record::{Isolation, RuntimeStatistics};

use crate::host::counters::{Counters, CpuReading};

pub use error::PlacementError;
pub use native::Native;
pub use unmanaged::Unmanaged;

/// A place for one server.
pub trait Placement {
    /// What is known about it before the server runs there.
    fn isolation(&self) -> Isolation;

    /// Makes the server run there, under its limits. It may not answer yet.
    ///
    /// # Errors
    /// Why it can't.
    fn start(&self) -> Result<Box<dyn Running>, PlacementError>;
}

/// A server that runs. Dropping it ends what the placement started, at once.
pub trait Running {
    /// Where it listens.
    fn endpoint(&self) -> &Endpoint;

    /// How it is kept apart.
    fn isolation(&self) -> Isolation;

    /// Its process. `None` where it is not of this machine, or not known.
    fn pid(&self) -> Option<u32> {
        None
    }

    /// Its CPU time. `None` where the placement can't see it.
    ///
    /// # Errors
    /// If counters that are there can't be read.
    fn sample_cpu(&mut self) -> Result<Option<CpuReading>, PlacementError>;

    /// All its counters. `None` where the placement can't see them.
    ///
    /// # Errors
    /// If counters that are there can't be read.
    fn sample(&mut self) -> Result<Option<Counters>, PlacementError>;

    /// What its runtime tells of itself over a window that is over. `None` where it tells nothing, or was not asked.
    ///
    /// # Errors
    /// If what it tells can't be read.
    fn runtime(&mut self, _window: Span) -> Result<Option<RuntimeStatistics>, PlacementError> {
        Ok(None)
    }

    /// Its peak memory counts from now on, where the placement can tell the system so.
    ///
    /// # Errors
    /// If its processes can't be listed.
    fn forget_peak(&mut self) -> Result<(), PlacementError> {
        Ok(())
    }

    /// Stops it from using CPU time until it is woken. Does nothing to a server that is not the placement's to stop.
    ///
    /// # Errors
    /// If it does not stop.
    fn freeze(&mut self) -> Result<(), PlacementError>;

    /// Lets it go on.
    ///
    /// # Errors
    /// If it does not.
    fn wake(&mut self) -> Result<(), PlacementError>;

    /// How it ended, in words, if it has ended or does so `within` that time. `None`: it runs, or nobody can tell.
    ///
    /// # Errors
    /// If the system can't tell.
    fn ended(&mut self, within: Duration) -> Result<Option<String>, PlacementError>;

    /// The last lines that it wrote, at most so many. Empty where the placement can't see them.
    fn log_tail(&self, lines: usize) -> Vec<String>;

    /// Ends it as it was promised, if the placement started it.
    ///
    /// # Errors
    /// If it can't be ended.
    fn stop(self: Box<Self>) -> Result<(), PlacementError>;
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address.
    pub address: ServerAddress,
    /// What requests name as their host: the address as the user wrote it.
    pub authority: String,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        let address = ServerAddress::from(address);
        Self { authority: address.authority(), address }
    }
}
