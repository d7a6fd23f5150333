//! What a session reports of its load.

use rpcbench_record::{ClientUsage, Outcomes, Pacing, Unmeasured};
use rpcbench_stats::Histogram;

use crate::tally::WindowTally;
use crate::thread::{ThreadSample, ThreadUsage};
use rpcbench_clock::{Nanos, Span};

/// Calls since the session was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Ended calls of any outcome.
    pub ended: u64,
    /// Ended calls that were not `ok`.
    pub failed: u64,
}

/// A load at one instant.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Calls since the session was opened.
    pub progress: Progress,
    /// Calls in flight or waiting.
    pub outstanding: u64,
    /// CPU time of the load threads since they began.
    pub cpu: Nanos,
    /// Response times of `ok` calls in the measured span so far, nanoseconds; empty outside of a span.
    pub ok: Histogram,
    /// Outcomes of the measured span so far.
    pub outcomes: Outcomes,
}

/// The result of a measured span.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// From the first instant to the last, by the machine's clock. If the session left its turn in between, only the end is an
    /// actual instant: the start is the end less the time in turn.
    pub span: Span,
    /// Time that counts.
    pub length: Nanos,
    /// Everything counted in that time.
    pub tally: WindowTally,
    /// What the load threads used in that time.
    pub client: ClientUsage,
    /// How well an open loop kept its schedule. `None` in a closed loop.
    pub pacing: Option<Pacing>,
    /// Calls outside of measured spans since the session was opened: warm-up.
    pub unmeasured: Unmeasured,
}

impl Sample {
    pub(super) fn add(&mut self, thread: &ThreadSample) {
        self.outstanding += thread.outstanding;
        self.cpu = self.cpu + thread.cpu;
        self.ok.merge(&thread.measured.0);
        self.outcomes.add(&thread.measured.1);
    }
}

/// Adds the use of a load thread.
pub(super) fn add_usage(client: &mut ClientUsage, usage: ThreadUsage) {
    client.threads += 1;
    client.cpu_ns += usage.cpu.0;
    client.awake_ns += usage.awake.0;
    client.run_delay_ns = client.run_delay_ns.zip(usage.run_delay).map(|(sum, n)| sum + n.0);
    let busy = usage.cpu - usage.awake + usage.run_delay.unwrap_or_default();
    client.tls_records += usage.records;
    client.busiest_ns = client.busiest_ns.max(busy.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busiest_thread_counts_with_its_run_delay_and_without_its_waits() {
        let usage = |cpu, delay| ThreadUsage {
            cpu: Nanos(cpu),
            awake: Nanos(100),
            run_delay: Some(Nanos(delay)),
            records: 0,
        };
        let mut client = ClientUsage { run_delay_ns: Some(0), ..ClientUsage::default() };
        add_usage(&mut client, usage(400, 10));
        add_usage(&mut client, usage(200, 500));
        let all = (client.threads, client.cpu_ns, client.awake_ns, client.run_delay_ns);
        assert_eq!((all, client.busiest_ns), ((2, 600, 200, Some(510)), 600));
        add_usage(&mut client, ThreadUsage { run_delay: None, ..usage(800, 0) });
        assert_eq!((client.run_delay_ns, client.busiest_ns), (None, 700));
    }
}
