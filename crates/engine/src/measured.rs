//! Converts a measurement into its record.

use rpcbench_record::{AddressFigures, Latency, MachineUsage, Measured, ServerUsage};

use crate::session::Measurement;
use crate::tally::AddressTally;

impl Measurement {
    /// The record of it; `server` is what the server used over the same span, if known.
    pub fn into_measured(self, server: Option<ServerUsage>, machine: MachineUsage) -> Measured {
        Measured {
            window_ns: self.length.0,
            slicing: None,
            ok_pro_rata: self.tally.ok_pro_rata(),
            latency: Latency::of(&self.tally.ok),
            error_latency: Latency::of(&self.tally.errors),
            service: Latency::of(&self.tally.service),
            send_lag: Latency::of(&self.tally.send_lag),
            pacing: self.pacing,
            outcomes: self.tally.outcomes,
            error_examples: self.tally.examples,
            failures: self.tally.failures.into_record(),
            checks: self.tally.checks,
            bytes_in: self.tally.bytes_in,
            bytes_out: self.tally.bytes_out,
            carried_in_ns: self.tally.carried_in.0,
            carried_out_ns: self.tally.carried_out.0,
            server,
            runtime: None,
            client: self.client,
            machine,
            connect: Latency::of(&self.tally.connect),
            opening: self.tally.opening.map(|it| it.into_record()).unwrap_or_default(),
            connections: self.tally.connections,
            addresses: self.tally.addresses.iter().map(AddressTally::to_record).collect(),
            series: self.tally.series,
        }
    }
}

impl AddressTally {
    fn to_record(&self) -> AddressFigures {
        let Self { address, ok, failed } = self;
        AddressFigures {
            address: address.to_string(),
            calls: ok.count() + failed,
            failed: *failed,
            p50_ns: ok.quantile(0.5),
            p99_ns: ok.quantile(0.99),
            max_ns: ok.max(),
        }
    }
}
