//! A load generator that follows a script.

use std::ops::Range;
use std::time::Duration;

use rpcbench_clock::Nanos;
use rpcbench_contract::Method;
use rpcbench_contract::cases::{CallError, Caller};
use rpcbench_engine::WindowTally;
use rpcbench_harness::interrupt::Interrupt;
use rpcbench_harness::load::{
    CallOptions, LoadError, LoadGenerator, LoadRequest, LoadSession, Measurement, Progress, Sample,
    Span, Unmeasured,
};
use rpcbench_harness::placement::Endpoint;
use rpcbench_record::{Arrivals, ClientUsage, Outcomes, Pacing, Protocol, Tls, Window, Workload};

use super::Log;

/// What the load does on the server of an entry.
pub type Script = fn(&str, Arrivals) -> Answer;

#[derive(Clone, Copy)]
pub enum Answer {
    /// Every call is answered after this time.
    After(Nanos),
    /// Every call times out.
    Never,
    /// The load fails.
    Fails,
    /// The run stops.
    Stops,
}

pub struct Scripted {
    pub log: Log,
    pub script: Script,
    pub interrupt: Interrupt,
}

impl LoadGenerator for Scripted {
    fn open(
        &self,
        request: &LoadRequest<'_>,
        _interrupt: &Interrupt,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Box<dyn LoadSession>, LoadError> {
        let entry = request.endpoint.authority.clone();
        self.log.add(&entry, "connects");
        progress(request.workload.connections.into());
        Ok(Box::new(ScriptedLoad {
            entry,
            log: self.log.clone(),
            script: self.script,
            arrivals: Arrivals::Closed,
            span: None,
            parts: Vec::new(),
            is_away: false,
            interrupt: self.interrupt.clone(),
            unmeasured: Outcomes::default(),
        }))
    }

    fn caller(
        &self,
        endpoint: &Endpoint,
        _: Protocol,
        _: &CallOptions,
        timeout: Duration,
    ) -> Box<dyn Caller> {
        self.log.add(&endpoint.authority, "is called");
        let called = format!("{} is called", endpoint.authority);
        let clients = self.log.lines().iter().filter(|line| **line == called).count();
        let late = match &*endpoint.authority {
            STARVED | LATE_READY => LATE_CALLS,
            LATE_CHECK if timeout > READY_CALL => LATE_CALLS,
            LATE_TLS if clients == FIRST_OF_TLS => LATE_CALLS,
            _ => 0,
        };
        Box::new(Echo { interrupt: self.interrupt.clone(), timeout, late, connections: 1 })
    }

    fn has_room(&self, _: &Workload, _: Protocol) -> bool {
        true
    }
}

/// Answers a protobuf text correctly, and nothing else, after calls that are late.
struct Echo {
    interrupt: Interrupt,
    timeout: Duration,
    late: u32,
    connections: u64,
}

impl Caller for Echo {
    fn call(&mut self, _: Method, body: &[u8]) -> Result<Vec<u8>, CallError> {
        if self.late > 0 {
            self.late -= 1;
            let end = self.interrupt.now() + Nanos::from(self.timeout);
            self.interrupt.wait_until(end).expect("no Ctrl-C");
            return Err(CallError::Timeout);
        }
        let mut reply = body.to_vec();
        if let Some(tag) = reply.first_mut() {
            // Field 1 comes back as field 2.
            *tag = 0x12;
        }
        Ok(reply)
    }

    fn disconnect(&mut self) {
        self.connections += 1;
    }

    fn tls(&self) -> Option<Tls> {
        Some(Tls {
            version: "TLS 1.3".to_owned(),
            suite: "TLS_AES_128_GCM_SHA256".to_owned(),
            group: None,
            alpn: Some("h2".to_owned()),
            verified_by: "a test's authority".to_owned(),
            full_handshakes: 1,
            resumed_handshakes: self.connections - 1,
        })
    }
}

struct ScriptedLoad {
    entry: String,
    log: Log,
    script: Script,
    arrivals: Arrivals,
    span: Option<Span>,
    parts: Vec<Span>,
    is_away: bool,
    interrupt: Interrupt,
    unmeasured: Outcomes,
}

impl ScriptedLoad {
    fn unmeasured(&self) -> Unmeasured {
        Unmeasured { outcomes: self.unmeasured.clone(), error_examples: Vec::new() }
    }
}

impl LoadSession for ScriptedLoad {
    fn set_arrivals(&mut self, arrivals: Arrivals) -> Result<(), LoadError> {
        self.arrivals = arrivals;
        Ok(())
    }

    fn start(&mut self) -> Result<(), LoadError> {
        self.log.add(&self.entry, if self.arrivals.is_open() { "is paced" } else { "warms" });
        Ok(())
    }

    fn measure(&mut self, from: Nanos, window: Window) -> Result<Nanos, LoadError> {
        let compiles = from < compiling(&self.entry).end;
        self.log.add(&self.entry, if compiles { "measures too early" } else { "measures" });
        let end = from + Nanos::from_millis(window.length_ms().unwrap_or(0));
        self.span = Some(Span { start: from, end });
        Ok(end)
    }

