//! State that the steps of a run share.

use rpcbench_clock::Nanos;
use rpcbench_record::LaterSecrets;

use super::observer::{Event, Observer};
use super::slice::SliceLength;
use crate::interrupt::Interrupt;

/// Settings shared by all entries of a run.
pub struct Environment {
    /// Seed of payloads and of random arrivals.
    pub seed: u64,
    /// Raised by Ctrl-C.
    pub interrupt: Interrupt,
    /// Slice lengths of the rounds, in turn. Empty: those that suit the servers.
    pub slices: Vec<SliceLength>,
    /// Secrets to keep out of the record, besides those of the plan.
    pub secrets: LaterSecrets,
}

/// The shared settings, and the observer of every process.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub environment: &'a Environment,
    pub observer: &'a dyn Observer,
    /// True if settling and windows may be extended for a slow server. A user's own server gets exactly what was asked for.
    pub adapts: bool,
}

impl<'a> Context<'a> {
    /// The context of a process that is started, but not measured.
    pub fn unobserved(environment: &'a Environment) -> Self {
        Self { environment, observer: &Unobserved, adapts: true }
    }

    pub fn interrupt(&self) -> &'a Interrupt {
        &self.environment.interrupt
    }

    pub fn now(&self) -> Nanos {
        self.interrupt().now()
    }
}

struct Unobserved;

impl Observer for Unobserved {
    fn event(&self, _: &Event<'_>) {}
}
