//! Converts a measurement into its record.

use std::sync::Arc;

use rpcbench_record::{AddressFigures, Latency, MachineUsage, Measured, ServerUsage};

use crate::session::Measurement;
use crate::tally::{Tally, WindowTally};

impl Measurement {
    /// Converts to a record; `server` is what the server used over the same span, if known.
    pub fn into_measured(self, server: Option<ServerUsage>, machine: MachineUsage) -> Measured {
        let WindowTally {
            calls,
            addresses,
            connect,
            opening,
            connections,
            bytes_in,
            bytes_out,
            ..
        } = self.tally;
        let (replies_in, requests_out) = (calls.replies_in(), calls.requests_out());
        Measured {
            window_ns: self.length.0,
            slicing: None,
            of_calls: false,
            ok_pro_rata: calls.ok_pro_rata(),
            latency: Latency::of(&calls.ok),
            error_latency: Latency::of(&calls.errors),
            service: Latency::of(&calls.service),
            send_lag: Latency::of(&calls.send_lag),
            pacing: self.pacing,
            outcomes: calls.outcomes,
            error_examples: calls.examples,
            failures: calls.failures.into_record(),
            checks: calls.checks,
            bytes_in,
            bytes_out,
            replies_in,
            requests_out,
            carried_in_ns: calls.carried_in.0,
            carried_out_ns: calls.carried_out.0,
            server,
            runtime: None,
            counterpart_runtime: None,
            client: self.client,
            machine,
            connect: Latency::of(&connect),
            opening: opening.map(|it| it.into_record()).unwrap_or_default(),
            connections,
            addresses: addresses.iter().map(address_figures).collect(),
            series: calls.series,
        }
    }
}

fn address_figures((address, calls): &(Arc<str>, Tally)) -> AddressFigures {
    AddressFigures {
        address: address.to_string(),
        calls: calls.outcomes.total(),
        failed: calls.outcomes.errors(),
        p50_ns: calls.ok.quantile(0.5),
        p99_ns: calls.ok.quantile(0.99),
        max_ns: calls.ok.max(),
    }
}