    fn cut(&mut self) -> Result<(), LoadError> {
        Ok(())
    }

    fn end_at(&mut self, end: Nanos) -> Result<(), LoadError> {
        self.span.as_mut().expect("a window").end = end;
        Ok(())
    }

    fn finish(&mut self) -> Result<Measurement, LoadError> {
        let span = self.span.take().expect("a window");
        let mut tally = WindowTally::default();
        match (self.script)(&self.entry, self.arrivals) {
            Answer::After(time) => (0..CALLS).for_each(|_| {
                tally.calls.outcomes.ok += 1;
                tally.calls.ok.record(time.0);
            }),
            Answer::Never => tally.calls.outcomes.timeout += CALLS,
            Answer::Fails => return Err(LoadError::Failed("the generator is gone".to_owned())),
            Answer::Stops => return Err(LoadError::Stopped),
        }
        tally.calls.ok_cut = tally.calls.outcomes.ok as f64;
        let pacing = Pacing { due: CALLS, due_second_half: CALLS / 2, late: 0, held_back: 0 };
        let pacing = self.arrivals.is_open().then_some(pacing);
        let (client, unmeasured) = (ClientUsage::default(), self.unmeasured());
        let parts = std::mem::take(&mut self.parts);
        let length = |span: &Span| span.end.since(span.start);
        let length = match parts.is_empty() {
            true => length(&span),
            false => parts.iter().map(length).sum(),
        };
        Ok(Measurement { span, length: Nanos(length), tally, client, pacing, unmeasured })
    }

    fn measure_part(&mut self, slice: Span, is_last: bool) -> Result<(), LoadError> {
        self.log.add(&self.entry, if is_last { "has its last slice" } else { "has a slice" });
        self.parts.push(slice);
        self.span = Some(slice);
        Ok(())
    }

    fn leave(&mut self) -> Result<(), LoadError> {
        assert!(!std::mem::replace(&mut self.is_away, true), "left twice");
        Ok(())
    }

    fn enter(&mut self) -> Result<(), LoadError> {
        self.is_away = false;
        Ok(())
    }

    fn pause(&mut self) -> Result<Unmeasured, LoadError> {
        self.log.add(&self.entry, "ends its calls");
        self.unmeasured.ok += CALLS;
        self.unmeasured.timeout +=
            u64::from([LATE, SILENT, BREAKS].contains(&&*self.entry)) * CALLS;
        Ok(self.unmeasured())
    }

    fn spot_check(&mut self) -> Result<Unmeasured, LoadError> {
        self.log.add(&self.entry, "is spot-checked");
        match &*self.entry {
            SILENT => self.unmeasured.timeout += 1,
            BREAKS => self.unmeasured.transport += 1,
            _ => self.unmeasured.ok += 1,
        }
        Ok(self.unmeasured())
    }

    /// A call ends every 10 ms; one of a slow server every second.
    fn progress(&self) -> Result<Progress, LoadError> {
        let each = if self.entry == SLOW { 1_000_000_000 } else { 10_000_000 };
        Ok(Progress { ended: self.interrupt.now().0 / each, failed: 0 })
    }

    fn sample(&self) -> Result<Sample, LoadError> {
        Err(LoadError::Failed("nothing samples it".to_owned()))
    }

    fn is_drained(&self) -> Result<bool, LoadError> {
        Ok(true)
    }

    fn cycle(&self) -> Option<Nanos> {
        None
    }
}

/// Calls of each window.
pub const CALLS: u64 = 10_000;
/// An entry whose compiler takes half of its CPU time for a while, and one whose compiler does so after the warm-up.
pub const COMPILES: &str = "compiles";
pub const RECOMPILES: &str = "recompiles";

/// When the compiler of an entry is busy.
pub fn compiling(entry: &str) -> Range<Nanos> {
    let (from, until) = match entry {
        // Longer than a run of 40 s lets it warm up, and less than its own longest warm-up.
        COMPILES => (0, 19_000),
        // From the end of its warm-up, for longer than other servers are given before a window.
        RECOMPILES => (4000, 9000),
        _ => (0, 0),
    };
    Nanos::from_millis(from)..Nanos::from_millis(until)
}

/// Entries whose calls are not answered in time in the warm-up: one answers from then on, one never again, and one breaks its
/// connections.
pub const LATE: &str = "late";
pub const SILENT: &str = "silent";
pub const BREAKS: &str = "breaks";

/// Entries whose first single calls are not answered in time: one on a machine that is busy with others, one before it is
/// ready, and one in the conformance check.
pub const STARVED: &str = "starved";
pub const LATE_READY: &str = "late-ready";
pub const LATE_CHECK: &str = "late-check";
/// One with TLS on a busy machine, of which the first client of the cases of TLS gets no answers in time: after those for
/// readiness and for the other cases.
pub const LATE_TLS: &str = "late-tls";
const FIRST_OF_TLS: usize = 3;
const LATE_CALLS: u32 = 7;
/// Time limit of a call before a server is ready.
const READY_CALL: Duration = Duration::from_secs(1);

/// An entry whose calls take a second each.
pub const SLOW: &str = "slow";
