//! A client and the server under test that it calls: frozen, thawed, and counted together.

use std::time::Duration;

use rpcbench_clock::Span;
use rpcbench_record::{ClientUsage, Failure, Measured, RuntimeStatistics, ServerUsage};

use super::{LoadedServer, StepError};
use crate::load::CallOptions;
use crate::placement::{Counters, Freezer, PlacementError};
use crate::run::context::Context;
use crate::run::subject::Subject;

/// Turns a failure of a client's server into one of the client.
pub(super) fn failure_of_server(server: &Subject<'_>, failure: Failure) -> Failure {
    let reason = format!("its server {}: {}", server.as_counterpart().server, failure.reason);
    Failure { reason, ..failure }
}

impl<'a> LoadedServer<'a> {
    /// Starts a process of a client's server, and waits until it answers.
    pub(super) fn start_counterpart(
        context: Context<'a>,
        (server, process): (&'a Subject<'a>, u32),
    ) -> Result<Self, StepError> {
        let options = CallOptions::default();
        let running = server.placement.start(process, options.tls);
        let started = Self::start(context, (server, process), options, running);
        started.map_err(|error| error.of_server(server))
    }

    /// Stops it and its counterpart from using CPU time until [`Self::thaw`].
    pub fn freeze(&mut self) -> Result<(), Failure> {
        self.last_freeze.begin(self.context.now());
        self.running.freeze()?;
        self.counterpart.as_mut().map_or(Ok(()), |server| server.freeze())
    }

    /// Lets both run again: the counterpart first, since it answers the calls.
    pub fn thaw(&mut self) -> Result<(), Failure> {
        self.last_freeze.end(self.context.now());
        self.counterpart.as_mut().map_or(Ok(()), |server| server.thaw())?;
        Ok(self.running.wake()?)
    }

    /// The freezer for both: the slower of the two. `None` if one of them can't be frozen.
    pub fn freezer(&self) -> Option<Freezer> {
        let own = self.running.freezer()?;
        match &self.counterpart {
            Some(server) => server.freezer().map(|theirs| theirs.max(own)),
            None => Some(own),
        }
    }

    /// The failure of a counterpart that has ended.
    pub(super) fn counterpart_end(&mut self) -> Option<Failure> {
        let server = self.counterpart.as_mut()?;
        let how = server.running.ended(Duration::ZERO).ok()??;
        let failure = server.explain(format!("{how} under load"));
        Some(failure_of_server(server.subject, failure))
    }

    /// CPU time of both so far, nanoseconds.
    pub(super) fn cpu_of_both(&mut self) -> Result<u64, Failure> {
        let own = self.sample_cpu()?.cpu_ns;
        Ok(own + self.counterpart_cpu()?)
    }

    /// CPU time of the counterpart so far, nanoseconds. 0 without one.
    pub fn counterpart_cpu(&mut self) -> Result<u64, Failure> {
        let Some(server) = &mut self.counterpart else { return Ok(0) };
        Ok(server.sample_cpu()?.cpu_ns)
    }

    /// All counters of the counterpart. `None` without one.
    pub fn sample_counterpart(&mut self) -> Result<Option<Counters>, PlacementError> {
        self.counterpart.as_mut().map_or(Ok(None), |server| server.running.sample())
    }

    /// Statistics of its runtime over these spans, and of the counterpart's.
    pub fn runtimes(
        &mut self,
        spans: &[Span],
    ) -> Result<[Option<RuntimeStatistics>; 2], PlacementError> {
        let own = self.running.runtime(spans)?;
        let counterpart = self.counterpart.as_mut().map(|server| server.running.runtime(spans));
        Ok([own, counterpart.transpose()?.flatten()])
    }

    /// The window with the counterpart's usage, if there is one, in place of that of load threads.
    pub fn with_counterpart(&self, measured: Measured, used: Option<&ServerUsage>) -> Measured {
        let Some((server, used)) = self.counterpart.as_ref().zip(used) else { return measured };
        let cpus = server.running.isolation().server_cpus.len() as u32;
        let client = ClientUsage::of_server(used, measured.window_ns, cpus);
        Measured { client, ..measured }
    }
}
