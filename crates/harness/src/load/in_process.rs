//! A load generator that runs the engine in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rpcbench_clock::Nanos;
use rpcbench_contract::Shape;
use rpcbench_engine::{
    CallLog, ConnectionOptions, LoadPlan, Payload, Scheme, Session, SessionError,
};
use rpcbench_record::{Arrivals, Content, Protocol, Tls, Window, Workload};

use super::contract::EchoPayload;
use super::{
    LoadError, LoadGenerator, LoadRequest, LoadSession, Measurement, Progress, Sample, Span,
    Unmeasured, room,
};
use crate::calls::CallPayload;
use crate::interrupt::Interrupt;

/// Generates load with threads of this process.
#[derive(Debug)]
pub struct InProcess {
    /// CPUs to pin load threads to, in turn. Empty: not pinned.
    pub cpus: Vec<u32>,
    /// Receives every measured call.
    pub call_log: Option<CallLog>,
    /// The calls of workloads that don't use a shape of the contract.
    pub calls: Option<Arc<CallPayload>>,
}

impl InProcess {
    fn payload(&self, request: &LoadRequest<'_>) -> Result<Arc<dyn Payload>, LoadError> {
        let LoadRequest { endpoint, workload, protocol, seed, requests, .. } = *request;
        let name = match &workload.content {
            Content::Shape(name) => name,
            Content::Call(described) => {
                let calls = self.calls.clone();
                let missing = || LoadError::Failed(format!("no data for calls of {described}"));
                return Ok(calls.ok_or_else(missing)?);
            }
        };
        let shape: Shape =
            name.parse().map_err(|error| LoadError::Failed(format!("{name}: {error}")))?;
        let mut payload = EchoPayload::new(protocol, &shape, seed, requests);
        payload.target.headers = workload.headers.clone();
        payload.target.scheme = Scheme::of(endpoint.tls.is_some());
        Ok(Arc::new(payload))
    }

    fn plan(&self, request: &LoadRequest<'_>) -> LoadPlan {
        let LoadRequest { endpoint, protocol, workload, seed, .. } = *request;
        LoadPlan {
            server: ConnectionOptions {
                keepalive: workload.keepalive,
                ..endpoint.connection(protocol, workload.authority.as_ref())
            },
            connections: workload.connections_under(protocol),
            connection_life: workload.connection_life,
            in_flight: workload.in_flight,
            arrivals: Arrivals::Closed,
            seed,
            threads: workload.client_threads,
            cpus: self.cpus.clone(),
            timeout: Nanos::from_millis(workload.timeout_ms),
            grace: Nanos::from_millis(workload.grace_ms),
            connect_timeout: Nanos::from_millis(workload.connect_timeout_ms),
            pipelining: workload.pipelining,
        }
    }
}

impl LoadGenerator for InProcess {
    fn open(
        &self,
        request: &LoadRequest<'_>,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Box<dyn LoadSession>, LoadError> {
        let payload = self.payload(request)?;
        let log = self.call_log.as_ref().filter(|_| request.logged);
        let (connecting, interrupt) = (Arc::new(AtomicBool::new(true)), interrupt.clone());
        let still = Arc::clone(&connecting);
        // Until all connections are open, Ctrl-C has no window to end.
        let given_up = move || {
            interrupt.check().is_err() || still.load(Ordering::Relaxed) && interrupt.ends_window()
        };
        let opened = Session::open_with(&self.plan(request), &payload, log, given_up, progress);
        connecting.store(false, Ordering::Relaxed);
        Ok(Box::new(opened?))
    }

    fn has_room(&self, workload: &Workload, protocol: Protocol) -> bool {
        room::reserve(workload, protocol).is_ok()
    }
}

impl From<SessionError> for LoadError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::GivenUp => Self::Stopped,
            error => Self::Failed(error.to_string()),
        }
    }
}

impl LoadSession for Session {
    fn tls(&self) -> Option<Tls> {
        Self::tls(self).cloned()
    }

    fn set_arrivals(&mut self, arrivals: Arrivals) -> Result<(), LoadError> {
        Ok(self.change_arrivals(arrivals)?)
    }

    fn start(&mut self) -> Result<(), LoadError> {
        Self::start(self);
        Ok(())
    }

    fn measure(&mut self, from: Nanos, window: Window) -> Result<Nanos, LoadError> {
        match window {
            Window::Duration { length_ms } => {
                let end = from + Nanos::from_millis(length_ms);
                let span = Span { start: from, end };
                self.start_measuring(span);
                Self::measure(self, span);
                Ok(end)
            }
            Window::Calls { calls } => {
                self.start_measuring_calls(from, calls);
                Ok(Nanos::NEVER)
            }
        }
    }

    fn cut(&mut self) -> Result<(), LoadError> {
        Self::cut(self);
        Ok(())
    }

    fn end_at(&mut self, end: Nanos) -> Result<(), LoadError> {
        Self::end_at(self, end);
        Ok(())
    }

    fn measure_part(&mut self, slice: Span, is_last: bool) -> Result<(), LoadError> {
        Self::measure_part(self, slice, is_last);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), LoadError> {
        Ok(Self::leave(self)?)
    }

    fn enter(&mut self) -> Result<(), LoadError> {
        Self::enter(self);
        Ok(())
    }

    fn finish(&mut self) -> Result<Measurement, LoadError> {
        Ok(Self::finish(self)?)
    }

    fn pause(&mut self) -> Result<Unmeasured, LoadError> {
        Ok(Self::pause(self)?)
    }

    fn spot_check(&mut self) -> Result<Unmeasured, LoadError> {
        Ok(Self::spot_check(self)?)
    }

    fn progress(&self) -> Result<Progress, LoadError> {
        Ok(Self::progress(self))
    }

    fn sample(&self) -> Result<Sample, LoadError> {
        Ok(Self::sample(self)?)
    }

    fn is_drained(&self) -> Result<bool, LoadError> {
        Ok(Self::is_drained(self))
    }

    fn cycle(&self) -> Option<Nanos> {
        Self::cycle(self)
    }
}
