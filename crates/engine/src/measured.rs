//! From what the engine counted to what the record keeps.

use rpcbench_record::{Latency, MachineUsage, Measured, ServerUsage};
use rpcbench_stats::Histogram;

use crate::session::Measurement;

impl Measurement {
    /// As the record keeps it; `server` is what the server used over the same span, where it is known.
    #[must_use]
    pub fn into_measured(self, server: Option<ServerUsage>, machine: MachineUsage) -> Measured {
        Measured {
            window_ns: self.span.end.since(self.span.start),
            ok_pro_rata: Some(self.tally.ok_pro_rata()),
            latency: latency(&self.tally.ok),
            error_latency: latency(&self.tally.errors),
            service: latency(&self.tally.service),
            send_lag: latency(&self.tally.send_lag),
            pacing: self.pacing,
            outcomes: self.tally.outcomes,
            error_examples: self.tally.examples,
            carried_in_ns: self.tally.carried_in.0,
            carried_out_ns: self.tally.carried_out.0,
            server,
            runtime: None,
            client: self.client,
            machine,
            connect: latency(&self.tally.connect),
            connections: Some(self.tally.connections),
            series: self.tally.series,
        }
    }
}

/// `None` for an empty histogram.
fn latency(histogram: &Histogram) -> Option<Latency> {
    let quantile = |q| histogram.quantile(q);
    Some(Latency {
        count: histogram.count(),
        min_ns: histogram.min()?,
        mean_ns: histogram.mean()?,
        stddev_ns: histogram.stddev()?,
        p50_ns: quantile(0.5)?,
        p90_ns: quantile(0.9)?,
        p95_ns: quantile(0.95)?,
        p99_ns: quantile(0.99)?,
        p999_ns: quantile(0.999)?,
        max_ns: histogram.max()?,
        histogram: histogram.to_base64(),
    })
}
